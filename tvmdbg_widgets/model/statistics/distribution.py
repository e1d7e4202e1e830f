"""All finite values of an array in bins of which the bounds are known exactly."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.statistics.bins import ValueBins

Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


class NumberBounds(NamedTuple):
    """Bounds of a number; equal where it is known exactly."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal."""
        return self.low == self.high


class Distribution:
    """Counts of the finite values in at most 65,536 bins that hold any, in ascending order.

    Floats lie together that share sign and upper 16 bits (zero has a bin of its own); integers of
    32 bits and more in equal bins of ``2**k``; types of up to 16 bits have one bin a value.
    """

    __slots__ = ("_counts", "bins", "keys", "maximum", "minimum")

    def __init__(
        self,
        bins: ValueBins,
        keys: np.ndarray[Any, Any],
        counts: Counts,
        minimum: float,
        maximum: float,
    ) -> None:
        self.bins = bins
        # A run keeps those of all its tensors.
        self.keys = keys.astype(np.uint16)
        small = counts.max(initial=0) < 1 << 32
        self._counts = counts.astype(np.uint32) if small else counts
        self.minimum = minimum
        self.maximum = maximum

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def counts(self) -> Counts:
        """Values in each bin, int64[k]."""
        return self._counts.astype(np.int64)

    @property
    def low(self) -> np.ndarray[Any, Any]:
        """Least value that may lie in each bin: float64, or int64 or uint64 for integers."""
        return self.bounds()[0]

    @property
    def high(self) -> np.ndarray[Any, Any]:
        """Largest value that may lie in each bin, likewise."""
        return self.bounds()[1]

    def bounds(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return ``low`` and ``high``."""
        low, high = self.bins.bounds(self.keys)
        low[0], high[-1] = self.minimum, self.maximum
        return low, high

    @property
    def exact(self) -> bool:
        """Whether every bin holds one value, so that all follows from the counts."""
        low, high = self.bounds()
        return bool((low == high).all())

    def percentile(self, percent: float) -> NumberBounds:
        """Return bounds of ``np.percentile(values, percent)``, of the values as float64."""
        return self.percentiles([percent])[0]

    def percentiles(self, percents: Sequence[float]) -> list[NumberBounds]:
        """Return bounds of several percentiles, 0 to 100 each."""
        ends = np.cumsum(self.counts)
        size = int(ends[-1])
        low, high = self.bounds()

        def ranked(rank: int) -> tuple[Any, Any]:
            if rank in (0, size - 1):
                return (low[0].item(),) * 2 if rank == 0 else (high[-1].item(),) * 2
            at = np.searchsorted(ends, rank, side="right")
            return low[at].item(), high[at].item()

        return [
            position.bounds(ranked(position.rank), ranked(position.next_rank))
            for position in positions(size, percents)
        ]

    def count(self, low: float, high: float) -> tuple[int, int]:
        """Return how many values lie between two bounds, both included: at least, and at most."""
        counts = self.counts
        first, last = self.bounds()
        least = counts[(first >= low) & (last <= high)].sum()
        most = counts[(last >= low) & (first <= high)].sum()
        return int(least), int(most)

    def rebinned(self, edges: np.ndarray[Any, Any]) -> tuple[Counts, Counts]:
        """Return how many values lie in each bin of other edges: at least, and at most.

        Bin i holds ``edges[i] <= value < edges[i+1]``, the last one its right edge too.
        """
        size = len(edges) - 1
        first, last = (place(edges, bound) for bound in self.bounds())
        counts = self.counts
        one = (first == last) & (first >= 0) & (first < size)
        least = np.zeros(size, np.int64)
        np.add.at(least, first[one], counts[one])
        steps = np.zeros(size + 1, np.int64)
        touched = (last >= 0) & (first < size)
        np.add.at(steps, np.maximum(first, 0)[touched], counts[touched])
        np.add.at(steps, np.minimum(last, size - 1)[touched] + 1, -counts[touched])
        return least, np.cumsum(steps)[:size]

    def span(self, scale: str) -> tuple[float, float]:
        """Return bounds that hold all values, or for ``"log"`` all above zero if there are any."""
        low, high = self.bounds()
        if scale != "log" or low[0] > 0 or high[-1] < 0 or low[0] == high[-1]:
            return float(low[0]), float(high[-1])
        # Only bins of integers hold zero together with other values.
        if high[-1] > 0:
            least = low[high > 0][0]
            return float(least) if least > 0 else 1.0, float(high[-1])
        most = high[low < 0][-1]
        return float(low[0]), float(most) if most < 0 else -1.0

    def __repr__(self) -> str:
        total = int(self.counts.sum())
        return f"Distribution: {counted(total, 'finite value')} in {counted(len(self), 'bin')}"


def place(edges: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the bin each value lies in: -1 below all, ``len(edges) - 1`` above all."""
    numbers = np.asarray(values, np.float64)
    at = np.searchsorted(edges, numbers, side="right") - 1
    at[numbers == edges[-1]] = len(edges) - 2
    return at


class Position(NamedTuple):
    """Where a percentile lies among the sorted values."""

    rank: int
    next_rank: int
    part: float

    def between(self, value: float, next_value: float) -> float:
        """Return the number at ``part`` of the way, as numpy's ``linear`` method rounds it."""
        low, high = float(value), float(next_value)
        if low == high or self.part == 0:
            return low
        distance = high - low
        if math.isinf(distance):
            return low * (1 - self.part) + high * self.part
        if self.part < 0.5:
            return low + distance * self.part
        return high - distance * (1 - self.part)

    def bounds(self, value: tuple[float, float], next_value: tuple[float, float]) -> NumberBounds:
        """Return bounds of that number from bounds of both values."""
        low, high = (self.between(*ends) for ends in zip(value, next_value, strict=True))
        if value[0] == value[1] and next_value[0] == next_value[1]:
            return NumberBounds(low, high)
        # Numbers between the bounds may round by a step further out.
        least, most = float(value[0]), float(next_value[1])
        return NumberBounds(
            max(math.nextafter(low, -math.inf), least), min(math.nextafter(high, math.inf), most)
        )


def positions(size: int, percents: Iterable[float]) -> list[Position]:
    """Return where percentiles of so many sorted values lie."""
    found = []
    for percent in percents:
        if not 0 <= percent <= 100:
            raise ValueError(f"percentiles lie between 0 and 100, not at {percent}")
        place_ = (size - 1) * (percent / 100)
        rank = int(place_)
        found.append(Position(rank, rank + (place_ > rank), place_ - rank))
    return found
