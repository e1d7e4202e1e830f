"""Figures of a run by the name of the view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures.debugger import debugger_figure
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.graph import graph_figure
from tvmdbg_widgets.figures.options import (
    DebuggerOptions,
    GraphOptions,
    MemoryOptions,
    TensorOptions,
    TimelineOptions,
)
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.tensor import tensor_figure
from tvmdbg_widgets.figures.timeline import timeline_figure
from tvmdbg_widgets.model.base.options import ViewOptions, drawn, known_options
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.refs import entry_ref

_OPTIONS: dict[str, type[ViewOptions]] = {
    "graph": GraphOptions,
    "tensor": TensorOptions,
    "timeline": TimelineOptions,
    "memory": MemoryOptions,
    "debugger": DebuggerOptions,
}


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
    known_options(f"the figure of a {view}", options, _OPTIONS[view])
    given = dict(options)
    if given.get("entry") is not None:
        given["entry"] = entry_ref(given["entry"], run.graph, run.tensors)
    if given.get("color_by") == "health":
        run.search.run()
    if view in ("graph", "debugger"):
        given = {"color_by": "kind" if run.timeline is None else "time"} | given
    if view == "debugger":
        chosen = DebuggerOptions(**given)
        return debugger_figure(run, chosen, findings=findings, width=width, theme=theme)
    figures = {"graph": graph_figure, "tensor": tensor_figure, "timeline": timeline_figure}
    return figures.get(view, memory_figure)(run, width=width, theme=theme, **given)


def memory_figure(
    run: RunFacts,
    *,
    width: float = 720,
    theme: str = "light",
    **more: Any,
) -> Figure:
    """Draw live bytes per step, and the entries in the slots over time.

    Slots of an ExecuTorch program are byte offsets in its planned buffers.
    """
    options = MemoryOptions(**more)

    def text() -> str:
        if why := why_not(run.parts):
            return f"{run.title}: no memory plan. {why}"
        said = (f"  {line}" for line in run.memory_plan.said)
        return "\n".join([f"{run.title}: memory plan", *said])

    answer = Answers(run).answer
    return draw_view(
        "memory", run.title, drawn(options), answer, text=text, width=width, theme=theme
    )
