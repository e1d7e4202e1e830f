"""Static pictures of bokeh figures, which bokeh itself draws in a browser alone.

A picture has the bars, dots, lines, axes, titles and legend of a figure; one with other glyphs has
none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.chart_axis import ChartAxis, Floats
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.texts import FONT, escape, fit
from tvmdbg_widgets.figures.texts import width as text_width
from tvmdbg_widgets.figures.theme import SCHEMES

_SMALL, _LINE = 12, 18
_EDGE, _TICK, _SWATCH = 10.0, 5.0, 11.0
#: Marks of one glyph; of more an evenly spaced part is drawn.
_MOST_MARKS = 3_000
#: Largest share of the width for the labels of an axis.
_LABELS = 0.45
#: Without quotation marks, which an image element takes away.
_FONT = FONT.replace("'", "")
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")

#: Dark color of each color of the light scheme.
DARK = {
    getattr(SCHEMES["light"], name): getattr(SCHEMES["dark"], name)
    for name in ("background", "surface", "text", "muted", "line", "accent", "warning", "error")
} | {color: SCHEMES["dark"].op_kinds[kind] for kind, color in SCHEMES["light"].op_kinds.items()}


def in_dark(text: str) -> str:
    """Return a text with every color of the light scheme as its dark one."""
    return _HEX.sub(lambda match: DARK.get(match.group().lower(), match.group()), text)


def chart_picture(chart: Any, text: str, *, both: bool) -> Figure | None:
    """Return the picture of a bokeh figure, in both schemes if it is of the light one.

    None if the figure has a glyph that is not drawn here.
    """
    try:
        body = _ChartPicture(chart).body
    except _NoPictureError:
        return None
    style = _dark_style(body) if both else ""
    size = (
        f'width="{chart.width}" height="{chart.height}" viewBox="0 0 {chart.width} {chart.height}"'
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="tvmdbg-figure" '
        f'font-family="{_FONT}" font-size="{_SMALL}">{style}{body}</svg>'
    )
    title = " ".join(chart.title.text.split()) if chart.title else ""
    return Figure(svg, text, {"view": "plot", "title": title})


class _NoPictureError(Exception):
    """A figure with something that has no picture."""


def _dark_style(body: str) -> str:
    """Return rules that color a light picture for readers who prefer dark."""
    used = sorted(set(re.findall(r'(fill|stroke)="(#[0-9a-f]{6})"', body)))
    rules = [
        f'.tvmdbg-figure [{kind}="{color}"]{{{kind}:{DARK[color]}}}'
        for kind, color in used
        if color in DARK
    ]
    return f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"


class _ChartPicture:
    """The marks of one figure, as SVG in ``body``."""

    def __init__(self, chart: Any) -> None:
        if type(chart).__name__ != "figure" or not chart.xaxis or not chart.yaxis:
            raise _NoPictureError
        self.chart = chart
        self.drawn = [_ChartGlyph.of(each) for each in chart.renderers if each.visible]
        titles = _titles(chart)
        entries = _legend(chart)
        self.x = ChartAxis.of(chart.xaxis[0], chart.x_range, self._ends("x"), chart.x_scale)
        self.y = ChartAxis.of(chart.yaxis[0], chart.y_range, self._ends("y"), chart.y_scale)
        top = _EDGE + sum(size + 6 for _, size, *_ in titles)
        rows = _legend_rows(entries, chart.width)
        bottom = chart.height - _EDGE - _LINE * (1 + bool(self.x.title) + len(rows))
        self.y.place(bottom, top + 4)
        widest = max((text_width(label, _SMALL) for label in self.y.labels), default=0.0)
        beside = min(widest, _LABELS * chart.width) + _TICK + 4 + _LINE * bool(self.y.title)
        self.box = _EDGE + beside, top + 4, chart.width - 2 * _EDGE, bottom
        self.x.place(self.box[0], self.box[2])
        self.room = min(widest, _LABELS * chart.width)
        self.body = "".join(
            [
                f'<rect width="100%" height="100%" fill="{_color(chart.border_fill_color)}"/>',
                *self._title_marks(titles),
                *self._axis_marks(),
                *self._spans(),
                *self._glyph_marks(),
                *self._legend_marks(rows),
            ]
        )

    def _ends(self, along: str) -> Floats:
        """Return all finite places of glyphs along an axis."""
        known = [glyph.places[name] for glyph in self.drawn for name in glyph.along(along)]
        numbers = [values for values in known if values.dtype != object]
        every = np.concatenate(numbers) if numbers else np.zeros(0)
        return np.asarray(every[np.isfinite(every)], np.float64)

    def _title_marks(self, titles: Sequence[tuple[str, int, str, str]]) -> Iterable[str]:
        y = _EDGE
        for line, size, color, weight in titles:
            y += size + 2
            place = f'x="{self.box[0]:.0f}" y="{y:.0f}" fill="{color}"'
            style = f'font-size="{size}" font-weight="{weight}"'
            yield f"<text {place} {style}>{escape(line)}</text>"
            y += 4

    def _axis_marks(self) -> Iterable[str]:
        left, top, right, bottom = self.box
        axis = self.chart.xaxis[0]
        text, line = _color(axis.major_label_text_color), _color(axis.axis_line_color)
        across = [f"M{at:.1f} {top:.1f}V{bottom:.1f}" for at, _ in self.x.ticks]
        along = [f"M{left:.1f} {at:.1f}H{right:.1f}" for at, _ in self.y.ticks]
        grids = (self.chart.xgrid, across), (self.chart.ygrid, along)
        for grid, path in grids:
            if grid and grid[0].visible and not (grid is self.chart.ygrid and self.y.factors):
                style = f'fill="none" stroke="{line}" stroke-opacity="0.5"'
                yield f'<path d="{"".join(path)}" {style}/>'
        frame = f"M{left:.1f} {top:.1f}V{bottom:.1f}H{right:.1f}"
        yield f'<path d="{frame}" fill="none" stroke="{line}"/>'
        for at, label in self.x.ticks:
            place = f'x="{at:.1f}" y="{bottom + 15:.0f}" text-anchor="middle"'
            yield f'<text {place} fill="{text}">{escape(label)}</text>'
        for at, label in self.y.ticks:
            place = f'x="{left - _TICK:.1f}" y="{at + 4:.1f}" text-anchor="end"'
            yield f'<text {place} fill="{text}">{escape(fit(label, self.room + 2, _SMALL))}</text>'
        if self.x.title:
            place = (
                f'x="{(left + right) / 2:.0f}" y="{bottom + 15 + _LINE:.0f}" text-anchor="middle"'
            )
            yield f'<text {place} fill="{text}">{escape(self.x.title)}</text>'
        if self.y.title:
            turned = f'transform="translate({_EDGE + 8:.0f} {(top + bottom) / 2:.0f}) rotate(-90)"'
            style = f'text-anchor="middle" fill="{text}"'
            yield f"<text {turned} {style}>{escape(self.y.title)}</text>"

    def _spans(self) -> Iterable[str]:
        left, top, right, bottom = self.box
        for span in self.chart.center:
            if type(span).__name__ != "Span" or not isinstance(span.location, int | float):
                continue
            (at,) = (self.x if span.dimension == "height" else self.y).at(np.array([span.location]))
            path = f"M{left:.1f} {at:.1f}H{right:.1f}"
            if span.dimension == "height":
                path = f"M{at:.1f} {top:.1f}V{bottom:.1f}"
            yield f'<path d="{path}" stroke="{_color(span.line_color)}"/>'

    def _glyph_marks(self) -> Iterable[str]:
        left, top, right, bottom = self.box
        under = [glyph for glyph in self.drawn if glyph.is_under]
        over = [glyph for glyph in self.drawn if not glyph.is_under]
        size = f'width="{right - left:.1f}" height="{bottom - top:.1f}"'
        # A view box of its own clips what lies outside of the frame.
        yield f'<svg x="{left:.1f}" y="{top:.1f}" {size} viewBox="{left:.1f} {top:.1f} '
        yield f'{right - left:.1f} {bottom - top:.1f}">'
        for glyph in (*under, *over):
            yield from glyph.marks(self.x, self.y)
        yield "</svg>"

    def _legend_marks(self, rows: Sequence[Sequence[tuple[str, str]]]) -> Iterable[str]:
        color = _color(self.chart.xaxis[0].major_label_text_color)
        y = self.chart.height - _EDGE - _LINE * (len(rows) - 1)
        for row in rows:
            x = self.box[0]
            for label, fill in row:
                yield f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="10" height="10" fill="{fill}"/>'
                yield f'<text x="{x + 15:.0f}" y="{y:.0f}" fill="{color}">{escape(label)}</text>'
                x += _entry_width(label)
            y += _LINE


def _titles(chart: Any) -> list[tuple[str, int, str, str]]:
    """Return the lines above the frame with size, color and weight."""
    above = [title for title in reversed(chart.above) if hasattr(title, "text")]
    lines = []
    for title in (*([chart.title] if chart.title else []), *above):
        size = int(re.sub(r"\D", "", str(title.text_font_size)) or 13)
        weight = "bold" if title.text_font_style == "bold" else "normal"
        found = [line for line in title.text.splitlines() if line.strip()]
        lines += [(line, size, _color(title.text_color), weight) for line in found]
    return lines


def _legend(chart: Any) -> list[tuple[str, str]]:
    """Return the entries of the legend with their colors."""
    entries = []
    for legend in chart.legend:
        for item in legend.items if legend.visible else ():
            glyph = _ChartGlyph.of(item.renderers[0])
            is_line = getattr(glyph.glyph, "marker", "") == "x" or not glyph.colors("fill")
            colors = glyph.colors("line" if is_line else "fill")
            label = getattr(item.label, "value", None)
            if label is not None and colors:
                entries.append((str(label), colors[(item.index or 0) % len(colors)]))
    return entries


def _entry_width(label: str) -> float:
    return text_width(label, _SMALL) + 15 + _SWATCH


def _legend_rows(entries: list[tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    rows: list[list[tuple[str, str]]] = []
    room = 0.0
    for entry in entries:
        needed = _entry_width(entry[0])
        if needed > room:
            rows.append([])
            room = width * (1 - _LABELS)
        rows[-1].append(entry)
        room -= needed
    return rows


#: Places of a glyph along x and y.
_PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "HBar": (("left", "right"), ("y",)),
    "Segment": (("x0", "x1"), ("y0", "y1")),
    "Scatter": (("x",), ("y",)),
    "Line": (("x",), ("y",)),
    "Quad": (("left", "right"), ("bottom", "top")),
}


@dataclass
class _ChartGlyph:
    """The marks of one renderer."""

    kind: str
    glyph: Any
    columns: dict[str, Any]
    places: dict[str, npt.NDArray[Any]]
    is_under: bool

    @classmethod
    def of(cls, renderer: Any) -> _ChartGlyph:
        """Read a renderer of a figure."""
        glyph = getattr(renderer, "glyph", None)
        kind = type(glyph).__name__
        if kind not in _PLACES:
            raise _NoPictureError
        columns = {name: list(column) for name, column in renderer.data_source.data.items()}
        count = max(map(len, columns.values()), default=0)
        names = [*_PLACES[kind][0], *_PLACES[kind][1]]
        places = {name: _column(getattr(glyph, name), columns, count) for name in names}
        if len({*map(len, places.values())}) > 1:
            raise _NoPictureError
        return cls(kind, glyph, columns, places, renderer.level == "underlay")

    def along(self, axis: str) -> tuple[str, ...]:
        """Return the names of the places along an axis."""
        return _PLACES[self.kind][axis == "y"]

    def colors(self, of: str) -> list[str]:
        """Return the color of each mark's fill or line."""
        count = max(map(len, self.places.values()), default=0)
        spec = getattr(self.glyph, f"{of}_color", None)
        return [] if spec is None else list(map(_color, _column(spec, self.columns, count)))

    def marks(self, x: ChartAxis, y: ChartAxis) -> Iterable[str]:
        """Return the marks, those of one look as one path."""
        xs = [x.at(self.places[name]) for name in _PLACES[self.kind][0]]
        ys = [y.at(self.places[name]) for name in _PLACES[self.kind][1]]
        width = float(getattr(self.glyph, "line_width", 1) or 1)
        if self.kind == "Line":
            points = zip(xs[0].tolist(), ys[0].tolist(), strict=True)
            path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
            dash = ' stroke-dasharray="6"' if self.glyph.line_dash else ""
            line = _color(self.glyph.line_color)
            yield f'<path d="{path}" fill="none" stroke="{line}" stroke-width="{width:g}"{dash}/>'
            return
        if self.kind == "HBar":
            half = abs(y.last - y.first) / max(1, len(y.factors)) * float(self.glyph.height) / 2
            ys = [ys[0] - half, ys[0] + half]
        every = np.arange(len(xs[0]))
        rows = every[:: max(1, -(-len(every) // _MOST_MARKS))].tolist()
        looks: dict[tuple[str, str, float], list[str]] = {}
        fills, lines = self.colors("fill"), self.colors("line")
        sizes = _column(getattr(self.glyph, "size", 0), self.columns, len(every))
        for row in rows:
            place = [float(axis[row]) for axis in (*xs, *ys)]
            if not all(map(math.isfinite, place)):
                continue
            size = round(float(sizes[row]), 1) if self.kind == "Scatter" else 0.0
            look = fills[row] if fills else "none", lines[row] if lines else "none", size
            looks.setdefault(look, []).append(self._path(place, size))
        alpha = float(getattr(self.glyph, "fill_alpha", 1) or 0)
        for (fill, line, _), paths in looks.items():
            style = f'fill="{fill}" stroke="{line}" stroke-width="{width:g}"'
            style += f' fill-opacity="{alpha:g}"' if alpha < 1 and fill != "none" else ""
            yield f'<path d="{"".join(paths)}" {style}/>'

    def _path(self, place: Sequence[float], size: float) -> str:
        if self.kind == "Scatter":
            (x, y), half = place, size / 2
            if self.glyph.marker == "x":
                there, back = f"l{size:g} {size:g}", f"m{-size:g} 0l{size:g} {-size:g}"
                return f"M{x - half:.1f} {y - half:.1f}{there}{back}"
            arc = f"a{half:g} {half:g} 0 1 0"
            return f"M{x - half:.1f} {y:.1f}{arc} {size:g} 0{arc} {-size:g} 0z"
        left, right, low, high = place
        if self.kind == "Segment":
            return f"M{left:.1f} {low:.1f}L{right:.1f} {high:.1f}"
        return f"M{left:.1f} {low:.1f}H{right:.1f}V{high:.1f}H{left:.1f}z"


def _column(spec: Any, columns: dict[str, Any], count: int) -> npt.NDArray[Any]:
    """Return the values of a property: of a column, or one for all."""
    field, value = getattr(spec, "field", None), getattr(spec, "value", spec)
    name = field if field is not None else value if isinstance(value, str) else None
    found = columns[name] if name in columns else [value] * count
    is_number = all(isinstance(each, int | float | np.number) for each in found)
    return np.array(found, np.float64 if is_number else object)


def _color(value: Any) -> str:
    """Return a color; only what a style sheet would take as one."""
    text = str(value)
    return text if re.fullmatch(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]+", text) else "none"
