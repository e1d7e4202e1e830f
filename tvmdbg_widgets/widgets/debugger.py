"""Debugger: the linked views of a run, and its findings."""

from __future__ import annotations

import traitlets

from tvmdbg_widgets.engine import bundle, code_name, module
from tvmdbg_widgets.widgets.graph import GraphState
from tvmdbg_widgets.widgets.tensor import ShownTensor
from tvmdbg_widgets.widgets.timeline import GraphPanel
from tvmdbg_widgets.widgets.traits import DebuggerTraits, described
from tvmdbg_widgets.widgets.view import View


@described
class Debugger(GraphState, DebuggerTraits, ShownTensor, View):
    """The findings of one run, and its GraphView, TensorInspector and Flamechart, linked.

    A bare ``run`` at the end of a cell shows this. Once shown, it scans the tensors for findings
    in the background; the panel shows the progress and can stop the scan.
    """

    _esm = module("debugger")
    _css = bundle("debugger.css")
    _code = traitlets.Unicode(code_name("debugger")).tag(sync=True)

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
