from __future__ import annotations

import json
from typing import Any

import pytest
from executorch_cases import answers
from formats.executorch.etrecord_files import RECORDS, members, record

from tvmdbg_widgets.formats.executorch.exported_program import (
    module_stack,
    read_argument,
    read_program,
)
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etrecord import (
    ExportedProgram,
    ProgramNode,
    ProgramValue,
)

EDGE = "edge_dialect_exported_program/forward"
GETITEM = "<built-in function getitem>"


def program_of(case: str, nodes: str) -> ExportedProgram:
    found = record(case)
    program = found.exported_program if nodes != "edge_nodes" else found.edge_programs["forward"]
    assert program is not None
    return program


ANSWERED = [
    (case, nodes)
    for case in RECORDS
    for nodes in ("edge_nodes", "exported_program_nodes")
    if nodes in answers(case)["inspector"].get("etrecord", {})
]


def test_recorded_answers_exist() -> None:
    assert len(ANSWERED) > 20


@pytest.mark.parametrize(("case", "nodes"), ANSWERED)
def test_nodes_match_fx(case: str, nodes: str) -> None:
    """As fx shows them once ExecuTorch read the file; fx has nodes of their own for getitem."""
    fx: list[dict[str, Any]] = answers(case)["inspector"]["etrecord"][nodes]
    program = program_of(case, nodes)
    values = {value.name: value for node in program.nodes for value in node.outputs}
    expected = [node for node in fx if node["target"] != GETITEM and node["op"] != "output"]
    assert len(program.nodes) == len(expected)
    for node, told in zip(program.nodes, expected, strict=True):
        assert node.name == told["name"]
        assert node.op == told["op"]
        assert op_type(told) == node.op_type
        assert list(dict.fromkeys(name for _, name in node.inputs)) == told["inputs"]
        assert node.debug_handle == told["debug_handle"]
        assert node.stack_trace == told["stack_trace"]
        stack = {frame.key: [frame.path, frame.type] for frame in node.module_stack}
        assert stack == (told["nn_module_stack"] or {})
        vals = told["val"] if isinstance(told["val"], list) else [told["val"]]
        vals = [val for val in vals if val is not None]  # an assertion returns nothing
        assert [shown(value) for value in node.outputs] == vals
    for told in fx:
        if told["target"] == GETITEM:
            producer, _ = program.producers[told["name"]]
            assert [program.nodes[producer].name] == told["inputs"]
            assert shown(values[told["name"]]) == told["val"]
    assert list(dict.fromkeys(program.results)) == fx[-1]["inputs"]


def op_type(told: dict[str, Any]) -> str:
    if told["op"] == "placeholder":
        return ""
    text: str = told["target"]
    return text.partition("EdgeOpOverload: ")[2].partition(">")[0] or text


def shown(value: ProgramValue) -> dict[str, Any]:
    assert value.sizes is not None
    return {"shape": list(value.sizes), "dtype": f"torch.{value.dtype}"}


def test_placeholders_are_classified_by_kind() -> None:
    nodes = {node.name: node for node in program_of("02_conv_portable", "edge_nodes").nodes}
    kinds = {node.kind for node in nodes.values()}
    assert kinds == {"parameter", "buffer", "user_input", ""}
    weights = [node for node in nodes.values() if node.kind == "parameter"]
    assert all(node.name == f"p_{node.qualified_name.replace('.', '_')}" for node in weights)
    assert nodes["x"].kind == "user_input"


def test_constant_arguments_are_kept_as_text() -> None:
    nodes = {node.name: node for node in program_of("01_mlp_portable", "edge_nodes").nodes}
    assert nodes["aten_permute_copy_default"].constants == {"dims": "[1, 0]"}
    assert nodes["aten__softmax_default"].constants == {"dim": "-1", "half_to_float": "False"}
    assert nodes["aten_addmm_default"].inputs == (
        ("self", "p_fc1_bias"),
        ("mat1", "x"),
        ("mat2", "aten_permute_copy_default"),
    )


