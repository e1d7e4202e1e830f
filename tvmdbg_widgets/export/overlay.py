"""What a column says of each node, and in which color: what colors show, for other tools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.graph.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.figures.choices import COLOR_BY, one_of
from tvmdbg_widgets.figures.graph.colors import NumberColors, colors_of
from tvmdbg_widgets.figures.graph.health import NodeHealth
from tvmdbg_widgets.figures.graph.health import fill as health_fill
from tvmdbg_widgets.figures.graph.label import Labels
from tvmdbg_widgets.figures.graph.times import Times
from tvmdbg_widgets.figures.theme import THEMES
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, node_column

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.model.graph.graph import Graph

#: A color, what is said, and the value itself; of a node of which nothing is known None each.
Told = tuple[str | None, str, float | str | None]

_THEME = THEMES["light"]


class Overlay:
    """What the colors of a graph show, as of ``GraphView``'s ``color_by``, node by node.

    Parameters
    ----------
    run : Derived
    graph : Graph
    what : str, NodeColumn, array_like or mapping
        ``"health"`` looks at all values first.

    Attributes
    ----------
    name : str
    unit : str
        Of numbers; empty for classes.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        No such name, or data that do not fit the graph.
    """

    def __init__(self, run: Derived, graph: Graph, what: Any) -> None:
        if isinstance(what, str):
            one_of("color_by", what, COLOR_BY)
            self.name = what
            if what in KNOWN_COLUMNS:
                what = known_column(run.parts, what)
        elif not isinstance(what, NodeColumn):
            what = node_column(graph, what)
        self.unit = {"time": "ns"}.get(what, "") if isinstance(what, str) else what.unit
        self._graph = graph
        self._kinds: dict[tuple[str, int], str] = {}
        if isinstance(what, NodeColumn):
            self.name = what.name
            self._colors = colors_of(graph, what)
            self.told: Callable[[int], Told] = self._of_column
        elif what == "health":
            run.health(progress=False)
            self._health = NodeHealth(run.search.health(), graph.num_nodes)
            self.told = self._of_health
        elif what == "time":
            self._times = Times(graph, run.timeline)
            self._labels = Labels(graph, self._times)
            self.told = self._of_time
        else:
            self.told = self._of_kind

    def ink(self, fill: str) -> str:
        """Return black or white, whichever is easier to read on a fill."""
        from tvmdbg_widgets.figures.theme import ink_on

        return ink_on(fill)

    def _of_kind(self, node: int) -> Told:
        kind = self._graph.nodes[node].op_kind
        return str(_THEME.tint(kind)), kind, kind

    def _of_time(self, node: int) -> Told:
        ns = float(self._times.ns[node])
        if math.isnan(ns):
            return None, self._labels.time(node), None
        heat = self._times.heat(node)
        return (None if math.isnan(heat) else str(_THEME.heat(heat))), self._labels.time(node), ns

    def _of_health(self, node: int) -> Told:
        verdict = self._health.label(node)
        return str(health_fill(_THEME, verdict)), self._health.brief(node), verdict

    def _of_column(self, node: int) -> Told:
        fill, said = self._colors.fill(_THEME, (node,)), self._colors.said((node,))
        if fill is None:
            return None, said, None
        colors = self._colors
        value = colors.value((node,)) if isinstance(colors, NumberColors) else said
        return str(fill), said, value
