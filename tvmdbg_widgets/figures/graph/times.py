"""Times of the nodes of a graph, set against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.base.numbers import duration_text
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.timeline.timeline import Timeline


class Times:
    """Mean times of the nodes as shares of their sum and of the largest; NaN is unknown.

    Attributes
    ----------
    ns : float64 [N]
    shared : NodeSets or None
        Times that several nodes have together; the total holds them.
    total, largest : float
    ranked : list of int
        Nodes with a time above zero, parameters left out, slowest first.
    """

    def __init__(self, graph: Graph, timeline: Timeline | None) -> None:
        unknown = np.full(graph.num_nodes, np.nan)
        self.ns = timeline.node_ns if timeline is not None else unknown
        known = np.flatnonzero(self.ns > 0)
        self.shared = timeline.shared if timeline is not None else None
        self._smallest = self.shared.smallest(graph.num_nodes) if self.shared else None
        together = self.shared.total_ns if self.shared is not None else 0.0
        self.total = float(self.ns[known].sum()) + together
        own = known[graph.kinds[known] != NodeKind.PARAMETER]
        self.ranked: list[int] = own[np.argsort(-self.ns[own], kind="stable")].tolist()
        self.largest = float(self.ns[self.ranked[0]]) if self.ranked else 0.0

    def together(self, node: int) -> str:
        """What a node took with others: ``"4.9 µs for 2 together"``; empty where it did not."""
        number = -1 if self._smallest is None else int(self._smallest[node])
        if self.shared is None or number < 0:
            return ""
        count = len(self.shared.of(number))
        return f"{duration_text(float(self.shared.own_ns[number]))} for {count:,} together"

    @property
    def slowest(self) -> int:
        """Node with the largest time; -1 where none is known."""
        return self.ranked[0] if self.ranked else -1

    def share(self, node: int) -> float:
        """Share of the sum of all node times; NaN where unknown."""
        return float(self.ns[node]) / self.total if self.total > 0 else float("nan")

    def heat(self, node: int) -> float:
        """Share of the largest time; NaN where unknown."""
        return float(self.ns[node]) / self.largest if self.largest > 0 else float("nan")
