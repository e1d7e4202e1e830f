"""What nodes of a graph are called, and how long they took, for other tools."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted, duration_text, time_share
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_label, shape_text
from tvmdbg_widgets.model.graph.nodes import given_text
from tvmdbg_widgets.model.timeline.timeline import Timeline


class NodeTexts:
    """The texts of the nodes of one graph."""

    def __init__(self, graph: Graph, timeline: Timeline | None) -> None:
        self._graph = graph
        self.ns = np.full(graph.num_nodes, np.nan) if timeline is None else timeline.node_ns
        self._rounding_ns = 0.0 if timeline is None else timeline.rounding_ns
        self._shared = None if timeline is None else timeline.shared
        self._shares = (
            self.ns if timeline is None else timeline.account.node_shares(graph.num_nodes)
        )
        #: Number of the smallest set of nodes that a node took its time with, -1 for none.
        self._set_of = None if self._shared is None else self._shared.smallest(graph.num_nodes)
        self._heads = frozenset(graph.heads[:, 0].tolist())

    def title(self, node: int) -> str:
        """Operators of the node, or its name."""
        return node_label(self._graph, node) or f"node {node}"

    def is_head(self, node: int) -> bool:
        """Whether one of the node's outputs is an output of the graph."""
        return node in self._heads

    def shape(self, node: int) -> str:
        """Shape of the first output, and how many there are."""
        entries = self._graph.entry_range(node)
        if not entries:
            return "no output"
        more = f", {counted(len(entries), 'output')}" if len(entries) > 1 else ""
        shape = self._graph.shape(node)
        return f"{'shape unknown' if shape is None else shape_text(shape)}{more}"

    def time(self, node: int) -> str:
        """Time and share, or why there is none."""
        ns = float(self.ns[node])
        if ns > 0:
            return time_share(ns, float(self._shares[node]), between=" · ")
        if given := given_text(self._graph.roles[node]):
            return given
        if np.isnan(ns):
            return self.together(node) or "time unknown"
        return duration_text(ns, self._rounding_ns)

    def together(self, node: int) -> str:
        """``"4.9 µs for 2 together"``; empty where the node took no time with others."""
        if self._shared is None or self._set_of is None or (number := self._set_of[node]) < 0:
            return ""
        offsets = self._shared.offsets
        count = int(offsets[number + 1] - offsets[number])
        told = duration_text(float(self._shared.own_ns[number]), self._rounding_ns)
        return f"{told} for {count:,} together"
