"""The range of nearly all values, where a few set the tensor's own; the only place that says when.

Zeros are left out: of a sparse tensor they would be all that percentiles tell of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics.bins import IntegerBins
from tvmdbg_widgets.model.statistics.histograms import equal_edges
from tvmdbg_widgets.model.statistics.tallies import tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.model.statistics import Statistics
    from tvmdbg_widgets.model.statistics.distribution import Distribution
    from tvmdbg_widgets.model.statistics.extremes import Where
    from tvmdbg_widgets.model.statistics.histograms import Histogram

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

#: Values that must be there: of fewer, one is no small part.
_LEAST_COUNT = 100
#: Shares of the values between which the bulk lies.
_LOW, _HIGH = 0.01, 0.99
#: An extreme is far that lies more than so many widths of the bulk beyond it.
_FAR = 10
#: What lies within so many widths is shown with the bulk.
_NEAR = 1
#: The share of magnitudes within which a symlog scale is linear, and its most decades.
_LINEAR, _DECADES = 0.1, 6
_BINS = 64


@dataclass(frozen=True, slots=True)
class Robust:
    """A part of the values' range that holds all but a few of them.

    Attributes
    ----------
    low, high : float
        Values beside them lie beyond.
    beyond : int
        How many do.
    histogram : Histogram
        Of the values between, in equal bins.
    """

    low: float
    high: float
    beyond: int
    histogram: Histogram


def robust_range(found: Distribution, zeros: int) -> tuple[float, float, int] | None:
    """Return the range of nearly all values, and how many lie beyond it.

    None where the extremes are not far: no farther than ten times the distance from percentile 1
    to 99 of what is not zero.

    Parameters
    ----------
    found
        Of the values.
    zeros
        How many of them are zero.
    """
    low, high, counts = _without_zeros(found, zeros)
    total = int(counts.sum())
    if total < _LEAST_COUNT:
        return None
    first, last = _at(counts, _LOW, np.ceil), _at(counts, _HIGH, np.floor)
    start, end = float(low[first]), float(high[last])
    with np.errstate(over="ignore"):
        width = np.float64(end) - start or max(abs(start), abs(end))
        under = np.float64(start) - found.minimum > _FAR * width
        over = np.float64(found.maximum) - end > _FAR * width
        if not (under or over):
            return None
        inside = np.ones(len(low), np.bool_)
        if under:
            inside &= low >= start - _NEAR * width
        if over:
            inside &= high <= end + _NEAR * width
    beyond = total - int(counts[inside].sum())
    inside &= counts > 0
    ends = [float(low[inside].min()), float(high[inside].max()), *([0.0] if zeros else [])]
    return min(ends), max(ends), beyond


def robust_edges(low: float, high: float, *, whole: bool) -> Floats:
    """Return the ends of equal bins; of whole numbers between them, with as many in each bin."""
    if not whole:
        return equal_edges(low, high, _BINS)
    low, high = math.ceil(low) - 0.5, math.floor(high) + 0.5
    step = max(1, math.ceil((high - low) / _BINS))
    return low + step * np.arange(math.ceil((high - low) / step) + 1, dtype=np.float64)


class Within:
    """Counts the values of a range alone.

    Parameters
    ----------
    dtype
        Of the values.
    low, high
        Both included.
    """

    def __init__(self, dtype: np.dtype[Any], low: float, high: float) -> None:
        self._tally: Any = tally(dtype)
        self._low, self._high = low, high

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Count what a piece has of the range."""
        inside = chunk[(chunk >= self._low) & (chunk <= self._high)]
        if len(inside):
            self._tally.add(inside, where)

    def merge(self, other: Within) -> None:
        """Add what another has counted."""
        self._tally.merge(other._tally)

    def finish(self) -> Statistics:
        """Return all that was counted; positions mean nothing."""
        found: Statistics = self._tally.finish()
        return found


def narrowed(
    found: Distribution,
    zeros: int,
    dtype: np.dtype[Any],
    look: Callable[[Callable[[], Within]], Within],
) -> tuple[float, float, int] | None:
    """Return the range of nearly all values, where bins of integers may be wider than it is.

    Parameters
    ----------
    found, zeros
        As for :func:`robust_range`.
    dtype
        Of the values.
    look
        Makes a pass over all values and returns what it collected.
    """
    inner = robust_range(found, zeros)
    beyond = 0
    while inner is not None and isinstance(found.bins, IntegerBins) and found.bins.shift:
        low, high, more = inner
        beyond += more
        spread = look(partial(Within, dtype, low, high)).finish().distribution
        if spread is None:
            return None
        found = spread
        ends = (
            (min(found.minimum, 0), max(found.maximum, 0))
            if zeros
            else (found.minimum, found.maximum)
        )
        inner = robust_range(found, zeros) or (float(ends[0]), float(ends[1]), 0)
        if not inner[2]:
            break
    return None if inner is None else (inner[0], inner[1], beyond + inner[2])


def linear_zone(found: Distribution, zeros: int) -> float | None:
    """Return the magnitude below which a symlog scale is linear; None where all values are zero."""
    low, high, counts = _without_zeros(found, zeros)
    sizes = np.maximum(np.abs(low), np.abs(high))
    order = np.argsort(sizes, kind="stable")
    counts = counts[order]
    if not counts.sum():
        return None
    small, large = (float(sizes[order][_at(counts, each, np.floor)]) for each in (_LINEAR, _HIGH))
    return float(max(small, large / 10**_DECADES))


def _without_zeros(found: Distribution, zeros: int) -> tuple[Floats, Floats, Any]:
    low, high = (each.astype(np.float64) for each in found.bounds())
    counts = found.counts
    home = np.flatnonzero((low <= 0) & (high >= 0))
    for at in home.tolist():
        gone = min(zeros, int(counts[at]))
        counts[at] -= gone
        zeros -= gone
    return low, high, counts


def _at(counts: Any, share: float, whole: Any) -> int:
    """Return the bin of the value at a share of all."""
    rank = int(whole(share * (int(counts.sum()) - 1)))
    return int(np.searchsorted(np.cumsum(counts), rank, side="right"))
