"""One plot of bokeh as a panel: its frame, its glyphs and its legend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.plot.axis import Axis, UndrawnError
from tvmdbg_widgets.figures.plot.glyphs import Glyphs, glyphs_of
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel, Style, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.theme import THEMES, ink_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tvmdbg_widgets.figures.plot.axis import Floats
    from tvmdbg_widgets.figures.theme import Theme

WIDTH = 720.0
_HIGH, _ROW = 230.0, 19.0
_GAP, _BELOW = 6.0, 18.0
_MOST_LABEL = 320.0
#: Glyphs of one renderer; more are left to the browser.
_MOST_GLYPHS = 20_000
#: Dots from which on they stand on a grid of so many px.
_MANY_DOTS, _GRID = 1_500, 6
_HEX = re.compile("#[0-9a-f]{6}")


def is_plot(model: Any) -> bool:
    """Whether a model of bokeh is a plot, rather than a part of one or a layout."""
    return hasattr(model, "renderers") and hasattr(model, "x_scale")


def titles_of(plot: Any) -> list[str]:
    """Return the title of a plot and the notes below it, each in one line."""
    title: Any = getattr(plot, "title", None)
    told = [title.text.replace("\n", " ")] if getattr(title, "text", "") else []
    notes = [each for each in reversed(plot.above) if getattr(each, "text", "")]
    told += [next((tag for tag in each.tags if each.text in str(tag)), each.text) for each in notes]
    return [*dict.fromkeys(told)]


def chart_panel(plot: Any) -> Panel:
    """Draw a plot."""
    if len(plot.xaxis) != 1 or len(plot.yaxis) != 1 or plot.extra_x_ranges or plot.extra_y_ranges:
        raise UndrawnError("other axes")
    drawn = [glyphs_of(each) for each in plot.renderers if each.visible]
    if any(len(each.fill) > _MOST_GLYPHS for each in drawn):
        raise UndrawnError("too many rows")
    return _Chart(plot, drawn, theme_of_plot(plot)).panel()


def theme_of_plot(plot: Any) -> Theme:
    """Return the dark theme for a plot on dark ground, else the light one."""
    ground = plot.background_fill_color
    is_dark = isinstance(ground, str) and _HEX.fullmatch(ground) and ink_on(ground) == "#ffffff"
    return THEMES["dark" if is_dark else "light"]


class _Chart:
    """One plot while it is drawn."""

    def __init__(self, plot: Any, drawn: list[Glyphs], theme: Theme) -> None:
        self._plot, self._theme = plot, theme
        self._drawn = sorted(drawn, key=lambda each: not each.behind)
        self._axes = {
            name: Axis(span, scale, axis[0], self._values(name, span, scale, axis[0]))
            for name, span, scale, axis in (
                ("x", plot.x_range, plot.x_scale, plot.xaxis),
                ("y", plot.y_range, plot.y_scale, plot.yaxis),
            )
        }

    def _values(self, name: str, *of: Any) -> list[Floats]:
        """Return all that is drawn along an axis of numbers."""
        if getattr(of[0], "factors", ()):
            return []
        plain = _Numbers()
        return [end for each in self._drawn for end in each.along(name, plain)]  # type: ignore[arg-type]

    def panel(self) -> Panel:
        title, *notes = [*titles_of(self._plot), ""][:-1] or [""]
        panel = Panel(float(min(WIDTH, self._plot.width or WIDTH)), title, title, self._theme)
        y = panel.heading(title)
        for note in notes:
            y = panel.paragraph(note, y, lines=4, fill=self._theme.muted)
        x_axis, y_axis = self._axes["x"], self._axes["y"]
        high = _ROW * len(y_axis.names) if y_axis.names else _HIGH
        ticks = y_axis.ticks(high / 40)
        most = min(_MOST_LABEL, panel.width / 2)
        left = MARGIN + _GAP + min(most, max((width(text, SMALL) for _, text in ticks), default=0))
        top = y + 8 + (LINE_HEIGHT if y_axis.label else 0)
        box = (left, top, panel.width - MARGIN - left, high)
        if y_axis.label:
            panel.marks.text(y_axis.label, MARGIN, top - 5, fill=self._theme.muted)
        self._frame(panel, box, ticks, most)
        self._spans(panel, box)
        for glyphs in self._drawn:
            self._glyphs(panel, glyphs, box)
        y = top + high + _BELOW
        if x_axis.label:
            wide = width(x_axis.label, SMALL)
            at = left + max(0.0, (box[2] - wide) / 2)
            panel.marks.text(x_axis.label, at, y + 10, fill=self._theme.muted)
            y += LINE_HEIGHT
        panel.height = self._legend(panel, y) + MARGIN
        return panel

    def _frame(
        self,
        panel: Panel,
        box: tuple[float, float, float, float],
        ticks: list[tuple[float, str]],
        most: float,
    ) -> None:
        left, top, wide, high = box
        marks, theme = panel.marks, self._theme
        grid: Style = {"fill": "none", "stroke": theme.line}
        marks.rect(left, top, wide, high, **grid)
        for at, text in ticks:
            y = top + high * (1 - at)
            shown = fit(text, most, SMALL)
            marks.text(shown, left - _GAP - width(shown, SMALL), y + 4)
            if not self._axes["y"].names:
                marks.path(f"M{number(left)} {number(y)}h{number(wide)}", **grid)
        end = 0.0
        for at, text in self._axes["x"].ticks(wide / 80):
            x = left + wide * at
            marks.path(f"M{number(x)} {number(top)}v{number(high)}", **grid)
            start = min(x - width(text, SMALL) / 2, panel.width - 2 - width(text, SMALL))
            if start >= end + _GAP:
                marks.text(text, start, top + high + 13)
                end = start + width(text, SMALL)

    def _spans(self, panel: Panel, box: tuple[float, float, float, float]) -> None:
        """Draw the lines across the plot."""
        left, top, wide, high = box
        for each in self._plot.center:
            kind = type(each).__name__
            if kind not in ("Grid", "Legend", "Span"):
                raise UndrawnError(kind)
            if kind != "Span":
                continue
            name = "x" if each.dimension == "height" else "y"
            (at,) = self._axes[name].share(np.array([each.location], np.float64)).tolist()
            place = f"M{number(left + wide * at)} {number(top)}v{number(high)}"
            if name == "y":
                place = f"M{number(left)} {number(top + high * (1 - at))}h{number(wide)}"
            panel.marks.path(place, fill="none", stroke=str(each.line_color))

    def _glyphs(self, panel: Panel, glyphs: Glyphs, box: tuple[float, float, float, float]) -> None:
        left, top, wide, high = box
        x0, x1 = (left + wide * each for each in self._ends(glyphs, "x"))
        y0, y1 = (top + high * (1 - each) for each in self._ends(glyphs, "y"))
        rows = zip(x0, x1, y0, y1, glyphs.fill, glyphs.line, glyphs.size, strict=True)
        known = [row for row in rows if all(np.isfinite(row[:4]))]
        _DRAW[glyphs.shape](panel, glyphs, known)

    def _ends(self, glyphs: Glyphs, name: str) -> Iterator[Floats]:
        axis = self._axes[name]
        return map(axis.share, glyphs.along(name, axis))

    def _legend(self, panel: Panel, y: float) -> float:
        """Write the names of the legend with the colors of their glyphs."""
        items = [item for legend in self._plot.legend if legend.visible for item in legend.items]
        x, marks = float(MARGIN), panel.marks
        if items:
            y += 4
        for item in items:
            text = getattr(item.label, "value", None)
            if not isinstance(text, str) or not item.renderers:
                raise UndrawnError("a legend by column")
            glyphs = glyphs_of(item.renderers[0])
            colors = glyphs.fill if glyphs.shape in ("box", "dot") else glyphs.line
            color = (colors or ["none"])[int(item.index or 0)]
            wide = 14 + width(text, SMALL)
            if x > MARGIN and x + wide > panel.width - MARGIN:
                x, y = float(MARGIN), y + LINE_HEIGHT
            marks.rect(x, y + 2, 10, 10, own={"fill": color}, stroke=self._theme.line)
            marks.text(fit(text, panel.width - MARGIN - x - 14, SMALL), x + 14, y + 11)
            x += wide + 14
        return y + LINE_HEIGHT if items else y


class _Numbers:
    """Takes columns as they are."""

    def numbers(self, values: Sequence[Any]) -> Floats:
        try:
            return np.array(values, np.float64)
        except (TypeError, ValueError) as problem:
            raise UndrawnError("values that are no numbers") from problem


def _boxes(panel: Panel, glyphs: Glyphs, rows: list[Any]) -> None:
    for x0, x1, y0, y1, fill, line, _ in rows:
        style: Style = {"fill": fill, "fill_opacity": glyphs.alpha, "stroke": line}
        place = f"M{number(x0)} {number(y0)}H{number(x1)}V{number(y1)}H{number(x0)}z"
        panel.marks.path(place, z=1, stroke_width=glyphs.width, **style)


def _segments(panel: Panel, glyphs: Glyphs, rows: list[Any]) -> None:
    for x0, x1, y0, y1, _, line, _ in rows:
        style: Style = {"fill": "none", "stroke": line, "stroke_width": glyphs.width}
        place = f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
        panel.marks.path(place, z=1, **style, **_dashes(glyphs))


def _line(panel: Panel, glyphs: Glyphs, rows: list[Any]) -> None:
    if rows:
        places = "L".join(f"{number(x)} {number(y)}" for x, _, y, *_ in rows)
        style: Style = {"fill": "none", "stroke": rows[0][5], "stroke_width": glyphs.width}
        panel.marks.path(f"M{places}", z=0 if glyphs.behind else 1, **style, **_dashes(glyphs))


def _dashes(glyphs: Glyphs) -> Style:
    return {"stroke_dasharray": "5 4"} if glyphs.dashed else {}


def _dots(panel: Panel, glyphs: Glyphs, rows: list[Any]) -> None:
    """Draw discs as round ends of lines without a length: the border below, the fill upon it.

    Of many dots there are those that do not lie upon each other, without a border.
    """
    grid = _GRID if len(rows) > _MANY_DOTS else 0
    for each in _apart(rows, grid):
        x, _, y, _, fill, line, size = each
        place = f"M{number(x)} {number(y)}h0"
        round_: Style = {"fill": "none", "stroke_linecap": "round"}
        if not grid:
            panel.marks.path(place, z=1, stroke=line, stroke_width=size + glyphs.width, **round_)
        inner = max(0.5, size - glyphs.width)
        panel.marks.path(place, z=2, stroke=fill, stroke_width=inner, **round_)


def _crosses(panel: Panel, glyphs: Glyphs, rows: list[Any]) -> None:
    for x, _, y, _, _, line, size in rows:
        arm = number(size / 2)
        place = (
            f"M{number(x)} {number(y)}m-{arm}-{arm}l{number(size)} {number(size)}"
            f"m0-{number(size)}l-{number(size)} {number(size)}"
        )
        panel.marks.path(place, z=2, fill="none", stroke=line, stroke_width=glyphs.width)


def _apart(rows: list[Any], grid: int) -> Iterator[Any]:
    """Return rows; of many one at each place of a grid."""
    if not grid:
        yield from rows
        return
    seen = set()
    for x, x1, *rest in rows:
        place = round(float(x) / grid) * grid
        if (key := (place, *map(str, rest))) not in seen:
            seen.add(key)
            yield (float(place), x1, *rest)


_DRAW = {
    "box": _boxes,
    "segment": _segments,
    "line": _line,
    "dot": _dots,
    "cross": _crosses,
}
