"""Counts in bins between two bounds."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.statistics.distribution import Distribution, place
from tvmdbg_widgets.model.statistics.extremes import Where

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_D = TypeVar("_D", bound="np.dtype[Any]")
_TINY = 2.0**-500

Scale: TypeAlias = Literal["linear", "log", "symlog"]
SCALES: tuple[Scale, ...] = ("linear", "log", "symlog")


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of finite values in bins that follow each other."""

    counts: Counts
    edges: Floats
    exact: bool = True


def equal_edges(low: float, high: float, bins: int) -> Floats:
    """Return ``bins + 1`` edges at equal distances.

    Equal bounds are widened by one half on both sides, or by as many steps of float64 as there
    are bins.
    """
    first, last = float(low), float(high)
    if first == last:
        half = max(0.5, bins * math.ulp(first))
        limit = sys.float_info.max
        first, last = max(first - half, -limit), min(last + half, limit)
    # Near the ends of float64 the distance, rounded up, is not finite; near zero a part of it has
    # no digits left.
    scale = 1.0 if math.isfinite(2 * (last - first)) else 0.25
    if max(abs(first), abs(last)) < _TINY:
        scale = 1 / _TINY
    edges = np.linspace(first * scale, last * scale, bins + 1) / scale
    edges[0], edges[-1] = first, last
    return edges


def bent_edges(low: float, high: float, bins: int, scale: Scale) -> Floats:
    """Return at most ``bins + 1`` edges at equal distances on a scale."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    one_of("scale", scale, SCALES)
    ascend = low < high or (scale == "linear" and low == high)
    if not (ascend and math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"a {scale} scale needs a lower and a higher bound, not {low} and {high}")
    if scale == "linear":
        return np.unique(equal_edges(low, high, bins))
    if scale == "log":
        if low <= 0 <= high:
            raise ValueError(f"a log scale does not cross zero, as {low} to {high} does")
        sign = 1.0 if low > 0 else -1.0
        inner = sign * np.exp(np.linspace(math.log(sign * low), math.log(sign * high), bins + 1))
    else:
        unit = max(max(abs(low), abs(high)) / 1e6, math.ulp(0))
        first, last = (math.copysign(math.log1p(abs(each) / unit), each) for each in (low, high))
        bent = np.linspace(first, last, bins + 1)
        inner = np.copysign(np.expm1(np.abs(bent)) * unit, bent)
    inner = inner[1:-1]
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def from_distribution(distribution: Distribution, edges: Floats) -> Histogram:
    """Return what the distribution tells, without another look at the values."""
    least, most = distribution.rebinned(edges)
    if (least == most).all():
        return _histogram(least, edges, exact=True)
    low, high = (bound.astype(np.float64) for bound in distribution.bounds())
    ends = np.concatenate([[0], np.cumsum(distribution.counts)])
    # Values below each edge: the bins that end below it, and of the one it cuts a share.
    cut = np.searchsorted(high, edges, side="left")
    cut[-1] = np.searchsorted(high, edges[-1], side="right")
    at = np.minimum(cut, len(low) - 1)
    inside = edges / 2 - low[at] / 2
    width = np.maximum(high[at] / 2 - low[at] / 2, np.abs(inside))
    share = np.divide(inside, width, out=np.zeros(len(edges)), where=inside > 0)
    below = ends[cut] + np.rint(share * (ends[at + 1] - ends[cut])).astype(np.int64)
    return _histogram(np.diff(below), edges, exact=False)


class EdgeCounter:
    """Counts the values of those bins of a distribution that an edge cuts."""

    def __init__(self, distribution: Distribution, edges: Floats) -> None:
        self.edges = edges
        first, last = (place(edges, bound) for bound in distribution.bounds())
        self._bins = distribution.bins
        self.keys = distribution.keys[first != last]
        self.counts = np.zeros(len(edges) + 1, np.int64)

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:  # noqa: ARG002 (a pass tells)
        """Count the values of a piece that lie in these bins."""
        found = place(self.edges, self._bins.inside(chunk, self.keys)) + 1
        self.counts += np.bincount(found, minlength=len(self.counts))

    def merge(self, other: EdgeCounter) -> None:
        """Add what another has counted."""
        self.counts += other.counts

    def times(self, count: int) -> None:
        """Count all values so many times."""
        self.counts *= count

    def finish(self, distribution: Distribution) -> Histogram:
        """Return these counts with those of the bins that no edge cuts."""
        certain, _ = distribution.rebinned(self.edges)
        return _histogram(certain + self.counts[1:-1], self.edges, exact=True)


def _histogram(counts: Counts, edges: Floats, *, exact: bool) -> Histogram:
    return Histogram(_read_only(counts), _read_only(edges), exact)


def _read_only(array: np.ndarray[Any, _D]) -> np.ndarray[Any, _D]:
    array.setflags(write=False)
    return array
