"""The slowest operators as rows of an SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.timeline_names import output_shapes
from tvmdbg_widgets.model.base.numbers import duration_text, percent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tvmdbg_widgets.analysis.times.operators import Operator
    from tvmdbg_widgets.figures.slice_paint import SlicePaint
    from tvmdbg_widgets.figures.timeline_names import Names
    from tvmdbg_widgets.model.timeline.words import TimelineWords

_ROW = 17.0
#: Narrower tables have no bars.
_BARRED = 420


def draw_table(
    panel: Panel,
    names: Names,
    rows: Sequence[Operator],
    words: TimelineWords,
    y: float,
    *,
    paint: SlicePaint,
    selected: Collection[int] = (),
) -> float:
    """Write id, operator, time, share with a bar, and the spread of the repeats."""
    marks, end, graph = panel.marks, panel.width - MARGIN, names.graph
    y += LINE_HEIGHT
    spread = end - 186 if panel.width >= NARROW and _beside(words) else None
    bar = 80 if panel.width >= _BARRED else 0
    share = (end if spread is None else spread) - 64 - bar
    time = share - 66
    heads = [
        (MARGIN, "slices" if words.by_name else "#"),
        (MARGIN + 46, words.row),
        (time, words.time if width(words.time, SMALL) <= share - time - 6 else "time"),
        (share, "share"),
    ]
    if spread is not None:
        heads.append((spread, _beside(words)))
    for x, said in heads:
        marks.text(said, x, y - 4, fill=marks.theme.muted)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=marks.theme.line)
    largest = max((row.time_ns for row in rows if row.time_ns > 0), default=0.0) or 1.0
    for row in rows:
        y += _ROW
        base = y - 4
        kind = (
            paint.node(row.node)
            if row.node >= 0 and graph is not None
            else paint.name(row.name, row.op_kind)
        )
        if row.node in selected:
            marks.rect(2, base - 11, 4, 14, fill=marks.theme.accent)
            marks.rect(6, base - 11, end - 2, 14, fill=marks.theme.surface)
        id_ = f"{row.slices:,}" if words.by_name else f"#{row.node}"
        marks.text(id_, MARGIN, base, fill=marks.theme.muted)
        marks.rect(MARGIN + 46, base - 9, 10, 10, own={"fill": kind})
        said = names.label(row.node, row.name) or row.name
        room = time - MARGIN - 46 - 16 - 8
        shown = fit(said, room, SMALL)
        left = room - width(shown, SMALL) - 8
        shapes = ""
        if graph is not None and row.node >= 0 and left > 60:
            shapes = fit(output_shapes(graph, row.node), left, SMALL)
        marks.text(shown, MARGIN + 62, base, aside=shapes, gap=8)
        marks.text(duration_text(row.time_ns), time, base)
        if bar and row.time_ns > 0:
            wide = bar * row.time_ns / largest
            marks.rect(share, base - 9, wide, 10, own={"fill": kind}, fill_opacity=0.75)
        marks.text(percent(row.share), share + bar + (6 if bar else 0), base)
        if spread is not None:
            said = duration_text(row.within_ns) if words.by_name else _spread(row)
            marks.text(said, spread, base, fill=marks.theme.muted)
    return y


def _beside(words: TimelineWords) -> str:
    """Head of the last column; ``""`` where there is nothing to say in it."""
    if words.by_name:
        return "total time" if words.time == "self time" else ""
    return "p10 – p90 of the repeats" if words.repeats else ""


def _spread(row: Operator) -> str:
    said = "–"
    if row.repeats > 1:
        said = f"{duration_text(row.p10_ns)} – {duration_text(row.p90_ns)}"
    return f"{said} noisy" if row.noisy else said
