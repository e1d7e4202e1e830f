"""Numbers easily told wrong: cancelled sums, denormal edges, whole numbers on log scales."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import values_of
from tvmdbg_widgets.model.statistics import Statistics, result, statistics
from tvmdbg_widgets.model.statistics.bins import Moments
from tvmdbg_widgets.model.statistics.contrast import Kept
from tvmdbg_widgets.model.statistics.distribution import bent_edges, equal_edges


def kept(array: np.ndarray[Any, Any]) -> Kept:
    return Kept(values_of(array.tobytes(), array.dtype.name))


def found(array: np.ndarray[Any, Any]) -> Statistics:
    return kept(array).statistics()


CANCELLING = (
    [1e16, 1.0, -1e16],
    [1e300, -1e300, 1e-300],
    [1.7976931348623157e308, 3e-323, -1.7976931348623157e308],
    [2.0**1000, 2.0**500, 1.0, -(2.0**1000), -(2.0**500)],
    [1e-310, -1e-310, 3e-323],
)


@pytest.mark.parametrize("items", CANCELLING)
def test_mean_is_exact_when_most_of_sum_cancels(items: list[float]) -> None:
    array = np.array(items)
    assert found(array).mean == math.fsum(items) / len(items) != 0


@given(st.integers(0, 2**32), st.integers(1, 3000), st.sampled_from(["float32", "float64"]))
@settings(max_examples=60, deadline=None)
def test_mean_is_accurate_to_twelve_digits(seed: int, size: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    half = (rng.standard_normal(size) * 10.0 ** rng.integers(-12, 12, size)).astype(name)
    array = np.concatenate([half, -half, rng.standard_normal(1).astype(name)])
    rng.shuffle(array)
    truth = sum(map(Fraction, array.tolist()), Fraction(0)) / len(array)
    assert abs(Fraction(found(array).mean) - truth) <= Fraction(1e-12) * abs(truth)


def test_canceling_blocks_leave_exact_remainder() -> None:
    rng = np.random.default_rng(4)
    half = rng.standard_normal(300_000) * 1e9
    array = np.concatenate([half, [0.125], -half])
    assert found(array).mean == 0.125 / len(array)


def test_external_sums_that_cancel_are_refused() -> None:
    moments = Moments()
    assert not moments.add_sums(1000, 1e-6, 0.0, 1000.0, peak=3.0)
    assert moments.add_sums(1000, 0.1, 0.0, 1000.0, peak=3.0)
    assert moments.add_sums(1000, 0.0, 0.0, 0.0, peak=0.0)
    assert moments.count == 2000


def test_compiled_pass_keeps_cancelled_sums_exact() -> None:
    pytest.importorskip("numba")
    assert result.kernel(np.dtype(np.float64), wait=True) is not None
    from tvmdbg_widgets.model.statistics.result import FloatTally

    array = np.array([1e16, 1.0, -1e16])
    tally = FloatTally(array.dtype, fast=True)
    tally.add(array, lambda index: index)
    assert tally.finish().mean == 1 / 3


@pytest.mark.parametrize("steps", [2, 49, 63, 64, 200])
def test_edges_among_the_smallest_numbers_ascend(steps: int) -> None:
    low = 5e-324
    edges = equal_edges(low, low * steps, 64)
    assert (np.diff(edges) >= 0).all()
    assert (edges[0], edges[-1]) == (low, low * steps)
    assert (np.diff(bent_edges(low, low * steps, 64, "linear")) > 0).all()
    values = np.arange(1, steps + 1, dtype=np.uint64).view(np.float64)
    counted = found(values).histogram
    assert counted.counts.sum() == steps


@pytest.mark.parametrize("sign", [1, -1])
def test_log_histogram_counts_all_integers_of_one_sign(sign: int) -> None:
    array = np.array([0, 0, sign, sign * 7, sign * (2**31 - 1)], np.int32)
    counted = kept(array).histogram(10, None, "log")
    assert counted.counts.sum() == 3
    assert sorted(map(abs, (counted.edges[0], counted.edges[-1]))) == [1, 2**31 - 1]
    assert kept(np.append(array, np.int32(-3 * sign))).histogram(10, None, "log").counts.sum() > 0


def test_log_histogram_of_both_signs_counts_positive_values() -> None:
    array = np.array([-(2**62), -1, 0, 1, 3, 2**62], np.int64)
    assert kept(array).histogram(10, None, "log").counts.sum() == 3


@given(st.integers(0, 2**32), st.sampled_from(["int64", "uint64"]))
@settings(max_examples=60, deadline=None)
def test_percentiles_of_large_integers_match_float64(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    info = np.iinfo(name)
    array = rng.integers(info.min, info.max, 50, dtype=name, endpoint=True)
    array[::3] = info.max - rng.integers(0, 5000, len(array[::3])).astype(name)
    percents = [0.0, 2.5, 25.0, 50.0, 77.7, 99.0, 100.0]
    own = kept(array)
    told = own.percentiles(percents)
    assert told == np.percentile(array.astype(np.float64), percents).tolist()
    for percent, value in zip(percents, told, strict=True):
        low, high = own.statistics().percentile(percent)
        assert low <= value <= high


@pytest.mark.parametrize(("count", "sample"), [(1000, 10), (4096, 1), (8192, 5000), (1, 1)])
def test_sample_that_covers_all_values_is_exact(count: int, sample: int) -> None:
    own = kept(np.arange(count, dtype=np.float32))
    told = own.statistics(sample=sample)
    assert (told.size, told.exact) == (count, True)
    assert own.statistics(sample=sample) is own.statistics()


def test_incomplete_sample_is_not_exact() -> None:
    told = kept(np.arange(8193, dtype=np.float32)).statistics(sample=8192)
    assert (told.size, told.exact) == (8192, False)


@pytest.mark.parametrize("sample", [0, -3])
def test_empty_sample_is_refused(sample: int) -> None:
    array = np.arange(9, dtype=np.float32)
    with pytest.raises(ValueError, match="at least 1 value"):
        kept(array).statistics(sample=sample)
    with pytest.raises(ValueError, match="at least 1 value"):
        statistics(values_of(array.tobytes(), "float32"), sample=sample)
