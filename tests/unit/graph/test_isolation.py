"""Parts of a graph against networkx."""

from __future__ import annotations

import time
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.graph import isolation
from tvmdbg_widgets.model.graph.isolation import bridges
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import Adjacency

Edges = list[tuple[int, int]]

graphs = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20),
    )
)


class Columns:
    """As much of a graph as walks read."""

    def __init__(self, count: int, edges: Edges, parameters: tuple[int, ...] = ()) -> None:
        pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
        self.num_nodes = count
        self.edge_source, self.edge_target = pairs[:, 0].copy(), pairs[:, 1].copy()
        self.kinds = np.full(count, NodeKind.OPERATOR, np.uint8)
        self.kinds[list(parameters)] = NodeKind.PARAMETER
        self.in_edges = Adjacency.by(self.edge_target, count).__getitem__
        self.out_edges = Adjacency.by(self.edge_source, count).__getitem__


def build(count: int, edges: Edges, parameters: tuple[int, ...] = ()) -> Any:
    return Columns(count, edges, parameters)


def truth(count: int, edges: Edges) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    return graph


def ids(mask: np.ndarray) -> set[int]:
    return set(np.flatnonzero(mask).tolist())


@given(graphs, st.integers(0, 4))
def test_parts_of_graphs(given: tuple[list[bool], Edges], hops: int) -> None:
    flags, edges = given
    count = len(flags)
    graph, known = build(count, edges), truth(count, edges)
    both = known.to_undirected()
    for node in range(count):
        assert ids(isolation.isolated(graph, "upstream", [node])) == {
            node,
            *nx.ancestors(known, node),
        }
        assert ids(isolation.isolated(graph, "downstream", [node])) == {
            node,
            *nx.descendants(known, node),
        }
        around = nx.single_source_shortest_path_length(both, node, cutoff=hops)
        assert ids(isolation.isolated(graph, "around", [node], hops)) == set(around)


@given(graphs)
def test_paths_between_two_nodes_are_all_simple_paths(given: tuple[list[bool], Edges]) -> None:
    count = len(given[0])
    edges = [(min(pair), max(pair)) for pair in given[1] if pair[0] != pair[1]]
    graph, known = build(count, edges), truth(count, edges)
    for start, end in ((0, count - 1), (count - 1, 0), (1, count - 1)):
        paths = nx.all_simple_paths(known, min(start, end), max(start, end))
        wanted = {node for path in paths for node in path} if start != end else {start}
        assert ids(isolation.between(graph, start, end)) == wanted


@given(graphs)
def test_bridges_pass_only_through_hidden_nodes(given: tuple[list[bool], Edges]) -> None:
    hidden, pairs = given
    count = len(hidden)
    edges = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    found = bridges(build(count, edges), np.array(hidden))
    known = truth(count, edges)
    wanted = []
    for start in range(count):
        for end in range(count):
            if hidden[start] or hidden[end] or start == end:
                continue
            inner = [node for node in range(count) if hidden[node]]
            part = known.subgraph([start, end, *inner])
            paths = [path for path in nx.all_simple_paths(part, start, end) if len(path) > 2]
            through = {node for path in paths for node in path[1:-1]}
            if through:
                wanted.append((start, end, len(through)))
    assert found == wanted


def test_parameters_are_shown_with_readers_but_not_passed_through() -> None:
    # 1 is a weight that 2 and 4 read; 3 reads 2.
    graph = build(5, [(0, 2), (1, 2), (2, 3), (1, 4), (0, 4)], parameters=(1,))
    assert ids(isolation.isolated(graph, "downstream", [2])) == {1, 2, 3}
    assert ids(isolation.isolated(graph, "around", [3], 2)) == {0, 1, 2, 3}
    assert ids(isolation.isolated(graph, "downstream", [1])) == {1, 2, 3, 4}


def test_unknown_isolation_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind 'sideways'; known: 'upstream'"):
        isolation.isolated(build(2, [(0, 1)]), "sideways", [0])


@pytest.mark.slow
def test_bridges_of_a_huge_crossing_are_bounded() -> None:
    wide = 3_000
    edges = [(i, wide) for i in range(wide)]
    edges += [(wide, i) for i in range(wide + 1, 2 * wide + 1)]
    hidden = np.zeros(2 * wide + 1, bool)
    hidden[wide] = True
    started = time.process_time()
    found = bridges(build(2 * wide + 1, edges), hidden)
    assert time.process_time() - started < 20
    assert found[0] == (0, wide + 1, 1)
    assert len(found) < wide * wide


@pytest.mark.slow
def test_hundred_thousand_nodes_are_isolated_quickly() -> None:
    count = 100_000
    graph = build(count, [(i, i + 1) for i in range(count - 1)])
    started = time.process_time()
    assert isolation.isolated(graph, "around", [500], 3).sum() == 7
    assert isolation.isolated(graph, "upstream", [count - 1]).all()
    assert time.process_time() - started < 3
