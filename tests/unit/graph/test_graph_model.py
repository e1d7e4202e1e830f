import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from formats.tvm.graph_truth import read, valid

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.graph.graph import Entry, Graph, NodeKind, looks_like_parameter


@pytest.fixture
def graph() -> Graph:
    return read(valid())


def test_node_view(graph: Graph) -> None:
    split, add = graph.nodes[2], graph.node("add")
    assert (split.id, split.name, split.func_name) == (2, "split", "fused_split")
    assert (split.kind, split.op_kind) == (NodeKind.OPERATOR, "gather/split")
    assert (split.parts, split.inputs, split.outputs) == (("split",), ((0, 0),), ((2, 0), (2, 1)))
    assert (split.num_outputs, split.consumers, split.attrs["num_outputs"]) == (2, (3,), "2")
    assert (add.inputs, add.shapes) == ((Entry(2, 1), Entry(1, 0)), ((2, 3),))
    assert add.dtypes == ("float32",)
    assert (graph.nodes[0].op_kind, graph.nodes[1].op_kind) == ("input", "parameter")
    assert graph.nodes[4].op_kind == "reshape"
    assert repr(add) == (
        "<Node 3 'add' operator calls 'fused_add' reads (2:1, 1) -> float32[2, 3]>"
    )
    assert graph.nodes[-1] == graph.nodes[4]
    assert graph.nodes[1:3] == (graph.nodes[1], graph.nodes[2])
    assert len({*graph.nodes, graph.nodes[0]}) == 5


@pytest.mark.parametrize("index", [5, -6])
def test_unknown_node_raises_index_error(graph: Graph, index: int) -> None:
    with pytest.raises(IndexError, match=f"no node {index}; ids are 0 to 4"):
        graph.nodes[index]


def test_node_by_name(graph: Graph) -> None:
    with pytest.raises(TypeError, match=r"by name: graph\.node\('split'\)"):
        graph.nodes["split"]  # type: ignore[call-overload]
    with pytest.raises(KeyError, match=r"no node is named 'spl'; did you mean 'split'"):
        graph.node("spl")
    with pytest.raises(KeyError, match=r"no node is named 'spilt'; did you mean 'split'"):
        graph.node("spilt")
    raw = valid()
    raw["nodes"][3]["name"] = "split"
    twice = read(raw)
    with pytest.raises(KeyError, match=r"2 nodes are named 'split' \(ids 2, 3\)"):
        twice.node("split")
    assert [node.id for node in twice.nodes_named("split")] == [2, 3]


def test_node_is_found_by_the_name_printed_in_findings() -> None:
    raw = valid()
    for node, name in ((2, "tvmgen_default_fused_nn_relu"), (3, "fused_add"), (4, "add_1")):
        raw["nodes"][node]["name"] = name
    graph = read(raw)
    assert graph.node("nn_relu").id == graph.node("fused_nn_relu").id == 2
    assert graph.node("add").id == 3
    raw["nodes"][4]["name"] = "nn_relu"
    assert read(raw).node("nn_relu").id == 4, "what is named exactly so comes first"
    raw["nodes"][4]["name"] = "fused_nn_relu"
    with pytest.raises(KeyError, match=r"2 nodes are named 'nn_relu' \(ids 2, 4\)"):
        read(raw).node("nn_relu")


def test_entries(graph: Graph) -> None:
    assert (graph.entry_id(2, 1), graph.shape(4), graph.dtype(4)) == (3, (6,), "float32")
    for entry in ((2, 2), (2, -1), (5, 0), (-1, 0)):
        with pytest.raises(IndexError):
            graph.entry_id(*entry)
    with pytest.raises(IndexError):
        graph.ancestors(5)


