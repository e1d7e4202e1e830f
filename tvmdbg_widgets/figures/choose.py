"""Figures of a run by the name of the view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures.debugger import debugger_to_draw
from tvmdbg_widgets.figures.engine import ToDraw, draw_view
from tvmdbg_widgets.figures.graph import colored, graph_to_draw
from tvmdbg_widgets.figures.options import GraphOptions, Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.tensor import tensor_to_draw
from tvmdbg_widgets.figures.timeline import timeline_to_draw
from tvmdbg_widgets.model.base.options import RUN_VIEWS, ViewOptions, drawn, known_options, naming
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.refs import entry_ref

#: Views whose figures take more than their options, or leave words to Python.
_TO_DRAW: dict[str, Callable[..., ToDraw]] = {
    "graph": graph_to_draw,
    "tensor": tensor_to_draw,
    "timeline": timeline_to_draw,
    "debugger": debugger_to_draw,
}


def view_figure(
    run: RunFacts,
    options: ViewOptions,
    *,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    redaction: Redaction | None = None,
) -> Figure:
    """Draw the figure of a view; ``saved`` makes it fit into a saved notebook."""
    view = options.view
    if isinstance(options, GraphOptions) and run.graph is not None:
        options = replace(options, color_by=colored(run.graph, options.color_by))
    if view in _TO_DRAW:
        given = _TO_DRAW[view](run, options, saved=saved, redaction=redaction)
    else:
        given = ToDraw(drawn(options))
    shown = redaction or Redaction()
    answer = Answers(run, redact=shown.redact, findings=shown.findings).answer
    title = given.title or run.title
    return draw_view(view, title, given.options, answer, text=given.text, width=width, theme=theme)


def figure_of(
    run: RunFacts, view: str, *, width: float = 720, theme: str = "light", **options: Any
) -> Figure:
    """Draw the figure of the named view; colors of a graph are times where the run has them."""
    kind = RUN_VIEWS[one_of("view", view, tuple(RUN_VIEWS))]
    known_options(f"the figure of a {view}", options, kind)
    if options.get("entry") is not None:
        with naming("entry"):
            options["entry"] = entry_ref(
                options["entry"], run.graph, run.tensors, only_tensors=run.timeline is None
            )
    color_by = options.get("color_by")
    if isinstance(color_by, str) and color_by == "health":
        run.search.run()
    if view in ("graph", "debugger"):
        options = {"color_by": "kind" if run.timeline is None else "time"} | options
    return view_figure(run, kind(**options), width=width, theme=theme)
