"""What is counted of integers of 32 and 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.model.statistics.bins import MOST, IntegerBins
from tvmdbg_widgets.model.statistics.distribution import Distribution
from tvmdbg_widgets.model.statistics.extremes import Extremes, Where
from tvmdbg_widgets.model.statistics.moments import Moments
from tvmdbg_widgets.model.statistics.result import Statistics


class IntegerTally:
    """Counts in equal bins of ``2**k``, merged into wider ones as the range of values grows.

    ``k`` is always the least that fits the values seen into 65,536 bins, so that it does not
    matter in which order they were seen.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.bins = IntegerBins(dtype, 0, 0)
        self.counts = np.zeros(0, np.int64)
        self.extremes = Extremes()
        self.moments = Moments()
        self.zero = self.negative = self.at_lowest = self.at_highest = 0

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Count one chunk, at least one value."""
        low, high = int(chunk.min()), int(chunk.max())
        info = np.iinfo(self.dtype)
        if self.extremes.is_lower(low):
            index = int((chunk == low).argmax())
            self.extremes.take_low(low, chunk[index], where(index))
        if self.extremes.is_higher(high):
            index = int((chunk == high).argmax())
            self.extremes.take_high(high, chunk[index], where(index))
        if low <= 0 <= high:
            self.zero += len(chunk) - int(np.count_nonzero(chunk))
        if low < 0:
            self.negative += int(np.count_nonzero(chunk < 0)) if high >= 0 else len(chunk)
        if low == info.min:
            self.at_lowest += int(np.count_nonzero(chunk == info.min))
        if high == info.max:
            self.at_highest += int(np.count_nonzero(chunk == info.max))
        self._widen()
        keys = self.bins.keys(chunk).view(f"i{self.dtype.itemsize}")
        self.counts += np.bincount(keys, minlength=len(self.counts))
        self.moments.add_integers(chunk, low, high)

    def _widen(self) -> None:
        """Make the bins fit the bounds."""
        low, high = self.extremes.low, self.extremes.high
        assert isinstance(low, int)  # noqa: S101 (integers have integer bounds)
        assert isinstance(high, int)  # noqa: S101
        shift = max(0, (high - low).bit_length() - MOST.bit_length() + 1)
        while (high >> shift) - (low >> shift) >= MOST:
            shift += 1
        wider = IntegerBins(self.dtype, low >> shift, shift)
        size = (high >> shift) - wider.first + 1
        if wider != self.bins or size != len(self.counts):
            self.counts = _regrouped(self.counts, self.bins, wider, size)
            self.bins = wider

    def merge(self, other: IntegerTally) -> None:
        """Add what another has counted of other values of the same array."""
        if other.extremes.low is None:
            return
        self.extremes.merge(other.extremes)
        self.moments.merge(other.moments)
        self.zero += other.zero
        self.negative += other.negative
        self.at_lowest += other.at_lowest
        self.at_highest += other.at_highest
        self._widen()
        self.counts += _regrouped(other.counts, other.bins, self.bins, len(self.counts))

    def times(self, count: int) -> None:
        """Count all values so many times."""
        self.moments.times(count)
        self.counts *= count
        self.zero *= count
        self.negative *= count
        self.at_lowest *= count
        self.at_highest *= count

    def finish(self) -> Statistics:
        """Return everything but the histogram."""
        size = self.moments.count
        mean, std = self.moments.mean_and_std()
        found = self.extremes
        distribution = None
        if found.low is not None and found.high is not None:
            keys = np.flatnonzero(self.counts)
            distribution = Distribution(self.bins, keys, self.counts[keys], found.low, found.high)
        return Statistics(
            size=size,
            finite=size,
            nan=0,
            pos_inf=0,
            neg_inf=0,
            zero=self.zero,
            negative=self.negative,
            minimum=found.minimum,
            maximum=found.maximum,
            argmin=found.argmin,
            argmax=found.argmax,
            mean=mean,
            std=std,
            histogram=None,
            at_lowest=self.at_lowest,
            at_highest=self.at_highest,
            distribution=distribution,
        )


def _regrouped(
    counts: np.ndarray[Any, np.dtype[np.int64]], bins: IntegerBins, wider: IntegerBins, size: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return counts in wider bins that cover the present ones."""
    found = np.zeros(size, np.int64)
    if len(counts):
        steps = wider.shift - bins.shift
        ahead = bins.first - (wider.first << steps)
        np.add.at(found, (np.arange(len(counts)) + ahead) >> steps, counts)
    return found
