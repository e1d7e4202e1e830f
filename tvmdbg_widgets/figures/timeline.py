"""The timeline of a run as a figure: slices in time, and the slowest operators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.operators import Operators, operators
from tvmdbg_widgets.figures import colors
from tvmdbg_widgets.figures.lanes import Track, tracks
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Marks, Panel, number
from tvmdbg_widgets.figures.texts import counted, fit, fixed, share_text, width
from tvmdbg_widgets.model.durations import duration_text
from tvmdbg_widgets.model.labels import label
from tvmdbg_widgets.model.timeline import WALL

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.timeline import Timeline
    from tvmdbg_widgets.run import DebugRun

SYNTHETIC = "synthetic: nodes laid end to end from mean times; the sum of nodes is not the latency"
WALL_SAID = "start and end times as recorded; what is empty was idle or not recorded"
TOP = 10
_MOST_SLICES = 160
_MOST_TRACKS = 8
_LANE = 22.0
_LONE_LANE = 30.0
_ROW = 17.0
_SIZES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def timeline_figure(run: DebugRun, *, width: float = 720) -> Figure:
    """Draw the slices of a run on a time axis, and its slowest operators as a table.

    Parameters
    ----------
    width : float
        px.
    """
    return timeline_panel(run, float(width)).figure()


def timeline_panel(run: DebugRun, width: float) -> Panel:
    """Return the timeline as a panel."""
    timeline = run.timeline
    if timeline is None:
        return missing_panel(run, "timeline", width)
    top = operators(run.parts, top=TOP)
    said = WALL_SAID if timeline.clock == WALL else SYNTHETIC
    total = timeline.total_ns
    took = "no times known" if math.isnan(total) else f"{duration_text(total)} in all nodes"
    slices = counted(timeline.num_slices, "slice")
    panel = Panel(width, f"Timeline of {run.title}: {slices}, {took}", f"{said}. {top.caption}")
    panel.text = f"{top!r}\n({said})"
    panel.description = _description(run, timeline, top, said)
    y = panel.heading(run.title, f"{slices}, {took}")
    y = panel.paragraph(
        said, y, lines=2, fill=colors.WARNING if timeline.synthetic else colors.MUTED
    )
    if timeline.num_slices:
        y = _chart(panel, timeline, run.graph, y + 4)
    panel.height = (_table(panel, run.graph, top, y + 8) if len(top) else y) + MARGIN
    return panel


def _label(graph: Graph | None, node: int, name: str) -> str:
    if graph is None or node < 0:
        return name
    return label(graph.func_names[node]) or graph.names[node] or name


def _kind(graph: Graph | None, node: int) -> str:
    return "other" if graph is None or node < 0 else graph.nodes[node].op_kind


def _outputs(graph: Graph, node: int) -> str:
    """Shapes of the node's outputs, ``"1×64×8×8"``."""
    shapes = graph.nodes[node].shapes
    return ", ".join(
        "?" if each is None else "×".join(map(str, each)) or "scalar" for each in shapes
    )


