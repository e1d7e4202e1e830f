"""Graph, tensor and timeline of a run as one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.graph import MOST_BYTES, GraphOptions, graph_panel
from tvmdbg_widgets.figures.svg import frame
from tvmdbg_widgets.figures.tensor import tensor_panel
from tvmdbg_widgets.figures.timeline import timeline_panel

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

_MOST_BYTES = 47 * 1024


def debugger_figure(
    run: DebugRun, *, entry: tuple[int, int] | None = None, width: float = 720
) -> Figure:
    """Draw the graph, one tensor and the timeline of a run below each other.

    The graph is coloured by time where times are known, and becomes a part of itself where all
    three would take more than 48 KiB.

    Parameters
    ----------
    entry : (int, int) or None
        Node and output of the tensor; the first output of the last operator where left out.
    width : float
        px.
    """
    wide = float(width)
    tensor, timeline = tensor_panel(run, entry, wide), timeline_panel(run, wide)
    taken = sum(len(panel.svg.encode()) for panel in (tensor, timeline))
    options = GraphOptions(color_by="kind" if run.timeline is None else "time")
    graph = graph_panel(run, options, wide, min(MOST_BYTES, _MOST_BYTES - taken))
    panels = [graph, tensor, timeline]
    words = ". ".join(panel.words for panel in panels)
    return Figure(
        frame(panels, f"Run {run.title}", words),
        "\n\n".join(panel.text for panel in panels),
        {
            "view": "debugger",
            "title": run.title,
            "graph": graph.description,
            "tensor": tensor.description,
            "timeline": timeline.description,
        },
    )
