"""Calls of delegates kept together in the order that groups are intervals of."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.timeline.test_critical_path import dag
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.blocks.sequence import delegate_calls, gathered
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import GroupSource

LABELS = ("", "A, instruction 0", "B, instruction 3")


@st.composite
def delegated(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(2, 12))
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
    edges = {(a, b) for a, b in draw(st.lists(pairs, max_size=20)) if a < b}
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=count, max_size=count))
    graph = dag(count, sorted(edges, key=lambda edge: (edge[1], edge[0])))
    return replace(graph, attrs=tuple({"delegate": each} if each else {} for each in labels))


@given(delegated())
def test_delegate_calls_are_kept_together_where_possible(graph: Graph) -> None:
    operators = graph.topological_order.astype(np.int64)
    calls = delegate_calls(graph)
    order = gathered(graph, operators, calls).tolist()
    assert sorted(order) == list(range(graph.num_nodes))
    place = {node: at for at, node in enumerate(order)}
    edges = list(zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True))
    assert all(place[a] < place[b] for a, b in edges)
    stands = {node: nodes[0] for nodes in calls.values() for node in nodes}
    whole = nx.DiGraph([(stands.get(a, a), stands.get(b, b)) for a, b in edges])
    whole.remove_edges_from(list(nx.selfloop_edges(whole)))
    if nx.is_directed_acyclic_graph(whole):
        for nodes in calls.values():
            places = sorted(place[node] for node in nodes)
            assert places == list(range(places[0], places[0] + len(places)))


@given(delegated())
def test_delegate_group_contains_its_operators(graph: Graph) -> None:
    calls = delegate_calls(graph)
    for group in groups(graph):
        if group.source is GroupSource.DELEGATE:
            assert sorted(group.nodes) == calls[group.name]
