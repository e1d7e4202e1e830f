"""The glyphs of a bokeh figure that a figure without a browser can draw, in data space."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.plot.axis import UndrawnError

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.plot.axis import Axis, Floats

_CIRCLES, _CROSSES = ("circle",), ("x", "cross")
_COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|rgba?\([\d., %]+\)")


@dataclass(frozen=True)
class Glyphs:
    """The glyphs of one renderer."""

    shape: str
    names: dict[str, list[Any]]
    fill: list[str]
    line: list[str]
    size: Floats
    width: float
    alpha: float
    reach: dict[str, float]
    dashed: bool = False
    behind: bool = False

    def along(self, name: str, axis: Axis) -> tuple[Floats, Floats]:
        """Return first and last place along the axis ``"x"`` or ``"y"``."""
        reach = self.reach.get(name, 0.0)
        first, last = (axis.numbers(self.names[f"{name}{at}"]) for at in (0, 1))
        return first - reach, last + reach


def glyphs_of(renderer: Any) -> Glyphs:
    """Return the glyphs of a renderer."""
    glyph = getattr(renderer, "glyph", None)
    kind = type(glyph).__name__
    if glyph is None or kind not in _ENDS:
        raise UndrawnError(kind)
    if type(renderer.view.filter).__name__ != "AllIndices":
        raise UndrawnError("some of the rows")
    data = renderer.data_source.data
    rows = max((len(column) for column in data.values()), default=0)

    def column(name: str) -> list[Any]:
        value = getattr(glyph, name)
        if getattr(value, "transform", None) is not None:
            raise UndrawnError("what is computed in the browser")
        value = getattr(value, "field", getattr(value, "value", value))
        if isinstance(value, str) and value in data:
            return list(data[value])
        return [value] * rows

    shape = _SHAPES[kind]
    if kind == "Scatter":
        markers = set(column("marker"))
        if len(markers) > 1:
            raise UndrawnError("markers by row")
        marker = next(iter(markers), "circle")
        if marker not in _CIRCLES + _CROSSES:
            raise UndrawnError(marker)
        shape = "dot" if marker in _CIRCLES else "cross"
    ends = _ENDS[kind]
    line = column("line_color")
    filled = hasattr(glyph, "fill_color")
    alpha = glyph.fill_alpha if filled else glyph.line_alpha
    if not isinstance(alpha, int | float):
        raise UndrawnError("transparency by row")
    return Glyphs(
        shape,
        {name: column(of) for name, of in ends.items()},
        [_color(each) for each in (column("fill_color") if filled else line)],
        [_color(each) for each in line],
        np.array(column("size") if hasattr(glyph, "size") else [0.0] * rows, np.float64),
        float(glyph.line_width) if isinstance(glyph.line_width, int | float) else 1.0,
        float(alpha),
        _reach(kind, glyph),
        bool(glyph.line_dash),
        renderer.level == "underlay",
    )


def _color(value: Any) -> str:
    if value is None:
        return "none"
    from bokeh.colors import named

    if not isinstance(value, str) or not (_COLOR.fullmatch(value) or value in named.__all__):
        raise UndrawnError("a color of another kind")
    return value


def _reach(kind: str, glyph: Any) -> dict[str, float]:
    name, size = {"HBar": ("y", "height"), "VBar": ("x", "width")}.get(kind, ("", ""))
    if not name:
        return {}
    high = getattr(glyph, size)
    if not isinstance(high, int | float):
        raise UndrawnError("bars of unequal breadth")
    return {name: high / 2}


#: By kind of glyph its shape, and what gives its ends.
_SHAPES = {
    **dict.fromkeys(("HBar", "VBar", "Quad"), "box"),
    "Segment": "segment",
    "Line": "line",
    "Scatter": "dot",
}
_ENDS: dict[str, dict[str, str]] = {
    "HBar": {"x0": "left", "x1": "right", "y0": "y", "y1": "y"},
    "VBar": {"x0": "x", "x1": "x", "y0": "bottom", "y1": "top"},
    "Quad": {"x0": "left", "x1": "right", "y0": "bottom", "y1": "top"},
    "Segment": {"x0": "x0", "x1": "x1", "y0": "y0", "y1": "y1"},
    "Line": {"x0": "x", "x1": "x", "y0": "y", "y1": "y"},
    "Scatter": {"x0": "x", "x1": "x", "y0": "y", "y1": "y"},
}