@pytest.mark.spec_only
@pytest.mark.parametrize(
    ("argument", "names", "text"),
    [
        (
            {"as_optional_tensors": [{"as_none": []}, {"as_tensor": {"name": "i"}}]},
            "i",
            "[None, i]",
        ),
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
    assert read_argument(argument) == (tuple(names), text)


@pytest.mark.spec_only
def test_module_stack() -> None:
    (frame,) = module_stack("L['self'].layers[0:2, (1,)],layers.slice(0, 2, None),a.b[c, d]")
    assert (frame.path, frame.type) == ("layers.slice(0, 2, None)", "a.b[c, d]")
    assert module_stack("") == module_stack("a,b") == module_stack("a,b,c;d") == ()


def edge_json() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(members("01_mlp_portable")[EDGE])
    return found


def reread(program: dict[str, Any]) -> ExportedProgram:
    return read_program(json.dumps(program).encode(), EDGE, "edge")


@pytest.mark.spec_only
def test_dynamic_shapes_and_numbers() -> None:
    program = edge_json()
    graph = program["graph_module"]["graph"]
    hint = {"expr_str": "2*s77", "hint": {"as_int": 6}}
    graph["tensor_values"]["x"]["sizes"][0] = {"as_expr": hint}
    graph["inputs"] += [{"as_sym_int": {"as_name": "s77"}}, {"as_int": 5}]
    program["graph_module"]["signature"]["input_specs"] += [
        {"user_input": {"arg": {"as_sym_int": {"as_name": "s77"}}}},
        {"constant_input": {"name": "n", "value": {"as_int": 5}}},
    ]
    found = reread(program)
    assert found.nodes[4].outputs[0].sizes == ("2*s77", 8)
    assert found.nodes[5].outputs[0].sizes is None
    assert (found.nodes[6].name, found.nodes[6].constants) == ("n", {"value": "5"})
    assert found.nodes[6].outputs == ()


@pytest.mark.spec_only
def test_infinite_constant_is_read() -> None:
    program = edge_json()
    node = program["graph_module"]["graph"]["nodes"][0]
    node["inputs"].append({"name": "value", "arg": {"as_float": float("-inf")}})
    assert reread(program).nodes[5].constants["value"] == "-inf"


@pytest.mark.spec_only
@pytest.mark.parametrize(
    ("text", "handle"),
    [("3", 3), ("(1, 2)", (1, 2)), ("[7]", (7,)), ("None", None), ("9" * 5000, None), ("-1", None)],
)
def test_debug_handle(text: str, handle: object) -> None:
    program = edge_json()
    program["graph_module"]["graph"]["nodes"][0]["metadata"]["debug_handle"] = text
    assert reread(program).nodes[5].debug_handle == handle


@pytest.mark.spec_only
@pytest.mark.parametrize(
    ("target", "expected"),
    [("_operator.add", "add"), ("torch.ops.my.ops.default", "my.ops.default"), ("", "")],
)
def test_op_type(target: str, expected: str) -> None:
    program = edge_json()
    program["graph_module"]["graph"]["nodes"][0]["target"] = target
    node: ProgramNode = reread(program).nodes[5]
    assert node.op_type == expected


def test_malformed_program_names_the_wrong_field() -> None:
    program = edge_json()
    program["graph_module"]["graph"]["nodes"][0]["target"] = 7
    with pytest.raises(FormatError) as problem:
        reread(program)
    assert "graph_module.graph.nodes" in str(problem.value.field)


def test_tensor_metadata_may_be_nested_one_level_deeper() -> None:
    """Programs of 2023 have it so."""
    data = members("01_mlp_portable")[EDGE]
    document = json.loads(data)
    graph = document["graph_module"]["graph"]
    graph["tensor_values"] = {name: {"meta": each} for name, each in graph["tensor_values"].items()}
    deeper = read_program(json.dumps(document).encode(), EDGE, "deeper")
    same = read_program(data, EDGE, "deeper")
    assert [node.outputs for node in deeper.nodes] == [node.outputs for node in same.nodes]
    assert any(value.sizes for node in deeper.nodes for value in node.outputs)
