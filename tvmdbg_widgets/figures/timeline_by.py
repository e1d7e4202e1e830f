"""Times by anything as rows of an SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.graph.node_words import node_op_kinds
from tvmdbg_widgets.model.graph.operators import OP_KINDS, family

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable
    from tvmdbg_widgets.figures.timeline_names import Names
    from tvmdbg_widgets.model.graph.graph import Graph

_ROW = 17.0
_BARRED = 420
MOST = 14


def draw_by(panel: Panel, table: TimeTable, names: Names, y: float) -> float:
    """Write key, slices, time, share with a bar, and how surely the time is known."""
    marks, theme, end = panel.marks, panel.theme, panel.width - MARGIN
    graph = names.graph
    y += LINE_HEIGHT
    sure = end - 190 if panel.width >= NARROW and bool(np.isfinite(table.low).any()) else None
    bar = 80 if panel.width >= _BARRED else 0
    share = (end if sure is None else sure) - 64 - bar
    time = share - 66
    count = time - 58
    heads = [(MARGIN, table.head), (count, "slices"), (time, "time"), (share, "share")]
    if sure is not None:
        heads.append((sure, "mean, 95 % CI"))
    for x, said in heads:
        marks.text(said, x, y - 4, fill=theme.muted)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=theme.line)
    largest = float(table.ns[0]) if len(table) and table.ns[0] > 0 else 1.0
    for row in table[:MOST]:
        y += _ROW
        base = y - 4
        fill = theme.kind(kind_of(table, row, graph))
        marks.rect(MARGIN, base - 9, 10, 10, own={"fill": fill})
        marks.text(fit(called(row, names), count - MARGIN - 24, SMALL), MARGIN + 16, base)
        slices = f"{row.slices:,}"
        marks.text(slices, count + 40 - width(slices, SMALL), base, fill=theme.muted)
        marks.text(duration_text(row.ns), time, base)
        if bar and row.ns > 0:
            marks.rect(
                share, base - 9, bar * row.ns / largest, 10, own={"fill": fill}, fill_opacity=0.75
            )
        marks.text(percent(row.share), share + bar + (6 if bar else 0), base)
        if sure is not None and np.isfinite(row.low):
            said = f"{duration_text(row.low)} … {duration_text(row.high)}"
            said += " noisy" if row.noisy else ""
            marks.text(fit(said, end - sure, SMALL), sure, base, fill=theme.muted)
    if len(table) > MOST:
        y += LINE_HEIGHT
        marks.text(f"{len(table) - MOST:,} more", MARGIN, y - 3, fill=theme.muted)
    for note in table.notes[: 1 if table.overlap else 0]:
        y = panel.paragraph(note, y + 2, lines=6, fill=theme.muted)
    return y


def called(row: TimeRow, names: Names) -> str:
    """What a row is called: ``"conv2d + add #12"``, ``"convolution"``."""
    if row.nodes == (row.key,) and names.graph is not None:
        return names.title(row.nodes[0], row.label)
    return names.label(-1, row.label)


def kind_of(table: TimeTable, row: TimeRow, graph: Graph | None) -> str:
    """Return the op kind that colors a row; ``"other"`` where it holds several."""
    if table.by == "kind":
        return row.label if row.label in OP_KINDS else "other"
    if table.by == "part":
        return family(row.label)
    if graph is None or not row.nodes or table.by in ("group", "device"):
        return "other"
    kinds = node_op_kinds(graph)
    found = {kinds[node] for node in row.nodes}
    return found.pop() if len(found) == 1 else "other"


def described(table: TimeTable) -> dict[str, Any]:
    """Return the rows that are drawn as facts."""
    return {
        "by": table.by,
        "total_ns": table.total_ns,
        "overlap": table.overlap,
        "notes": list(table.notes),
        "rows": [
            {
                "key": row.key if isinstance(row.key, (int, str)) else list(row.key),
                "label": row.label,
                "nodes": list(row.nodes),
                "slices": row.slices,
                "ns": row.ns,
                "share": None if np.isnan(row.share) else row.share,
                "low_ns": None if np.isnan(row.low) else row.low,
                "high_ns": None if np.isnan(row.high) else row.high,
                "noisy": row.noisy,
            }
            for row in table[:MOST]
        ],
    }
