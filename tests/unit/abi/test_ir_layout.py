"""LLVM IR: which layout a module was compiled for, and where its parts disagree."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets import abi
from tvmdbg_widgets.formats.llvm_ir import read_tensor_types
from tvmdbg_widgets.model.base.text import FormatError

#: As TVM's LLVM backend prints a module of LLVM 15 and later, and of LLVM 9.
MODULE = """\
; ModuleID = 'TVMMod'
%0 = type {{ ptr, %1, i32, %2, ptr, ptr, i64 }}
%1 = type {{ i32, i32 }}
%2 = type {{ {dtype} }}

define dllexport i32 @default_function(ptr %args) {{
entry:
  %10 = getelementptr inbounds %0, ptr %arg0, i64 0, i32 3, i32 0
  %11 = load i{code}, ptr %10, align 1
  %12 = icmp eq i{code} %11, 2
  %13 = getelementptr inbounds %0, ptr %arg0, i64 0, i32 3, i32 1
  %14 = load i{code}, ptr %13, align 1
  %15 = icmp eq i{code} %14, 32
  ret i32 0
}}
"""
TYPED = """\
%0 = type { i8*, %1, i32, %2, i64*, i64*, i64 }
%1 = type { i32, i32 }
%2 = type { i8, i8, i16 }
define dllexport i32 @fused(i8* noalias nocapture readonly %args) local_unnamed_addr {
  %4 = getelementptr inbounds %0, %0* %arg0, i64 0, i32 3, i32 2
  %5 = load i16, i16* %4
  %6 = icmp eq i16 %5, 1
  %7 = getelementptr inbounds i8, i8* %1, i64 21
  %8 = bitcast i8* %7 to i16*
}
"""
#: Optimized, as TVM 0.27 prints it (LLVM 20, opt-level 3): no struct, offsets alone.
OFFSETS = """\
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64"
define dllexport i32 @__tvm_ffi_main(ptr readnone captures(none) %0, ptr %args, i32 %num_args) {{
assert_end11:
  %16 = getelementptr inbounds nuw i8, ptr %A.handle, i64 16, !dbg !15
  %17 = load i32, ptr %16, align 4, !dbg !15
  %18 = icmp eq i32 %17, 1, !dbg !15
  br i1 %18, label %assert_end13, label %assert_fail12, !dbg !15, !prof !16

assert_end13:                                     ; preds = %assert_end11
  %19 = getelementptr inbounds nuw i8, ptr %A.handle, i64 {lanes_at}, !dbg !15
  %20 = load i{lanes}, ptr %19, align 2, !dbg !15
  %21 = icmp eq i{lanes} %20, 1, !dbg !15
  %22 = getelementptr inbounds nuw i8, ptr %A.handle, i64 {bits_at}, !dbg !15
  %23 = load i{bits}, ptr %22, align 1, !dbg !15
  %24 = icmp eq i{bits} %23, 32, !dbg !15
  %25 = getelementptr inbounds nuw i8, ptr %A.handle, i64 20, !dbg !15
  %26 = load i{code}, ptr %25, align 2, !dbg !15
  %27 = icmp eq i{code} %26, 2, !dbg !15
  %30 = getelementptr inbounds nuw i8, ptr %A.handle, i64 {shape_at}, !dbg !15
  %main.A_shape = load ptr, ptr %30, align 8, !dbg !15
}}
"""


@pytest.mark.parametrize(
    ("dtype", "code", "layout"), [("i8, i8, i16", 8, "narrow"), ("i16, i16, i32", 16, "wide")]
)
def test_layout_is_read_from_struct_type(dtype: str, code: int, layout: str) -> None:
    found = abi.layout_of_ir(MODULE.format(dtype=dtype, code=code))
    assert found.layout == abi.DTypeLayout(layout)
    assert not found.conflicts
    assert f"Line 4: DLDataType is {{ {dtype} }} in %0" in found.text
    assert f"compiled for the {layout} layout" in found.text
    assert "2 uses of its fields have these widths" in found.text


def test_typed_pointers_of_old_releases_are_read() -> None:
    found = abi.layout_of_ir(TYPED)
    assert found.layout == abi.DTypeLayout("narrow")
    (read,) = found.tensors[0].reads
    assert (read.field, read.width, read.value, read.line) == ("lanes", 16, 1, 7)


@pytest.mark.parametrize(
    ("layout", "code", "lanes", "places"),
    [
        ("narrow", 8, 16, (21, 22, 24)),
        ("wide", 16, 32, (22, 24, 32)),
        ("code:u8 bits:u8 lanes:u32", 8, 32, (21, 24, 32)),
    ],
)
def test_layout_is_inferred_from_offsets_alone(
    layout: str, code: int, lanes: int, places: tuple[int, int, int]
) -> None:
    bits_at, lanes_at, shape_at = places
    text = OFFSETS.format(
        code=code, bits=code, bits_at=bits_at, lanes=lanes, lanes_at=lanes_at, shape_at=shape_at
    )
    found = abi.layout_of_ir(text, layout)
    assert found.layout == abi.DTypeLayout(layout)
    told = f"i{code} at 20, i{code} at {bits_at}, i{lanes} at {lanes_at}"
    assert f"Line 12: code reads {told} of %A.handle, a DLTensor" in found.text
    assert f"compiled for the {found.layout.name} layout" in found.text
    values = [(read.field, read.width, read.value) for read in found.tensors[0].reads]
    assert values == [("code", code, 2), ("bits", code, 32), ("lanes", lanes, 1)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i64 16", "i64 40"),  # ndim is not read
        ("load i32, ptr %16", "load i64, ptr %16"),
        ("icmp eq i8 %23, 32", "icmp eq i8 %23, 33"),  # no data type has 33 bits
        ("icmp eq i8 %26, 2", "icmp eq i8 %26, %x"),
        ("icmp eq i16 %20, 1", "icmp eq i16 %20, 0"),
        ("i64 22", "i64 23"),  # not aligned
        ("ptr %A.handle, i64 21", "ptr %B.handle, i64 21"),
    ],
)
def test_other_structs_are_not_taken_for_a_tensor(old: str, new: str) -> None:
    text = OFFSETS.format(code=8, bits=8, bits_at=21, lanes=16, lanes_at=22, shape_at=24)
    assert old in text
    assert abi.layout_of_ir(text.replace(old, new)).tensors == ()


def test_pointer_width_is_read_from_datalayout() -> None:
    text = OFFSETS.format(code=8, bits=8, bits_at=17, lanes=16, lanes_at=18, shape_at=20)
    text = text.replace("i64 20, !dbg", "i32 16, !dbg", 2).replace("i64 16,", "i32 12,")
    text = text.replace("i32 16, !dbg !15\n  %main", "i32 20, !dbg !15\n  %main")
    assert abi.layout_of_ir(text).layout is None
    arm = text.replace('"e-m:e-p270', '"e-m:e-p:32:32-p270')
    assert abi.layout_of_ir(arm).layout == abi.DTypeLayout("narrow")


def test_module_with_mixed_layouts_is_reported_first() -> None:
    narrow = OFFSETS.format(code=8, bits=8, bits_at=21, lanes=16, lanes_at=22, shape_at=24)
    wide = OFFSETS.format(code=16, bits=16, bits_at=22, lanes=32, lanes_at=24, shape_at=32)
    found = abi.layout_of_ir(narrow + wide)
    assert found.layout is None
    assert found.text.startswith("The module has more than one DLDataType")
    assert "the narrow layout" in found.text
    assert "the wide layout" in found.text


@pytest.mark.parametrize(
    "compared", ["icmp eq i8 %11, i16 2", "icmp eq i16 2, i8 %11", "icmp ne i8 %11, i16 2"]
)
def test_operands_of_two_types_are_a_conflict(compared: str) -> None:
    """LLVM prints both types where they differ, as its verifier does when it stops the build."""
    text = MODULE.format(dtype="i8, i8, i16", code=8).replace("icmp eq i8 %11, 2", compared)
    found = abi.layout_of_ir(text)
    (read,) = found.conflicts
    assert (read.field, read.width, read.compared, read.value) == ("code", 8, 16, 2)
    assert found.text.splitlines()[0] == (
        "Line 10: code is compared as i16 with 2, but the struct has i8 there: arg_binder.cc and "
        "codegen_cpu.cc were not changed together."
    )


def test_stores_of_another_width_are_a_conflict() -> None:
    store = "  store i8 2, ptr %10, align 1\n  %11"
    text = MODULE.format(dtype="i16, i16, i32", code=16).replace("  %11", store, 1)
    found = abi.layout_of_ir(text)
    assert found.text.startswith(
        "Line 9: code is stored as i8, but the struct has i16 there: lower_tvm_builtin.cc"
    )
    assert found.layout == abi.DTypeLayout("wide")


TYPED_NAMES = (
    '%"struct.DLTensor" = type { i8*, %"x y", i32, %t.1, i64*, i64*, i64 }\n'
    '%"x y" = type { i32, i32 }\n%t.1 = type { i8, i8, i16 }'
)
TYPED_PACKED = (
    "%0 = type { void (i8*, i32)*, %1, i32, %2, i64*, i64*, i64 }\n%1 = type { i32, i32 }\n"
    "%2 = type <{ i8, i8, i16 }>"
)


@pytest.mark.parametrize(
    ("types", "layout"),
    [
        ("%D = type { ptr, { i32, i32 }, i32, { i16, i16, i32 }, ptr, ptr, i64 }", "wide"),
        (TYPED_NAMES, "narrow"),
        (TYPED_PACKED, "narrow"),
        ("%D = type { ptr, { i32, i32 }, i32, <{ i8, i8, i32 }>, ptr, ptr, i64 }", None),
        ("%D = type { ptr, { i32, i32 }, i32, { i8, i8, i32 }, ptr, ptr, i64 }", "u32"),
    ],
)  # fmt: skip
def test_types_are_read_in_every_spelling(types: str, layout: str | None) -> None:
    own = "code:u8 bits:u8 lanes:u32"
    found = abi.layout_of_ir(types, own)
    assert len(found.tensors) == 1
    assert found.layout == (abi.DTypeLayout(own if layout == "u32" else layout) if layout else None)


@pytest.mark.parametrize(
    "types",
    [
        "%D = type { ptr, { i32, i32 }, i32, { i8, i8 }, ptr, ptr, i64 }",
        "%D = type { ptr, { i32, i32 }, i32, { i8, i8, float }, ptr, ptr, i64 }",
        "%D = type { ptr, { i32, i64 }, i32, { i8, i8, i16 }, ptr, ptr, i64 }",
        "%D = type { ptr, { i32, i32 }, i64, { i8, i8, i16 }, ptr, ptr, i64 }",
        "%D = type { ptr, %D, i32, %D, ptr, ptr, i64 }",
        "%D = type opaque",
    ],
)
def test_other_types_are_not_tensors(types: str) -> None:
    assert abi.layout_of_ir(types).tensors == ()


def test_a_file_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "module.ll"
    filler = b"; " + b"x" * 200 + b"\n"
    body = OFFSETS.format(code=16, bits=16, bits_at=22, lanes=32, lanes_at=24, shape_at=32)
    path.write_bytes(filler * 20_000 + b"; " + b"y" * 3_000_000 + b"\r\n" + body.encode())
    found = abi.layout_of_ir(path)
    assert found.layout == abi.DTypeLayout("wide")
    assert found.tensors[0].line == 20_001 + 12
    path.write_bytes(b"BC\xc0\xde")
    with pytest.raises(FormatError, match="llvm-dis"):
        abi.layout_of_ir(path)


def test_text_from_files_is_escaped() -> None:
    text = MODULE.replace("%0", '%"<b>\x1b[31m"').format(dtype="i8, i8, i16", code=16)
    found = abi.layout_of_ir(text)
    assert found.tensors
    assert "\x1b" not in repr(found)
    assert "<b>" not in found._repr_html_()


def test_the_table_has_a_row_per_use() -> None:
    pytest.importorskip("pandas")
    table = abi.layout_of_ir(MODULE.format(dtype="i8, i8, i16", code=16)).to_dataframe()
    assert list(table.field) == ["code", "bits"]
    assert list(table.width) == [16, 16]
    assert list(table.struct_width) == [8, 8]


def test_change_of_arg_binder_alone_is_detected() -> None:
    found = abi.layout_of_ir(MODULE.format(dtype="i8, i8, i16", code=16))
    assert found.layout == abi.DTypeLayout("narrow")
    assert [(read.field, read.width) for read in found.conflicts] == [("code", 16), ("bits", 16)]
    assert "code is compared as i16 with 2, but the struct has i8 there" in found.text
    assert "arg_binder.cc and codegen_cpu.cc were not changed together" in found.text


def test_custom_and_missing_layouts_are_reported() -> None:
    text = MODULE.format(dtype="i8, i8, i32", code=8)
    assert abi.layout_of_ir(text).layout is None
    assert "not known here" in abi.layout_of_ir(text).text
    own = abi.layout_of_ir(text, "code:u8 bits:u8 lanes:u32")
    assert own.layout == abi.DTypeLayout("code:u8 bits:u8 lanes:u32")
    assert "No struct of this module is a DLTensor" in abi.layout_of_ir("define void @f()").text
    with pytest.raises(FormatError, match="llvm-dis"):
        abi.layout_of_ir(b"BC\xc0\xde\x35\x14")


@pytest.mark.parametrize(
    ("fields", "layout"),
    [
        ("uint8_t code; uint8_t bits; uint16_t lanes;", "narrow"),
        ("uint16_t code; uint16_t bits; int32_t lanes;", "wide"),
        ("uint8_t code; uint8_t bits; uint32_t lanes;", "code:u8 bits:u8 lanes:u32"),
    ],
)
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_clang_output_is_parsed(fields: str, layout: str, level: str, tmp_path: Path) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("no clang here")
    source = tmp_path / "t.c"
    source.write_text(
        f"#include <stdint.h>\ntypedef struct {{ {fields} }} DLDataType;\n"
        "typedef struct { int32_t device_type, device_id; } DLDevice;\n"
        "typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype;\n"
        "  int64_t *shape, *strides; uint64_t byte_offset; } DLTensor;\n"
        "int f(DLTensor *t) {\n  if (t->ndim != 2) return 1;\n  return t->dtype.code == 2 &\n"
        "    t->dtype.bits == 32 & t->dtype.lanes == 1;\n}\n"
    )
    command = [clang, "-S", "-emit-llvm", level, "-o", "-", str(source)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = abi.layout_of_ir(printed, layout)
    assert found.layout == abi.DTypeLayout(layout), printed
    assert not found.conflicts
    reads = found.tensors[0].reads
    assert [read.field for read in reads] == ["code", "bits", "lanes"]
    if level != "-O0":
        # There C's promotions compare what was widened to int.
        assert [read.value for read in reads] == [2, 32, 1]


@given(st.text(max_size=400) | st.binary(max_size=400))
def test_arbitrary_text_yields_no_tensor_types(text: str | bytes) -> None:
    try:
        found = read_tensor_types(text)
    except FormatError:
        return
    assert found == ()


PIECES = [
    *("%0", " = type { ", "ptr", ", ", "%1", "i32", " }", "\n", "getelementptr inbounds %0, "),
    *("i64 0, i32 3, i32 1", " load i8, ptr ", "icmp eq i8 ", "define", "i8*", "<{", '%"a b"'),
]


@given(st.lists(st.sampled_from(PIECES), max_size=120))
def test_arbitrary_ir_fragments_are_accepted(pieces: list[str]) -> None:
    assert isinstance(abi.layout_of_ir("".join(pieces)).text, str)


HOSTILE = [
    *("%0 = type { ", "%a = getelementptr inbounds ", "i64 0, ", "%x = load i8, ", "icmp eq i8 "),
    *("%0 = type { ptr, { i32, i32 }, i32, { i8, i8, i16 }, ptr, ptr, i64 }", "define {", "}"),
    *("%1 = getelementptr i8, ptr %0, i64 20", "%2 = load i8, ptr %1", "store i8 1, ptr %1"),
    *("{[<(", '%"', "%a" * 90, "addrspace(1) ", "target datalayout = ", "bitcast i8* %1 to "),
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_ir_takes_linear_time(piece: str) -> None:
    head = "%0 = type { ptr, { i32, i32 }, i32, { i8, i8, i16 }, ptr, ptr, i64 }\ndefine {\n"
    count = 1_000_000 // len(piece)
    for text in (f"{piece}\n" * count, head + f"{piece}\n" * count, head + piece * count):
        for lines in (
            text,
            "\n".join(text[at : at + 19_000] for at in range(0, len(text), 19_000)),
        ):
            begin = time.process_time()
            abi.layout_of_ir(lines)
            assert time.process_time() - begin < 4


@pytest.mark.slow
def test_many_structs_and_many_functions_take_linear_time() -> None:
    struct = "%s{} = type {{ ptr, {{ i32, i32 }}, i32, {{ i8, i8, i16 }}, ptr, ptr, i64 }}\n"
    structs = "".join(struct.format(at) for at in range(8_000))
    body = OFFSETS.format(code=8, bits=8, bits_at=21, lanes=16, lanes_at=22, shape_at=24)
    begin = time.process_time()
    found = abi.layout_of_ir(structs + body * 400)
    assert time.process_time() - begin < 6
    assert len(found.tensors) == 8_001
    assert found.tensors[-1].read_count == 1_200
    assert len(found.tensors[-1].reads) == 1_000
