"""The Mann-Whitney test and the Hodges-Lehmann shift of two samples, for many pairs at once.

Conventions: U counts the pairs in which the value of `b` is the larger, ties count one half (H. B.
Mann, D. R. Whitney, Ann. Math. Statist. 18, 1947). The two-sided p value is twice the smaller of
P(U <= u) and P(U >= u), at most 1. It is exact, also with ties (the distribution over all ways to
deal the pooled mid-ranks into two samples; E. L. Lehmann, Nonparametrics, 1975, §1.4), up to
2,500 pairs of values without ties and 40 values with ties; beyond it is the normal approximation
with corrections for ties and for continuity. The shift is the median of all differences b - a
(J. L. Hodges, E. L. Lehmann, Ann. Math. Statist. 34, 1963); its interval has at least the level
asked for, by the distribution of U without ties.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Most pairs of values for which p is exact without ties, and most values with ties.
EXACT_PAIRS, EXACT_TIED = 2_500, 40
_AT_ONCE = 1 << 21
_MOST_DIFFERENCES = 1 << 21


class RankTests(NamedTuple):
    """Tests of R pairs of samples, as columns of float64 [R]."""

    u: Floats
    p: Floats
    shift: Floats
    low: Floats
    high: Floats


def rank_tests(a: npt.ArrayLike, b: npt.ArrayLike, level: float = 0.95) -> RankTests:
    """Test R pairs of samples of one size each."""
    x, y = np.atleast_2d(np.asarray(a, float)), np.atleast_2d(np.asarray(b, float))
    if len(x) != len(y) or not x.shape[1] or not y.shape[1]:
        raise ValueError(f"samples of shapes {x.shape} and {y.shape} cannot be paired")
    found = RankTests(*(np.full(len(x), np.nan) for _ in RankTests._fields))
    pairs = x.shape[1] * y.shape[1]
    step = max(1, _AT_ONCE // pairs)
    for first in range(0, len(x), step):
        rows = slice(first, first + step)
        _some(x[rows], y[rows], level, RankTests(*(column[rows] for column in found)))
    return found


def _some(x: Floats, y: Floats, level: float, found: RankTests) -> None:
    n, m = x.shape[1], y.shape[1]
    pooled = np.sort(np.concatenate((x, y), axis=1), axis=1)
    tied = (pooled[:, 1:] == pooled[:, :-1]).any(axis=1)
    if n * m > _MOST_DIFFERENCES:
        found.u[:] = [_u_sorted(one, other) for one, other in zip(x, y, strict=True)]
        found.shift[:] = np.median(y, axis=1) - np.median(x, axis=1)
    else:
        apart = (y[:, None, :] - x[:, :, None]).reshape(len(x), -1)
        found.u[:] = (apart > 0).sum(axis=1) + 0.5 * (apart == 0).sum(axis=1)
        apart.sort(axis=1)
        found.shift[:] = np.median(apart, axis=1)
        cut = _cut(n, m, level)
        if cut >= 0:
            found.low[:], found.high[:] = apart[:, cut], apart[:, -1 - cut]
    for row in range(len(x)):
        found.p[row] = _p(float(found.u[row]), n, m, pooled[row] if tied[row] else None)


def _u_sorted(x: Floats, y: Floats) -> float:
    own = np.sort(x)
    below = np.searchsorted(own, y, "left").sum()
    return 0.5 * float(below + np.searchsorted(own, y, "right").sum())


def _p(u: float, n: int, m: int, tied: Floats | None) -> float:
    """Two-sided p of U; `tied` is the sorted pooled sample where values occur twice."""
    if tied is None:
        if n * m <= EXACT_PAIRS:
            return _tail(min(n, m), max(n, m))[int(min(u, n * m - u))]
        return _normal(u, n, m, ())
    _, counts = np.unique(tied, return_counts=True)
    ties = tuple(counts.tolist())
    if n + m > EXACT_TIED:
        return _normal(u, n, m, ties)
    doubled = 2 * u + m * (m + 1) if m <= n else 2 * (n * m - u) + n * (n + 1)
    return _tied_tails(min(n, m), ties)[round(doubled)]


def _normal(u: float, n: int, m: int, ties: tuple[int, ...]) -> float:
    size = n + m
    lost = sum(count**3 - count for count in ties) / (size * (size - 1))
    variance = n * m / 12 * (size + 1 - lost)
    if variance <= 0:
        return 1.0
    away = max(0.0, abs(u - n * m / 2) - 0.5)
    return math.erfc(away / math.sqrt(2 * variance))


@lru_cache(maxsize=4096)
def _tied_tails(size: int, ties: tuple[int, ...]) -> tuple[float, ...]:
    """Two-sided p for each doubled sum of mid-ranks of a sample of `size` values."""
    below = np.concatenate(([0], np.cumsum(ties)))
    ranks = [first + last + 1 for first, last in pairwise(below.tolist())]
    ways = np.zeros((size + 1, sum(r * t for r, t in zip(ranks, ties, strict=True)) + 1), np.int64)
    ways[0, 0] = 1
    for rank, count in zip(ranks, ties, strict=True):
        for _ in range(count):
            for taken in range(size, 0, -1):
                ways[taken, rank:] += ways[taken - 1, :-rank]
    up_to = np.cumsum(ways[size])
    total = int(up_to[-1])
    at_least = total - up_to + ways[size]
    return tuple(min(1.0, 2 * each / total) for each in np.minimum(up_to, at_least).tolist())


@lru_cache(maxsize=64)
def u_counts(n: int, m: int) -> tuple[int, ...]:
    """Return in how many ways each U from 0 to n*m comes about, without ties.

    The coefficients of the Gaussian binomial: the product of (1 - q^(m + i)) / (1 - q^i).
    """
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for at in range(n * m, m + i - 1, -1):
            counts[at] -= counts[at - m - i]
        for at in range(i, n * m + 1):
            counts[at] += counts[at - i]
    return tuple(counts)


@lru_cache(maxsize=64)
def _tail(n: int, m: int) -> tuple[float, ...]:
    """Two-sided p for each U up to half of n*m."""
    total, below, found = math.comb(n + m, n), 0, []
    for count in u_counts(n, m)[: n * m // 2 + 1]:
        below += count
        found.append(min(1.0, 2 * below / total))
    return tuple(found)


def _cut(n: int, m: int, level: float) -> int:
    """Of the sorted differences, which one bounds the interval from either side; -1 for none."""
    most = (1 - level) / 2
    if n * m > EXACT_PAIRS:
        away = _quantile(level) * math.sqrt(n * m * (n + m + 1) / 12)
        return math.floor(n * m / 2 - away - 0.5)
    total, below, cut = math.comb(n + m, n), 0, -1
    for at, count in enumerate(u_counts(min(n, m), max(n, m))):
        below += count
        if below / total > most:
            return cut
        cut = at
    return cut


@lru_cache(maxsize=8)
def _quantile(level: float) -> float:
    """How many standard deviations a normal interval of this level reaches to either side."""
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        if math.erfc(middle / math.sqrt(2)) > 1 - level:
            low = middle
        else:
            high = middle
    return high


def least_p(n: int, m: int) -> float:
    """Return the least two-sided p value that samples of these sizes can give; 1 without values."""
    return min(1.0, 2 / math.comb(n + m, n)) if n > 0 and m > 0 else 1.0


def adjusted(p: npt.ArrayLike) -> Floats:
    """Return p values corrected for their number, by the false discovery rate.

    Y. Benjamini, Y. Hochberg, J. R. Statist. Soc. B 57, 1995: the smallest p[j] * K / j over all
    ranks j from that of a value up to K, at most 1.
    """
    given = np.asarray(p, float)
    found = np.full(given.shape, np.nan)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    scaled = given[order] * len(order) / np.arange(1, len(order) + 1)
    found[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return found
