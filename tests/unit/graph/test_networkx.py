"""Graphs handed to networkx are whole: held against the JSON they were read from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from formats.tvm.graph_truth import read, valid

import tvmdbg_widgets as tvmdbg
from tests.graph_json import operator

CASES = ("resnet20_cifar", "transformer_encoder", "resnet20_two_devices")


def raw_edges(raw: dict[str, Any]) -> set[tuple[int, int, int, int]]:
    """Source, target, operand position and output, as the file has them."""
    return {
        (source, target, position, output)
        for target, node in enumerate(raw["nodes"])
        for position, (source, output, *_) in enumerate(node["inputs"])
    }


def edges_of(graph: nx.MultiDiGraph[Any]) -> set[tuple[int, int, int, int]]:
    return {(a, b, key, data["output"]) for a, b, key, data in graph.edges(keys=True, data=True)}


@pytest.mark.parametrize("case", CASES)
def test_networkx_graph_keeps_all_nodes_and_operands(case: str, corpus: Path) -> None:
    raw = json.loads((corpus / f"tvm/{case}/graph.json").read_text("utf-8"))
    run = tvmdbg.open(corpus / f"tvm/{case}/graph.json")
    found = run.to_networkx()
    assert edges_of(found) == raw_edges(raw)
    assert found.number_of_edges() == sum(len(node["inputs"]) for node in raw["nodes"])
    attrs = {key: values for key, (_, values) in raw["attrs"].items()}
    for node, data in found.nodes(data=True):
        own = slice(*raw["node_row_ptr"][node : node + 2])
        assert data["name"] == raw["nodes"][node]["name"]
        assert data["attrs"] == raw["nodes"][node].get("attrs", {})
        assert data["shapes"] == tuple(map(tuple, attrs["shape"][own]))
        assert data["dtypes"] == tuple(attrs["dltype"][own])
        assert data["storage_ids"] == tuple(attrs["storage_id"][own])
        expected = attrs.get("device_index", attrs.get("device_type"))
        assert data["device_types"] == (None if expected is None else tuple(expected[own]))
    assert found.graph["heads"] == [tuple(head[:2]) for head in raw["heads"]]
    assert nx.is_directed_acyclic_graph(found)


def test_a_node_that_reads_an_entry_twice_keeps_two_edges() -> None:
    raw = valid()
    raw["nodes"][3]["inputs"] = [[2, 1, 0], [2, 1, 0]]
    found = read(raw).to_networkx()
    assert dict(found[2][3]) == {
        0: {"output": 1, "trust": "exact"},
        1: {"output": 1, "trust": "exact"},
    }


def test_dangling_inputs_and_control_edges_are_exported() -> None:
    raw = valid()
    raw["nodes"][3]["inputs"] = [[2, 1, 0], [99, 0, 0]]
    raw["nodes"][4]["control_deps"] = [1]
    graph = read(raw)
    found = graph.to_networkx()
    assert (found.nodes[3]["dangling"], found.nodes[4]["dangling"]) == ((1,), ())
    assert edges_of(found) == {(0, 2, 0, 0), (2, 3, 0, 1), (3, 4, 0, 0)}
    ordered = graph.to_networkx(control=True)
    assert ordered.has_edge(1, 4, key="control")
    assert ordered.number_of_edges() == found.number_of_edges() + 1


def test_ambiguous_edges_list_their_candidates(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/odd_names/tvmdbg")
    graph = run.graph
    assert graph.edge_candidates
    found = run.to_networkx()
    told = {
        (b, key): data["candidates"]
        for _, b, key, data in found.edges(keys=True, data=True)
        if data["trust"] == "ambiguous"
    }
    assert told == {
        (int(graph.edge_target[edge]), int(graph.edge_position[edge])): nodes
        for edge, nodes in graph.edge_candidates.items()
        if graph.edge_source[edge] >= 0
    }


def test_networkx_graph_survives_json_round_trip(corpus: Path) -> None:
    found = tvmdbg.open(corpus / "tvm/transformer_encoder").to_networkx(control=True)
    text = json.dumps(nx.node_link_data(found, edges="edges"))
    back = nx.node_link_graph(json.loads(text), edges="edges")
    assert nx.utils.edges_equal(found.edges(keys=True), back.edges(keys=True))
    for node, data in found.nodes(data=True):
        assert json.loads(json.dumps(data)) == back.nodes[node]
    for edge in found.edges(keys=True):
        assert back.edges[edge] == found.edges[edge]


def test_networkx_graph_has_times_and_groups_of_run() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    found = run.to_networkx()
    times = run.timeline.node_ns.tolist()
    assert [data["time_ns"] for _, data in found.nodes(data=True)] == times
    for group in run.groups:
        inside = {node for node, data in found.nodes(data=True) if group.id in data["groups"]}
        assert inside == set(group.nodes.tolist())
        assert found.graph["groups"][group.id] == group.title
    assert set(run.to_networkx(run.groups[0])) == set(run.groups[0].nodes.tolist())
    assert run.to_networkx(run.select("op:softmax")).number_of_edges() == 0


def test_cycles_and_self_loops_are_kept() -> None:
    raw = valid()
    raw["nodes"][2]["inputs"] = [[4, 0, 0]]
    raw["nodes"][3] = operator("loop", "fused_add", [[3, 0, 0], [2, 0, 0]])
    found = read(raw).to_networkx()
    assert found.has_edge(3, 3, key=0)
    assert {2, 3, 4} == set().union(*nx.simple_cycles(nx.DiGraph(found)))
