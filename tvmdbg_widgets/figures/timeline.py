"""The timeline of a run as a figure: slices in time, and the slowest operators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.operators import Operators, operators
from tvmdbg_widgets.figures import colors
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.svg import MARGIN, Panel
from tvmdbg_widgets.figures.timeline_chart import Chart
from tvmdbg_widgets.figures.timeline_names import node_label
from tvmdbg_widgets.figures.timeline_table import draw_table
from tvmdbg_widgets.model.numbers import counted, duration_text
from tvmdbg_widgets.model.timeline import WALL

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.timeline import Timeline
    from tvmdbg_widgets.run import DebugRun

SYNTHETIC = "synthetic: nodes laid end to end from mean times; the sum of nodes is not the latency"
WALL_SAID = "start and end times as recorded; what is empty was idle or not recorded"
TOP = 10


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
    slices = counted(int((timeline.slice_duration_ns > 0).sum()), "slice")
    panel = Panel(width, f"Timeline of {run.title}: {slices}, {took}", f"{said}. {top.caption}")
    panel.text = f"{top!r}\n({said})"
    panel.description = _description(run, timeline, top, said)
    y = panel.heading(run.title, f"{slices}, {took}")
    y = panel.paragraph(
        said, y, lines=2, fill=colors.WARNING if timeline.synthetic else colors.MUTED
    )
    if timeline.num_slices:
        y = Chart(panel, timeline, run.graph).draw(y + 4)
    panel.height = (draw_table(panel, run.graph, top, y + 8) if len(top) else y) + MARGIN
    return panel


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
                "label": node_label(run.graph, row.node, row.name),
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
