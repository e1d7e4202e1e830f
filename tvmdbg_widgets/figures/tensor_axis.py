"""Where values lie along an axis, as ``js/src/shared/drawing/value_axis.ts`` places them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.tensor_ticks import nice_ticks

_DECADES = 6


@dataclass(frozen=True)
class ValueAxis:
    """From one finite value to another on a scale; a logarithmic one is of one sign.

    ``linear`` is where symlog turns logarithmic; None leaves it to the axis.
    """

    kind: str
    low: float
    high: float
    linear: float | None = None

    @property
    def single(self) -> bool:
        """Whether the axis is one value."""
        return not self._bend(self.high) > self._bend(self.low)

    @property
    def threshold(self) -> float:
        """Where symlog turns from linear to logarithmic."""
        return min(self.linear or self._largest / 10**_DECADES, self._largest) or 1.0

    def share(self, value: float) -> float:
        """Return where a value lies, 0 … 1; below 0 and above 1 outside."""
        if self.single:
            return -1.0 if value < self.low else 2.0 if value > self.high else 0.5
        bent, start = self._bend(value), self._bend(self.low)
        return -1.0 if math.isnan(bent) else (bent - start) / (self._bend(self.high) - start)

    def edges(self, count: int) -> npt.NDArray[np.float64]:
        """Return ascending borders of up to so many equally wide bars."""
        start, end = self._bend(self.low), self._bend(self.high)
        edges = [self.low]
        for k in range(1, count):
            edge = self._straight(start + k / count * (end - start))
            if edges[-1] < edge < self.high:
                edges.append(edge)
        return np.array([*edges, self.high], np.float64)

    def ticks(self, count: float) -> list[float]:
        """Return about so many round numbers along the axis."""
        if self.single:
            return []
        ticks = [] if self.kind == "linear" else self._powers(count)
        return ticks if len(ticks) > 1 else nice_ticks(self.low, self.high, count)

    @property
    def _largest(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def _unit(self) -> float:
        """Halves what is large, for the span of two float64 may be none; the smallest have none."""
        return 0.5 if self._largest > 1 else 1.0

    def _powers(self, count: float) -> list[float]:
        """Powers of ten, as many as have room, and zero."""
        least = min(abs(self.low), abs(self.high)) if self.kind == "log" else 0.0
        start = math.log10(max(least, self.threshold * 1e-9) if least else self.threshold)
        end = math.log10(self._largest)
        both = 2 if self.low < 0 < self.high else 1
        step = max(1, math.ceil(both * (end - start) / max(1.0, count)))
        values = [0.0] if self.kind == "symlog" else []
        power = math.floor(end)
        while power >= start:
            values += [10.0**power, -(10.0**power)]
            power -= step
        return sorted(each for each in values if self.low <= each <= self.high)

    def _bend(self, value: float) -> float:
        if self.kind == "linear":
            return value * self._unit
        if self.kind == "log":
            sign = 1.0 if self.high > 0 else -1.0
            return sign * math.log(abs(value)) if value * sign > 0 else math.nan
        return math.copysign(math.log1p(abs(value) / self.threshold), value)

    def _straight(self, bent: float) -> float:
        if self.kind == "linear":
            return bent / self._unit
        if self.kind == "log":
            return math.exp(bent) if self.high > 0 else -math.exp(-bent)
        return math.copysign(self.threshold * math.expm1(abs(bent)), bent)
