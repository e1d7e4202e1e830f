"""The colours of figures: the live views' in their light scheme, and their colour tables."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

ColorMap = Literal["sequential", "diverging"]

TOKENS: dict[str, Any] = json.loads(Path(__file__).with_name("tokens.json").read_text("utf-8"))

BACKGROUND = "#ffffff"
SURFACE = "#f3f4f6"
TEXT = "#1f2328"
MUTED = "#59636e"
LINE = "#c3c8ce"
ACCENT = "#0b5fd0"
WARNING = "#8a5300"
ERROR = "#b3261e"

_KINDS: dict[str, str] = TOKENS["opKinds"]["light"]
_HEAT: list[str] = TOKENS["heat"]["light"]
_HEAT_STEPS = 64
_TINT = 0.16
STOPS: dict[ColorMap, Sequence[str]] = {
    "sequential": (
        *("#1b0f3b", "#2a2a72", "#27508f", "#1f7494", "#2a968a"),
        *("#55b57a", "#97cf74", "#d5e48e", "#fbf8c9"),
    ),
    "diverging": (
        *("#0a356f", "#1f5aa6", "#5b93cd", "#a0c4ea", "#f6f4f2"),
        *("#f0b9bd", "#d97080", "#b22f4b", "#64102c"),
    ),
}
#: NaN, +Inf, -Inf: colours that no table has.
SPECIAL = {"nan": "#e312b4", "pos_inf": "#ff8a00", "neg_inf": "#00c8f0"}
SPECIAL_TEXT = {"nan": "NaN", "pos_inf": "+Inf", "neg_inf": "−Inf"}

_DECADES = 4


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of ``"#rrggbb"``."""
    bits = int(color[1:], 16)
    return bits >> 16, bits >> 8 & 255, bits & 255


def ramp(stops: Sequence[str], share: float) -> str:
    """Return the colour at a share, 0 … 1, of the way along some stops."""
    at = min(1.0, max(0.0, share)) * (len(stops) - 1)
    low = min(math.floor(at), len(stops) - 2)
    pairs = zip(channels(stops[low]), channels(stops[low + 1]), strict=True)
    return "#" + "".join(f"{math.floor(a + (b - a) * (at - low) + 0.5):02x}" for a, b in pairs)


def kind_color(op_kind: str) -> str:
    """Return the colour of an op kind."""
    return _KINDS.get(op_kind, _KINDS["other"])


def tint(op_kind: str) -> str:
    """Return a light fill of the kind's colour."""
    return ramp((BACKGROUND, kind_color(op_kind)), _TINT)


def heat(share: float) -> str:
    """Return the fill of a share of the largest time, in 65 steps as the live view mixes them."""
    return ramp(_HEAT, math.floor(min(1.0, max(0.0, share)) * _HEAT_STEPS + 0.5) / _HEAT_STEPS)


def ink_on(fill: str) -> str:
    """Return black or white, whichever is easier to read on the fill."""
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in channels(fill))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"


EDGE = ramp((BACKGROUND, TEXT), 0.55)
PLAIN = ramp((BACKGROUND, TEXT), 0.03)


@cache
def table(name: ColorMap) -> npt.NDArray[np.uint8]:
    """Return 256 colours, ``uint8 [256, 3]``."""
    stops = np.array([channels(stop) for stop in STOPS[name]], np.float64)
    at = np.arange(256) / 255 * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    mixed = stops[low] + (stops[low + 1] - stops[low]) * (at - low)[:, None]
    colors: npt.NDArray[np.uint8] = np.floor(mixed + 0.5).astype(np.uint8)
    return colors


@dataclass(frozen=True)
class ColorScale:
    """Maps finite values from ``low`` to ``high`` to a colour table, as the inspector does.

    ``scale`` is ``"linear"`` or ``"symlog"``: linear near zero, logarithmic over four decades.
    """

    low: float
    high: float
    map: ColorMap
    scale: str = "linear"

    @classmethod
    def of(cls, low: float, high: float, scale: str = "linear") -> ColorScale:
        """Diverging and even around zero where values lie on both sides of it, else sequential."""
        if low < 0 < high:
            largest = max(-low, high)
            return cls(-largest, largest, "diverging", scale)
        return cls(low, high, "sequential", scale)

    def share(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return 0 … 1 for each value; 0.5 where the scale is a single value."""
        low, high = self._bend(self.low), self._bend(self.high)
        bent = self._bend(values)
        if not high > low:
            return np.full(np.shape(bent), 0.5)
        return np.clip((bent - low) / (high - low), 0, 1)

    def color(self, share: float) -> str:
        """Return the colour at a share."""
        red, green, blue = table(self.map)[math.floor(255 * min(1.0, max(0.0, share)) + 0.5)]
        return f"#{red:02x}{green:02x}{blue:02x}"

    def _bend(self, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
        array = np.asarray(values, np.float64)
        if self.scale == "linear":
            return array
        threshold = max(abs(self.low), abs(self.high)) / 10**_DECADES or 1.0
        return np.sign(array) * np.log1p(np.abs(array) / threshold)
