"""Memory of the workspace while each node runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import (
    BYTE_UNITS,
    TIME_UNITS,
    WIDTH,
    ThemeName,
    colors_of,
    new_figure,
    operator_names,
    require_run,
    selectable,
    unit_ticks,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived

_HEIGHT = 320


@public
def memory(run: Derived, *, theme: ThemeName = "light", width: int = WIDTH) -> Any:
    """Return the bytes of the workspace that are live over time, by the memory plan.

    A row is a node that runs: ``node``, ``name``, the bytes ``value``, and from when to when,
    ``ns`` and ``end_ns`` of the timeline. Of a run without times they are ``step`` and
    ``end_step``, places in ``run.memory_plan().order``.

    Parameters
    ----------
    run : DebugRun
    theme : str
        ``"light"`` or ``"dark"``.
    width : int
        px at most.

    Returns
    -------
    bokeh.plotting.figure

    Raises
    ------
    ValueError
        The run has no memory plan; tells how to get one. Or ``theme`` is none of these.
    """
    require_run("memory", run)
    colors = colors_of(theme)
    columns, start, end, notes = _columns(run)

    from bokeh.models import AdaptiveTicker, ColumnDataSource

    source = ColumnDataSource(columns)
    timed = start == "ns"
    figure = new_figure(
        f"{run.title}: memory in use",
        notes,
        colors,
        width,
        _HEIGHT,
        x_axis_label="time" if timed else "execution step",
    )
    areas = figure.quad(
        left=start,
        right=end,
        bottom=0,
        top="value",
        source=source,
        fill_color=str(colors.accent),
        fill_alpha=0.5,
        line_color=str(colors.accent),
    )
    figure.y_range.start = 0
    figure.yaxis.ticker = AdaptiveTicker(base=1024, mantissas=[2**power for power in range(10)])
    figure.yaxis.formatter = unit_ticks(BYTE_UNITS)
    if timed:
        figure.xaxis.formatter = unit_ticks(TIME_UNITS)
    figure.xgrid.visible = False
    selectable(
        figure,
        [areas],
        colors,
        [("operator", "@operator"), ("in use", "@value_text"), ("from", "@start_text")],
    )
    return figure


def _columns(run: Derived) -> tuple[dict[str, Any], str, str, list[str]]:
    """Columns, those of start and end, and notes."""
    from tvmdbg_widgets.analysis.timeline.counters import MEMORY
    from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
    from tvmdbg_widgets.model.base.text import one_line
    from tvmdbg_widgets.model.graph.node_words import node_labels
    from tvmdbg_widgets.model.timeline.words import MEMORY_LEAVES_OUT

    plan = run.memory_plan()
    if not len(plan.order):
        raise ValueError(f"No node of {run.title} runs, so there is no memory use to draw.")
    graph = plan.graph
    known = [] if run.timeline is None else [each for each in run.counters() if each.name == MEMORY]
    said = f"Memory use follows from the storage plan, node by node. {MEMORY_LEAVES_OUT}"
    if known and known[0].nodes is not None:
        counter = known[0]
        said = counter.said
        node, value = known[0].nodes[:-1], counter.values[:-1].astype(np.int64)
        start, end = counter.ns[:-1], counter.ns[1:]
        places = "ns", "end_ns"
        start_text = [duration_text(each) for each in start.tolist()]
    else:
        node, value = plan.order.astype(np.int64), plan.live
        start = np.arange(len(node), dtype=np.float64)
        end, places = start + 1, ("step", "end_step")
        start_text = [f"step {each:,.0f}" for each in start.tolist()]
    labels = node_labels(graph)
    nodes = node.tolist()
    named = {each: one_line(labels[each]) for each in set(nodes)}
    names = dict(zip(named, operator_names(named.values(), named), strict=True))
    columns = {
        "node": node,
        "name": [graph.names[each] for each in nodes],
        "operator": [names[each] for each in nodes],
        places[0]: start,
        places[1]: end,
        "value": value,
        "value_text": [bytes_text(each) for each in value.tolist()],
        "start_text": start_text,
    }
    first, *others = plan.peak.nodes
    more = f" and {counted(len(others), 'other node')}" if others else ""
    while_run = f"{names.get(first, f'#{first}')}{more} {'run' if others else 'runs'}"
    notes = [f"peak {bytes_text(plan.peak.bytes)}, while {while_run}", said]
    if plan.unknown_sizes:
        notes.append(f"{counted(plan.unknown_sizes, 'output')} of unknown size not counted")
    if plan.unplaced:
        notes.append(f"{counted(plan.unplaced, 'output')} without a usable storage_id not counted")
    return columns, *places, notes
