"""The Mann-Whitney test against counting every deal of the values, and against printed tables."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmdbg_widgets.analysis.compare_times import verdicts
from tvmdbg_widgets.analysis.compare_times.verdicts import adjusted, least_p, rank_tests, u_counts

few = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5)


def u_of(a: list[float], b: list[float]) -> float:
    return sum((y > x) + 0.5 * (y == x) for x in a for y in b)


def counted(a: list[float], b: list[float]) -> float:
    """Two-sided p by dealing the pooled values in every possible way."""
    pooled, found = a + b, u_of(a, b)
    below = above = total = 0
    for chosen in itertools.combinations(range(len(pooled)), len(a)):
        one = [pooled[i] for i in chosen]
        other = [pooled[i] for i in range(len(pooled)) if i not in chosen]
        u = u_of(one, other)
        below, above, total = below + (u <= found), above + (u >= found), total + 1
    return min(1.0, 2 * min(below, above) / total)


@settings(deadline=None, max_examples=100)
@given(few, few)
def test_p_value_matches_exact_count_of_permutations_with_ties(
    a: list[float], b: list[float]
) -> None:
    found = rank_tests([a], [b])
    assert found.u[0] == u_of(a, b)
    assert found.p[0] == pytest.approx(counted(a, b), abs=1e-12)


@settings(deadline=None, max_examples=100)
@given(few, few)
def test_exchanging_samples_only_changes_the_sign(a: list[float], b: list[float]) -> None:
    one, other = rank_tests([a], [b]), rank_tests([b], [a])
    assert one.p[0] == other.p[0]
    assert one.shift[0] == -other.shift[0]
    np.testing.assert_array_equal(one.low, -other.high)
    assert one.shift[0] == np.median([y - x for x in a for y in b])


# Critical values of U for the two-sided test: H. B. Mann and D. R. Whitney's distribution as
# printed in textbooks (e.g. S. Siegel, Nonparametric Statistics, 1956, table K).
@pytest.mark.parametrize(
    ("n", "m", "alpha", "critical"),
    [
        (4, 4, 0.05, 0),
        (5, 5, 0.05, 2),
        (5, 5, 0.01, 0),
        (5, 8, 0.05, 6),
        (6, 8, 0.05, 8),
        (8, 8, 0.05, 13),
        (10, 10, 0.05, 23),
        (10, 10, 0.01, 16),
        (9, 20, 0.05, 48),
        (20, 20, 0.05, 127),
        (20, 20, 0.01, 105),
    ],
)
def test_critical_values_match_published_tables(
    n: int, m: int, alpha: float, critical: int
) -> None:
    counts = u_counts(n, m)
    assert sum(counts) == math.comb(n + m, n)
    p = [min(1, 2 * sum(counts[: u + 1]) / sum(counts)) for u in (critical, critical + 1)]
    assert p[0] <= alpha < p[1]


def test_least_p_of_five_against_five_is_one_in_126() -> None:
    found = rank_tests([[1, 2, 3, 4, 5]], [[6, 7, 8, 9, 10]])
    assert found.p[0] == pytest.approx(2 / 252)
    assert least_p(5, 5) == pytest.approx(0.00794, abs=5e-6)
    assert (found.low[0], found.shift[0], found.high[0]) == (2, 5, 8)
    assert least_p(3, 3) == 0.1
    assert least_p(1, 5) == pytest.approx(1 / 3)
    assert least_p(0, 5) == 1
    assert np.isnan(rank_tests([[1, 2, 3]], [[4, 5, 6]]).low[0])


@pytest.mark.parametrize("tied", [False, True])
def test_normal_approximation_is_close_to_exact_p_value(tied: bool) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=20), rng.normal(0.5, size=20)
    if tied:
        x, y = np.round(x, 1), np.round(y, 1)
    exact = rank_tests([x], [y])
    _, counts = np.unique(np.concatenate((x, y)), return_counts=True)
    ties = tuple(counts.tolist()) if tied else ()
    assert bool((counts > 1).any()) == tied
    near = verdicts._normal(float(exact.u[0]), 20, 20, ties)
    assert near == pytest.approx(exact.p[0], abs=0.003)


def test_equal_values_have_p_value_one() -> None:
    assert rank_tests([[3.0] * 5], [[3.0] * 5]).p[0] == 1
    assert rank_tests([[3.0] * 50], [[3.0] * 60]).p[0] == 1


def test_rank_test_handles_very_large_samples() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=2000), rng.normal(0.2, size=2000)
    found = rank_tests([x], [y])
    assert found.u[0] == u_of(x.tolist()[:0], []) + sum(
        np.searchsorted(np.sort(x), y, "left").tolist()
    )
    assert found.p[0] < 1e-6
    assert found.shift[0] == pytest.approx(np.median(y) - np.median(x))


def test_adjusted_p_values_match_published_example() -> None:
    # Benjamini and Hochberg 1995, §3.2: 15 p values, at 0.05 the first four are told apart.
    p = [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
        *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
    ]
    q = adjusted(p)
    assert (q <= 0.05).sum() == 4
    assert q[3] == pytest.approx(0.0095 * 15 / 4)
    shuffled = np.random.default_rng(0).permutation(15)
    np.testing.assert_allclose(adjusted(np.array(p)[shuffled]), q[shuffled])
    with_unknown = adjusted([0.01, np.nan, 0.04])
    np.testing.assert_allclose(with_unknown, [0.02, np.nan, 0.04])


def test_samples_that_cannot_be_paired_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        rank_tests([[1.0], [2.0]], [[1.0]])
