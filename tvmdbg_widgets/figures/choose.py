"""Figures of a run by the name of the view."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan, why_not
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.debugger import DebuggerOptions, debugger_figure
from tvmdbg_widgets.figures.few_names import graph_of_few, has_many
from tvmdbg_widgets.figures.options import TensorFigureOptions
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.request import MOST_BYTES, MOST_SAVED_BYTES, graph_request
from tvmdbg_widgets.figures.run_figure import RunFigure
from tvmdbg_widgets.figures.shown_part import GraphFigureOptions
from tvmdbg_widgets.figures.tensor import tensor_figure
from tvmdbg_widgets.figures.timeline import TimelineFigureOptions, timeline_figure
from tvmdbg_widgets.model.base.choice import no_argument, one_of
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.node_columns import (
    NodeColumn,
    checked_range,
    checked_template,
    node_column,
)
from tvmdbg_widgets.model.refs import entry_ref

COLOR_BY = ("kind", "size")
Range = tuple[float, float]


@dataclass(frozen=True)
class MemoryFigureOptions:
    """Options of a memory figure; same names as traits of ``MemoryView``.

    ``selected`` are node ids.
    """

    parameters: bool = True
    color_by: str = "kind"
    step_range: Range | None = None
    selected: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no plan can show."""
        one_of("color_by", self.color_by, COLOR_BY)
        if self.step_range is not None:
            start, end = self.step_range
            if not (math.isfinite(start) and math.isfinite(end) and start < end):
                raise ValueError(f"step_range is (start, end) in steps, found {self.step_range!r}")


_OPTIONS: dict[str, tuple[type, ...]] = {
    "graph": (GraphFigureOptions,),
    "tensor": (TensorFigureOptions,),
    "timeline": (TimelineFigureOptions,),
    "memory": (MemoryFigureOptions,),
    "debugger": (GraphFigureOptions, TensorFigureOptions, TimelineFigureOptions),
}


def _key(kind: type, name: str) -> str:
    """Return the name of an option in the debugger, where ``show`` is the timeline's."""
    return "tensor_show" if kind is TensorFigureOptions and name == "show" else name


#: Options of the debugger's figure.
VIEW_OPTIONS = frozenset(
    _key(kind, field.name) for kind in _OPTIONS["debugger"] for field in fields(kind)
)


def names_of(options: type) -> list[str]:
    """Return the option names of one options class."""
    return [field.name for field in fields(options)]


def figure_of(
    run: RunFacts,
    view: str,
    *,
    width: float,
    theme: str,
    options: Mapping[str, Any],
    findings: Findings | None = None,
) -> Figure:
    """Draw the figure of the named view."""
    one_of("view", view, _OPTIONS)
    known = frozenset(name for kind in _OPTIONS[view] for name in names_of(kind))
    if view == "debugger":
        known = VIEW_OPTIONS | {"collapsed"}
    for name in options:
        if name not in known:
            raise no_argument(f"the figure of a {view}", name, {*known, "theme", "width"})
    given = dict(options)
    if given.get("entry") is not None:
        given["entry"] = entry_ref(given["entry"], run.graph, run.tensors)
    if given.get("color_by") == "health":
        run.search.run()
    if view in ("graph", "debugger"):
        given = {"color_by": "kind" if run.timeline is None else "time"} | given
    if view == "debugger":
        chosen = debugger_options(given)
        return debugger_figure(run, chosen, findings=findings, width=width, theme=theme)
    figures = {"graph": graph_figure, "tensor": tensor_figure, "timeline": timeline_figure}
    return figures.get(view, memory_figure)(run, width=width, theme=theme, **given)


def debugger_options(given: Mapping[str, Any]) -> DebuggerOptions:
    """Sort the debugger's options by view."""
    graph, tensor, timeline = (
        kind(**{name: given[key] for name in names_of(kind) if (key := _key(kind, name)) in given})
        for kind in _OPTIONS["debugger"]
    )
    return DebuggerOptions(graph, tensor, timeline, tuple(given.get("collapsed", ())))


def graph_figure(
    run: RunFacts,
    *,
    color_by: str | NodeColumn | Any = "kind",
    color_limits: tuple[float, float] | None = None,
    label: str = "",
    camera: Mapping[str, Any] | None = None,
    height: float = 420,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    **more: Any,
) -> Figure:
    """Draw the graph of a run; a large one is condensed to groups of nodes.

    Above 100,000 nodes, without `isolate` or `open_groups`, a box stands for many operators. The
    figure then lists the options without effect.
    """
    if not isinstance(color_by, str | NodeColumn) and run.graph is not None:
        color_by = node_column(run.graph, color_by)
    for name, kind in (
        ("selected", tuple),
        ("hidden", tuple),
        ("open_groups", tuple),
        ("isolate", dict),
    ):
        if more.get(name) is not None:
            more[name] = kind(more[name])
    options = GraphFigureOptions(
        color_by, color_limits=checked_range(color_limits), label=checked_template(label), **more
    )
    most = MOST_SAVED_BYTES if saved else MOST_BYTES
    request = graph_request(run, options, most_bytes=most, camera=camera, height=height)
    return request.figure(width=width, theme=theme)


#: Rows as in ``js/src/memory/memory_figure.ts``; boxes that fit into a figure.
_MOST_ROWS, _MOST_NAMED = 16, 4_000


def memory_figure(
    run: RunFacts,
    *,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
    **more: Any,
) -> Figure:
    """Draw live bytes per step, and the entries in the slots over time.

    Slots of an ExecuTorch program are byte offsets in its planned buffers.
    """
    options = MemoryFigureOptions(selected=tuple(selected), **more)
    return memory_request(run, options).figure(width=width, theme=theme)


def memory_request(run: RunFacts, options: MemoryFigureOptions) -> RunFigure:
    """Return the data and options of a memory figure."""
    why = why_not(run.parts)
    if why:
        return RunFigure.missing(run, "memory", why)
    plan = run.memory_plan
    text = "\n".join([f"{run.title}: memory plan", *(f"  {line}" for line in plan.said)])
    data = {"text": text, "selected": options.selected}
    if not has_many(run):
        return RunFigure(run, "memory", ("memory", "graph"), data, asdict(options))

    def replies() -> dict[str, Reply]:
        return {"graph": graph_of_few(plan.graph, _drawn(plan, options.step_range))}

    return RunFigure(run, "memory", ("memory",), data, asdict(options), replies)


def _drawn(plan: MemoryPlan, step_range: Range | None) -> npt.NDArray[np.int64]:
    """Return the nodes of the widest entries in the drawn slots."""
    slots = np.flatnonzero(~plan.slot_is_parameter)
    slots = slots[np.argsort(-plan.slot_bytes[slots], kind="stable")[:_MOST_ROWS]]
    drawn = np.zeros(len(plan.slot_bytes) + 1, np.bool_)
    drawn[slots] = True
    entries = np.flatnonzero(drawn[plan.entry_slot])
    first, slot = plan.first[entries], plan.entry_slot[entries]
    order = np.lexsort((entries, first, slot))
    entries, first, slot = entries[order], first[order], slot[order]
    until = plan.last[entries].astype(np.int64) + 1
    follows = np.flatnonzero(slot[1:] == slot[:-1])
    until[follows] = np.minimum(until[follows], first[1:][follows])
    start, end = step_range or (0, len(plan.order))
    width = np.minimum(np.maximum(until, first + 1), end) - np.maximum(first, start)
    widest = entries[np.argsort(-width, kind="stable")[:_MOST_NAMED]]
    return np.searchsorted(plan.graph.entry_offsets, widest, "right") - 1
