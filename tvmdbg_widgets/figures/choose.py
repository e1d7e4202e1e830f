"""Figures of a run by the name of the view."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures.debugger import DebuggerOptions, debugger_figure
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.graph import (
    MOST_BYTES,
    MOST_SAVED_BYTES,
    GraphFigureOptions,
    graph_options,
)
from tvmdbg_widgets.figures.options import TensorFigureOptions
from tvmdbg_widgets.figures.raster import Figure
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
    """Draw the graph of a run; a large one is condensed to groups of nodes."""
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
    given = graph_options(run, options, most_bytes=most, camera=camera, height=height)
    return draw_view(
        "graph",
        run.title,
        given,
        Answers(run).answer,
        text=lambda: f"{run.title}: {run.graph!r}",
        width=width,
        theme=theme,
    )


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

    def text() -> str:
        if why := why_not(run.parts):
            return f"{run.title}: no memory plan. {why}"
        said = (f"  {line}" for line in run.memory_plan.said)
        return "\n".join([f"{run.title}: memory plan", *said])

    answer = Answers(run).answer
    return draw_view(
        "memory", run.title, asdict(options), answer, text=text, width=width, theme=theme
    )
