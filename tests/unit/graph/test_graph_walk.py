"""Walks, paths and numbers of rows against networkx and numpy."""

import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.ranges import first_rows, numbered
from tvmdbg_widgets.model.graph.operators import Adjacency, Neighbors, topological

graphs = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=18)
    )
)


def columns(edges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def as_networkx(count: int, edges: list[tuple[int, int]]) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    return graph


@given(graphs)
def test_order_and_cycles(given: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = given
    order = topological(*columns(edges), count)
    truth = as_networkx(count, edges)
    circles = [tuple(sorted(c)) for c in nx.strongly_connected_components(truth) if len(c) > 1]
    circles += [(node,) for node in truth if truth.has_edge(node, node)]
    inside = {node for circle in circles if len(circle) > 1 for node in circle}
    circles = sorted(c for c in circles if len(c) > 1 or c[0] not in inside)
    assert (list(order.cycles), sorted(order.nodes.tolist())) == (circles, list(range(count)))
    if not circles:
        place = {node: at for at, node in enumerate(order.nodes.tolist())}
        assert all(place[source] < place[target] for source, target in edges)


@given(graphs)
def test_reach(given: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = given
    source, target = columns(edges)
    truth = as_networkx(count, edges)
    followers = Neighbors.of(source, target, count)
    for node in range(count):
        reached = followers.reach([node])
        assert reached - {node} == nx.descendants(truth, node)
        on_cycle = any(node in nx.descendants(truth, n) | {n} for n in truth.successors(node))
        assert (node in reached) == on_cycle


def test_adjacency_leaves_out_dangling_edges() -> None:
    ends = np.array([-1, 1, -1, 0, 1], dtype=np.int32)
    grouped = Adjacency.by(ends, 3)
    assert [grouped[node].tolist() for node in range(3)] == [[3], [1, 4], []]


@pytest.mark.slow
def test_hundred_thousand_chained_nodes_are_walked_quickly() -> None:
    count = 100_000
    up = np.arange(count - 1, dtype=np.int32)
    backwards = (up + 1, up)
    start = time.process_time()
    assert topological(*backwards, count).nodes.tolist() == list(range(count - 1, -1, -1))
    assert len(Neighbors.of(*backwards, count).reach([count - 1])) == count - 1
    circle = topological(np.append(up, count - 1), np.append(up + 1, 0), count)
    assert [len(cycle) for cycle in circle.cycles] == [count]
    assert time.process_time() - start < 10


_INT64 = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5)


def test_numbering_handles_full_range_of_int8() -> None:
    values = np.tile(np.arange(-128, 128, 2, dtype=np.int8), 2)
    assert numbered(values).tolist() == [*range(128)] * 2


@given(st.lists(st.tuples(_INT64, st.integers(-128, 127))))
def test_rows_are_numbered_in_sorted_order(rows: list[tuple[int, int]]) -> None:
    wide = np.array([each for each, _ in rows], np.int64)
    narrow = np.array([each for _, each in rows], np.int8)
    found = numbered(wide, narrow)
    order = {row: at for at, row in enumerate(sorted(set(rows)))}
    assert found.tolist() == [order[row] for row in rows]
    assert first_rows(found).tolist() == [rows.index(row) for row in order]
