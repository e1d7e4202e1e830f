"""The roofline of a run as a figure: operations a second against operations a byte."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.timeline.critical_path import why_not
from tvmdbg_widgets.analysis.timeline.roofline_words import rate_text, significant
from tvmdbg_widgets.figures.choices import usable_width
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.slice_paint import SlicePaint
from tvmdbg_widgets.figures.svg import MARGIN, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.theme import theme_of
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.graph.labels import label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.timeline.roofline import Point, Roofline
    from tvmdbg_widgets.figures.figure import Figure

_HIGH = 190.0
_GUTTER, _AXIS = 44.0, 18.0
_SMALLEST, _LARGEST = 3.5, 11.0
_MARGIN_DECADES, _LEAST_DECADES = 0.2, 1.0
_LABELS, _LABEL_ROOM = 10, 150.0
_LINE = 13.0
_LISTED = 8
#: Beyond so many points none says what it is, so that a figure stays small.
_TITLED = 300

Box = tuple[float, float, float, float]


def roofline_figure(
    run: Derived,
    *,
    peak_flops: float | None = None,
    bandwidth: float | None = None,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw how fast each operator computed against what it computes for each byte.

    Parameters
    ----------
    peak_flops, bandwidth : float or None
        Ceilings, FLOP/s and byte/s; without them the highest that was seen is dashed.
    selected : sequence of int
        Nodes that are ringed.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.

    Raises
    ------
    ValueError
        A value that is none of these.
    """
    wide, colors = usable_width(width), theme_of(theme)
    why, timeline = _why(run), run.timeline
    if why or timeline is None:
        return missing_panel(run, "timeline", wide, colors, why).figure()
    roofline = run.roofline(peak_flops, bandwidth)
    panel = Panel(wide, f"Roofline of {run.title}", "; ".join(roofline.said), colors)
    panel.text = f"{run.title}: roofline\n{roofline!r}"
    panel.description = _description(run, roofline)
    paint = SlicePaint.of(colors, run, timeline)
    y = draw_roofline(panel, roofline, panel.heading(run.title), selected, paint)
    panel.height = y + MARGIN
    return panel.figure()


def draw_of(
    panel: Panel,
    run: Derived,
    y: float,
    selected: Collection[int],
    *,
    ceilings: tuple[float | None, float | None],
    paint: SlicePaint,
) -> float:
    """Draw the roofline of a run, or why there is none; return the y below.

    ``ceilings`` are the peak (FLOP/s) and the bandwidth (byte/s), None where not known.
    """
    why = _why(run)
    panel.description["roofline"] = {"missing": why} if why else {"missing": ""}
    if why:
        panel.text = f"{why}\n{panel.text}"
        return panel.paragraph(why, y, lines=5, fill=panel.theme.muted)
    roofline = run.roofline(*ceilings)
    panel.description["roofline"] |= _description(run, roofline)
    panel.text = f"{roofline!r}\n{panel.text}"
    return draw_roofline(panel, roofline, y, selected, paint)


def _why(run: Derived) -> str:
    return why_not(run.parts).replace("critical path", "roofline")


def draw_roofline(
    panel: Panel,
    roofline: Roofline,
    y: float,
    selected: Collection[int],
    paint: SlicePaint,
) -> float:
    """Draw sentences, chart and what is not in it from ``y`` down; return the y below."""
    for line in roofline.said:
        y = panel.paragraph(line, y, lines=3, fill=panel.theme.muted)
    points = [point for point in roofline if _drawn(point)]
    if points:
        y = _Chart(panel, roofline, points, paint).draw(y + 6, set(selected))
    missing = sorted(
        (point for point in roofline if not _drawn(point)), key=lambda p: -np.nan_to_num(p.time_ns)
    )
    for point in missing[:_LISTED]:
        why = "; ".join(point.why) or "no arithmetic: 0 operations"
        time = duration_text(point.time_ns)
        said = f"not in the chart: {_name(roofline, point)}, {time}: {why}"
        y = panel.paragraph(said, y, lines=2, fill=panel.theme.muted)
    more = len(missing) - _LISTED
    if more > 0:
        y = panel.paragraph(f"… and {counted(more, 'operator')} more", y, fill=panel.theme.muted)
    return y


def _drawn(point: Point) -> bool:
    return point.intensity > 0 and point.flops_per_s > 0


def _name(roofline: Roofline, point: Point) -> str:
    said = label(roofline.work.graph.func_names[point.node]) or point.name
    return f"{said[:200]} #{point.node}"


