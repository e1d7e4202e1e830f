"""A figure by the name of its view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.figures.debugger import DebuggerOptions, debugger_figure
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.graph.figure import graph_figure
from tvmdbg_widgets.figures.graph.options import GraphFigureOptions
from tvmdbg_widgets.figures.memory import MemoryFigureOptions, memory_figure
from tvmdbg_widgets.figures.tensor.figure import tensor_figure
from tvmdbg_widgets.figures.tensor.options import TensorFigureOptions
from tvmdbg_widgets.figures.timeline.figure import TimelineFigureOptions, timeline_figure
from tvmdbg_widgets.model.base.choice import no_argument, one_of
from tvmdbg_widgets.model.join.refs import entry_ref
from tvmdbg_widgets.model.verdicts.findings import Findings

_OPTIONS: dict[str, tuple[type, ...]] = {
    "graph": (GraphFigureOptions,),
    "tensor": (TensorFigureOptions,),
    "timeline": (TimelineFigureOptions,),
    "memory": (MemoryFigureOptions,),
    "debugger": (GraphFigureOptions, TensorFigureOptions, TimelineFigureOptions),
}


def _key(kind: type, name: str) -> str:
    """Return the name of a view's option among those of the debugger, whose ``show`` is another."""
    return "tensor_show" if kind is TensorFigureOptions and name == "show" else name


#: Names of the options of the debugger.
VIEW_OPTIONS = frozenset(
    _key(kind, each.name) for kind in _OPTIONS["debugger"] for each in fields(kind)
)


def names_of(options: type) -> list[str]:
    """Return the names of a view's options."""
    return [each.name for each in fields(options)]


def figure_of(
    run: Derived,
    view: str,
    *,
    width: float,
    theme: str,
    options: Mapping[str, Any],
    findings: Findings | None = None,
) -> Figure:
    """Return the figure of a view by its name."""
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
        run.health(progress=False)
    if view == "graph":
        return graph_figure(run, width=width, theme=theme, **_timed(run, given))
    if view == "tensor":
        return tensor_figure(run, width=width, theme=theme, **given)
    if view == "timeline":
        return timeline_figure(run, width=width, theme=theme, **given)
    if view == "memory":
        return memory_figure(run, width=width, theme=theme, **given)
    chosen = debugger_options(_timed(run, given))
    return debugger_figure(run, chosen, findings=findings, width=width, theme=theme)


def debugger_options(given: Mapping[str, Any]) -> DebuggerOptions:
    """Sort options of the debugger by view."""
    graph, tensor, timeline = (
        kind(**{name: given[key] for name in names_of(kind) if (key := _key(kind, name)) in given})
        for kind in _OPTIONS["debugger"]
    )
    return DebuggerOptions(graph, tensor, timeline, tuple(given.get("collapsed", ())))


def _timed(run: Derived, given: dict[str, Any]) -> dict[str, Any]:
    """Color by time where the run knows times and nobody chose, as the views do."""
    return {"color_by": "kind" if run.timeline is None else "time"} | given
