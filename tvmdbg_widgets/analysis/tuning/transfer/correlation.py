"""Rank correlation of two measurements of the same things, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Fewer pairs tell nothing: the variance of the interval is 1 / (pairs - 3).
LEAST_PAIRS = 4
_NORMAL_975 = 1.959963984540054


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation."""

    pairs: int
    rho: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def is_known(self) -> bool:
        """Whether anything can be said."""
        return not math.isnan(self.rho)

    def __str__(self) -> str:
        if self.is_known:
            return f"{self.rho:.2f} ({self.low:.2f} … {self.high:.2f})"
        few = self.pairs < LEAST_PAIRS
        return f"unknown: fewer than {LEAST_PAIRS} pairs" if few else "unknown: equal costs"


def ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return ranks from 1, equal values sharing the mean of theirs (float64 [N])."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: npt.NDArray[np.float64] = (2 * last - counts + 1) / 2
    return shared[place]


def spearman(a: npt.ArrayLike, b: npt.ArrayLike) -> RankCorrelation:
    """Return the rank correlation of two columns.

    The interval is Fisher's z transform with the variance of Bonett and Wright, (1 + ρ²/2) / (n -
    3) (Psychometrika 65, 2000). A perfect correlation, whose z is infinite, gets the other bound
    of one in which two neighbors are exchanged.
    """
    one, other = ranks(a), ranks(b)
    if len(one) < LEAST_PAIRS or not np.ptp(one) or not np.ptp(other):
        return RankCorrelation(len(one))
    rho = float(np.clip(np.corrcoef(one, other)[0, 1].round(12), -1, 1))
    z, weight = _transformed(rho, len(one))
    return _interval(len(one), rho, z, weight)


def pooled(found: Sequence[RankCorrelation]) -> RankCorrelation:
    """Return the common correlation of several groups: the mean of z by inverse variance.

    Ranks of different groups are not compared, so that a group of slow things does not make any
    two measurements agree.
    """
    known = [each for each in found if each.is_known]
    if not known:
        return RankCorrelation(sum(each.pairs for each in found))
    pairs = sum(each.pairs for each in known)
    if len(known) == 1:
        return known[0]
    transformed = [_transformed(each.rho, each.pairs) for each in known]
    weight = math.fsum(each for _, each in transformed)
    z = math.fsum(z * each for z, each in transformed) / weight
    return _interval(pairs, math.tanh(z), z, weight)


def _transformed(rho: float, pairs: int) -> tuple[float, float]:
    """Return z and the inverse of its variance."""
    most = 1 - 12 / (pairs * (pairs**2 - 1))  # of ranks in which two neighbors are exchanged
    near = min(max(rho, -most), most)
    return math.atanh(near), (pairs - 3) / (1 + near**2 / 2)


def _interval(pairs: int, rho: float, z: float, weight: float) -> RankCorrelation:
    half = _NORMAL_975 / math.sqrt(weight)
    low, high = math.tanh(z - half), math.tanh(z + half)
    return RankCorrelation(pairs, rho, min(low, rho), max(high, rho))
