"""Flamechart: slices in time, and the slowest operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.redaction import Redaction
from tvmdbg_widgets.widgets.graph import GraphOptions
from tvmdbg_widgets.widgets.graph_navigation import Navigation
from tvmdbg_widgets.widgets.plot import View, auto_height, require_run
from tvmdbg_widgets.widgets.session import Session
from tvmdbg_widgets.widgets.shown_run import Folding, GroupRefs
from tvmdbg_widgets.widgets.tensor import TensorOptions
from tvmdbg_widgets.widgets.traits import Choice, TimeRange


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
        Nanoseconds in view first; None is the whole timeline.
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
            for each in (run, against):
                require_run(self, each)
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
        from tvmdbg_widgets.figures.comparison import time_comparison_figure
        from tvmdbg_widgets.figures.timeline import timeline_figure

        del saved
        compared = self._facts.compared
        if compared is not None and self.table_by == "change" and self.chart == "time":
            return time_comparison_figure(
                compared,
                show=self.show,
                time_range=self.time_range,
                selected=self._marked(redaction),
                width=width,
                theme=theme,
            )
        return timeline_figure(
            self._facts,
            show=self.show,
            chart=self.chart,
            table_by="node" if self.table_by == "change" else self.table_by,
            sort=self.sort,
            slice_color=self.slice_color,
            time_range=self.time_range,
            selected=self._marked(redaction),
            peak_flops=self.peak_flops,
            bandwidth=self.bandwidth,
            width=width,
            theme=theme,
        )


class Debugger(GraphOptions, TensorOptions, TimelineOptions, View):
    """The findings of one run, and its GraphView, TensorInspector and Flamechart, linked.

    What a bare ``run`` at the end of a cell shows. The tensors are scanned for findings in the
    background from when it is first shown; the panel says how far that is, and can stop it.

    Attributes
    ----------
    layout_sizes : list of float
        Share of the width that the graph takes, and share of the height of the upper row.
    collapsed : list of str
        Panels that are hidden: ``"findings"``, ``"graph"``, ``"tensor"``, ``"timeline"``.
        Where not given, the views whose part the run does not hold, as long as it holds any.
    findings_folded : bool
        Whether the list of findings is folded to one line.
    color_by, color_limits, label, fold_parameters, direction, search, focus, hops
        As of GraphView.
    entry, axes, index, color_scale, color_map, color_range, data_layout, data_sizes
        As of TensorInspector.
    reading, along, cells, region, marked_region, value_format, scale, zero_point
        As of TensorInspector, too.
    tensor_show : str
        What a TensorInspector calls ``show``.
    show, sort, time_range, chart, table_by, critical
        As of Flamechart.
    height : int or "auto"
        CSS pixels; ``"auto"`` is the height of the part of the notebook that is seen, at least
        480.
    """

    _esm = module("debugger")
    _css = bundle("debugger.css")
    _code = traitlets.Unicode(code_name("debugger")).tag(sync=True)

    layout_sizes = traitlets.List(traitlets.Float(), default_value=[0.5, 0.66]).tag(sync=True)
    collapsed = traitlets.List(Choice(["findings", "graph", "tensor", "timeline"])).tag(sync=True)
    findings_folded = traitlets.Bool(False).tag(sync=True)
    tensor_show = Choice(["picture", "channels", "profile"], "picture").tag(sync=True)
    height = auto_height()
    _tells_health = True

    @traitlets.default("collapsed")
    def _without_their_part(self) -> list[str]:
        run = self._facts
        parts = {"graph": run.graph, "tensor": run.tensors, "timeline": run.timeline}
        missing = [name for name, part in parts.items() if part is None]
        return missing if len(missing) < len(parts) else []

    @property
    def graph(self) -> GraphPanel:
        """What the graph can be told: ``debugger.graph.hide("kind=parameter")``.

        ``hide``, ``show``, ``path``, ``upstream``, ``downstream``, ``around``, ``everything``,
        ``back``, ``forward``, ``bookmark``, ``go``, ``forget``, ``expand`` and ``collapse``, as of
        :class:`~tvmdbg_widgets.GraphView`.
        """
        return GraphPanel(self)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.choose import VIEW_OPTIONS, debugger_options
        from tvmdbg_widgets.figures.redaction import debugger_figure

        tensor = self.session.tensor
        given = {name: getattr(self, name) for name in VIEW_OPTIONS if self.has_trait(name)}
        given["entry"] = self.entry or (None if tensor is None else (tensor.node, tensor.output))
        findings = self._facts.known_findings
        if redaction is not None:
            given["entry"] = redaction.entry or given["entry"]
            findings = redaction.findings
        given["color_by"] = self.color_by.column
        given["selected"] = self._marked(redaction)
        given["collapsed"] = self.collapsed
        return debugger_figure(
            self._facts,
            debugger_options(given),
            findings=findings,
            width=width,
            theme=theme,
            saved=saved,
            redact=None if redaction is None else redaction.redact,
        )


class GraphPanel(Navigation):
    """The graph of a view that shows more than a graph: the moves of a GraphView, made there.

    ::

        debugger.graph.hide("kind=parameter")
        debugger.graph.path(3, 62)

    What they change are traits of that view: ``debugger.hidden``, ``debugger.bookmarks``.
    """

    def __init__(self, view: Folding) -> None:
        self._panel_of = view

    @property
    def _view(self) -> Any:
        return self._panel_of

    def expand(self, what: GroupRefs = None) -> None:
        """Open groups; as :meth:`tvmdbg_widgets.widgets.shown_run.Folding.expand`."""
        self._panel_of.expand(what)

    def collapse(self, what: GroupRefs = None) -> None:
        """Close groups; all where none is named."""
        self._panel_of.collapse(what)

    def __repr__(self) -> str:
        return f"<graph of {self._panel_of!r}>"
