"""The slowest operators as rows of an SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures import colors
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.timeline_names import node_label, output_shapes
from tvmdbg_widgets.model.numbers import duration_text, percent

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.operators import Operator, Operators
    from tvmdbg_widgets.model.graph import Graph

_ROW = 17.0


def draw_table(panel: Panel, graph: Graph | None, top: Operators, y: float) -> float:
    """Write rank, operator, time, share with a bar, and the spread of the repeats."""
    marks, end = panel.marks, panel.width - MARGIN
    y += LINE_HEIGHT
    spread = end - 186 if panel.width >= NARROW else None
    share = (end if spread is None else spread) - 144
    time = share - 66
    heads = [(MARGIN, "#"), (MARGIN + 46, "operator"), (time, "time"), (share, "share")]
    if spread is not None:
        heads.append((spread, "p10 – p90 of the repeats"))
    for x, said in heads:
        marks.text(said, x, y - 4, fill=colors.MUTED)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=colors.LINE)
    largest = max((row.time_ns for row in top), default=0.0) or 1.0
    for row in top:
        y += _ROW
        base = y - 4
        kind = colors.kind_color(row.op_kind)
        marks.text(f"#{row.node}", MARGIN, base, fill=colors.MUTED)
        marks.rect(MARGIN + 46, base - 9, 10, 10, own={"fill": kind})
        said = node_label(graph, row.node, row.name) or row.name
        room = time - MARGIN - 46 - 16 - 8
        shown = fit(said, room, SMALL)
        marks.text(shown, MARGIN + 62, base)
        left = room - width(shown, SMALL) - 8
        if graph is not None and left > 60:
            at = MARGIN + 62 + width(shown, SMALL) + 8
            marks.text(
                fit(output_shapes(graph, row.node), left, SMALL), at, base, fill=colors.MUTED
            )
        marks.text(duration_text(row.time_ns), time, base)
        marks.rect(
            share, base - 9, 80 * row.time_ns / largest, 10, own={"fill": kind}, fill_opacity=0.75
        )
        marks.text(percent(row.share), share + 86, base)
        if spread is not None:
            marks.text(_spread(row), spread, base, fill=colors.MUTED)
    return y


def _spread(row: Operator) -> str:
    said = "–"
    if row.repeats > 1:
        said = f"{duration_text(row.p10_ns)} – {duration_text(row.p90_ns)}"
    return f"{said} noisy" if row.noisy else said