class _Scale:
    """Times to px."""

    def __init__(self, timeline: Timeline, left: float, room: float) -> None:
        start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
        usable = np.isfinite(start) & np.isfinite(duration) & (duration >= 0)
        self.first = float(start[usable].min()) if usable.any() else 0.0
        self.last = float((start + duration)[usable].max()) if usable.any() else 0.0
        self.left, self.room = left, room

    def x(self, ns: float) -> float:
        span = self.last - self.first
        return self.left + (self.room * (ns - self.first) / span if span > 0 else 0.0)

    def ticks(self) -> list[tuple[float, str]]:
        """Multiples of a round step, about one each 90 px."""
        span = self.last - self.first
        if span <= 0:
            return [(self.first, duration_text(self.first))]
        rough = span / max(1.0, self.room // 90)
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next((each for each in (1, 2, 5) if each * power >= rough), 10)
        largest = max(abs(self.first), abs(self.last))
        size, unit = next((each for each in _SIZES if largest >= each[0]), _SIZES[-1])
        digits = max(0, min(12, math.ceil(-math.log10(step / size) - 1e-9)))
        found = []
        for i in range(
            math.ceil(self.first / step - 1e-9), math.floor(self.last / step + 1e-9) + 1
        ):
            found.append((i * step, "0" if not i else f"{fixed(i * step / size, digits)} {unit}"))
        return found


def _chart(panel: Panel, timeline: Timeline, graph: Graph | None, y: float) -> float:
    marks, scale = panel.marks, _Scale(timeline, float(MARGIN), panel.width - 2 * MARGIN)
    shown = tracks(timeline, _MOST_SLICES)
    marks.path(f"M{MARGIN} {number(y + 16)}H{number(panel.width - MARGIN)}", stroke=colors.LINE)
    ticks = scale.ticks()
    for ns, said in ticks:
        x = scale.x(ns)
        marks.path(f"M{number(x)} {number(y + 12)}v4", stroke=colors.LINE)
        at = min(x, panel.width - MARGIN - width(said, SMALL))
        if ns == ticks[0][0] or at == x:
            marks.text(said, at, y + 10, fill=colors.MUTED)
    y += 20
    for track in shown[:_MOST_TRACKS]:
        y = _track(marks, track, timeline, graph, scale, y)
    if len(shown) > _MOST_TRACKS:
        y += LINE_HEIGHT
        said = f"{counted(len(shown) - _MOST_TRACKS, 'more track')} not drawn"
        marks.text(said, MARGIN, y - 4, fill=colors.MUTED)
    return y


def _track(
    marks: Marks, track: Track, timeline: Timeline, graph: Graph | None, scale: _Scale, y: float
) -> float:
    drawn = sum(map(len, track.lanes))
    said = counted(track.count, "slice")
    if len(track.instants):
        said += f", {len(track.instants):,} of no duration"
    if drawn + len(track.instants) < track.count:
        said += f"; the {drawn:,} longest are drawn"
    name = fit(track.name, 240, SMALL)
    marks.text(name, MARGIN, y + 11, font_weight=600)
    marks.text(said, MARGIN + width(name, SMALL, bold=True) + 8, y + 11, fill=colors.MUTED)
    y += 16
    high = _LONE_LANE if len(track.lanes) == 1 else _LANE
    for lane in track.lanes:
        for each in lane.tolist():
            _slice(marks, timeline, graph, scale, each, y, high)
        y += high + 2
    if len(track.instants):
        places = sorted({round(scale.x(float(timeline.slice_start_ns[i]))) for i in track.instants})
        ticks = "".join(f"M{x} {number(y)}v5" for x in places)
        marks.path(ticks, stroke=colors.MUTED)
        y += 8
    return y


def _slice(
    marks: Marks,
    timeline: Timeline,
    graph: Graph | None,
    scale: _Scale,
    index: int,
    y: float,
    high: float,
) -> None:
    each = timeline.slice(index)
    x, end = scale.x(each.start_ns), scale.x(each.end_ns)
    wide = max(0.6, end - x - (0.6 if end - x > 3 else 0))
    fill = colors.kind_color(_kind(graph, each.node))
    said = _label(graph, each.node, each.name)
    title = f"{f'#{each.node} ' if each.node >= 0 else ''}{said}: {duration_text(each.duration_ns)}"
    marks.rect(x, y, wide, high, title=title, fill=fill)
    if wide > 30:
        whole = width(said, SMALL) <= wide - 6 or each.node < 0
        shown = fit(said if whole else f"#{each.node} {said}", wide - 6, SMALL)
        if not whole and len(shown) < len(f"#{each.node}") + 4:
            shown = fit(f"#{each.node}", wide - 6, SMALL)
        marks.text(shown, x + 3, y + high / 2 + 4, fill=colors.ink_on(fill))


def _table(panel: Panel, graph: Graph | None, top: Operators, y: float) -> float:
    """Write rank, operator, time, share with a bar, and the spread of the repeats."""
    marks, end = panel.marks, panel.width - MARGIN
    y += LINE_HEIGHT
    spread, share = end - 186, end - 330
    time = share - 66
    heads = ((MARGIN, "#"), (MARGIN + 46, "operator"), (time, "time"), (share, "share"))
    for x, said in (*heads, (spread, "p10 – p90 of the repeats")):
        marks.text(said, x, y - 4, fill=colors.MUTED)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=colors.LINE)
    largest = max((row.time_ns for row in top), default=0.0) or 1.0
    for row in top:
        y += _ROW
        base = y - 4
        kind = colors.kind_color(row.op_kind)
        marks.text(f"#{row.node}", MARGIN, base, fill=colors.MUTED)
        marks.rect(MARGIN + 46, base - 9, 10, 10, own={"fill": kind})
        said = _label(graph, row.node, row.name) or row.name
        room = time - MARGIN - 46 - 16 - 8
        shown = fit(said, room, SMALL)
        marks.text(shown, MARGIN + 62, base)
        left = room - width(shown, SMALL) - 8
        if graph is not None and left > 60:
            at = MARGIN + 62 + width(shown, SMALL) + 8
            marks.text(fit(_outputs(graph, row.node), left, SMALL), at, base, fill=colors.MUTED)
        marks.text(duration_text(row.time_ns), time, base)
        marks.rect(
            share, base - 9, 80 * row.time_ns / largest, 10, own={"fill": kind}, fill_opacity=0.75
        )
        marks.text(share_text(row.share), share + 86, base)
        said = (
            f"{duration_text(row.p10_ns)} – {duration_text(row.p90_ns)}" if row.repeats > 1 else "–"
        )
        marks.text(said + (" noisy" if row.noisy else ""), spread, base, fill=colors.MUTED)
    return y


def _description(run: DebugRun, timeline: Timeline, top: Operators, said: str) -> dict[str, Any]:
    total = timeline.total_ns
    return {
        "view": "timeline",
        "title": run.title,
        "synthetic": timeline.synthetic,
        "clock": timeline.clock,
        "said": said,
        "total_ns": None if math.isnan(total) else total,
        "total_text": duration_text(total),
        "tracks": list(timeline.tracks),
        "slices": timeline.num_slices,
        "top": [
            {
                "node": row.node,
                "label": _label(run.graph, row.node, row.name),
                "name": row.name,
                "kind": row.op_kind,
                "time_ns": row.time_ns,
                "time_text": duration_text(row.time_ns),
                "share": None if math.isnan(row.share) else row.share,
                "repeats": row.repeats,
                "p10_ns": None if math.isnan(row.p10_ns) else row.p10_ns,
                "p90_ns": None if math.isnan(row.p90_ns) else row.p90_ns,
                "noisy": row.noisy,
                "trust": row.trust.label,
            }
            for row in top
        ],
    }
