import math
import sys
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.statistics import Statistics, statistics
from tvmdbg_widgets.model.statistics.distribution import Scale, bent_edges


def compute(array: np.ndarray, size: int = 1000, bins: int = 8) -> Statistics:
    return statistics(lambda: (array[i : i + size] for i in range(0, len(array), size)), bins=bins)


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


small = st.integers(1, 20)


def test_integers_far_from_zero_keep_their_spread() -> None:
    array = np.arange(2**62, 2**62 + 1000, dtype=np.int64)
    found = compute(array, 64)
    assert found.mean == float(Fraction(2**63 + 999, 2))
    assert found.std == pytest.approx(math.sqrt((1000**2 - 1) / 12), rel=1e-13)
    assert (found.minimum, found.maximum) == (2**62, 2**62 + 999)


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


def test_complex_array_has_no_applicable_statistics() -> None:
    found = compute(np.ones(5, np.complex64), 2)
    assert not found.applicable
    assert "complex64" in found.reason
    assert found.size == 5
    assert math.isnan(found.mean)
    with pytest.raises(ValueError, match="bins"):
        compute(np.ones(3), bins=0)
