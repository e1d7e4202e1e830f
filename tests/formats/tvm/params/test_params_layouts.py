"""Params files whose ``DLDataType`` has widths of its own.

No release of TVM writes them: the bytes around the dtype are those of formats/tvm.md §3.6.
"""

import io
import struct

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.make.params import write_params
from tvmdbg_widgets.formats.tvm.params.file import load_params, read_params
from tvmdbg_widgets.formats.tvm.params.list import layout_text, layouts_to_try
from tvmdbg_widgets.formats.tvm.params.survey import conversion
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.dtype_layout import NARROW, WIDE, DTypeLayout
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.given import as_source

pytestmark = pytest.mark.spec_only

HEAD = bytes.fromhex(
    "b79c04054f8de5f7 0000000000000000 0100000000000000 0100000000000000 78 0100000000000000"
    "3fa1b496f0405edd 0000000000000000 01000000 00000000 02000000"
)
REST = struct.pack("<qqq6f", 2, 3, 24, *range(6))
LANES_U32 = DTypeLayout("code:u8 bits:u8 lanes:u32")
SWAPPED = DTypeLayout("lanes:u16 bits:u8 code:u8")
WIDTHS = ("u8", "u16", "u32", "u64", "i16", "i32", "i64")
DECLARED = st.builds(
    lambda names, widths: DTypeLayout(
        " ".join(f"{name}:{width}" for name, width in zip(names, widths, strict=True))
    ),
    st.permutations(["code", "bits", "lanes"]),
    st.tuples(*[st.sampled_from(WIDTHS)] * 3),
)


def one(dtype: bytes, nbytes: int = 24) -> bytes:
    """A file with the array ``x``, shape (2, 3), whose dtype field has these bytes."""
    return HEAD + dtype + struct.pack("<qqq6f", 2, 3, nbytes, *range(6))


@pytest.mark.parametrize(
    ("layout", "dtype"),
    [
        (NARROW, "02 20 01 00"),
        (WIDE, "02 00 20 00 01 00 00 00"),
        (LANES_U32, "02 20 01 00 00 00"),
        (SWAPPED, "01 00 20 02"),
        (DTypeLayout("bits:i64 code:u32 lanes:u8"), "20 00 00 00 00 00 00 00 02 00 00 00 01"),
    ],
    ids=str,
)
def test_bytes_of_declared_layouts(layout: DTypeLayout, dtype: str) -> None:
    expected = HEAD + bytes.fromhex(dtype) + REST
    out = io.BytesIO()
    write_params(out, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, layout=layout)
    assert out.getvalue() == expected
    found = load_params(expected, dtype_layout=layout)["x"]
    assert found.dtype == np.float32
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert load_params(expected, dtype_layout=layout.declaration)["x"].tolist() == found.tolist()


@given(DECLARED, st.sampled_from(["float32", "int8", "bool", "uint16", "float64", "int4"]))
def test_declared_layout_round_trips(layout: DTypeLayout, name: str) -> None:
    dtype = DataType.parse(name)
    assume(not layout.too_narrow_for(dtype))
    saved = np.ones((2, 3), dtype.numpy_dtype)
    out = io.BytesIO()
    write_params(out, {"x": saved, "y": saved[0]}, layout=layout)
    file = read_params(out.getvalue(), dtype_layout=layout)
    assert file.dtype_layout == layout
    assert [record.dtype for record in file.records] == [dtype, dtype]
    assert file.records[0].numpy().tolist() == saved.tolist()
    narrow = io.BytesIO()
    conversion(as_source(out.getvalue()), "narrow", layout).write(narrow)
    own = io.BytesIO()
    write_params(own, {"x": saved, "y": saved[0]})
    assert narrow.getvalue() == own.getvalue()


def test_lanes_above_65535_survive() -> None:
    for layout in (WIDE, LANES_U32, DTypeLayout("code:u8 bits:u8 lanes:u64")):
        data = one(layout.pack(DataType(2, 32, 70_000)))
        file = read_params(data, dtype_layout=layout)
        (record,) = file.records
        assert record.dtype == DataType(2, 32, 70_000)
        assert str(record.dtype) == "float32x70000"
        out = io.BytesIO()
        write_params(out, {"x": record}, layout=layout)
        assert out.getvalue() == data
        assert "stores 24 of 1,680,000 bytes" in record.notes[0]
    assert read_params(one(WIDE.pack(DataType(2, 32, 70_000)))).layout == "wide"