def _description(run: Derived, roofline: Roofline) -> dict[str, Any]:
    def told(value: float) -> float | None:
        return None if math.isnan(value) else value

    return {
        "view": "roofline",
        "title": run.title,
        "said": list(roofline.said),
        "peak_flops": roofline.peak_flops,
        "bandwidth": roofline.bandwidth,
        "points": [
            {
                "node": point.node,
                "op_kind": point.op_kind,
                "time_ns": told(point.time_ns),
                "flops": told(point.flops),
                "bytes": told(point.bytes),
                "bound": point.bound,
                "why": list(point.why),
            }
            for point in roofline[:1000]
        ],
    }


class _Chart:
    """Axes, ceilings, points and labels."""

    def __init__(
        self, panel: Panel, roofline: Roofline, points: list[Point], paint: SlicePaint
    ) -> None:
        self._paint = paint
        self._marks, self._theme = panel.marks, panel.theme
        self._roofline = roofline
        self._points = sorted(points, key=lambda point: -point.time_ns)
        self._left, self._right = MARGIN + _GUTTER, panel.width - MARGIN
        self._flops = roofline.peak_flops or roofline.highest_flops
        self._bytes = roofline.bandwidth or roofline.highest_bytes
        xs = [point.intensity for point in points]
        ys = [point.flops_per_s for point in points]
        self._ridge = math.inf
        if roofline.peak_flops and roofline.bandwidth:
            self._ridge = roofline.peak_flops / roofline.bandwidth
            xs.append(self._ridge)
        ys += [self._flops, self._bytes * min(xs)]
        self._x, self._y = _spanned(xs), _spanned(ys)
        self._top = self._bottom = 0.0

    def draw(self, y: float, selected: set[int]) -> float:
        self._top, self._bottom = y + 14, y + 14 + _HIGH
        self._axes()
        taken: list[Box] = []
        for line, text, given in self._ceilings():
            dashes: dict[str, Any] = {} if given else {"stroke_dasharray": "5 4"}
            color = self._theme.text if given else self._theme.muted
            self._marks.path(line, fill="none", stroke=color, stroke_width=1.5, **dashes)
            self._write(text, self._beside_line(text, given, line), taken)
        longest = self._points[0].time_ns
        titled = len(self._points) <= _TITLED
        for point in self._points:
            radius = max(_SMALLEST, _LARGEST * math.sqrt(point.time_ns / longest))
            self._dot(point, radius, point.node in selected, titled)
        for point in self._points[:_LABELS]:
            radius = max(_SMALLEST, _LARGEST * math.sqrt(point.time_ns / longest))
            text = fit(_name(self._roofline, point), _LABEL_ROOM, SMALL)
            self._write(text, self._beside(point, radius, width(text, SMALL)), taken)
        return self._bottom + _AXIS

    def _at(self, intensity: float, rate: float) -> tuple[float, float]:
        across = (math.log10(intensity) - self._x[0]) / (self._x[1] - self._x[0])
        up = (math.log10(rate) - self._y[0]) / (self._y[1] - self._y[0])
        return (
            self._left + across * (self._right - self._left),
            self._bottom - up * (self._bottom - self._top),
        )

    def _axes(self) -> None:
        grid: dict[str, Any] = {"fill": "none", "stroke": self._theme.line}
        for power in range(math.ceil(self._x[0]), math.floor(self._x[1]) + 1):
            x, _ = self._at(10.0**power, 10.0 ** self._y[0])
            self._marks.path(f"M{number(x)} {number(self._top)}V{number(self._bottom)}", **grid)
            text = significant(10.0**power)
            wide = width(text, SMALL)
            if x + wide / 2 < self._right - 46:
                where = x - wide / 2
                self._marks.text(text, where, self._bottom + 13, fill=self._theme.muted)
        for power in range(math.ceil(self._y[0]), math.floor(self._y[1]) + 1):
            _, y = self._at(10.0 ** self._x[0], 10.0**power)
            self._marks.path(f"M{number(self._left)} {number(y)}H{number(self._right)}", **grid)
            text = rate_text(10.0**power, "").strip()
            where = self._left - 5 - width(text, SMALL)
            if y > self._top + 8:
                self._marks.text(text, where, y + 4, fill=self._theme.muted)
        self._marks.text("FLOP/s", MARGIN, self._top - 3, fill=self._theme.muted)
        where = self._right - width("FLOP/B", SMALL)
        self._marks.text("FLOP/B", where, self._bottom + 13, fill=self._theme.muted)

    def _ceilings(self) -> Iterable[tuple[str, str, bool]]:
        """Yield line, text, and whether it was given."""
        start, end = 10.0 ** self._x[0], 10.0 ** self._x[1]
        given = self._roofline.peak_flops is not None
        x, y = self._at(
            max(start, min(self._ridge, end)) if self._ridge < end else start, self._flops
        )
        text = rate_text(self._flops, "FLOP/s")
        line = f"M{number(x)} {number(y)}H{number(self._right)}"
        yield line, text if given else f"best measured: {text}", given
        low = max(start, 10.0 ** self._y[0] / self._bytes)
        high = min(end, self._ridge, 10.0 ** self._y[1] / self._bytes)
        if low < high:
            (x0, y0), (x1, y1) = (self._at(each, each * self._bytes) for each in (low, high))
            given = self._roofline.bandwidth is not None
            text = rate_text(self._bytes, "B/s")
            line = f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}"
            yield line, text if given else f"best measured: {text}", given

    def _beside_line(self, text: str, given: bool, line: str) -> list[tuple[float, float]]:
        """Places of a text along a line: above and below it, from its right end on."""
        del given
        wide = width(text, SMALL)
        start, _, rest = line[1:].partition(" ")
        x0 = float(start)
        y0 = float(rest.replace("H", "L").partition("L")[0])
        ends = rest.partition("L")[2].split() or [str(self._right), str(y0)]
        x1, y1 = float(ends[0]), float(ends[1])
        slope = (y1 - y0) / (x1 - x0) if x1 > x0 else 0.0
        found = []
        for step in range(9):
            x = x1 - wide - 4 - step / 8 * max(0.0, x1 - x0 - wide - 8)
            edges = [y0 + slope * (each - x0) for each in (x, x + wide)]
            found += [(x, min(edges) - 9), (x, max(edges) + 9)]
        return found

    def _beside(self, point: Point, radius: float, wide: float) -> list[tuple[float, float]]:
        x, y = self._at(point.intensity, point.flops_per_s)
        away = radius + 3
        return [
            (x + away, y),
            (x - away - wide, y),
            (x - wide / 2, y - away - _LINE / 2),
            (x - wide / 2, y + away + _LINE / 2),
        ]

    def _write(self, text: str, places: list[tuple[float, float]], taken: list[Box]) -> None:
        """Write a text at the first place where there is room."""
        wide = width(text, SMALL)
        for x, y in places:
            box = (x, y - _LINE / 2, x + wide, y + _LINE / 2)
            inside = box[0] >= self._left and box[2] <= self._right
            inside &= box[1] >= self._top and box[3] <= self._bottom
            if text and inside and not any(_meet(box, each) for each in (*taken, *self._spots())):
                taken.append(box)
                self._marks.text(text, x, y + 4)
                return

    def _spots(self) -> list[Box]:
        longest = self._points[0].time_ns
        found = []
        for point in self._points:
            x, y = self._at(point.intensity, point.flops_per_s)
            radius = max(_SMALLEST, _LARGEST * math.sqrt(point.time_ns / longest))
            found.append((x - radius, y - radius, x + radius, y + radius))
        return found

    def _dot(self, point: Point, radius: float, selected: bool, titled: bool) -> None:
        x, y = self._at(point.intensity, point.flops_per_s)
        told = (
            f"{_name(self._roofline, point)}: {duration_text(point.time_ns)}, "
            f"{rate_text(point.flops_per_s, 'FLOP/s')}, {significant(point.intensity)} FLOP/B"
        )
        edge = self._theme.text if selected else self._theme.background
        self._marks.rect(
            x - radius,
            y - radius,
            2 * radius,
            2 * radius,
            rx=radius,
            title=told if titled else "",
            stroke=edge,
            stroke_width=2 if selected else 1,
            fill=self._paint.node(point.node),
            fill_opacity=0.85,
        )


def _spanned(values: list[float]) -> tuple[float, float]:
    """Return the decades that an axis spans."""
    low, high = math.log10(min(values)), math.log10(max(values))
    more = max(0.0, _LEAST_DECADES - (high - low)) / 2 + _MARGIN_DECADES
    return low - more, high + more


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] + 2 and b[0] < a[2] + 2 and a[1] < b[3] + 1 and b[1] < a[3] + 1
