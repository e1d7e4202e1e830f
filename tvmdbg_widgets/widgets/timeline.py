"""Flamechart: slices in time and the slowest operators; moves of a debugger's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.widgets.graph_navigation import Navigation
from tvmdbg_widgets.widgets.run_model import Folding, GroupRefs
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.traits import Choice, TimeRange
from tvmdbg_widgets.widgets.view import View, require_run


class TimelineOptions(traitlets.HasTraits):
    """Traits of a flamechart; see :class:`Flamechart`."""

    show = Choice(["both", "chart", "table"], "both").tag(sync=True)
    sort = Choice(["time", "order"], "time").tag(sync=True)
    chart = Choice(["time", "merged", "folded", "repeats", "roofline"], "time").tag(sync=True)
    table_by = Choice(
        ["node", "kind", "part", "group", "module", "device", "name", "callers", "change"], "node"
    ).tag(sync=True)
    slice_color = Choice(["auto", "kind", "block", "share", "change"], "auto").tag(sync=True)
    critical = traitlets.Bool(False).tag(sync=True)
    peak_flops = traitlets.Float(None, allow_none=True, min=0.0).tag(sync=True)
    bandwidth = traitlets.Float(None, allow_none=True, min=0.0).tag(sync=True)
    time_range = TimeRange().tag(sync=True)


class Flamechart(TimelineOptions, View):
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

    Attributes
    ----------
    show : str
        ``"chart"``, ``"table"`` or ``"both"``.
    chart : str
        What the chart shows: ``"time"`` (tracks in time), ``"merged"`` (left-heavy, by path),
        ``"folded"`` (all repeats on one axis), ``"repeats"`` (operators × repeats) or
        ``"roofline"`` (work against time).
    table_by : str
        What a row of the table sums up: ``"node"``, ``"kind"``, ``"part"``, ``"group"``,
        ``"module"``, ``"device"``, ``"name"`` or ``"callers"``; of two runs first ``"change"``, the
        difference of each operator.
    slice_color : str
        What slices are colored by: ``"kind"`` of operator, ``"block"`` around it, ``"share"`` of
        the time, or of two runs ``"change"``. ``"auto"``: the kind, unless one kind takes nine
        tenths of the time; then the block, else the share.
    critical : bool
        Whether the critical path is marked.
    peak_flops, bandwidth : float or None
        Ceilings of the roofline: what the machine can do, FLOP/s and byte/s.
    sort : str
        Order of the table: ``"time"`` or ``"order"`` (of execution).
    time_range : (float, float) or None
        Visible nanoseconds; None is all of the timeline.
    height : int
        CSS pixels.
    """

    _esm = module("timeline")
    _css = bundle("timeline.css")
    _code = traitlets.Unicode(code_name("timeline")).tag(sync=True)

    height = traitlets.Int(320, min=120, max=4000).tag(sync=True)

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
            run = run.run
        super().__init__(run, session, **traits)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.choose import names_of
        from tvmdbg_widgets.figures.comparison import time_comparison_figure
        from tvmdbg_widgets.figures.timeline import TimelineFigureOptions, timeline_figure

        del saved
        compared, selected = self._facts.compared, self._marked(redaction)
        look: dict[str, Any] = {"selected": selected, "width": width, "theme": theme}
        if compared is not None and self.table_by == "change" and self.chart == "time":
            return time_comparison_figure(
                compared, show=self.show, time_range=self.time_range, **look
            )
        table_by = "node" if self.table_by == "change" else self.table_by
        options = self._options(names_of(TimelineFigureOptions), table_by=table_by)
        return timeline_figure(self._facts, **options, **look)


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
