"""Parts of a graph against networkx."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.graph import isolation
from tvmdbg_widgets.model.graph.nodes import NodeKind

Edges = list[tuple[int, int]]

graphs = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20),
    )
)


class Columns:
    """As much of a graph as walks read."""

    def __init__(self, count: int, edges: Edges) -> None:
        pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
        self.num_nodes = count
        self.edge_source, self.edge_target = pairs[:, 0].copy(), pairs[:, 1].copy()
        self.kinds = np.full(count, NodeKind.OPERATOR, np.uint8)


def build(count: int, edges: Edges) -> Any:
    return Columns(count, edges)


def truth(count: int, edges: Edges) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    return graph


def ids(mask: np.ndarray) -> set[int]:
    return set(np.flatnonzero(mask).tolist())


@given(graphs)
def test_paths_between_two_nodes_are_all_simple_paths(given: tuple[list[bool], Edges]) -> None:
    count = len(given[0])
    edges = [(min(pair), max(pair)) for pair in given[1] if pair[0] != pair[1]]
    graph, known = build(count, edges), truth(count, edges)
    for start, end in ((0, count - 1), (count - 1, 0), (1, count - 1)):
        paths = nx.all_simple_paths(known, min(start, end), max(start, end))
        wanted = {node for path in paths for node in path} if start != end else {start}
        assert ids(isolation.between(graph, start, end)) == wanted
