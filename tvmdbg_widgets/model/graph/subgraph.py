"""A view of some nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph import nodes as graph_tables
from tvmdbg_widgets.model.graph.columns import GraphColumns
from tvmdbg_widgets.model.graph.nodes import Node

if TYPE_CHECKING:
    import networkx as nx


class Subgraph:
    """Some nodes of a graph and the edges among them. Node and edge ids are the graph's.

    Parameters
    ----------
    graph : Graph
    nodes : iterable of int
        Node ids, in any order, repeats allowed.

    Raises
    ------
    IndexError
        Where the graph has no such node.
    """

    graph: GraphColumns
    node_ids: npt.NDArray[np.int32]

    def __init__(self, graph: GraphColumns, nodes: Iterable[int]) -> None:
        ids = np.unique(np.array(list(nodes), dtype=np.int64))
        if ids.size and not (ids[0] >= 0 and ids[-1] < graph.num_nodes):
            raise IndexError(f"node ids must lie in 0..{graph.num_nodes - 1}")
        self.graph = graph
        self.node_ids = ids.astype(np.int32)
        self.node_ids.flags.writeable = False

    @cached_property
    def _ends_inside(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        inside = np.zeros(self.graph.num_nodes + 1, dtype=np.bool_)
        inside[self.node_ids] = True
        return inside[self.graph.edge_source], inside[self.graph.edge_target]

    def _edges(self, source_inside: bool, target_inside: bool) -> npt.NDArray[np.int32]:
        source, target = self._ends_inside
        chosen = (source == source_inside) & (target == target_inside)
        return np.flatnonzero(chosen).astype(np.int32)

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Edges with both ends inside (positions in the graph's edge columns)."""
        return self._edges(True, True)

    @property
    def in_edges(self) -> npt.NDArray[np.int32]:
        """Edges that come in from outside, dangling ones included."""
        return self._edges(False, True)

    @property
    def out_edges(self) -> npt.NDArray[np.int32]:
        """Edges that go out."""
        return self._edges(True, False)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, by node id."""
        return tuple(Node(self.graph, node) for node in self.node_ids.tolist())

    def __len__(self) -> int:
        return len(self.node_ids)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int | np.integer) and bool(np.isin(node, self.node_ids))

    def to_networkx(self, *, control: bool = False) -> nx.MultiDiGraph[int]:
        """Return a ``networkx.MultiDiGraph`` as :meth:`Graph.to_networkx` does."""
        nodes = self.node_ids.tolist()
        return graph_tables.to_networkx(self.graph, nodes, self.edges, control=control)

    def __repr__(self) -> str:
        told = (
            f"{len(self)} of {counted(self.graph.num_nodes, 'node')}",
            f"{counted(len(self.edges), 'edge')} inside",
            f"{len(self.in_edges)} in",
            f"{len(self.out_edges)} out",
        )
        return f"Subgraph: {', '.join(told)}"
