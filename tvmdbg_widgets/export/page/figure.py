"""The figure of a page, which shows no more of the values than the page tells."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.export.page.state import kind_of, models
from tvmdbg_widgets.export.page.stored import sentences
from tvmdbg_widgets.export.page.stored.paths import PathEraser
from tvmdbg_widgets.export.private_parameters import private_parameters
from tvmdbg_widgets.export.redacted import redacted_findings
from tvmdbg_widgets.figures.engine import text_only
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.redaction import Redaction
from tvmdbg_widgets.model.base.errors import why_unread
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.widgets.view import View


def figure_of_page(view: View, options: PageOptions) -> Figure:
    """Return what a view shows, as far as it may be handed on; where that fails, why."""
    states = models(view, options)
    try:
        return _redacted(view, options, states["session"], states["view"])
    except Exception as problem:  # noqa: BLE001 - no page fails because a picture does
        title, why = view.debug_run.title, one_line(why_unread(problem))
        why = PathEraser(view.debug_run).text(f"This view could not be drawn: {why}")
        return text_only(kind_of(view), title, "", why, width=720, theme=options.theme)


def _redacted(
    view: View, options: PageOptions, session: dict[str, Any], own: dict[str, Any]
) -> Figure:
    run = view.debug_run
    private = private_parameters(run.parts)
    known = None
    if kind_of(view) == "debugger":
        known = run.findings()
        if not options.parameters:
            known = redacted_findings(known, run.tensors, private)

    def redact(tensor: Tensor) -> tuple[str, bool]:
        if not options.parameters and (tensor.node, tensor.output) in private:
            counts_only = private.counts_only(tensor)
            return sentences.COUNTS_ONLY if counts_only else sentences.PARAMETER, counts_only
        return sentences.STATISTICS if options.share == "statistics" else "", False

    count = 0 if run.graph is None else run.graph.num_nodes
    selected = tuple(node for node in session["selected"] if node < count)
    first = own.get("entry") or session["entry"]
    entry = None if first is None else tuple(first)
    there = run.tensors is not None and entry in run.tensors
    redaction = Redaction(redact, known, selected, entry if there else None)
    return view.redacted_figure(redaction, options.theme)
