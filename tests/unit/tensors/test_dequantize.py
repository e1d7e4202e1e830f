"""Dequantized values against exact fractions and against float32 as TVM computes it."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.tensors.dtypes import from_numpy
from tvmdbg_widgets.model.tensors.layouts import dequantized
from tvmdbg_widgets.model.tensors.tensors import ArrayRecord, Tensor
from tvmdbg_widgets.sources.byte_source import BytesSource

SCALE = st.floats(2.0**-60, 2.0**60, width=32)


@given(
    st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=20),
    SCALE,
    st.integers(-(2**15), 2**15 - 1),
)
def test_narrow_values_are_exact(numbers: list[int], scale: float, zero: int) -> None:
    found = dequantized(np.array(numbers, np.int16), np.float32(scale), zero)
    assert found.dtype == np.float64
    exact = [(number - zero) * Fraction(scale) for number in numbers]
    assert [Fraction(each) for each in found.tolist()] == exact
    shifted = np.array(numbers, np.int32) - np.int32(zero)
    by_tvm = shifted.astype(np.float32) * np.float32(scale)
    assert np.array_equal(found.astype(np.float32), by_tvm)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1), st.data())
def test_per_axis_scales_apply_by_index(
    rows: int, cols: int, axis: int, data: st.DataObject
) -> None:
    length = (rows, cols)[axis]
    array = np.arange(rows * cols, dtype=np.int8).reshape(rows, cols)
    scale = data.draw(st.lists(SCALE, min_size=length, max_size=length))
    zero = data.draw(st.lists(st.integers(-128, 127), min_size=length, max_size=length))
    for given_axis in (axis, axis - 2):
        found = dequantized(array, scale, zero, given_axis)
        for row in range(rows):
            for col in range(cols):
                at = (row, col)[axis]
                assert found[row, col] == (float(array[row, col]) - zero[at]) * scale[at]


def test_tensor_dequantized_method() -> None:
    array = np.array([[-128, 0], [1, 127]], np.int8)
    record = ArrayRecord(
        "k", from_numpy(array.dtype), array.shape, array.nbytes, 0, BytesSource(array.tobytes())
    )
    tensor = Tensor(record, 0, 0, name="t")
    assert tensor.dequantized(0.5, 10).tolist() == [[-69.0, -5.0], [-4.5, 58.5]]
    assert tensor.dequantized([1, 2], axis=0).tolist() == [[-128.0, 0.0], [2.0, 254.0]]
    assert tensor.dequantized([2.0]).tolist() == [[-256.0, 0.0], [2.0, 254.0]]
    assert tensor.dequantised([2.0]).tolist() == [[-256.0, 0.0], [2.0, 254.0]]  # earlier name


def test_small_types_and_scalars() -> None:
    assert dequantized(np.array([-8, 7], ml_dtypes.int4), 0.25).tolist() == [-2.0, 1.75]
    assert dequantized(np.uint8(200), 0.5, 128).tolist() == 36.0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (([1, 2],), "name the axis"),
        ((1.0, [1, 2]), "zero_point has 2 numbers"),
        (([1, 2], 0, 2), "axis 2 of values with 2 axes"),
        (([1, 2], 0, 1), "needs 3 numbers"),
        (([[1, 2]], 0, 0), r"shape \(1, 2\)"),
    ],
)
def test_scales_that_do_not_fit_are_refused(arguments: tuple, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        dequantized(np.zeros((2, 3), np.int8), *arguments)


def test_complex_values_are_not_quantised() -> None:
    with pytest.raises(TypeError, match="complex64"):
        dequantized(np.zeros(1, np.complex64), 1.0)


def test_signalling_nan_is_nan_without_a_warning() -> None:
    values = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    with np.errstate(all="raise"):
        found = dequantized(values, 2.0)
    assert np.isnan(found[0])
    assert found[1] == 2.0