def test_columns_cannot_be_written(graph: Graph) -> None:
    with pytest.raises(ValueError, match="read-only"):
        graph.edge_source[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.form = "raw"  # type: ignore[misc]
    with pytest.raises(TypeError):
        graph.nodes[2].attrs["a"] = "b"  # type: ignore[index]


@pytest.mark.parametrize(
    "columns",
    [
        *({"kinds": np.zeros(4)}, {"attrs": ()}, {"entry_offsets": np.array([0, 1, 2, 4, 5, 7])}),
        {"entry_offsets": np.array([1, 1, 2, 4, 5, 6])},
        {"entry_offsets": np.array([0, 2, 1, 4, 5, 6])},
        *({"edge_source": np.array([0, 2, 1, 5])}, {"edge_source": np.array([0, 2, 1, -2])}),
        *({"edge_output": np.array([1, 1, 0, 0])}, {"edge_target": np.array([3, 2, 3, 4])}),
        *({"edge_position": np.array([0, 0, 0, 0])}, {"heads": np.array([[4, 1]])}),
        *({"heads": np.array([[-1, 0]])}, {"heads": np.array([4, 0])}),
        *({"arg_nodes": np.array([5])}, {"control_source": np.array([0])}),
        *({"storage_ids": np.zeros(5)}, {"dtypes": StringColumn.from_strings("ab")}),
        {"shape_dims": np.zeros(3)},
    ],
)
def test_inconsistent_columns_are_refused(graph: Graph, columns: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"must|items|name"):
        dataclasses.replace(graph, **columns)


@pytest.mark.parametrize("given", [[True] * 5, np.ones(5, bool), [1.5], ["a"], [None]])
def test_subgraph_takes_ids_and_no_mask(graph: Graph, given: Any) -> None:
    with pytest.raises(TypeError, match="a node is meant by its id"):
        graph.subgraph(given)


def test_subgraph_keeps_ids(graph: Graph) -> None:
    part = graph.subgraph([3, 2, 3])
    assert part.node_ids.tolist() == [2, 3]
    assert [node.name for node in part.nodes] == ["split", "add"]
    assert (part.edges.tolist(), part.in_edges.tolist()) == ([1], [0, 2])
    assert part.out_edges.tolist() == [3]
    assert list(part.to_networkx().edges(keys=True)) == [(2, 3, 0)]
    assert (2 in part, 1 in part, len(part)) == (True, False, 2)
    assert repr(part) == "Subgraph: 2 of 5 nodes, 1 edge inside, 2 in, 1 out"
    assert len(graph.subgraph([])) == 0
    with pytest.raises(IndexError):
        graph.subgraph([5])


def test_dataframe(graph: Graph) -> None:
    pytest.importorskip("pandas")
    frame = graph.to_dataframe()
    assert frame.loc[3, "inputs"] == ((2, 1), (1, 0))
    assert (frame.loc[1, "kind"], frame.index.name) == ("parameter", "node")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("p0", "p123", "weight", "fc_bias", "conv1.weight")),
        *((name, True) for name in ("bn_gamma", "bn0_beta", "bn_moving_mean", "a.running_var")),
        *((name, True) for name in ("blocks.0.n1.weight", "conv_weight_1", "_param_1", "x.w_0")),
        *((name, True) for name in ("conv0_weight_sc", "bn0_add_beta_expand", "w_OIHW8i8o")),
        *((name, True) for name in ("dense/kernel:0", "dense/bias/Read/ReadVariableOp:0")),
        *((name, True) for name in ("onnx::MatMul_12", "conv1_scale", "conv_zero_point")),
        *((name, False) for name in ("attention_mask", "pixel_values", "input.1", "images:0")),
        *((name, False) for name in ("embedding_input", "Placeholder", "input_image", "0")),
        *((name, False) for name in ("data", "input_ids", "p", "px1", "overweight", "x", "")),
        *((name, False) for name in ("weight_loader", "alphabeta")),
    ],
)
def test_parameters_by_name(name: str, expected: bool) -> None:
    assert looks_like_parameter(name) is expected


def test_recorded_parameters_by_name(corpus: Path) -> None:
    for path in corpus.glob("tvm/*/meta.json"):
        graph = read((path.parent / "graph.json").read_bytes())
        assert len(graph.parameters) == json.loads(path.read_bytes())["nodes"] - int(
            (graph.kinds >= NodeKind.OPERATOR).sum()
        ) - len(graph.inputs)
        assert {node.name for node in graph.inputs} <= {"data", "input_ids"}


def test_issues() -> None:
    first = Issue("a-b", IssueSeverity.ERROR, "m", nodes=(1,), file="f")
    issues = Issues(
        [first, Issue("c-d", IssueSeverity.NOTE, "n"), Issue("c-d", IssueSeverity.NOTE, "o")]
    )
    assert issues.summary() == "1 error, 2 notes"
    assert [i.message for i in issues.by_rule("c-d")] == ["n", "o"]
    assert list(issues.by_severity(IssueSeverity.ERROR)) == [first]
    assert repr(issues).splitlines()[1] == "  error [a-b] f: m"
    assert repr(Issues([first] * 30)).endswith("… and 10 more")
    assert issues[1:] == Issues(issues[i] for i in (1, 2))
    assert len([*issues, first]) == 4
    assert Issues().summary() == "0 issues"


def test_issues_dataframe() -> None:
    pytest.importorskip("pandas")
    frame = Issues([Issue("a-b", IssueSeverity.ERROR, "m", nodes=(1,))]).to_dataframe()
    assert frame.loc[0, "nodes"] == (1,)
    assert list(Issues().to_dataframe().columns) == list(frame.columns)


def test_string_column() -> None:
    column = StringColumn.from_strings(["b", "a", "b", ""])
    assert column.unique == ("b", "a", "")
    assert (column.codes.tolist(), list(column)) == ([0, 1, 0, 2], ["b", "a", "b", ""])
    assert (column[1], column[-1]) == ("a", "")
    assert (list(column[::2]), column.rows("b").tolist()) == (["b", "b"], [0, 2])
    assert column.rows("z").tolist() == []
    assert ("a" in column, "z" in column, 3 in column) == (True, False, False)
    assert (column, column.codes.dtype) == (StringColumn(("", "a", "b"), [2, 1, 2, 0]), np.int32)
    assert not column.codes.flags.writeable
    for unique, codes in ((("a",), [1]), (("a",), [-1]), (("a",), [[0]])):
        with pytest.raises(ValueError):
            StringColumn(unique, codes)
