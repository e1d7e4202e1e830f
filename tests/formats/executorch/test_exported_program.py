"""Programs of ETRecords and their graphs, against the nodes of fx that ExecuTorch read."""

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from executorch_cases import answers
from formats.executorch.etrecord_files import RECORDS, members, record

from tvmdbg_widgets.formats.executorch import exported_program
from tvmdbg_widgets.formats.executorch.exported_program import graph_of, module_stack, read_program
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etrecord import ExportedProgram, ProgramNode
from tvmdbg_widgets.model.executorch.etrecord import ProgramValue as Value
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

EDGE = "edge_dialect_exported_program/forward"
GETITEM = "<built-in function getitem>"


def program_of(case: str, nodes: str = "edge_nodes") -> Any:
    found = record(case)
    return found.exported_program if nodes != "edge_nodes" else found.edge_programs["forward"]


ANSWERED = [
    (case, nodes)
    for case in RECORDS
    for nodes in ("edge_nodes", "exported_program_nodes")
    if nodes in answers(case)["inspector"].get("etrecord", {})
]


@pytest.mark.parametrize(("case", "nodes"), ANSWERED)
def test_nodes_match_fx(case: str, nodes: str) -> None:
    """As fx shows them once ExecuTorch read the file; fx has nodes of their own for getitem."""
    assert len(ANSWERED) > 20
    fx: list[dict[str, Any]] = answers(case)["inspector"]["etrecord"][nodes]
    program = program_of(case, nodes)
    values = {value.name: value for node in program.nodes for value in node.outputs}
    expected = [node for node in fx if node["target"] != GETITEM and node["op"] != "output"]
    for node, told in zip(program.nodes, expected, strict=True):
        own = {name: getattr(node, name) for name in ("name", "op", "debug_handle", "stack_trace")}
        assert own == {name: told[name] for name in own}
        assert op_type(told) == node.op_type
        assert list(dict.fromkeys(name for _, name in node.inputs)) == told["inputs"]
        stack = {frame.key: [frame.path, frame.type] for frame in node.module_stack}
        assert stack == (told["nn_module_stack"] or {})
        assert [shown(value) for value in node.outputs] == vals_of(told)
    for told in fx:
        if told["target"] == GETITEM:
            producer, _ = program.producers[told["name"]]
            assert [program.nodes[producer].name] == told["inputs"]
            assert shown(values[told["name"]]) == told["val"]
    assert list(dict.fromkeys(program.results)) == fx[-1]["inputs"]


def vals_of(told: dict[str, Any]) -> list[dict[str, Any]]:
    vals = told["val"] if isinstance(told["val"], list) else [told["val"]]
    return [val for val in vals if val is not None]  # an assertion returns nothing


def op_type(told: dict[str, Any]) -> str:
    if told["op"] == "placeholder":
        return ""
    text: str = told["target"]
    return text.partition("EdgeOpOverload: ")[2].partition(">")[0] or text


def shown(value: Any) -> dict[str, Any]:
    return {"shape": list(value.sizes), "dtype": f"torch.{value.dtype}"}


@pytest.mark.parametrize("case", [case for case, nodes in ANSWERED if nodes == "edge_nodes"])
def test_graph_matches_fx(case: str) -> None:
    fx = answers(case)["inspector"]["etrecord"]["edge_nodes"]
    taken = {node["name"]: node["inputs"][0] for node in fx if node["target"] == GETITEM}
    kept = [node for node in fx if node["name"] not in taken and node["op"] != "output"]
    graph = edge_graph(case)
    assert list(graph.names) == [node["name"] for node in kept]
    at = {node["name"]: i for i, node in enumerate(kept)}
    edges = {(at[taken.get(name, name)], i) for i, n in enumerate(kept) for name in n["inputs"]}
    assert set(zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)) == edges
    assert (graph.edge_trust == Trust.EXACT).all()
    shapes = [tuple(val["shape"]) for node in kept for val in vals_of(node)]
    counts = [len(graph.entry_range(node)) for node in range(graph.num_nodes)]
    assert [graph.shape(n, out) for n, many in enumerate(counts) for out in range(many)] == shapes
    outputs = [taken.get(name, name) for name in fx[-1]["inputs"]]
    assert [kept[head.node]["name"] for head in graph.outputs] == outputs
    assert graph.order.nodes.tolist() == list(range(graph.num_nodes))
    assert not graph.issues


