"""The robust range of a tensor: that of nearly all values, if a few stretch the extremes.

Zeros are left out: in a sparse tensor percentiles would see nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.bins import MOST, GivenBins, IntegerBins
from tvmdbg_widgets.model.statistics.distribution import Distribution, Histogram, Where, equal_edges
from tvmdbg_widgets.model.statistics.tallies import tally

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

#: Required values; of fewer, one is no small part.
_LEAST_COUNT = 100
#: Shares of the values between which the bulk lies.
_LOW, _HIGH = 0.01, 0.99
#: An extreme is far beyond this many widths of the bulk.
_FAR = 10
#: Values within this many widths are shown with the bulk.
_NEAR = 1
_BINS = 64


@dataclass(frozen=True, slots=True)
class Robust:
    """A part of the values' range that holds all but a few."""

    low: float
    high: float
    beyond: int
    histogram: Histogram


def robust_range(spread: Distribution, zeros: int) -> tuple[float, float, int] | None:
    """Return the range of nearly all values, and the number of values beyond it, at least 1."""
    low, high, counts = without_zeros(spread, zeros)
    total = int(counts.sum())
    if total < _LEAST_COUNT:
        return None
    first, last = rank_at(counts, _LOW, np.ceil), rank_at(counts, _HIGH, np.floor)
    start, end = float(low[first]), float(high[last])
    with np.errstate(over="ignore"):
        width = np.float64(end) - start or max(abs(start), abs(end))
        under = np.float64(start) - spread.minimum > _FAR * width
        over = np.float64(spread.maximum) - end > _FAR * width
        if not (under or over):
            return None
        inside = np.ones(len(low), np.bool_)
        if under:
            inside &= low >= start - _NEAR * width
        if over:
            inside &= high <= end + _NEAR * width
    inside &= counts > 0
    least, most = spread.bounds()  # integers of 64 bits in full
    ends = [least[inside].min().item(), most[inside].max().item(), *([0] if zeros else [])]
    beyond = total - int(counts[(least >= min(ends)) & (most <= max(ends))].sum())
    return (min(ends), max(ends), beyond) if beyond else None


def robust_edges(low: float, high: float, *, whole: bool) -> Floats:
    """Return the edges of equal bins; `whole` ones with equally many integers in each."""
    if not whole:
        return equal_edges(low, high, _BINS)
    low, high = math.ceil(low) - 0.5, math.floor(high) + 0.5
    step = max(1, math.ceil((high - low) / _BINS))
    return np.unique(low + step * np.arange(math.ceil((high - low) / step) + 1, dtype=np.float64))


class RangeCounts:
    """Counts the values of a range alone, and the number below it."""

    def __init__(self, dtype: np.dtype[Any], low: float, high: float) -> None:
        self._tally: Any = tally(dtype)
        self._low, self._high = low, high
        self.under = 0

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Count the values of a piece in the range."""
        self.under += int(np.count_nonzero(chunk < self._low))
        inside = chunk[(chunk >= self._low) & (chunk <= self._high)]
        if len(inside):
            self._tally.add(inside, where)

    def merge(self, other: RangeCounts) -> None:
        """Add the counts of another."""
        self._tally.merge(other._tally)
        self.under += other.under

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self._tally.times(count)
        self.under *= count

    def finish(self) -> Statistics:
        """Return all counts; positions mean nothing."""
        statistics: Statistics = self._tally.finish()
        return statistics


def narrowed(
    spread: Distribution,
    zeros: int,
    dtype: np.dtype[Any],
    look: Callable[[Callable[[], RangeCounts]], RangeCounts],
) -> Distribution:
    """Return the distribution with narrower bins if far integers stretch them."""
    near: Distribution | None = spread
    while near is not None and isinstance(near.bins, IntegerBins) and near.bins.shift:
        inner = robust_range(near, zeros)
        if inner is None:
            break
        within = look(partial(RangeCounts, dtype, *inner[:2]))
        near = within.finish().distribution
        if near is not None:
            spread = _joined(spread, near, within.under, *inner[:2])
    return spread


def _joined(
    spread: Distribution, near: Distribution, under: int, low: float, high: float
) -> Distribution:
    """Return a distribution with the narrower bins of a range, above `under` values."""
    first, last = spread.bounds()
    counts = spread.counts
    below, above = last < low, first > high
    cut = ~below & ~above
    under -= int(counts[below].sum())
    over = int(counts[cut].sum()) - under - int(near.counts.sum())
    edge = first.dtype.type
    pieces = [
        (first[below], last[below], counts[below]),
        *([(first[cut][:1], [edge(low) - edge(1)], [under])] if under else []),
        (*near.bounds(), near.counts),
        *([([edge(high) + edge(1)], last[cut][-1:], [over])] if over else []),
        (first[above], last[above], counts[above]),
    ]
    starts, ends, sizes = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if len(sizes) > MOST:
        return spread
    bins = GivenBins(starts, ends)
    return Distribution(bins, np.arange(len(sizes)), sizes, spread.minimum, spread.maximum)


def without_zeros(spread: Distribution, zeros: int) -> tuple[Floats, Floats, Any]:
    """Return bounds and counts of the bins, counts without zeros."""
    low, high = (bounds.astype(np.float64) for bounds in spread.bounds())
    counts = spread.counts
    home = np.flatnonzero((low <= 0) & (high >= 0))
    for at in home.tolist():
        gone = min(zeros, int(counts[at]))
        counts[at] -= gone
        zeros -= gone
    return low, high, counts


def rank_at(counts: Any, share: float, whole: Any) -> int:
    """Return the bin of the value at a share of all."""
    rank = int(whole(share * (int(counts.sum()) - 1)))
    return int(np.searchsorted(np.cumsum(counts), rank, side="right"))
