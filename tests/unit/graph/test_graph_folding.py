"""Groups of a graph that are open, large graphs in few boxes, and groups of delegates."""

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from benchmarks.growing import chain, graph_json
from tests.unit.graph.block_graphs import Draft
from tests.unit.graph.open_groups_truth import opened
from tests.unit.timeline.test_critical_path import dag
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.blocks.sequence import delegate_calls, gathered
from tvmdbg_widgets.analysis.condensed import boxes_of_nodes, condensed, edges_between
from tvmdbg_widgets.analysis.view_columns import open_by_itself
from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import GroupSource
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.sources.byte_source import BytesSource


def row_of_blocks() -> Graph:
    draft = Draft()
    x = draft.null(1, 8)
    for _ in range(7):
        x = draft.residual(x)
    return draft.graph()


def test_small_graph_opens_with_all_groups_open(run: tvmdbg.DebugRun) -> None:
    assert open_by_itself(run.graph, run.groups) == list(range(len(run.groups)))


@pytest.mark.parametrize(("nodes", "seed"), [(0, 0), (40, 2), (120, 1), (300, 3)])
def test_initially_open_groups_match_readable_depth(nodes: int, seed: int) -> None:
    source = BytesSource(network(nodes, seed).encode(), "graph.json") if nodes else None
    graph = row_of_blocks() if source is None else read_graph(source)
    known = groups(graph)
    assert len(known)
    assert open_by_itself(graph, known) == opened(graph, known)