def test_custom_type_codes_are_read_with_explicit_layout() -> None:
    data = one(WIDE.pack(DataType(300, 32)))
    assert read_params(data, dtype_layout="wide").records[0].dtype == DataType(300, 32)
    with pytest.raises(FormatError):
        read_params(data)


def test_layout_detection_reports_candidates_and_reason() -> None:
    file = read_params(one(NARROW.pack(DataType(2, 32))))
    assert file.layout == "narrow"
    assert file.layout_reason.startswith("not wide: byte 70 of array 0 ('x') is 0x20, bits")
    file = read_params(one(WIDE.pack(DataType(2, 32))))
    assert file.layout == "wide"
    assert file.layout_reason.startswith("not narrow: byte 70 of array 0 ('x') is 0x00")
    file = read_params(one(LANES_U32.pack(DataType(2, 32))), dtype_layout=["auto", LANES_U32])
    assert file.dtype_layout == LANES_U32
    assert "among narrow, wide and code:u8 bits:u8 lanes:u32: not narrow: " in file.layout_reason
    assert "not wide: " in file.layout_reason
    same = DTypeLayout("code:u8 bits:u8 lanes:i16")
    file = read_params(one(NARROW.pack(DataType(2, 32))), dtype_layout=["narrow", same])
    assert file.layout == "narrow"
    (issue,) = file.issues.by_rule("layout-ambiguous")
    assert issue.message == (
        "array 0 ('x') fits other layouts of the dtype as well: code:u8 bits:u8 lanes:i16; "
        "read as narrow"
    )
    assert read_params(one(NARROW.pack(DataType(2, 32))), "narrow").layout_reason == "as asked for"


@given(st.sampled_from([NARROW, WIDE, LANES_U32]), st.data())
def test_the_layout_among_several_is_found(layout: DTypeLayout, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["float32", "int8", "uint16", "float64", "bfloat16"]))
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    saved = np.ones(shape, DataType.parse(name).numpy_dtype)
    out = io.BytesIO()
    write_params(out, {"x": saved}, layout=layout)
    order = data.draw(st.permutations([NARROW, WIDE, LANES_U32]))
    assert read_params(out.getvalue(), dtype_layout=order).dtype_layout == layout


def test_error_for_no_matching_layout_names_all_candidates() -> None:
    data = one(DTypeLayout("code:u32 bits:u32 lanes:u32").pack(DataType(2, 32)))
    with pytest.raises(FormatError) as caught:
        read_params(data, dtype_layout=["narrow", SWAPPED])
    text = str(caught.value)
    assert "no layout among narrow and lanes:u16 bits:u8 code:u8 fits" in text
    assert "narrow: dtype bits would be 0" in text
    assert caught.value.offset == len(HEAD)


def test_layouts_to_try_accepts_several_forms() -> None:
    assert layouts_to_try("auto") == (NARROW, WIDE)
    assert layouts_to_try(LANES_U32) == (LANES_U32,)
    assert layouts_to_try(["auto", "narrow", LANES_U32]) == (NARROW, WIDE, LANES_U32)
    assert layouts_to_try("auto | code:u8 bits:u8 lanes:u32") == (NARROW, WIDE, LANES_U32)
    assert layouts_to_try(layout_text(["wide", LANES_U32])) == (WIDE, LANES_U32)
    with pytest.raises(ValueError, match="dtype_layout: no layout given"):
        layouts_to_try([])


def test_narrow_layout_refuses_too_many_lanes() -> None:
    record = read_params(one(WIDE.pack(DataType(2, 32, 70_000)))).records[0]
    with pytest.raises(ValueError, match="'x': lanes 70000 of float32x70000 does not fit"):
        write_params(io.BytesIO(), {"x": record}, layout="narrow")
    with pytest.raises(FormatError) as caught:
        conversion(as_source(one(WIDE.pack(DataType(2, 32, 70_000)))), "narrow")
    assert caught.value.field == "array 0 ('x'): dtype lanes"
    assert caught.value.offset == len(HEAD) + 4
    assert caught.value.found == 70_000
