"""Source trees checked for a layout: exactly the places that were forgotten are named."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.abi.source_trees import NARROW, PATHS, WIDE, lines_of, tree

from tvmdbg_widgets import abi
from tvmdbg_widgets.analysis.abi.place_types import field_types
from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.model.base.text import FormatError

LANES_U32 = ("uint16_t", "uint16_t", "uint32_t")


@pytest.mark.parametrize("release", PATHS)
def test_fully_patched_tree_agrees(release: str, tmp_path: Path) -> None:
    found = abi.check(tree(tmp_path, WIDE, release=release), "wide")
    assert found.version == release[1:]
    by_file = {each.file: each for each in found.places}
    for place, path in PATHS[release].items():
        assert by_file[path].status == "agrees", by_file[path]
        assert by_file[path].place.id == place.split()[0]
    assert not found.disagreeing
    assert ": no place to change" in repr(found).splitlines()[0]
    narrow = abi.check(tmp_path, "narrow")
    assert {each.file for each in narrow.disagreeing} == set(PATHS[release].values())


@pytest.mark.parametrize("release", PATHS)
def test_an_unpatched_tree_is_narrow(release: str, tmp_path: Path) -> None:
    found = abi.check(tree(tmp_path, NARROW, release=release), "narrow")
    assert not found.disagreeing
    by_status: dict[str, set[str]] = {}
    for each in found.places:
        by_status.setdefault(each.status, set()).add(each.place.id)
    assert by_status["agrees"] == {place.split()[0] for place in PATHS[release]}
    minor = int(release.split(".")[1])
    gone = {"ctypes", "ndarray"} | ({"stackvm"} if minor > 24 else set())
    assert by_status.get("gone", set()) == (gone if minor > 20 else set())


@pytest.mark.parametrize(
    ("release", "place"), [(release, place) for release in PATHS for place in PATHS[release]]
)
def test_single_unpatched_place_is_named(release: str, place: str, tmp_path: Path) -> None:
    found = abi.check(tree(tmp_path, WIDE, release=release, forgotten={place}), "wide")
    (wrong,) = found.disagreeing
    path = PATHS[release][place]
    assert (wrong.place.id, wrong.file) == (place.partition(" ")[0], path)
    lines = repr(found).splitlines()
    assert ": 1 place to change" in lines[0]
    assert lines[1].startswith(f"disagrees: {wrong.place.id}, ")
    source = (tmp_path / path).read_text().splitlines()
    for each in wrong.wrong:
        assert each.text == source[each.line - 1].strip()
        assert f"    {path}:{each.line}: {each.text}" in repr(found)
    assert f"    if forgotten: {wrong.place.forgotten}" in lines


def test_u32_lanes_are_distinguished_from_i32(tmp_path: Path) -> None:
    found = abi.check(tree(tmp_path, LANES_U32, forgotten={"dlpack"}, old=WIDE), "wide")
    named = {each.place.id: each.assumes for each in found.disagreeing}
    (cast,) = (each for each in found.disagreeing if each.place.id == "data_type")
    assert [each.field for each in cast.wrong] == ["lanes"]
    assert "(lanes as u32, not i32: the same bytes, read with another sign)" in repr(found)
    assert named["data_type"] == "code:u16 bits:u16 lanes:u32"
    assert named["ctypes"] == "code:u16 bits:u16 lanes:u32"
    # LLVM's integers have no sign, and the padding is that of 8 bytes.
    assert "codegen_cpu" not in named
    assert "rpc_padding" not in named
    assert "dlpack" not in named
    assert not abi.check(tmp_path, "code:u16 bits:u16 lanes:u32").disagreeing[1:]


def test_missing_and_unrecognized_places_are_reported(tmp_path: Path) -> None:
    tree(tmp_path, WIDE)
    (tmp_path / PATHS["v0.8.0"]["arg_binder"]).write_text("// rewritten beyond recognition\n")
    (tmp_path / PATHS["v0.8.0"]["dlpack"]).unlink()
    found = {each.place.id: each.status for each in abi.check(tmp_path, "wide").places}
    assert found["arg_binder"] == "not recognized"
    assert found["dlpack"] == "not found"
    with pytest.raises(FormatError, match="no source tree of TVM"):
        abi.check(tmp_path / "python", "wide")
    with pytest.raises(NotADirectoryError):
        abi.check(tmp_path / "nothing", "wide")


def test_file_without_its_place_is_reported_as_gone(tmp_path: Path) -> None:
    path = tree(tmp_path, NARROW, release="v0.21.0") / "src/runtime/ndarray.cc"
    path.write_text("// without TVMArrayAlloc\n")
    found = {each.place.id: each for each in abi.check(tmp_path, "narrow").places}
    assert (found["ndarray"].status, found["ndarray"].file) == ("gone", None)


def test_links_out_of_the_tree_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path / "tvm", WIDE)
    secret = tmp_path / "secret.h"
    path = tmp_path / "tvm" / PATHS["v0.8.0"]["dlpack"]
    secret.write_text(path.read_text())
    path.unlink()
    path.symlink_to(secret)
    found = {each.place.id: each.status for each in abi.check(tmp_path / "tvm", "wide").places}
    assert found["dlpack"] == "not found"
    loop = tmp_path / "tvm" / PATHS["v0.8.0"]["serializer"]
    loop.unlink()
    loop.symlink_to(loop)
    assert abi.check(tmp_path / "tvm", "wide")


def test_every_place_documents_its_change_and_consequence() -> None:
    ids = [place.id for place in PLACES]
    assert len(set(ids)) == len(ids)
    required = {place.id for place in PLACES if place.required}
    assert required == {
        *("dlpack", "data_type", "serializer", "cython", "ctypes", "arg_binder", "codegen_cpu"),
        "rpc_padding",
    }
    assert all(place.change and place.forgotten and place.paths for place in PLACES)


PIECES = [
    *("uint8_t", " code", ";", "static_cast<", ">", "dtype.", "bits", "kArrTypeCode", "UInt(8)"),
    *("case kTVMDataType:", "\n", "Write<int32_t>(padding)", "(", "t_int8_", ",", "{", "// "),
]


@given(
    st.sampled_from([place.style for place in PLACES]),
    st.lists(st.sampled_from(PIECES), max_size=200),
)
def test_arbitrary_lines_yield_known_fields(style: Any, pieces: list[str]) -> None:
    for found in field_types("".join(pieces), style):
        assert found.field in ("code", "bits", "lanes", "padding")


HOSTILE = [
    *(
        "static_cast<",
        "static_cast<uint8_t>(a_",
        "static_cast<uint8_t>(code)",
        "uint8_t ",
        "((",
        "/*",
    ),
    *("Handler<", "StructType::create({t_int8_,", "StructType::create({", '"', "'", "\\", "/* */"),
    *("kArrTypeCode", "UInt(8)kArrTypeBits", "case kTVMType:", "case a::a::", "case a:padding"),
    *(".code = ", '("type_code", ctypes.c_uint8', "unsigned ", "decltype(", "sizeof(DLDataType::"),
]


@pytest.mark.slow
@pytest.mark.parametrize("style", sorted({place.style for place in PLACES}))
def test_hostile_lines_take_linear_time(style: Any) -> None:
    for piece in HOSTILE:
        for text in ((piece * 60 + "\n") * (1_000_000 // (60 * len(piece))), f"{piece}\n" * 40_000):
            begin = time.process_time()
            field_types(text, style)
            assert time.process_time() - begin < 4, (style, piece)


def test_hostile_trees_do_no_harm(tmp_path: Path) -> None:
    tree(tmp_path, WIDE)
    paths = PATHS["v0.8.0"]
    with (tmp_path / paths["serializer"]).open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / paths["dlpack"]).write_bytes(bytes(range(256)) * 4000)
    binder = tmp_path / paths["arg_binder"]
    binder.unlink()
    binder.mkdir()
    os.mkfifo(tmp_path / "src/pass.fifo")
    (tmp_path / "src/pass").mkdir()
    (tmp_path / "src/pass/arg_binder.cc").symlink_to(tmp_path / "src/pass.fifo")
    (tmp_path / paths["codegen_cpu"]).write_text(
        lines_of("codegen_cpu", NARROW).replace(";", "; // \x1b[31m<b>red</b>\u202e")
    )
    found = abi.check(tmp_path, "wide")
    told = {each.place.id: each.status for each in found.places}
    assert told["serializer"] == told["dlpack"] == "not recognized"
    assert told["arg_binder"] == "not found"
    assert "\x1b" not in repr(found)
    assert "\u202e" not in repr(found)
    assert "<b>" in repr(found)
    assert "<b>" not in found._repr_html_()


def test_padded_and_oversized_structs_are_noted(tmp_path: Path) -> None:
    tree(tmp_path, NARROW)
    assert not abi.check(tmp_path, "wide").notes
    (note,) = abi.check(tmp_path, "code:u8 bits:u8 lanes:u32").notes
    assert "the struct has 8 bytes but its fields 6" in note
    (note,) = abi.check(tmp_path, "code:u32 bits:u32 lanes:u32").notes
    assert "12 bytes does not fit into TVMValue" in note
    assert f"note: {note}" in repr(abi.check(tmp_path, "code:u32 bits:u32 lanes:u32"))


def test_different_field_order_is_detected(tmp_path: Path) -> None:
    found = abi.check(tree(tmp_path, NARROW), "lanes:u16 code:u8 bits:u8")
    assert {each.place.id for each in found.disagreeing} == {
        *("dlpack", "serializer", "cython", "ctypes", "codegen_cpu")
    }
    assert "stands in another order: lanes:u16 code:u8 bits:u8" in repr(found)


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("dlpack", "uint8_t code;", "unsigned char code;"),
        ("dlpack", "  uint8_t code;\n", "  uint8_t code; uint8_t bits; uint16_t lanes;\n"),
        ("dlpack", "uint8_t bits;\n", "uint8_t  /* of one lane */\n  bits\n  ;\n"),
        ("dlpack", "uint16_t lanes;", "std::uint16_t lanes;"),
        ("ctypes", "ctypes.c_uint16", "ctypes.c_ushort"),
        ("ctypes", '("bits", ctypes.c_uint8)', "('bits', c_ubyte)"),
        ("serializer", "Write(strm, dtype.code)", "Write(\n        strm, dtype.code)"),
        ("codegen_cpu", "create({t_int8_, t_int8_,", "create(\n      {t_int8_, t_int8_,\n"),
        ("codegen_cpu", "t_int16_});", 't_int16_}, "t_tvm_type");'),
        ("data_type", "data_.code = static", "data_.code =\n        static"),
        ("arg_binder", "UInt(8), handle,", "UInt( 8 ), handle,"),
        ("stackvm", ".code = static", ".code  =  static"),
    ],
)
def test_other_spellings_of_same_types_are_recognized(
    place: str, old: str, new: str, tmp_path: Path
) -> None:
    tree(tmp_path, NARROW)
    path = tmp_path / PATHS["v0.8.0"][place]
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert not abi.check(tmp_path, "narrow").disagreeing
    found = {each.place.id: each for each in abi.check(tmp_path, "wide").places}[place]
    assert {each.field for each in found.wrong} == {"code", "bits", "lanes"}, found


def test_comments_are_ignored(tmp_path: Path) -> None:
    tree(tmp_path, WIDE)
    for place, path in PATHS["v0.8.0"].items():
        target = tmp_path / path
        old = lines_of(place, NARROW).rstrip("\n")
        mark = "#" if path.endswith(("py", "pxi")) else "//"
        commented = "\n".join(f"{mark} {line}" for line in old.splitlines())
        block = "" if mark == "#" else f"/*\n{old.replace('*/', '')}\n*/\n"
        target.write_text(f"{commented}\n{block}{target.read_text()}")
    assert not abi.check(tmp_path, "wide").disagreeing
    assert {each.status for each in abi.check(tmp_path, "wide").places} == {"agrees"}
