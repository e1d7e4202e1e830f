"""struct: layouts and memory in a terminal."""

import json
from pathlib import Path

import pytest
from cli.start import Run, refused
from unit.abi.source_trees import WIDE, tree

# As gdb prints `x/14xw` of a DLTensor of a wide build: float32, two dimensions, on cpu(0).
DUMP = """\
0x404060 <t>:\t0x00404100\t0x00000000\t0x00000001\t0x00000000
0x404070 <t+16>:\t0x00000002\t0x00200002\t0x00000001\t0x00000000
0x404080 <t+32>:\t0x00404040\t0x00000000\t0x00000000\t0x00000000
0x404090 <t+48>:\t0x00000000\t0x00000000
"""


def test_all_structs_are_listed_with_their_sizes(tvmdbg: Run) -> None:
    lines = [line.split() for line in tvmdbg("struct").stdout.splitlines()]
    assert ["DLTensor", "48", "56"] in lines
    assert ["DLManagedTensor", "64", "72"] in lines
    assert ["TVMValue", "8", "8"] in lines
    own = tvmdbg("struct", "--dtype-layout", "code:u8 bits:u8 lanes:u32", "--bits", "32").stdout
    assert ["DLTensor", "40"] in [line.split() for line in own.splitlines()]


def test_wider_dtype_layout_lists_the_members_it_moves(tvmdbg: Run) -> None:
    done = tvmdbg("struct", "DLTensor", "--dtype-layout", "standard", "--dtype-layout", "packed64")
    assert done.returncode == 0, done.stderr
    assert "8 bytes later: shape, strides, byte_offset" in done.stdout
    assert "size: 56 bytes, was 48" in done.stdout


def test_layout_is_detected_from_a_hex_dump(tvmdbg: Run, tmp_path: Path) -> None:
    path = tmp_path / "dump.txt"
    path.write_text(DUMP)
    done = tvmdbg("struct", "DLTensor", "--hex", path)
    assert done.returncode == 0, done.stderr
    assert "wide makes sense: float32, ndim 2. Not narrow: dtype.bits is 0" in done.stdout
    told = json.loads(tvmdbg("struct", "DLTensor", "--hex", path, "--json").stdout)
    assert told["verdict"].startswith("wide makes sense")
    bits = next(m for m in told["dtype_layouts"][0]["members"] if m["member"] == "dtype.bits")
    assert bits["offset"] == 21
    assert bits["value"] == "0"
    assert bits["problem"] == "no data type has 0 bits"


@pytest.mark.parametrize(
    ("options", "lanes"),
    [(["--bytes"], "256"), (["--words"], "1"), (["--bytes", "--big-endian"], "1")],
)
def test_ambiguous_hex_groups_are_read_by_the_chosen_option(
    tvmdbg: Run, options: list[str], lanes: str
) -> None:
    groups = b"2002 0001" if options == ["--words"] else b"0220 0001"
    wanted = ["struct", "DLDataType", "--dtype-layout", "narrow", "--hex", "-", "--json"]
    unclear = tvmdbg(*wanted, input=groups, text=False)
    assert unclear.returncode != 0
    assert b"--words" in unclear.stderr
    done = tvmdbg(*wanted, *options, input=groups, text=False)
    (layout,) = json.loads(done.stdout)["dtype_layouts"]
    assert [each["value"] for each in layout["members"][1:]] == ["32", lanes]


def test_hex_dump_is_read_from_standard_input(tvmdbg: Run) -> None:
    done = tvmdbg("struct", "DLTensor", "--hex", "-", input=DUMP.encode(), text=False)
    assert b"wide makes sense" in done.stdout


def test_svg_is_written(tvmdbg: Run, tmp_path: Path) -> None:
    done = tvmdbg("struct", "DLTensor", "-o", tmp_path / "t.svg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")


def test_a_source_tree_is_checked(tvmdbg: Run, tmp_path: Path) -> None:
    tree(tmp_path, WIDE, forgotten={"arg_binder"})
    done = tvmdbg("struct", "--check", tmp_path, "--dtype-layout", "packed64")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[1].startswith("disagrees: arg_binder, ")
    assert "src/tir/transforms/arg_binder.cc:" in done.stdout
    tree(tmp_path, WIDE)
    assert tvmdbg("struct", "--check", tmp_path, "--dtype-layout", "packed64").returncode == 0
    assert "pass the one that has src/ and include/" in refused(
        tvmdbg("struct", "--check", tmp_path / "nothing")
    )


def test_compiled_code_and_assertions(tvmdbg: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.ll"
    path.write_text(
        "%0 = type { ptr, %1, i32, %2, ptr, ptr, i64 }\n%1 = type { i32, i32 }\n"
        "%2 = type { i8, i8, i16 }\n"
    )
    done = tvmdbg("struct", "--ir", path)
    assert done.returncode == 0, done.stderr
    assert "compiled for the narrow layout" in done.stdout
    path.write_bytes(b"BC\xc0\xde\x35\x14")
    assert "llvm-dis" in refused(tvmdbg("struct", "--ir", path))
    done = tvmdbg("struct", "--assertions", "--dtype-layout", "wide")
    assert 'static_assert(sizeof(DLTensor) == 56, "DLTensor has not 56 bytes");' in done.stdout


def test_invalid_arguments_are_refused_with_a_hint(tvmdbg: Run, tmp_path: Path) -> None:
    assert "did you mean 'DLTensor'" in refused(tvmdbg("struct", "DLTensr"))
    assert "'code:u16 bits:u16 lanes:i32'" in refused(
        tvmdbg("struct", "DLTensor", "--dtype-layout", "code:u9")
    )
    for option in (["-o", tmp_path / "x.svg"], ["--hex", tmp_path / "x"], ["--json"]):
        assert "need a STRUCT" in refused(tvmdbg("struct", *option))
    assert "mutually exclusive" in refused(tvmdbg("struct", "DLTensor", "--assertions"))
    (tmp_path / "x").write_text("no dump")
    assert "no bytes are shown here" in refused(
        tvmdbg("struct", "DLTensor", "--hex", tmp_path / "x")
    )
