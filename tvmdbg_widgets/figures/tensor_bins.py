"""Counts of values between bounds, put together to bars (``js/src/tensor/rebin.ts``)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True)
class SpreadBar:
    """Values from ``start`` to ``end``, which a closed bar includes; or one value alone.

    ``least`` and ``most`` are certain, ``likely`` lies between them; ``most`` may be infinite.
    """

    start: float
    end: float
    least: float
    most: float
    likely: float
    closed: bool = False


@dataclass(frozen=True)
class Bins:
    """Counts between bounds, in ascending order."""

    low: Floats
    high: Floats
    count: npt.NDArray[np.int64]

    def without_zeros(self, zeros: int) -> Bins:
        """Return the same without zeros, which may share bins with the numbers closest to zero."""
        at = np.flatnonzero((self.low <= 0) & (self.high >= 0))
        if not len(at):
            return self
        first, past = int(at[0]), int(at[-1]) + 1
        left = int(self.count[first:past].sum()) - zeros

        def joined(column: npt.NDArray[Any], value: float) -> npt.NDArray[Any]:
            rest = [value] if left > 0 else []
            return np.concatenate([column[:first], np.array(rest, column.dtype), column[past:]])

        low, high = float(self.low[first]), float(self.high[past - 1])
        return Bins(joined(self.low, low), joined(self.high, high), joined(self.count, left))

    def alone(self, low: float, high: float) -> list[SpreadBar]:
        """Return a bar for each value."""
        each = zip(self.low.tolist(), self.high.tolist(), self.count.tolist(), strict=True)
        return [
            SpreadBar(start, end, count, count, count, closed=True)
            for start, end, count in each
            if start >= low and end <= high and count
        ]

    def within(self, edges: Floats) -> list[SpreadBar]:
        """Return a bar for each two edges, as ``js/src/tensor/rebin.ts`` counts.

        A bin that an edge cuts is shared out by width.
        """
        last = len(edges) - 2
        least, most, likely = (np.zeros(last + 1) for _ in range(3))
        touched = (self.high >= edges[0]) & (self.low <= edges[-1]) & (self.count > 0)
        low, high, count = self.low[touched], self.high[touched], self.count[touched]
        home = np.clip(np.searchsorted(edges, low, side="right") - 1, 0, last)
        ends = edges[home + 1]
        inside = (low >= edges[0]) & ((high < ends) | ((home == last) & (high <= ends)))
        for each in (least, most, likely):
            np.add.at(each, home[inside], count[inside])
        for at in np.flatnonzero(~inside).tolist():
            start, end, values = float(low[at]), float(high[at]), int(count[at])
            k = int(home[at])
            # The smallest numbers cannot be halved, the width of the largest bins is not finite.
            unit = 1.0 if math.isfinite(end - start) else 0.5
            while k <= last and edges[k] <= end:
                held = min(end, float(edges[k + 1])) * unit - max(start, float(edges[k])) * unit
                most[k] += values
                likely[k] += values * (max(0.0, held) / (end * unit - start * unit))
                k += 1
        counts = zip(least.tolist(), most.tolist(), likely.tolist(), strict=True)
        return [
            SpreadBar(float(edges[k]), float(edges[k + 1]), *each, closed=k == last)
            for k, each in enumerate(counts)
        ]
