"""LLVM IR: which layout a module was compiled for, and where its parts disagree."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets import abi
from tvmdbg_widgets.formats.llvm_ir import read_tensor_types
from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

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
  %4 = getelementptr inbounds %0, %0* %arg0, i64 0, i32 3, i32 2
  %5 = load i16, i16* %4
  %6 = icmp eq i16 %5, 1
"""


@pytest.mark.parametrize(
    ("dtype", "code", "layout"),
    [("i8, i8, i16", 8, "narrow"), ("i16, i16, i32", 16, "wide")],
)
def test_the_struct_says_the_layout(dtype: str, code: int, layout: str) -> None:
    found = abi.layout_of_ir(MODULE.format(dtype=dtype, code=code))
    assert found.layout == abi.DTypeLayout(layout)
    assert not found.conflicts
    assert f"Line 4: DLDataType is {{ {dtype} }} in %0" in found.text
    assert f"compiled for the {layout} layout" in found.text
    assert "2 comparisons of data types read the same widths" in found.text


def test_typed_pointers_of_old_releases_are_read() -> None:
    found = abi.layout_of_ir(TYPED)
    assert found.layout == abi.DTypeLayout("narrow")
    (read,) = found.tensors[0].reads
    assert (read.field, read.width, read.value, read.line) == ("lanes", 16, 1, 6)


def test_arg_binder_changed_alone_is_seen() -> None:
    found = abi.layout_of_ir(MODULE.format(dtype="i8, i8, i16", code=16))
    assert found.layout == abi.DTypeLayout("narrow")
    assert [(read.field, read.width) for read in found.conflicts] == [("code", 16), ("bits", 16)]
    assert "code is compared as i16 with 2, but the struct has i8 there" in found.text
    assert "arg_binder.cc and codegen_cpu.cc were not changed together" in found.text


def test_other_layouts_are_told_as_they_are() -> None:
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
    ],
)
def test_what_clang_prints_is_read(fields: str, layout: str, tmp_path: Path) -> None:
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("no clang here")
    source = tmp_path / "t.c"
    source.write_text(
        f"#include <stdint.h>\ntypedef struct {{ {fields} }} DLDataType;\n"
        "typedef struct { int32_t device_type, device_id; } DLDevice;\n"
        "typedef struct { void *data; DLDevice device; int32_t ndim; DLDataType dtype;\n"
        "  int64_t *shape, *strides; uint64_t byte_offset; } DLTensor;\n"
        "int f(DLTensor *t) { return t->dtype.code == 2 && t->dtype.bits == 32; }\n"
    )
    command = [clang, "-S", "-emit-llvm", "-O0", "-o", "-", str(source)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = abi.layout_of_ir(printed)
    assert found.layout == abi.DTypeLayout(layout), printed


@given(st.text(max_size=400) | st.binary(max_size=400))
def test_any_text_is_read(text: str | bytes) -> None:
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
def test_pieces_of_ir_are_read(pieces: list[str]) -> None:
    assert isinstance(abi.layout_of_ir("".join(pieces)).text, str)


def test_long_lines_take_linear_time() -> None:
    for piece in ("%0 = type { ", "%a = getelementptr inbounds ", "i64 0, ", "%x = load i8, "):
        read_tensor_types(piece * 1000 + "\n" + piece * 100_000)
