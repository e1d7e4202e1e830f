from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from executorch_cases import answers
from formats.executorch.etrecord_files import RECORDS, record

from tvmdbg_widgets.formats.executorch.exported_program import graph_of
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch.etrecord import (
    ExportedProgram,
    ProgramNode,
    ProgramValue,
)
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

GETITEM = "<built-in function getitem>"


def edge_graph(case: str) -> Graph:
    return graph_of(record(case).edge_programs["forward"], file=f"{case}/etrecord.bin")


@pytest.mark.parametrize(
    "case", [case for case in RECORDS if "etrecord" in answers(case)["inspector"]]
)
def test_graph_matches_fx(case: str) -> None:
    fx = answers(case)["inspector"]["etrecord"]["edge_nodes"]
    taken = {node["name"]: node["inputs"][0] for node in fx if node["target"] == GETITEM}
    kept = [node for node in fx if node["name"] not in taken and node["op"] != "output"]
    graph = edge_graph(case)
    assert list(graph.names) == [node["name"] for node in kept]
    at = {node["name"]: i for i, node in enumerate(kept)}
    expected = {
        (at[taken.get(name, name)], i) for i, node in enumerate(kept) for name in node["inputs"]
    }
    assert set(zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)) == expected
    assert (graph.edge_trust == Trust.EXACT).all()
    shapes = [
        tuple(val["shape"])
        for node in kept
        for val in (node["val"] if isinstance(node["val"], list) else [node["val"]])
    ]
    entries = [(node, out) for node in range(graph.num_nodes)
               for out in range(len(graph.entry_range(node)))]  # fmt: skip
    assert [graph.shape(*entry) for entry in entries] == shapes
    outputs = fx[-1]["inputs"]
    assert [kept[head.node]["name"] for head in graph.outputs] == [
        taken.get(name, name) for name in outputs
    ]
    assert graph.order.nodes.tolist() == list(range(graph.num_nodes))
    assert not graph.issues


def test_nodes_and_attributes() -> None:
    graph = edge_graph("01_mlp_portable")
    assert graph.form == "edge"
    assert [node.name for node in graph.inputs] == ["x"]
    assert len(graph.parameters) == 4
    assert (graph.parameter_trust[:4] == Trust.EXACT).all()
    weight, addmm = graph.nodes[0], graph.node("aten_addmm_default")
    assert weight.attrs == {"kind": "parameter", "qualified_name": "fc1.weight"}
    assert addmm.func_name == "aten.addmm.default"
    assert addmm.op_kind == "matmul"
    assert addmm.attrs["debug_handle"] == "1"
    assert addmm.attrs["nn_module_stack"] == "fc1"
    assert addmm.attrs["module_type"] == "torch.nn.modules.linear.Linear"
    assert addmm.attrs["stack_trace"].startswith('File "models/models.py"')
    assert graph.nodes[5].attrs["dims"] == "[1, 0]"
    assert graph.dtype(0) == "float32"


def test_outputs_of_one_operator() -> None:
    graph = edge_graph("10_multi_output_list")
    topk = graph.node("aten_topk_default")
    assert [graph.dtype(topk.id, 0), graph.dtype(topk.id, 1)] == ["float32", "int64"]
    (edge,) = graph.in_edges(topk.id).tolist()
    assert (graph.edge_source[edge], graph.edge_output[edge]) == (1, 1)


@pytest.mark.spec_only
def test_unknown_inputs_and_shapes_are_marked_in_the_graph() -> None:
    called = ProgramNode(
        "call",
        "call_function",
        "ops.a.b.c",
        op_type="a.b.c",
        inputs=(("self", "x"), ("other", "lost"), ("again", "x")),
        outputs=(ProgramValue("call", sizes=("s0", 2)), ProgramValue("second", sizes=())),
        debug_handle=(1, 2),
    )
    silent = ProgramNode("silent", "call_function", "ops.a.b.c", inputs=(("x", "second"),))
    given = ProgramNode("x", "placeholder", "x", kind="user_input", outputs=(ProgramValue("x"),))
    graph = graph_of(ExportedProgram("p", (given, called, silent), ("call", "lost")), file="f")
    assert graph.num_entries == 4
    assert graph.edge_source.tolist() == [0, -1, 0, 1]
    assert graph.edge_output.tolist() == [0, 0, 0, 1]
    assert graph.edge_position.tolist() == [0, 1, 2, 0]
    assert graph.edge_trust.tolist() == [Trust.EXACT, Trust.ABSENT, Trust.EXACT, Trust.EXACT]
    assert graph.heads.tolist() == [[1, 0]]
    assert graph.shape(1, 0) is None
    assert graph.shape(1, 1) == ()
    assert graph.attrs[1] == {"debug_handle": "1, 2", "shape": "(s0, 2)"}
    (issue,) = graph.issues
    assert (issue.rule, issue.nodes) == ("edge-value-unknown", (1,))


@pytest.mark.spec_only
def test_impossible_sizes_leave_the_shape_unknown() -> None:
    value = ProgramValue("x", sizes=(2**70, -1))
    given = ProgramNode("x", "placeholder", "x", kind="buffer", outputs=(value,))
    graph = graph_of(ExportedProgram("p", (given,), ()), file="f")
    assert graph.shape(0) is None
    assert graph.kinds.tolist() == [NodeKind.PARAMETER]


def test_program_without_nodes_has_an_empty_graph() -> None:
    graph = graph_of(ExportedProgram("p", (), ("x",)), file="f")
    assert graph.num_nodes == graph.num_edges == 0


def test_duplicate_node_names_keep_edges_exact() -> None:
    program = record("04_transformer_portable").edge_programs["forward"]
    twice = dataclasses.replace(program, nodes=program.nodes + program.nodes)
    graph = graph_of(twice, file="f")
    assert graph.num_nodes == 2 * len(program.nodes)
    assert np.isin(graph.edge_trust, [Trust.EXACT]).all()
