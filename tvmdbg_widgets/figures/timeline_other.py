"""Charts of a timeline that are not in time, and tables that sum it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.timeline.repeat_matrix import why_no_repeats
from tvmdbg_widgets.analysis.times.keys import BY
from tvmdbg_widgets.figures import roofline, timeline_by, timeline_merged, timeline_repeats
from tvmdbg_widgets.figures.timeline_names import Names
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.words import left_out

if TYPE_CHECKING:
    from collections.abc import Collection

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.slice_paint import SlicePaint
    from tvmdbg_widgets.figures.svg import Panel

OTHER_CHARTS = ("merged", "folded", "repeats", "roofline")
SUMMED_BY = tuple(by for by in BY if by != "node")


def draw_other(
    panel: Panel,
    run: Derived,
    chart: str,
    y: float,
    selected: Collection[int],
    *,
    paint: SlicePaint,
    ceilings: tuple[float | None, float | None] = (None, None),
) -> float:
    """Draw a chart that is not in time, and add its text and facts; return the y below it.

    ``ceilings`` are those of the roofline: FLOP/s and byte/s.
    """
    timeline = run.timeline
    short = {} if timeline is None else timeline.slice_labels
    if chart == "merged":
        tree = run.merged()
        panel.text = f"{tree!r}\n{panel.text}"
        panel.description["merged"] = timeline_merged.described(tree)
        own = {}
        if timeline is not None:
            kinds = name_kinds(timeline, run.graph)
            own = dict(zip(timeline.slice_names.unique, kinds, strict=True))
        return timeline_merged.draw_merged(
            panel, tree, run.graph, y, selected, paint=paint, kinds=own, short=short
        )
    if chart == "roofline":
        return roofline.draw_of(panel, run, y, selected, ceilings=ceilings, paint=paint)
    why = why_no_repeats(run.parts)
    if why:
        panel.text = f"{why}\n{panel.text}"
        panel.description["repeats"] = {"missing": why}
        return panel.paragraph(why, y, lines=5, fill=panel.theme.muted)
    matrix = run.repeats()
    panel.description["repeats"] = timeline_repeats.described(matrix)
    if chart == "repeats":
        panel.text = f"{matrix!r}\n{panel.text}"
        return timeline_repeats.draw_repeats(panel, matrix, y, selected, short=short)
    folded = matrix.folded()
    panel.text = f"{folded!r}\n({folded.said})\n{panel.text}"
    return timeline_repeats.draw_folded(panel, matrix, y, selected, paint)


def draw_summed(panel: Panel, run: Derived, by: str, y: float) -> float:
    """Draw a table of times by one thing, and add its text and facts; return the y below it."""
    if by == "group" and run.graph is None:
        why = "Groups come from the graph, and this run has none."
        panel.text = f"{panel.text}\n{why}"
        return panel.paragraph(why, y, lines=2, fill=panel.theme.muted)
    table = run.times(by)
    panel.text = f"{table!r}\n{panel.text}"
    panel.description["table"] = timeline_by.described(table)
    shown = min(timeline_by.MOST, len(table))
    noun = counted(shown, "row")
    said = f"Time by {table.head}: the largest {noun} of {len(table):,}"
    if shown == len(table):
        said = f"Time by {table.head}"
    said += f"; shares are of {duration_text(table.total_ns)} summed over slices"
    said += f"; {left_out(table.idle)}." if table.idle else "."
    y = panel.paragraph(said, y + 4, lines=3, fill=panel.theme.muted)
    return timeline_by.draw_by(panel, table, Names(run.timeline, run.graph), y)
