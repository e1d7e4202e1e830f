"""Debugger: the linked views of a run, and its findings."""

from __future__ import annotations

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.widgets.graph import GraphOptions
from tvmdbg_widgets.widgets.tensor import TensorOptions
from tvmdbg_widgets.widgets.timeline import GraphPanel, TimelineOptions
from tvmdbg_widgets.widgets.traits import Choice
from tvmdbg_widgets.widgets.view import View, auto_height


class Debugger(GraphOptions, TensorOptions, TimelineOptions, View):
    """The findings of one run, and its GraphView, TensorInspector and Flamechart, linked.

    A bare ``run`` at the end of a cell shows this. Once shown, it scans the tensors for findings
    in the background; the panel shows the progress and can stop the scan.

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
        """Moves of the graph: ``debugger.graph.hide("kind=parameter")``.

        ``hide``, ``show``, ``path``, ``upstream``, ``downstream``, ``around``, ``everything``,
        ``back``, ``forward``, ``bookmark``, ``go``, ``forget``, ``expand`` and ``collapse``, as of
        :class:`~tvmdbg_widgets.GraphView`.
        """
        return GraphPanel(self)

    def _figure(
        self, width: float, theme: str, saved: bool = False, redaction: Redaction | None = None
    ) -> Figure:
        from tvmdbg_widgets.figures.choose import VIEW_OPTIONS, debugger_options
        from tvmdbg_widgets.figures.debugger import debugger_figure

        options = self._options(
            VIEW_OPTIONS,
            entry=self._shown_entry(redaction),
            color_by=self.color_by.column,
            selected=self._marked(redaction),
            collapsed=self.collapsed,
        )
        return debugger_figure(
            self._facts,
            debugger_options(options),
            findings=self._facts.known_findings if redaction is None else redaction.findings,
            width=width,
            theme=theme,
            saved=saved,
            redact=None if redaction is None else redaction.redact,
        )
