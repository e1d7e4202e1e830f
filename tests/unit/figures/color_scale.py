"""Color tables for values, and the scale that maps values to them, as the inspector's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.theme import TOKENS

ColorMap = Literal["sequential", "diverging"]

_VALUES = TOKENS["values"]
STOPS: dict[ColorMap, Sequence[str]] = {
    "sequential": TOKENS["sequential"],
    "diverging": TOKENS["diverging"]["light"],
}
#: NaN, +Inf, -Inf: colors that no table has.
SPECIAL: dict[str, str] = {
    "nan": _VALUES["nan"],
    "pos_inf": _VALUES["posInf"],
    "neg_inf": _VALUES["negInf"],
}
#: Finite values below and above the range of the colors.
UNDER, OVER = str(_VALUES["under"]), str(_VALUES["over"])
SCALES = ("linear", "log", "symlog")

_DECADES = 3
#: Decades of a logarithmic scale whose range reaches down to zero.
_LOG_DECADES = 6


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``"#rrggbb"``."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


@cache
def table(name: ColorMap) -> npt.NDArray[np.uint8]:
    """Return 256 colors, ``uint8 [256, 3]``."""
    stops = np.array([channels(stop) for stop in STOPS[name]], np.float64)
    at = np.arange(256) / 255 * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    mixed = stops[low] + (stops[low + 1] - stops[low]) * (at - low)[:, None]
    return np.floor(mixed + 0.5).astype(np.uint8)


@dataclass(frozen=True)
class ColorScale:
    """Maps finite values from ``low`` to ``high`` to a color table, as the inspector does.

    ``scale`` is ``"linear"``, ``"log"``, or ``"symlog"``: linear near zero, logarithmic over
    three decades.
    """

    low: float
    high: float
    map: ColorMap
    scale: str = "linear"
    linear: float | None = None

    @classmethod
    def of(
        cls,
        low: float,
        high: float,
        scale: str = "linear",
        map_: str = "auto",
        *,
        linear: float | None = None,
    ) -> ColorScale:
        """Choose the table where none is asked for: diverging for values on both sides of zero.

        A diverging scale is even around zero. A logarithmic one has no place for zero and below:
        it begins at most six decades below the largest, and where nothing is positive it is
        ``"symlog"``.
        """
        if scale == "log" and high > 0:
            low = low if low > 0 else high / 10**_LOG_DECADES
            return cls(low, high, "diverging" if map_ == "diverging" else "sequential", scale)
        scale = "symlog" if scale == "log" else scale
        chosen: ColorMap = "sequential"
        if map_ == "diverging" or (map_ == "auto" and low < 0 < high):
            chosen, high = "diverging", max(abs(low), abs(high))
            low = -high
        return cls(low, high, chosen, scale, linear)

    def share(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return 0 … 1 for each value; 0.5 where the scale is a single value."""
        low, high = self._bend(self.low), self._bend(self.high)
        bent = self._bend(values)
        if not high > low:
            return np.full(np.shape(bent), 0.5)
        with np.errstate(over="ignore"):
            return np.clip((bent - low) / (high - low), 0, 1)

    @property
    def threshold(self) -> float:
        """Where symlog turns from linear to logarithmic."""
        largest = max(abs(self.low), abs(self.high))
        return min(self.linear or largest / 10**_DECADES, largest) or 1.0

    @property
    def _unit(self) -> float:
        """Halves what is large, for the span of two float64 may be none."""
        return 0.5 if max(abs(self.low), abs(self.high)) > 1 else 1.0

    def color(self, share: float) -> str:
        """Return the color at a share."""
        red, green, blue = table(self.map)[math.floor(255 * min(1.0, max(0.0, share)) + 0.5)]
        return f"#{red:02x}{green:02x}{blue:02x}"

    def _bend(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        array = np.asarray(values, np.float64)
        if self.scale == "linear":
            return array * self._unit
        if self.scale == "log":
            return np.log(np.maximum(array, self.low))
        with np.errstate(over="ignore"):
            return np.sign(array) * np.log1p(np.abs(array) / self.threshold)
