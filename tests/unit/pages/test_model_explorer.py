"""Graphs for Model Explorer: what its loader asks of a document, and the graph's own facts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.test_figures_hostile import HOSTILE, run_of
from tests.unit.pages.test_dot import tvmdbg_graph
from tvmdbg_widgets.model.graph.node_columns import node_column

#: Fields and their types by graph_builder.py of Model Explorer.
NODE = {
    "id": str,
    "label": str,
    "namespace": str,
    "attrs": list,
    "incomingEdges": list,
    "inputsMetadata": list,
    "outputsMetadata": list,
}
EDGE = {"sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"}


@pytest.fixture(scope="module")
def resnet() -> Any:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


def loaded(document: Any) -> dict[str, Any]:
    """Return the graph as the loader takes it: JSON with a label and a list of graphs."""
    found = json.loads(json.dumps(document, allow_nan=False))
    assert found["label"]
    assert "modelTopology" not in found
    (graph,) = found["graphs"]
    return dict(graph)


def assert_valid(graph: dict[str, Any]) -> None:
    """Every field that the loader reads is there and of its type; ids are unique; edges lead on."""
    ids = [node["id"] for node in graph["nodes"]]
    assert len(set(ids)) == len(ids)
    known, spaces = set(ids), {""}
    for node in graph["nodes"]:
        assert node.keys() == NODE.keys()
        assert all(isinstance(node[name], kind) for name, kind in NODE.items())
        for edge in node["incomingEdges"]:
            assert edge.keys() == EDGE
            assert all(isinstance(value, str) for value in edge.values())
            assert edge["sourceNodeId"] in known
        for item in (*node["inputsMetadata"], *node["outputsMetadata"]):
            assert isinstance(item["id"], str)
            assert_pairs(item["attrs"], special=False)
        assert_pairs(node["attrs"], special=True)
        parts = node["namespace"].split("/")
        assert all(parts) or parts == [""]
        assert ";" not in node["namespace"]
        spaces |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    assert set(graph["groupNodeAttributes"]) == spaces
    for told in graph["groupNodeAttributes"].values():
        assert all(isinstance(value, str) for value in told.values())


def assert_pairs(pairs: list[dict[str, Any]], *, special: bool) -> None:
    assert len({pair["key"] for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert pair.keys() == {"key", "value"}
        if special and isinstance(pair["value"], dict):
            assert pair["value"].keys() == {"type", "nodeIds"}
            assert pair["value"]["type"] == "node_ids"
        else:
            assert isinstance(pair["value"], str)
            assert pair["value"].isprintable()


@pytest.mark.parametrize("case", ["resnet20_cifar", "transformer_encoder", "resnet20_two_devices"])
def test_recorded_runs_are_valid_and_whole(case: str, corpus: Path) -> None:
    run = tvmdbg.open(corpus / f"tvm/{case}")
    graph = loaded(run.to_model_explorer().graph)
    assert_valid(graph)
    edges = {
        (*map(int, (edge["sourceNodeId"], edge["sourceNodeOutputId"], node["id"])), operand)
        for node in graph["nodes"]
        for edge in node["incomingEdges"]
        for operand in (int(edge["targetNodeInputId"]),)
    }
    columns = (run.graph.edge_source, run.graph.edge_output, run.graph.edge_target)
    rows = zip(*(each.tolist() for each in columns), run.graph.edge_position.tolist(), strict=True)
    assert edges == set(rows)
    for node in graph["nodes"]:
        entries = run.graph.nodes[int(node["id"])].num_outputs
        assert [item["id"] for item in node["outputsMetadata"]] == list(map(str, range(entries)))


def test_layers_are_the_groups(resnet: Any) -> None:
    graph = loaded(resnet.to_model_explorer().graph)
    inside: dict[str, set[int]] = {}
    for node in graph["nodes"]:
        parts = node["namespace"].split("/")
        for end in range(1, len(parts) + 1):
            inside.setdefault("/".join(parts[:end]), set()).add(int(node["id"]))
    inside.pop("", None)
    assert sorted(map(sorted, inside.values())) == sorted(
        sorted(group.nodes.tolist()) for group in resnet.groups
    )
    told = graph["groupNodeAttributes"]["residual block × 3"]
    assert told["repeats"] == "3"
    assert told["nodes"] == "18"
    assert re.fullmatch(r"12\.\d+ ms", told["time"])


def test_attributes_of_a_node(resnet: Any) -> None:
    graph = loaded(resnet.to_model_explorer().graph)
    node = graph["nodes"][3]
    own = {pair["key"]: pair["value"] for pair in node["attrs"]}
    assert node["label"] == "conv2d + add + relu"
    assert own["name"] == "tvmgen_default_fused_nn_conv2d_add_nn_relu"
    assert own["time"] == "523.4 µs · 1.31 %"
    entry = {pair["key"]: pair["value"] for pair in node["outputsMetadata"][0]["attrs"]}
    assert entry["tensor_shape"] == "float32[1, 16, 32, 32]"
    assert entry["device"] == "cpu"
    assert entry["storage_id"] == str(resnet.graph.storage_ids[3])
    assert node["inputsMetadata"][1]["attrs"] == [{"key": "__tensor_tag", "value": "#1:0 p0"}]


def test_node_data_are_keyed_by_graph_and_node(resnet: Any, tmp_path: Path) -> None:
    made = resnet.to_model_explorer(node_data=["time", "health", "dtype", {3: 1.5}])
    (name,) = {each["id"] for each in made.graph["graphs"]}
    times = made.node_data["time"][name]["results"]
    assert {int(node): each["value"] for node, each in times.items()} == dict(
        enumerate(resnet.timeline.node_ns.tolist())
    )
    assert made.node_data["time"][name]["name"] == "time (ns)"
    assert {each["value"] for each in made.node_data["dtype"][name]["results"].values()} == {
        "float32"
    }
    assert made.node_data["health"][name]["results"]["3"]["value"] == "OK"
    assert list(made.node_data["values"][name]["results"]) == ["3"]
    for what, data in made.node_data.items():
        for each in data[name]["results"].values():
            if what == "time" and each["value"] == 0:
                assert "bgColor" not in each
                continue
            assert re.fullmatch("#[0-9a-f]{6}", each["bgColor"])
            assert each["textColor"] in ("#000000", "#ffffff")
    assert list(resnet.to_model_explorer(node_data="time").node_data) == ["time"]
    files = made.save(tmp_path / "net.json")
    assert [file.name for file in files] == [
        *("net.json", "net.time.json", "net.health.json", "net.dtype.json", "net.values.json")
    ]
    assert json.loads(files[0].read_text("ascii")) == made.graph
    with pytest.raises(ValueError, match=r"must end in \.json"):
        made.save(tmp_path / "net.txt")


def test_node_data_of_one_name_are_all_kept(resnet: Any, tmp_path: Path) -> None:
    named = [node_column(resnet.graph, {3: 1.0}, name=name) for name in ("a b", "a/b", "A_B")]
    made = resnet.to_model_explorer(node_data=[{3: 1.5}, {3: 2.5}, *named])
    assert list(made.node_data) == ["values", "values 2", "a b", "a/b", "A_B"]
    files = [file.name for file in made.save(tmp_path / "net.json")]
    assert files[1:3] == ["net.values.json", "net.values_2.json"]
    assert len({file.casefold() for file in files}) == 6


def test_numbers_that_json_does_not_have_are_left_out(resnet: Any) -> None:
    data = {3: float("inf"), 6: float("nan"), 9: 2.0}
    made = resnet.to_model_explorer(node_data=[data])
    (told,) = made.node_data["values"].values()
    assert list(told["results"]) == ["9"]


def test_a_part_keeps_only_edges_inside(resnet: Any) -> None:
    graph = loaded(resnet.to_model_explorer([3, 6]).graph)
    assert_valid(graph)
    assert [
        [edge["sourceNodeId"] for edge in node["incomingEdges"]] for node in graph["nodes"]
    ] == [
        [],
        ["3"],
    ]


def test_hostile_names_and_odd_operands_export_valid_graphs() -> None:
    names = ["data", *HOSTILE, "a/b;c", "/", ";"]
    run = run_of(names, [(at, at + 1) for at in range(len(names) - 1)])
    assert_valid(loaded(run.to_model_explorer().graph))
    graph = loaded(tvmdbg.open(tvmdbg_graph().encode()).to_model_explorer().graph)
    assert_valid(graph)
    own = {pair["key"]: pair["value"] for pair in graph["nodes"][2]["attrs"]}
    assert own["operand 1"] == "not in the graph"
