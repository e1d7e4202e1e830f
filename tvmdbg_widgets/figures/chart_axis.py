"""Axes of charts: ends, ticks with units, and the px of values, as bokeh has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: Room around data whose range is not set, as bokeh leaves it.
_PADDING = 0.05
#: px of a tick along x and along y.
_ALONG_X, _ALONG_Y = 90, 50

Floats = npt.NDArray[np.float64]


@dataclass
class ChartAxis:
    """One axis: its ends, its ticks, and the px of values."""

    title: str
    low: float
    high: float
    is_log: bool
    is_binary: bool
    factors: Sequence[str]
    words: Callable[[float, float], str]
    first: float = 0.0
    last: float = 1.0

    @classmethod
    def of(cls, axis: Any, limits: Any, places: Floats, scale: Any) -> ChartAxis:
        """Read an axis of a figure whose glyphs have these places."""
        factors = [str(factor) for factor in getattr(limits, "factors", ())]
        is_log = "Log" in type(scale).__name__
        if factors:
            low, high = -0.5, len(factors) - 0.5
        else:
            shown = places[places > 0] if is_log else places
            low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
            if is_log:
                low, high = low / 1.3, high * 1.3
            else:
                more = _PADDING * ((high - low) or 1.0)
                low, high = low - more, high + more
            low, high = _given(limits.start, low), _given(limits.end, high)
        units = getattr(axis.formatter, "args", {}).get("units", ())
        is_binary = any(size == 1024 for size, _ in units)
        words = _words_of(axis)
        return cls(axis.axis_label or "", low, high, is_log, is_binary, factors, words)

    def place(self, first: float, last: float) -> None:
        """Set the px of both ends."""
        self.first, self.last = first, last

    def at(self, values: npt.NDArray[Any]) -> Floats:
        """Return the px of values or of factors."""
        if self.factors and values.dtype == object:
            rows = {name: row for row, name in enumerate(self.factors)}
            values = np.array([rows.get(str(value), math.nan) for value in values])
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.array([self.low, self.high], np.float64)
            numbers = np.asarray(values, np.float64)
            if self.is_log:
                numbers, ends = np.log10(numbers), np.log10(ends)
            share = (numbers - ends[0]) / ((ends[1] - ends[0]) or 1.0)
        return np.asarray(self.first + share * (self.last - self.first), np.float64)

    @property
    def _values(self) -> list[float]:
        room = abs(self.last - self.first)
        most = max(2, int(room / (_ALONG_X if self.last > self.first else _ALONG_Y)))
        if self.is_log:
            decades = range(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            step = max(1, -(-len(decades) // most))
            return [10.0**power for power in decades[::step]]
        raw = (self.high - self.low) / most
        base = 2.0 if self.is_binary else 10.0
        factors = (1.0,) if self.is_binary else (1.0, 2.0, 5.0)
        unit = base ** math.floor(math.log(raw, base)) if raw > 0 else 1.0
        apart = unit * next((factor for factor in factors if factor * unit >= raw), base)
        first = math.ceil(self.low / apart - 1e-9)
        return [at * apart for at in range(first, math.floor(self.high / apart + 1e-9) + 1)]

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places in px and labels."""
        if self.factors:
            places = self.at(np.arange(len(self.factors), dtype=np.float64))
            return list(zip(places.tolist(), self.factors, strict=True))
        values = self._values
        most = max(map(abs, values), default=0.0)
        places = self.at(np.array(values, np.float64)).tolist()
        return [(at, self.words(value, most)) for at, value in zip(places, values, strict=True)]

    @property
    def labels(self) -> list[str]:
        """Labels of the ticks."""
        return [label for _, label in self.ticks]


def _given(end: Any, other: float) -> float:
    is_set = isinstance(end, int | float) and math.isfinite(end)
    return float(end) if is_set else other


def _words_of(axis: Any) -> Callable[[float, float], str]:
    """Return the text of a tick as the figure's formatter writes it, from it and the largest."""
    formatter = axis.formatter
    given = getattr(formatter, "args", {})
    pattern = getattr(formatter, "format", "")
    if "units" in given:
        units = [(float(size), str(unit)) for size, unit in given["units"]]

        def in_units(value: float, most: float) -> str:
            by = abs(value) if given["scale"] == "log" else most
            size, unit = next((row for row in units if by >= row[0]), units[-1])
            return f"{value / size:.6g} {unit}{given['suffix']}".rstrip()

        return in_units
    if "last" in given:
        return lambda value, _: f"{value:.6g}" if value <= given["last"] else ""
    if isinstance(pattern, str) and pattern.startswith("%"):
        return lambda value, _: pattern % value
    if pattern == "0,0":
        return lambda value, _: f"{value:,.0f}"
    return lambda value, _: f"{value:.6g}"
