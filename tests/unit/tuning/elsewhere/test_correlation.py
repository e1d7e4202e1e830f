"""Rank correlation against its definition, recorded values of scipy, and its own promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.analysis.tuning.comparison import RankCorrelation, pooled, ranks, spearman

pairs = st.lists(st.tuples(*[st.integers(0, 9).map(float)] * 2), max_size=12)


def rank(value: float, values: list[float]) -> float:
    """One more than are smaller, and half of the others that are equal."""
    return 1 + sum(each < value for each in values) + (values.count(value) - 1) / 2


def by_definition(a: list[float], b: list[float]) -> float:
    """Pearson's correlation of the ranks, summed by hand; NaN where one side is constant."""
    one, other = ([rank(each, side) for each in side] for side in (a, b))
    mean = (len(a) + 1) / 2
    shared = sum((x - mean) * (y - mean) for x, y in zip(one, other, strict=True))
    spread = [sum((each - mean) ** 2 for each in side) for side in (one, other)]
    return shared / math.sqrt(spread[0] * spread[1]) if all(spread) else math.nan


@given(pairs)
def test_spearman_is_the_correlation_of_ranks(found: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in found], [y for _, y in found]
    correlation = spearman(a, b)
    assert correlation.pairs == len(found)
    assert ranks(a).tolist() == [rank(each, a) for each in a]
    expected = by_definition(a, b) if len(found) >= 4 else math.nan
    assert correlation.is_known is not math.isnan(expected)
    if correlation.is_known:
        assert correlation.rho == pytest.approx(expected, abs=1e-12)
        assert -1 <= correlation.low <= correlation.rho + 1e-12
        assert correlation.rho - 1e-12 <= correlation.high <= 1
        mirrored = spearman(a, [-each for each in b])
        assert (mirrored.rho, mirrored.low, mirrored.high) == pytest.approx(
            (-correlation.rho, -correlation.high, -correlation.low), abs=1e-12
        )


@pytest.mark.parametrize(("size", "true"), [(10, 0.5), (30, 0.8), (100, 0.0)])
def test_spearman_interval_covers_true_value_about_95_percent(size: int, true: float) -> None:
    random = np.random.default_rng(16)
    # Of two normal variables with Pearson's correlation r, Spearman's is 6/pi asin(r/2).
    pearson = 2 * math.sin(math.pi * true / 6)
    held = 0
    for _ in range(2000):
        a, noise = random.normal(size=(2, size))
        found = spearman(a, pearson * a + math.sqrt(1 - pearson**2) * noise)
        held += found.low <= true <= found.high
    assert 0.93 < held / 2000 < 0.97


def test_perfect_correlation_has_nonzero_interval() -> None:
    found = spearman(range(6), range(6))
    assert (found.rho, found.high) == (1, 1)
    assert found.low == pytest.approx(spearman(range(6), [0, 1, 2, 3, 5, 4]).low)
    assert found.low < 0.9
    assert str(found) == f"1.00 ({found.low:.2f} … 1.00)"


def test_few_or_equal_measurements_have_unknown_correlation() -> None:
    assert str(spearman([1, 2, 3], [1, 2, 3])) == "unknown: fewer than 4 pairs"
    assert str(spearman([1, 2, 3, 4], [1, 1, 1, 1])) == "unknown: equal costs"
    assert not spearman([], []).is_known


def test_groups_are_pooled_without_comparing_their_ranks() -> None:
    slow, fast = np.arange(100, 110), np.arange(10)
    mixed = [3, 1, 4, 0, 5, 9, 2, 6, 8, 7]
    groups = [spearman(fast, mixed), spearman(slow, [100 + each for each in mixed])]
    common = pooled(groups)
    assert common.rho == pytest.approx(groups[0].rho)
    assert common.pairs == 20
    assert common.high - common.low < groups[0].high - groups[0].low
    together = spearman([*fast, *slow], [*mixed, *(100 + each for each in mixed)])
    assert together.rho > common.rho + 0.1  # as slow groups would make any two agree
    assert pooled([groups[0], spearman([1], [1])]) == groups[0]
    assert pooled([spearman([1], [1])]) == RankCorrelation(1)
