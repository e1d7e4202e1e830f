"""Vector types: what a file holds of their lanes, and how they are seen.

TVM's writer stores the first 1/lanes of the bytes (formats/tvm.md §3.3); zoo.params is its own.
Whole ones are laid out by numpy, as C lays out ``float4 x[n]``.
"""

import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import drawn
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.model.dtype_layout import NARROW
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType

TYPES = {
    "float32x4": np.float32,
    "int8x16": np.int8,
    "float16x2": np.float16,
    "uint8x3": np.uint8,
    "bfloat16x2": ml_dtypes.bfloat16,
}


def written(dtype: str, shape: tuple[int, ...], values: bytes) -> bytes:
    """A params list with one array ``x``, of whatever bytes."""
    sizes = struct.pack(f"<{len(shape) + 1}q", *shape, len(values))
    head = struct.pack("<QQQQ", 0xF7E58D4F05049CB7, 0, 1, 1) + b"x" + struct.pack("<Q", 1)
    record = struct.pack("<QQiii", 0xDD5E40F096B4A13F, 0, 1, 0, len(shape))
    return head + record + NARROW.pack(DataType.parse(dtype)) + sizes + values


def read(dtype: str, shape: tuple[int, ...], values: bytes) -> ArrayRecord:
    return read_params(written(dtype, shape, values)).records[0]


@given(
    st.sampled_from(sorted(TYPES)), st.lists(st.integers(0, 4), max_size=3).map(tuple), st.data()
)
def test_complete_vectors_have_a_lane_axis(
    name: str, shape: tuple[int, ...], data: st.DataObject
) -> None:
    lanes = DataType.parse(name).lanes
    kind = np.dtype(TYPES[name])
    size = int(np.prod(shape)) * lanes * kind.itemsize
    raw = np.frombuffer(data.draw(st.binary(min_size=size, max_size=size)), np.uint8)
    expected = raw.view(kind).reshape(*shape, lanes)
    record = read(name, shape, expected.tobytes())
    assert record.complete
    assert record.view_shape == (*shape, lanes)
    assert record.numpy().tobytes() == expected.tobytes()
    assert record.numpy().dtype == kind
    assert not record.notes
    if int(np.prod(shape)):
        names = [f"axis {axis}" for axis in range(len(shape))]
        assert record.values().axis_names == (*names, "lane")


@given(st.sampled_from(sorted(TYPES)), st.integers(1, 40))
def test_partial_vectors_have_no_lane_axis(name: str, count: int) -> None:
    dtype = DataType.parse(name)
    stored = np.arange(count).astype(np.uint8).astype(TYPES[name])
    record = read(name, (count,), stored.tobytes())
    assert record.view_shape == (count,)
    assert record.numpy().tobytes() == stored.tobytes()
    assert f"the first {count} of {count * dtype.lanes:,} lane values" in record.notes[0]


def test_billions_of_lanes_are_counted_and_not_allocated() -> None:
    wide = written("float32x4", (2, 3), bytes(24))
    at = wide.index(NARROW.pack(DataType.parse("float32x4")))
    huge = wide[:at] + struct.pack("<HHi", 2, 32, 2**31 - 1) + wide[at + 4 :]
    (record,) = read_params(huge).records
    assert record.dtype.lanes == 2**31 - 1
    assert record.view_shape == (6,)
    assert f"the first 6 of {6 * (2**31 - 1):,} lane values" in record.notes[0]


@pytest.mark.parametrize(
    ("values", "told", "shape"),
    [
        (np.arange(24, dtype=np.float32).tobytes(), "columns: lane (4)", "min     0 at [0, 0, 0]"),
        (np.arange(6, dtype=np.float32).tobytes(), "columns: stored lane value (6)", "max     5"),
    ],
    ids=["whole", "a part"],
)
def test_the_inspector_names_the_lanes(values: bytes, told: str, shape: str) -> None:
    run = tvmdbg.open(written("float32x4", (2, 3), values))
    figure = drawn(run.facts, "tensor", entry=(0, 0))
    assert told in figure.text
    assert shape in figure.text
    whole = len(values) == 96
    assert ("the first 6 of 24 lane values; all statistics are of these" in figure.text) != whole
    assert run.tensors[0, 0].numpy().size == len(values) // 4
