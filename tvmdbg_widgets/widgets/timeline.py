"""Flamechart: slices in time and the slowest operators; moves of a debugger's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.widgets.graph_navigation import Navigation
from tvmdbg_widgets.widgets.run_model import Folding, GroupRefs
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import TimelineTraits, described
from tvmdbg_widgets.widgets.view import View, require_run

#: CSS pixels of two compared runs: tracks of both beside a table, within a laptop's notebook.
_HEIGHT_OF_TWO = 540


@described
class Flamechart(TimelineTraits, View):
    """The timeline of a run and the table of its operators; or of two runs, compared.

    ::

        tvmdbg.Flamechart(run, show="table")
        tvmdbg.Flamechart(plain, against=unfused)

    Parameters
    ----------
    run : DebugRun or TimeComparison
        What :func:`tvmdbg_widgets.compare_times` returns shows two runs.
    session : Session, optional
        The run's own where left out; of two runs that of the first, whose nodes are shown.
    against : DebugRun, optional
        Another run of the same network: its slices are below those of `run`, each from its own
        time zero, and the table says which operators took longer there.
    titles : two str, optional
        What to call the two runs.
    **traits
        Initial state, by the names below.
    """

    _esm = module("timeline")
    _css = bundle("timeline.css")
    _code = traitlets.Unicode(code_name("timeline")).tag(sync=True)

    def __init__(
        self,
        run: OpenedRun | RunFacts | TimeComparison,
        session: Session | None = None,
        *,
        against: OpenedRun | None = None,
        titles: Sequence[str] | None = None,
        **traits: Any,
    ) -> None:
        if against is not None:
            for compared in (run, against):
                require_run(self, compared)
            run = run.compare_times(against, titles)  # type: ignore[union-attr]
        elif titles is not None:
            raise TypeError("titles name two runs: Flamechart(a, against=b, titles=(…, …))")
        if isinstance(run, TimeComparison):
            traits.setdefault("table_by", "change")
            traits.setdefault("height", _HEIGHT_OF_TWO)
        shown = run.run if isinstance(run, TimeComparison) else run
        super().__init__(shown, session, **traits)

    def _drawn_options(self, redaction: Redaction | None = None) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if self.table_by == "change":
            compared = self._facts.compared is not None and self.chart == "time"
            own = {} if compared else {"table_by": "node"}
        return super()._drawn_options(redaction) | own


class GraphPanel(Navigation):
    """Moves of a GraphView for a view with a graph and more.

    ::

        debugger.graph.hide("kind=parameter")
        debugger.graph.path(3, 62)

    They change traits of that view: ``debugger.hidden``, ``debugger.bookmarks``.
    """

    def __init__(self, view: Folding) -> None:
        self._panel_of = view

    @property
    def _view(self) -> Any:
        return self._panel_of

    def expand(self, what: GroupRefs = None) -> None:
        """Open groups; as :meth:`tvmdbg_widgets.widgets.run_model.Folding.expand`."""
        self._panel_of.expand(what)

    def collapse(self, what: GroupRefs = None) -> None:
        """Close groups, all if none is named."""
        self._panel_of.collapse(what)

    def __repr__(self) -> str:
        return f"<graph of {self._panel_of!r}>"
