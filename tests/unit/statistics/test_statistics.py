from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.statistics import Statistics, statistics
from tvmdbg_widgets.model.statistics.distribution import Scale, bent_edges


def pieces(array: np.ndarray, size: int) -> Callable[[], Iterator[np.ndarray]]:
    return lambda: (array[i : i + size] for i in range(0, len(array), size))


def compute(array: np.ndarray, size: int = 1000, bins: int = 8) -> Statistics:
    return statistics(pieces(array, size), bins=bins)


def exact_std(values: list[float]) -> float:
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    square = sum((v - mean) ** 2 for v in exact) / len(exact)
    # The square root of a fraction too large or small for a float.
    shift = max(0, square.numerator.bit_length() - square.denominator.bit_length() - 900) // 2
    if square and square < Fraction(1, 2**900):
        shift = -((square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    return math.ldexp(math.sqrt(square / Fraction(4) ** shift), shift)


def check(array: np.ndarray, found: Statistics, bins: int = 8) -> None:
    values = array.astype(np.float64) if array.dtype.kind not in "iu" else array
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    assert found.size == len(array)
    assert found.finite == len(finite)
    assert found.nan == np.isnan(values).sum()
    assert found.pos_inf == (values == np.inf).sum()
    assert found.neg_inf == (values == -np.inf).sum()
    assert found.zero == (values == 0).sum()
    assert found.negative == (values < 0).sum()
    assert found.applicable
    if len(finite) == 0:
        assert found.minimum is found.maximum is found.argmin is found.argmax is None
        assert math.isnan(found.mean)
        assert found.histogram is None
        return
    assert found.minimum == finite.min()
    assert found.maximum == finite.max()
    assert found.argmin == np.flatnonzero(values == finite.min())[0]
    assert found.argmax == np.flatnonzero(values == finite.max())[0]
    items = finite.tolist()
    scale = max(map(abs, items))
    mean = float(sum(map(Fraction, items)) / len(items))
    assert abs(found.mean - mean) <= 1e-12 * (math.fsum(abs(v) / len(items) for v in items))
    assert found.std == pytest.approx(exact_std(items), rel=1e-12, abs=scale * 2e-16)
    counts, edges = found.histogram.counts, found.histogram.edges
    assert counts.sum() == len(finite)
    assert len(counts) == bins == len(edges) - 1
    assert edges[0] <= float(finite.min())
    assert edges[-1] >= float(finite.max())
    for index, (left, right) in enumerate(pairwise(edges)):
        inside = (finite.astype(float) >= left) & (finite.astype(float) < right)
        if index == len(counts) - 1:
            inside |= finite.astype(float) == right
        assert counts[index] == inside.sum()


sizes = st.integers(1, 50)
small = st.integers(1, 20)


@given(st.lists(st.floats(width=32), max_size=60), small)
def test_any_float32(items: list[float], size: int) -> None:
    array = np.array(items, np.float32)
    check(array, compute(array, size))


@given(st.lists(st.floats(), max_size=60), small)
def test_any_float64(items: list[float], size: int) -> None:
    array = np.array(items, np.float64)
    check(array, compute(array, size))


@given(
    st.sampled_from(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]),
    st.data(),
    small,
)
def test_any_integers(name: str, data: st.DataObject, size: int) -> None:
    info = np.iinfo(name)
    number = st.integers(int(info.min), int(info.max))
    array = np.array(data.draw(st.lists(number, max_size=60)), name)
    found = compute(array, size)
    if len(array):
        exact = sum(map(int, array.tolist()))
        assert found.mean == exact / len(array)
        assert found.minimum.dtype == np.dtype(name)
        assert found.minimum == min(array.tolist())
        assert found.std == pytest.approx(exact_std(array.tolist()), rel=1e-12)
    if info.bits < 64:
        check(array, found)


def test_integers_far_from_zero_keep_their_spread() -> None:
    array = np.arange(2**62, 2**62 + 1000, dtype=np.int64)
    found = compute(array, 64)
    assert found.mean == float(Fraction(2**63 + 999, 2))
    assert found.std == pytest.approx(math.sqrt((1000**2 - 1) / 12), rel=1e-13)
    assert (found.minimum, found.maximum) == (2**62, 2**62 + 999)


@pytest.mark.parametrize(
    "name", [n for n in dir(ml_dtypes) if n.startswith(("bfloat", "float", "int", "uint"))]
)
def test_statistics_are_right_for_every_value_of_small_types(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    info = ml_dtypes.iinfo(dtype) if name.startswith(("int", "uint")) else ml_dtypes.finfo(dtype)
    every = np.arange(1 << (16 if dtype.itemsize == 2 else info.bits), dtype=np.uint32)
    array = every.astype(f"u{dtype.itemsize}").view(dtype)
    found = compute(array, 100)
    with np.errstate(invalid="ignore"):
        wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    assert found.size == len(array)
    assert found.nan == np.isnan(wide).sum()
    assert found.minimum == finite.min()
    assert found.maximum == finite.max()
    error = abs(found.mean - math.fsum(finite) / len(finite))
    assert error <= 1e-12 * math.fsum(abs(finite)) / len(finite)


def test_float16_and_bool() -> None:
    array = np.array([0, 1, 2, 65504, np.inf, np.nan, -0.0], np.float16)
    check(array, compute(array, 3))
    found = compute(np.array([False, True, True, False]), 3)
    assert (found.minimum, found.maximum) == (False, True)
    assert found.maximum.dtype == np.bool_
    assert (found.zero, found.mean, found.argmax) == (2, 0.5, 1)


def test_mean_and_std_are_accurate_for_ill_conditioned_sums() -> None:
    rng = np.random.default_rng(1)
    array = (rng.standard_normal(200_000) * 1e-3 + 1e6).astype(np.float64)
    found = compute(array, 1 << 12)
    assert found.mean == pytest.approx(math.fsum(array) / len(array), rel=1e-15)
    centered = array - 1e6
    mean = math.fsum(centered) / len(array)
    square = math.fsum((centered - mean) ** 2) / len(array)
    assert found.std == pytest.approx(math.sqrt(square), rel=1e-9)
    ordinary = rng.standard_normal(1_000_003).astype(np.float32)
    found = compute(ordinary, 1 << 16)
    truth = math.fsum(ordinary.tolist()) / len(ordinary)
    assert found.mean == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("bins", [1, 7, 64, 255])
def test_histogram_matches_numpy(bins: int) -> None:
    array = np.random.default_rng(2).standard_normal(50_000)
    found = compute(array, 4096, bins)
    counts, edges = np.histogram(array, bins, (array.min(), array.max()))
    assert found.histogram.counts.tolist() == counts.tolist()
    np.testing.assert_allclose(found.histogram.edges, edges, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("low", [0.0, 1e6, -3e15, 5e-324, 1e308, -1.7e308])
def test_histogram_of_values_close_together(low: float) -> None:
    steps = np.arange(50) % 23
    array = np.array([low + int(step) * math.ulp(low) for step in steps])
    check(array, compute(array, 7, 64), 64)


@pytest.mark.parametrize(
    "value", [0.0, 1.5, 1e300, 1.7976931348623157e308, -1.7976931348623157e308]
)
def test_histogram_of_one_value(value: float) -> None:
    array = np.full(5, value)
    check(array, compute(array, 2, 64), 64)


@pytest.mark.parametrize(
    ("low", "high", "bins", "scale"),
    [
        *((5.0, 1.0, 4, each) for each in ("linear", "log", "symlog")),
        *((1.0, math.inf, 4, each) for each in ("linear", "log", "symlog")),
        *((math.nan, 1.0, 4, each) for each in ("linear", "log", "symlog")),
        *((1.0, 2.0, 0, each) for each in ("linear", "log", "symlog")),
        (1.0, 2.0, 4, "cubic"),
    ],
)
def test_impossible_histogram_edges_are_refused(
    low: float, high: float, bins: int, scale: Scale
) -> None:
    with pytest.raises(ValueError, match=r"bound|bins|scale"):
        bent_edges(low, high, bins, scale)


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize(
    ("low", "high"), [(1e15, 1e15 + 0.5), (5e-324, 2e-323), (1.5e-323, sys.float_info.max)]
)
def test_edges_ascend(low: float, high: float, scale: Scale) -> None:
    edges = bent_edges(low, high, 64, scale)
    assert (edges[1:] > edges[:-1]).all()
    assert (edges[0], edges[-1]) == (low, high)


@pytest.mark.parametrize("bins", range(1, 70))
def test_edges_at_float64_limits_raise_no_warning(bins: int) -> None:
    limit = sys.float_info.max
    for low, high in ((0.0, limit), (-limit, 0.0), (-limit, limit), (1e300, limit)):
        with np.errstate(all="raise"):
            edges = bent_edges(low, high, bins, "linear")
        assert np.isfinite(edges).all()
        assert (edges[0], edges[-1]) == (low, high)


@pytest.mark.parametrize("items", [[], [math.nan], [math.inf, -math.inf, math.nan]])
def test_repr_without_finite_values_shows_no_bounds(items: list[float]) -> None:
    found = compute(np.array(items, np.float32))
    assert repr(found).endswith("no bounds")
    assert f"{counted(len(items), 'value')}, 0 finite" in repr(found)


def test_histogram_of_integers_falls_on_edges() -> None:
    array = np.arange(-128, 128, dtype=np.int8)
    for bins in (1, 5, 64, 255, 256, 1000):
        check(array, compute(array, 100, bins), bins)


def test_complex_array_has_no_applicable_statistics() -> None:
    found = compute(np.ones(5, np.complex64), 2)
    assert not found.applicable
    assert "complex64" in found.reason
    assert found.size == 5
    assert math.isnan(found.mean)
    with pytest.raises(ValueError, match="bins"):
        compute(np.ones(3), bins=0)
