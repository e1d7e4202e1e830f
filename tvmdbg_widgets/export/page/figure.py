"""The figure of a page, which shows no more of the values than the page tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.export.handed_on import findings_handed_on
from tvmdbg_widgets.export.page.state import kind_of, models
from tvmdbg_widgets.export.page.stored import words
from tvmdbg_widgets.export.withheld import withheld
from tvmdbg_widgets.figures.handed_on import HandedOn

if TYPE_CHECKING:
    from tvmdbg_widgets.export.page.options import Options
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.tensors.tensors import Tensor
    from tvmdbg_widgets.widgets.view import View


def figure_of_page(view: View, options: Options) -> Figure:
    """Return what a view shows, as far as it may be handed on."""
    run = view.debug_run
    states = models(view, options)
    session = states["session"]
    secret = withheld(run.parts)
    known = None
    if kind_of(view) == "debugger":
        known = run.findings()
        if not options.parameters:
            known = findings_handed_on(known, run.tensors, secret)

    def withhold(tensor: Tensor) -> tuple[str, bool]:
        if not options.parameters and (tensor.node, tensor.output) in secret:
            counts_only = secret.counts_only(tensor)
            return words.COUNTS_ONLY if counts_only else words.PARAMETER, counts_only
        return words.STATISTICS if options.share == "statistics" else "", False

    count = 0 if run.graph is None else run.graph.num_nodes
    selected = tuple(node for node in session["selected"] if node < count)
    first = states["view"].get("entry") or session["entry"]
    entry = None if first is None else tuple(first)
    there = run.tensors is not None and entry in run.tensors
    handed = HandedOn(withhold, known, selected, entry if there else None)
    return view.figure_handed_on(handed, options.theme)
