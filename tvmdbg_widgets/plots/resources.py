"""Charts of resources: roofline, and memory in use."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.timeline.counters import MEMORY
from tvmdbg_widgets.analysis.timeline.counters import counters as counters_of
from tvmdbg_widgets.analysis.timeline.roofline import Point, roofline_of
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text, percent, rate_text
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.model.base.text import columns_of, one_line
from tvmdbg_widgets.model.graph.graph import node_labels
from tvmdbg_widgets.model.graph.operators import label
from tvmdbg_widgets.model.timeline.words import MEMORY_LEAVES_OUT
from tvmdbg_widgets.plots.chart import TIME_UNITS, WIDTH, Chart, ThemeName, checked, operator_names

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.facts import OpenedRun

_BYTE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))
_RATE_UNITS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))
#: px of dots.
_SMALLEST, _LARGEST = 7.0, 26.0
#: Factor by which the ceilings extend beyond the dots.
_BEYOND = 10.0**0.4


@public
def roofline(
    run: OpenedRun,
    peak_flops: float | None = None,
    bandwidth: float | None = None,
    *,
    theme: ThemeName = "auto",
    width: int = WIDTH,
) -> Any:
    """Return the roofline of a run; a dot is an operator, its area is its time.

    Columns are those of ``run.roofline().to_dataframe()``.

    Parameters
    ----------
    run : DebugRun
    peak_flops, bandwidth : float, optional
        Ceilings in FLOP/s and byte/s. Without both, the highest that was measured is dashed.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    ValueError
        The run has no graph or no times, or none of its operators computes anything (the message
        says what to do), or a ceiling or ``theme`` is invalid.
    """
    facts, colors = checked("roofline", run, theme)
    result = roofline_of(facts.parts, lambda: facts.work, peak_flops, bandwidth)
    finite = (x for x in result if math.isfinite(x.intensity) and math.isfinite(x.flops_per_s))
    points = [point for point in finite if point.intensity > 0 and point.flops_per_s > 0]
    if not points:
        raise ValueError(
            f"No operator of {facts.title} has both a known time and a known number of operations "
            "above 0, so there is no roofline. print(run.roofline()) gives the reasons."
        )
    functions = result.work.graph.func_names
    labels = [one_line(label(functions[point.node]) or point.name) for point in points]
    ns = np.array([point.time_ns for point in points])
    columns = columns_of(points, Point.__dataclass_fields__) | {
        "why": ["; ".join(point.why) for point in points],
        "operator": operator_names(labels, [point.node for point in points]),
        "color": [colors.kind(point.op_kind) for point in points],
        "size": _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(ns / ns.max()),
        "time_text": [duration_text(point.time_ns) for point in points],
        "work_text": [
            ("" if point.exact else "≈ ") + rate_text(point.flops, "FLOP") for point in points
        ],
        "flops_text": [rate_text(point.flops_per_s, "FLOP/s") for point in points],
        "bytes_text": [rate_text(point.bytes_per_s, "B/s") for point in points],
        "bound_text": [
            "unknown without ceilings"
            if point.bound == "unknown"
            else f"{point.bound}, {percent(point.of_ceiling)} of the ceiling"
            for point in points
        ],
    }
    notes = list(result.said[:2])
    if missing := len(result) - len(points):
        why = "no operations, or operations, bytes or time unknown"
        notes.append(f"{counted(missing, 'operator')} not drawn: {why}")
    axes: Any = {"x_axis_type": "log", "y_axis_type": "log", "x_axis_label": "FLOP per byte"}
    chart = Chart(f"{facts.title}: roofline", notes, columns, colors, width, height=420, **axes)
    look: dict[str, Any] = {"fill_color": "color", "fill_alpha": 0.7, "legend_group": "op_kind"}
    look["line_color"] = colors.background
    dots = chart.draw("scatter", x="intensity", y="flops_per_s", size="size", **look)
    given = result.peak_flops is not None and result.bandwidth is not None
    peak = result.peak_flops or result.highest_flops
    per_byte = result.bandwidth or result.highest_bytes
    ridge = peak / per_byte
    low = min(ridge, *(point.intensity for point in points)) / _BEYOND
    high = max(ridge, *(point.intensity for point in points)) * _BEYOND
    look = {"line_color": colors.muted, "line_dash": "solid" if given else "dashed"}
    ends = [low, ridge, high], [low * per_byte, peak, peak]
    chart.figure.line(*ends, **look, line_width=1.5, level="underlay")
    chart.scale("y", _RATE_UNITS, "FLOP/s")
    chart.scale("x", ((1, ""),))
    tooltip = {
        "operator": "@operator",
        "time": "@time_text",
        "work": "@work_text",
        "computed": "@flops_text, @intensity{0.[000]} FLOP/B",
        "moved": "@bytes_text",
        "bound by": "@bound_text",
    }
    return chart.finished([dots], tooltip, facts, theme)


@public
def memory(run: OpenedRun, *, theme: ThemeName = "auto", width: int = WIDTH) -> Any:
    """Return the live bytes of the workspace over time, by the memory plan.

    A row is a node that runs: ``node``, ``name``, the bytes ``value``, and from when to when,
    ``ns`` and ``end_ns`` of the timeline. Of a run without times they are ``step`` and
    ``end_step``, places in ``run.memory_plan().order``.

    Parameters
    ----------
    run : DebugRun
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    ValueError
        The run has no memory plan (the message says how to get one), or ``theme`` is invalid.
    """
    facts, colors = checked("memory", run, theme)
    plan = facts.memory_plan
    if not len(plan.order):
        raise ValueError(f"No node of {facts.title} runs, so there is no memory use to draw.")
    counters = [] if facts.timeline is None else counters_of(facts.parts, lambda: plan)
    counter = next((known for known in counters if known.name == MEMORY), None)
    timed = counter is not None and counter.nodes is not None
    left, right = ("ns", "end_ns") if timed else ("step", "end_step")
    if counter is not None and counter.nodes is not None:
        source, node, value = counter.said, counter.nodes[:-1], counter.values[:-1].astype(np.int64)
        start, end = counter.ns[:-1], counter.ns[1:]
        start_text = list(map(duration_text, start.tolist()))
    else:
        source = f"Memory use follows from the storage plan, node by node. {MEMORY_LEAVES_OUT}"
        node, value = plan.order.astype(np.int64), plan.live
        start = np.arange(len(node), dtype=np.float64)
        end = start + 1
        start_text = [f"step {step:,.0f}" for step in start.tolist()]
    labels, nodes = node_labels(plan.graph), node.tolist()
    named = {row: one_line(labels[row]) for row in set(nodes)}
    names = dict(zip(named, operator_names(named.values(), named), strict=True))
    columns = {
        "node": node,
        "name": [plan.graph.names[row] for row in nodes],
        "operator": [names[row] for row in nodes],
        left: start,
        right: end,
        "value": value,
        "value_text": list(map(bytes_text, value.tolist())),
        "start_text": start_text,
    }
    first, *others = plan.peak.nodes
    more = f" and {counted(len(others), 'other node')} run" if others else " runs"
    peak = f"peak {bytes_text(plan.peak.bytes)}, while {names.get(first, f'#{first}')}{more}"
    notes = [peak, source]
    if plan.unknown_sizes:
        notes.append(f"{counted(plan.unknown_sizes, 'output')} of unknown size not counted")
    if plan.unplaced:
        notes.append(f"{counted(plan.unplaced, 'output')} without a usable storage_id not counted")

    from bokeh.models import AdaptiveTicker

    title, axis = f"{facts.title}: memory in use", "time" if timed else "execution step"
    chart = Chart(title, notes, columns, colors, width, x_axis_label=axis)
    look = {"fill_color": colors.accent, "fill_alpha": 0.5, "line_color": colors.accent}
    areas = chart.draw("quad", left=left, right=right, bottom=0, top="value", **look)
    powers = [2**power for power in range(10)]
    chart.figure.yaxis.ticker = AdaptiveTicker(base=1024, mantissas=powers)
    chart.scale("y", _BYTE_UNITS, start=0)
    if timed:
        chart.scale("x", TIME_UNITS)
    chart.figure.xgrid.visible = False
    tooltip = {"operator": "@operator", "in use": "@value_text", "from": "@start_text"}
    return chart.finished([areas], tooltip, facts, theme)