def test_groups_are_closed_by_id_name_or_all_at_once(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    assert view.open_groups is None
    view.collapse(0)
    assert view.open_groups == list(range(1, 12))
    view.collapse("residual block × 2")
    assert set(range(12)) - set(view.open_groups) == {0, 5, 9}
    view.collapse(run.groups[1].alike)
    assert {1, 2, 3}.isdisjoint(view.open_groups)
    view.collapse()
    assert view.open_groups == []


def test_expanding_a_group_opens_its_parent_groups(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run, open_groups=[])
    view.expand(run.groups[11])
    assert view.open_groups == [9, 11]
    view.expand()
    assert view.open_groups == list(range(12))
    view.grouped = False
    view.collapse(11)
    assert view.grouped


def test_unknown_group_errors_name_valid_groups(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    with pytest.raises(KeyError, match="residual block"):
        view.expand("residul block")
    with pytest.raises(IndexError, match="no group 12; ids are 0 to 11"):
        view.collapse(12)
    with pytest.raises(TypeError, match="not True"):
        view.expand(True)
    with pytest.raises(TypeError, match=r"not 1\.5"):
        view.expand(1.5)  # type: ignore[arg-type]
    with pytest.raises(traitlets.TraitError, match="group ids end at 11"):
        view.open_groups = [3, 12]
    with pytest.raises(traitlets.TraitError, match="group ids end at 11"):
        view.group = -1


GRAPHS = {
    "blocks": residual_graph(1_000).encode(),
    "network": network(3_000).encode(),
    "chain": graph_json(chain(700)),
}


@pytest.mark.parametrize("what", GRAPHS)
@pytest.mark.parametrize("most", [3, 12, 44, 300])
def test_boxes_are_few_and_hold_every_operator(what: str, most: int) -> None:
    run = tvmdbg.open(GRAPHS[what])
    graph = run.graph
    groups, opened = condensed(graph, run.groups, None, most)
    assert sorted(groups.order.tolist()) == list(range(graph.num_nodes))
    place = np.empty(graph.num_nodes, np.int64)
    place[groups.order] = np.arange(graph.num_nodes)
    known = graph.edge_source >= 0
    assert (place[graph.edge_source[known]] < place[graph.edge_target[known]]).all()
    alone = np.isin(groups.node_group, [-1, *opened])
    operators = graph.kinds > NodeKind.PARAMETER
    boxes = len(groups) - len(opened) + int((alone & operators).sum())
    inputs = int((graph.kinds == NodeKind.INPUT).sum())
    assert boxes + inputs <= max(most, 2 + inputs)
    assert boxes >= 1
    kept = edges_between(graph, groups, boxes_of_nodes(graph, groups, opened, graph.heads[:0, 0]))
    within = (
        groups.node_group[graph.edge_source[kept]] == groups.node_group[graph.edge_target[kept]]
    )
    assert not (within & ~alone[graph.edge_target[kept]]).any()


def test_first_of_many_alike_blocks_is_open() -> None:
    run = tvmdbg.open(GRAPHS["blocks"])
    groups, opened = condensed(run.graph, run.groups, None, 44)
    (top,) = run.groups.top
    titles = [group.title for group in groups]
    assert titles == [top.title, "residual block", f"residual block × {top.repeats - 1}"]
    assert opened == [0, 1]
    assert groups.alike[1] == groups.alike[2]


@pytest.mark.parametrize("most", [1, 10**6, "12", [3], 2.5])
def test_bad_number_of_boxes_is_refused(most: Any) -> None:
    run = tvmdbg.open(GRAPHS["chain"])
    with pytest.raises(ValueError, match="most must"):
        answer(run.facts, {"kind": "graph", "most": most})


def numbers(reply: Reply, name: str) -> np.ndarray[Any, Any]:
    (header,) = (each for each in reply.result["columns"] if each["name"] == name)
    kind, length = header["kind"], header["length"]
    if kind == "strings":
        kind, header = "i4", {"offset": header["codes"]}
    return np.frombuffer(reply.buffers[0], f"<{kind}", length, header["offset"])


@pytest.mark.parametrize("color", ["kind", "time", "dtype", "device", "storage", "bytes", "layout"])
@pytest.mark.parametrize("what", GRAPHS)
def test_rows_of_a_large_graph_stand_for_all_its_nodes(
    what: str, color: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few_names, "MOST_NODES", 100)
    run = tvmdbg.open(GRAPHS[what])
    count = run.graph.num_nodes
    question = {"kind": "graph", "most": 12}
    every = answer(run.facts, question)
    few = answer(run.facts, question | {"color": color, "judged": True})
    ids, shared, row = (numbers(few, name) for name in ("nodeId", "nodeCount", "nodeRow"))
    if color == "kind":
        assert len(few.buffers[0]) < len(every.buffers[0]) / 2
    assert shared.tolist() == np.bincount(row).tolist()
    assert ids.tolist() == [int(np.flatnonzero(row == at)[0]) for at in range(len(ids))]
    assert (np.diff(ids) > 0).all()
    for name in ("kinds", "nodeGroup"):
        assert (numbers(few, name)[row] == numbers(every, name)).all()
    assert np.bincount(numbers(few, "opKinds"), shared).sum() == count
    order, start, end = (numbers(few, f"group{name}") for name in ("Order", "Start", "End"))
    assert sorted(order.tolist()) == list(range(len(ids)))
    held = numbers(every, "groupEnd") - numbers(every, "groupStart")
    assert [shared[order[a:b]].sum() for a, b in zip(start, end, strict=True)] == held.tolist()
    assert (np.diff(numbers(few, "edgeTarget")) >= 0).all()
    assert few.result["info"] == every.result["info"]


def test_colors_of_a_large_graph_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_names, "MOST_NODES", 100)
    run = tvmdbg.open(GRAPHS["chain"])
    for bad in ({"color": "health"}, {"color": ["kind"]}, {"color": "kind", "limits": ["a"]}):
        with pytest.raises(ValueError, match=r"must be|must lie"):
            answer(run.facts, {"kind": "graph", "most": 12, **bad})


def test_query_that_cannot_be_read_is_answered_with_the_reason() -> None:
    run = tvmdbg.open(GRAPHS["chain"])
    reply = answer(run.facts, {"kind": "matches", "query": "tiem>1"})
    assert reply.result["info"]["problem"].startswith("unknown field 'tiem'")
    with pytest.raises(ValueError, match="query must be a text"):
        answer(run.facts, {"kind": "matches", "query": ["x"]})


LABELS = ("", "A call 1 of 2", "A call 2 of 2")


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
            assert sorted(group.nodes) == calls[group.name.partition(" · ")[0]]