def edge_graph(case: str) -> Graph:
    return graph_of(program_of(case), file=f"{case}/etrecord.bin")


def test_nodes_and_attributes() -> None:
    graph = edge_graph("01_mlp_portable")
    assert (graph.form, [node.name for node in graph.inputs]) == ("edge", ["x"])
    assert len(graph.parameters) == 4
    assert (graph.parameter_trust[:4] == Trust.EXACT).all()
    assert (graph.nodes[5].attrs["dims"], graph.dtype(0)) == ("[1, 0]", "float32")
    weight, addmm = graph.nodes[0], graph.node("aten_addmm_default")
    assert weight.attrs == {"kind": "parameter", "qualified_name": "fc1.weight"}
    assert (addmm.func_name, addmm.op_kind) == ("aten.addmm.default", "matmul")
    told = {"debug_handle": "1", "nn_module_stack": "fc1"}
    told["module_type"] = "torch.nn.modules.linear.Linear"
    assert told.items() <= addmm.attrs.items()
    assert addmm.attrs["stack_trace"].startswith('File "models/models.py"')
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
        outputs=(Value("call", sizes=("s0", 2)), Value("second", sizes=())),
        debug_handle=(1, 2),
    )
    silent = ProgramNode("silent", "call_function", "ops.a.b.c", inputs=(("x", "second"),))
    given = ProgramNode("x", "placeholder", "x", kind="user_input", outputs=(Value("x"),))
    graph = graph_of(ExportedProgram("p", (given, called, silent), ("call", "lost")), file="f")
    assert graph.edge_source.tolist() == [0, -1, 0, 1]
    assert graph.edge_output.tolist() == [0, 0, 0, 1]
    assert graph.edge_position.tolist() == [0, 1, 2, 0]
    assert graph.edge_trust.tolist() == [Trust.EXACT, Trust.ABSENT, Trust.EXACT, Trust.EXACT]
    assert (graph.num_entries, graph.heads.tolist()) == (4, [[1, 0]])
    assert (graph.shape(1, 0), graph.shape(1, 1)) == (None, ())
    assert graph.attrs[1] == {"debug_handle": "1, 2", "shape": "(s0, 2)"}
    (issue,) = graph.issues
    assert (issue.rule, issue.nodes) == ("edge-value-unknown", (1,))


@pytest.mark.spec_only
def test_graphs_of_unusual_programs() -> None:
    value = Value("x", sizes=(2**70, -1))
    given = ProgramNode("x", "placeholder", "x", kind="buffer", outputs=(value,))
    graph = graph_of(ExportedProgram("p", (given,), ()), file="f")
    assert (graph.shape(0), graph.kinds.tolist()) == (None, [NodeKind.PARAMETER])
    graph = graph_of(ExportedProgram("p", (), ("x",)), file="f")
    assert graph.num_nodes == graph.num_edges == 0
    program = program_of("04_transformer_portable")
    twice = dataclasses.replace(program, nodes=program.nodes + program.nodes)
    graph = graph_of(twice, file="f")
    assert graph.num_nodes == 2 * len(program.nodes)
    assert np.isin(graph.edge_trust, [Trust.EXACT]).all()


def test_kinds_of_placeholders_and_constant_arguments() -> None:
    nodes = {node.name: node for node in program_of("02_conv_portable").nodes}
    assert {node.kind for node in nodes.values()} == {"parameter", "buffer", "user_input", ""}
    weights = [node for node in nodes.values() if node.kind == "parameter"]
    assert all(node.name == f"p_{node.qualified_name.replace('.', '_')}" for node in weights)
    assert nodes["x"].kind == "user_input"
    nodes = {node.name: node for node in program_of("01_mlp_portable").nodes}
    assert nodes["aten_permute_copy_default"].constants == {"dims": "[1, 0]"}
    assert nodes["aten__softmax_default"].constants == {"dim": "-1", "half_to_float": "False"}
    sources = ("p_fc1_bias", "x", "aten_permute_copy_default")
    expected = tuple(zip(("self", "mat1", "mat2"), sources, strict=True))
    assert nodes["aten_addmm_default"].inputs == expected


TENSORS = [{"as_none": []}, {"as_tensor": {"name": "i"}}]


