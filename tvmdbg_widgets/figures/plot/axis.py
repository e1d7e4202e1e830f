"""An axis of a bokeh figure: where values and names are, and which of them are written."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.ticks import nice_ticks
from tvmdbg_widgets.model.base.number_text import short_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_TICKS = 7
#: Bytes are written in these steps.
_BINARY = 1024
_ENDS = ("start", "end")


class UndrawnError(Exception):
    """The figure has something that is drawn in a browser alone."""


class Axis:
    """One axis of a bokeh figure."""

    def __init__(self, span: Any, scale: Any, axis: Any, values: Iterable[Floats]) -> None:
        self.label: str = axis.axis_label or ""
        self._formatter = axis.formatter
        self.names: list[str] = [str(each) for each in getattr(span, "factors", ())]
        self._places = {name: at + 0.5 for at, name in enumerate(self.names)}
        kind = type(scale).__name__
        if kind not in ("LinearScale", "LogScale", "CategoricalScale"):
            raise UndrawnError(kind)
        self.is_log = kind == "LogScale"
        self.low, self.high = 0.0, float(len(self.names))
        if not self.names:
            self.low, self.high = self._span(span, values)

    def _span(self, span: Any, values: Iterable[Floats]) -> tuple[float, float]:
        found = np.concatenate([np.zeros(0), *(self._own(each) for each in values)])
        found = found[np.isfinite(found)]
        if not len(found):
            raise UndrawnError("nothing to draw")
        low, high = float(found.min()), float(found.max())
        more = (high - low or 1.0) * getattr(span, "range_padding", 0.0) / 2
        given = [getattr(span, name, None) for name in _ENDS]
        told = [None if each is None or each != each else float(each) for each in given]  # noqa: PLR0124
        ends = [low - more, high + more]
        for at, each in enumerate(told):
            if each is not None:
                ends[at] = float(self._own(np.array([each]))[0])
        if not ends[1] > ends[0]:
            raise UndrawnError("an empty range")
        return ends[0], ends[1]

    def _own(self, values: Floats) -> Floats:
        """Return values as the scale spaces them."""
        if not self.is_log:
            return values
        return np.log10(values, out=np.full(len(values), np.nan), where=values > 0)

    def numbers(self, values: Iterable[Any]) -> Floats:
        """Return values of a column as numbers; names by their places."""
        try:
            if self._places:
                return np.array([self._places[str(each)] for each in values], np.float64)
            return np.array(list(values), np.float64)
        except (KeyError, TypeError, ValueError) as problem:
            raise UndrawnError("values that are no numbers") from problem

    def share(self, values: Floats) -> Floats:
        """Return where values are along the axis, 0 … 1; NaN stays, beyond is at the end."""
        own = (self._own(values) - self.low) / (self.high - self.low)
        return np.clip(own, 0.0, 1.0)

    def ticks(self, count: float = _TICKS) -> list[tuple[float, str]]:
        """Return what is written along the axis, and where, 0 … 1."""
        if self.names:
            return [((at + 0.5) / len(self.names), name) for at, name in enumerate(self.names)]
        if self.is_log:
            powers = range(math.ceil(self.low), math.floor(self.high) + 1)
            step = max(1, math.ceil(len(powers) / count))
            values = [10.0**power for power in powers[::step]]
        else:
            unit = self._unit()
            values = [tick * unit for tick in nice_ticks(self.low / unit, self.high / unit, count)]
        most = max((abs(value) for value in values), default=0.0)
        told = [(value, self._text(value, most)) for value in values]
        places = self.share(np.array(values, np.float64)).tolist()
        return [(at, text) for at, (_, text) in zip(places, told, strict=True) if text]

    def _unit(self) -> float:
        """Return the unit that round numbers are of: of bytes a power of 1024."""
        units = getattr(self._formatter, "args", {}).get("units", [])
        binary = any(size == _BINARY for size, _ in units)
        most = max(abs(self.low), abs(self.high))
        return next((size for size, _ in units if most >= size), 1.0) if binary else 1.0

    def _text(self, value: float, most: float) -> str:
        formatter, args = self._formatter, getattr(self._formatter, "args", {})
        if "units" in args:
            least = abs(value) if args["scale"] == "log" else most
            units = args["units"]
            size, unit = next((each for each in units if least >= each[0]), units[-1])
            return f"{float(f'{value / size:.6g}'):g} {unit}{args['suffix']}".strip()
        if "last" in args and value > args["last"]:
            return ""
        pattern = getattr(formatter, "format", None)
        if isinstance(pattern, str) and pattern.startswith("%"):
            try:
                return str(pattern % value)
            except (TypeError, ValueError):
                return short_text(value)
        return f"{value:,.0f}" if pattern == "0,0" else short_text(value)
