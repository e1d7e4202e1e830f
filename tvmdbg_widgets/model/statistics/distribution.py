"""All finite values of an array in bins of which the bounds are known exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Counts = np.ndarray[Any, np.dtype[np.int64]]


class Interval(NamedTuple):
    """Bounds of a number; equal where it is known exactly."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal."""
        return self.low == self.high


class Distribution:
    """Counts of the finite values in at most 65,536 bins that hold any, in ascending order.

    Attributes
    ----------
    low, high
        Least and largest value that may lie in a bin, exact: float64, or int64 or uint64 for
        integers. Bins do not overlap, and no bin has a value that is not between these two.
    counts
        int64, none of them 0.
    """

    __slots__ = ("counts", "high", "low")

    def __init__(
        self, low: np.ndarray[Any, Any], high: np.ndarray[Any, Any], counts: Counts
    ) -> None:
        self.low = low
        self.high = high
        self.counts = counts

    def percentile(self, percent: float) -> Interval:
        """Return bounds of ``np.percentile(values, percent)``; see :class:`Statistics`."""
        position = (int(self.counts.sum()) - 1) * (percent / 100)
        whole = int(position)
        ends = np.cumsum(self.counts)
        at = np.searchsorted(ends, [whole, min(whole + 1, int(ends[-1]) - 1)], side="right")
        part = position - whole
        low, high = (
            float(bound[at[0]]) + (float(bound[at[1]]) - float(bound[at[0]])) * part
            for bound in (self.low, self.high)
        )
        return Interval(low, high)

    def rebinned(self, edges: np.ndarray[Any, Any]) -> tuple[Counts, Counts]:
        """Return how many values lie in each bin of other edges: at least, and at most.

        Bin i holds ``edges[i] <= value < edges[i+1]``, the last one its right edge too.

        Parameters
        ----------
        edges
            float64[k+1], ascending.

        Returns
        -------
        least, most
            int64[k] each; equal where the counts are certain.
        """
        least, most = np.zeros((2, len(edges) - 1), np.int64)
        first = np.searchsorted(edges, self.low, side="right") - 1
        last = np.searchsorted(edges, self.high, side="right") - 1
        first[self.low == edges[-1]] = len(least) - 1
        last[self.high == edges[-1]] = len(least) - 1
        for begin, end, count in zip(first, last, self.counts, strict=True):
            if begin == end and 0 <= begin < len(least):
                least[begin] += count
            most[max(begin, 0) : end + 1] += count
        return least, most
