"""Source trees checked for a layout: exactly the places that were forgotten are named."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.abi.source_trees import NARROW, PATHS, WIDE, tree

from tvmdbg_widgets import abi
from tvmdbg_widgets.analysis.abi.place_types import field_types
from tvmdbg_widgets.analysis.abi.places import PLACES
from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

LANES_U32 = ("uint16_t", "uint16_t", "uint32_t")


@pytest.mark.parametrize("release", PATHS)
def test_a_tree_that_was_changed_whole_agrees(release: str, tmp_path: Path) -> None:
    found = abi.check(tree(tmp_path, WIDE, release=release), "wide")
    assert found.version == release[1:]
    by_file = {each.file: each for each in found.places}
    for place, path in PATHS[release].items():
        assert by_file[path].status == "agrees", by_file[path]
        assert by_file[path].place.id == place.split()[0]
    assert not found.disagreeing
    assert repr(found).splitlines()[0].endswith("nothing disagrees")
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
def test_the_one_place_that_was_forgotten_is_named(
    release: str, place: str, tmp_path: Path
) -> None:
    found = abi.check(tree(tmp_path, WIDE, release=release, forgotten={place}), "wide")
    (wrong,) = found.disagreeing
    path = PATHS[release][place]
    assert (wrong.place.id, wrong.file) == (place.split()[0], path)
    lines = repr(found).splitlines()
    assert lines[0].endswith(": 1 place to change")
    assert lines[1].startswith(f"disagrees: {place.split()[0]}, ")
    source = (tmp_path / path).read_text().splitlines()
    for each in wrong.wrong:
        assert each.text == source[each.line - 1].strip()
        assert f"    {path}:{each.line}: {each.text}" in repr(found)
    assert f"    if forgotten: {wrong.place.forgotten}" in lines


def test_lanes_as_u32_is_told_from_i32(tmp_path: Path) -> None:
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


def test_decltype_is_never_wrong(tmp_path: Path) -> None:
    tree(tmp_path, WIDE)
    path = tmp_path / PATHS["v0.8.0"]["serializer"]
    path.write_text(
        "Handler<decltype(dtype.code)>::Write(strm, dtype.code);\n"
        "Handler<decltype(dtype.bits)>::Write(strm, dtype.bits);\n"
        "Handler<decltype(dtype.lanes)>::Write(strm, dtype.lanes);\n"
    )
    for layout in ("narrow", "wide"):
        found = abi.check(tmp_path, layout)
        serializer = next(each for each in found.places if each.place.id == "serializer")
        assert serializer.status == "agrees"
        assert "as the struct has it" in serializer.assumes


def test_what_is_missing_or_unknown_is_said_so(tmp_path: Path) -> None:
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


def test_every_place_says_what_to_do_and_what_breaks() -> None:
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
def test_any_lines_are_read(style: Any, pieces: list[str]) -> None:
    for found in field_types("".join(pieces), style):
        assert found.field in ("code", "bits", "lanes", "padding")


def test_hostile_lines_take_linear_time() -> None:
    for style in {place.style for place in PLACES}:
        for piece in ("static_cast<", "uint8_t ", "Handler<", "StructType::create({t_int8_,", "("):
            field_types((piece * 150 + "\n") * 300, style)


@pytest.mark.parametrize("layout", ["narrow", "wide", "code:u8 bits:u8 lanes:u32"])
def test_the_assertions_compile_for_their_layout_alone(layout: str, tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    others = {
        "narrow": "uint8_t code; uint8_t bits; uint16_t lanes;",
        "wide": "uint16_t code; uint16_t bits; int32_t lanes;",
        "code:u8 bits:u8 lanes:u32": "uint8_t code; uint8_t bits; uint32_t lanes;",
    }
    asserts = abi.assertions(layout).partition("// serializer.h")[0]
    for other, fields in others.items():
        source = tmp_path / "check.cc"
        source.write_text(
            f"#include <cstdint>\nstruct DLDataType {{ {fields} }};\n"
            "struct DLDevice { int32_t device_type, device_id; };\n"
            "struct DLTensor { void* data; DLDevice device; int32_t ndim; DLDataType dtype;\n"
            "  int64_t* shape; int64_t* strides; uint64_t byte_offset; };\n"
            "struct DLManagedTensor { DLTensor dl_tensor; void* manager_ctx;\n"
            "  void (*deleter)(DLManagedTensor*); };\n" + asserts
        )
        ran = subprocess.run(
            [compiler, "-fsyntax-only", "-Wno-invalid-offsetof", str(source)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (ran.returncode == 0) == (other == layout), ran.stderr
        if other != layout:
            assert "DLDataType::" in ran.stderr
