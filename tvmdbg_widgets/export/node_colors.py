"""What a column says of each node, and in which color: what colors show, for other tools."""

from __future__ import annotations

import warnings
from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.graph.node_columns import COLOR_NAMES
from tvmdbg_widgets.figures.engine import colors_of_nodes
from tvmdbg_widgets.figures.graph.options import GraphFigureOptions
from tvmdbg_widgets.figures.graph.request import column_of, graph_request
from tvmdbg_widgets.figures.theme import ink_on
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, node_column

#: A color, what is said, and the value itself; of a node of which nothing is known None each.
Shown = tuple[str | None, str, float | str | None]


def node_colors(run: Derived, graph: Graph, what: Any) -> NodeColors | None:
    """Return what the colors show; None, with a warning that says why, where they cannot be made.

    Parameters and errors as of :class:`NodeColors`; only the engine's become a warning.
    """
    try:
        return NodeColors(run, graph, what)
    except (RuntimeError, MemoryError) as problem:
        why = one_line(str(problem)) or type(problem).__name__
        name = what if isinstance(what, str) else getattr(what, "name", "data")
        warnings.warn(f"exported without the colors of {name!r}: {why}", stacklevel=5)
        return None


class NodeColors:
    """What the colors of a graph show, as of ``GraphView``'s ``color_by``, node by node."""

    def __init__(self, run: Derived, graph: Graph, what: Any) -> None:
        if isinstance(what, str):
            one_of("color_by", what, COLOR_NAMES)
        elif not isinstance(what, NodeColumn):
            what = node_column(graph, what)
        if isinstance(what, str) and what == "health":
            run.health(progress=False)
        column = column_of(run, what)
        self.name = column if isinstance(column, str) else column.name
        self.unit = {"time": "ns", "bytes": "B"}.get(self.name, "")
        if isinstance(column, NodeColumn):
            self.unit = column.unit
        self._shown: dict[str, list[Any]] = {"fills": [], "said": [], "values": []}
        if graph.num_nodes:
            request = graph_request(run, GraphFigureOptions(column), condensed=False)
            self._shown = colors_of_nodes(
                request.data, request.columns, request.options, request.answered()
            )

    def ink(self, fill: str) -> str:
        """Return black or white, whichever is easier to read on a fill."""
        return ink_on(fill)

    def of(self, node: int) -> Shown:
        """Return what is shown of a node."""
        shown = self._shown
        return shown["fills"][node], shown["said"][node], shown["values"][node]