@pytest.mark.spec_only
@pytest.mark.parametrize(
    ("argument", "names", "text"),
    [
        ({"as_optional_tensors": TENSORS}, "i", "[None, i]"),
        ({"as_sym_ints": [{"as_name": "s"}, {"as_int": 4}]}, "s", "[s, 4]"),
        ({"as_sym_int": {"as_name": "s"}}, "s", None),
        ({"as_sym_int": {"as_int": 3}}, "", "3"),
        ({"as_sym_bool": {"as_bool": True}}, "", "True"),
        ({"as_custom_obj": {"name": "o", "class_fqn": "c"}}, "o", None),
        ({"as_tensors": []}, "", "[]"),
        ({"as_graph": {"name": "true_graph_0", "graph": {}}}, "", "true_graph_0"),
        ({"as_device": {"type": "cuda", "index": 1}}, "", "cuda:1"),
        ({"as_scalar_type": 2}, "", "int8"),
        ({"as_scalar_type": 99}, "", "99"),
        ({"as_memory_format": 2}, "", "channels_last"),
        ({"as_layout": 7}, "", "strided"),
        ({"as_none": []}, "", "None"),
        ({"as_strings": ["a"]}, "", "['a']"),
        ({"as_tensor": 3}, "", "3"),
        ({}, "", "{}"),
    ],
)
def test_argument(argument: dict[str, Any], names: str, text: str | None) -> None:
    assert exported_program.read_argument(argument) == (tuple(names), text)


@pytest.mark.spec_only
def test_module_stack() -> None:
    (frame,) = module_stack("L['self'].layers[0:2, (1,)],layers.slice(0, 2, None),a.b[c, d]")
    assert (frame.path, frame.type) == ("layers.slice(0, 2, None)", "a.b[c, d]")
    assert module_stack("") == module_stack("a,b") == module_stack("a,b,c;d") == ()


def edge_json() -> tuple[dict[str, Any], dict[str, Any]]:
    found = json.loads(members("01_mlp_portable")[EDGE])
    return found, found["graph_module"]["graph"]["nodes"][0]


def reread(program: dict[str, Any]) -> ExportedProgram:
    return read_program(json.dumps(program).encode(), EDGE, "edge")


@pytest.mark.spec_only
def test_dynamic_shapes_and_numbers() -> None:
    program, call = edge_json()
    call["inputs"].append({"name": "value", "arg": {"as_float": float("-inf")}})
    assert reread(program).nodes[5].constants["value"] == "-inf"
    graph = program["graph_module"]["graph"]
    hint = {"expr_str": "2*s77", "hint": {"as_int": 6}}
    graph["tensor_values"]["x"]["sizes"][0] = {"as_expr": hint}
    graph["inputs"] += [{"as_sym_int": {"as_name": "s77"}}, {"as_int": 5}]
    program["graph_module"]["signature"]["input_specs"] += [
        {"user_input": {"arg": {"as_sym_int": {"as_name": "s77"}}}},
        {"constant_input": {"name": "n", "value": {"as_int": 5}}},
    ]
    x, dynamic, number = reread(program).nodes[4:7]
    assert (x.outputs[0].sizes, dynamic.outputs[0].sizes) == (("2*s77", 8), None)
    assert (number.name, number.constants, number.outputs) == ("n", {"value": "5"}, ())


@pytest.mark.spec_only
@pytest.mark.parametrize(
    ("text", "handle"),
    [("3", 3), ("(1, 2)", (1, 2)), ("[7]", (7,)), ("None", None), ("9" * 5000, None), ("-1", None)],
)
def test_debug_handle(text: str, handle: object) -> None:
    program, call = edge_json()
    call["metadata"]["debug_handle"] = text
    assert reread(program).nodes[5].debug_handle == handle


def test_target() -> None:
    program, call = edge_json()
    names = {"_operator.add": "add", "torch.ops.my.ops.default": "my.ops.default", "": ""}
    for call["target"], expected in names.items():
        assert reread(program).nodes[5].op_type == expected
    call["target"] = 7
    with pytest.raises(FormatError) as problem:
        reread(program)
    assert "graph_module.graph.nodes" in str(problem.value.field)


def test_tensor_metadata_may_be_nested_one_level_deeper() -> None:
    """Programs of 2023 have it so."""
    program, _ = edge_json()
    same, graph = reread(program), program["graph_module"]["graph"]
    graph["tensor_values"] = {name: {"meta": each} for name, each in graph["tensor_values"].items()}
    deeper = reread(program)
    assert [node.outputs for node in deeper.nodes] == [node.outputs for node in same.nodes]
    assert any(value.sizes for node in deeper.nodes for value in node.outputs)
