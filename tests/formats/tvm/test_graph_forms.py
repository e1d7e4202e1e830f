"""The forms a graph comes in: raw, in a string, dumped, commented, NNVM's."""

import json
from pathlib import Path

import pytest
from formats.tvm.graph_truth import assert_consistent, assert_is, edges_of, mutate, read, valid

from tests.graph_json import document, null, operator
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.model.graph.graph import NodeKind
from tvmdbg_widgets.sources.file_source import FileSource


def test_a_valid_graph_has_no_issues() -> None:
    graph = read(valid())
    assert graph.issues.summary() == "0 issues"
    assert_is(graph, valid())
    assert graph.kinds.tolist() == [0, 1, 2, 2, 3]
    assert graph.parameter_trust.tolist() == [Trust.BY_NAME, Trust.BY_NAME, 4, 4, 4]


def test_string_form() -> None:
    graph = read(json.dumps(json.dumps(valid(), indent=2)))
    assert graph.form == "string"
    assert_is(graph, valid())
    assert not graph.issues


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be"])
def test_encodings(encoding: str) -> None:
    raw = valid()
    raw["nodes"][0]["name"] = "卷积 \x01 \N{PILE OF POO}"
    graph = read(json.dumps(raw, ensure_ascii=False).encode(encoding))
    assert_is(graph, raw)


def test_raw_control_characters_in_names() -> None:
    raw = valid()
    raw["nodes"][0]["name"] = "a\x01b"
    text = json.dumps(raw).replace("\\u0001", "\x01")
    assert read(text).names[0] == "a\x01b"


def test_commented_sample(data: Path) -> None:
    graph = read_graph(FileSource(data / "graph/commented.json"))
    assert_consistent(graph)
    assert graph.lenient
    assert [issue.rule for issue in graph.issues] == ["lenient-json"]
    (note,) = graph.issues
    assert note.severity is IssueSeverity.NOTE
    assert "6 comments and 2 trailing commas" in note.message
    assert list(graph.names) == ["data#0", "pool, flattened ]"]
    assert edges_of(graph) == [(0, 0, 1, 0)]
    assert graph.nodes[1].shapes == ((1, 8),)
    assert graph.nodes[1].attrs["num_outputs"] == "1"


def test_an_error_in_a_commented_file_keeps_its_place() -> None:
    text = '{"nodes": [ # here\n  {"op": oops}\n]}'
    with pytest.raises(FormatError) as caught:
        read(text)
    assert caught.value.offset == text.index("oops")
    assert "line 2" in str(caught.value)


@pytest.mark.spec_only
def test_nnvm(data: Path) -> None:
    graph = read_graph(FileSource(data / "graph/nnvm.json"))
    assert_consistent(graph)
    rules = {issue.rule: issue.severity for issue in graph.issues}
    assert rules == dict.fromkeys(
        ("node-key-unknown", "flatten-data", "attr-dropped"), IssueSeverity.NOTE
    )
    assert edges_of(graph) == [(0, 0, 2, 0), (1, 0, 2, 1), (2, 0, 3, 0)]
    assert graph.dtype_flags.tolist() == [5, 5, 5, 5]
    assert (graph.control_source.tolist(), graph.control_target.tolist()) == ([0], [2])
    assert graph.nodes[2].control_inputs == (0,)
    assert graph.nodes[2].attrs["func_name"] == "fuse___layout_transform___broadcast_add_relu"
    assert graph.nodes[3].kind is NodeKind.NOP
    assert graph.parameters[0].name == "conv_weight"


def test_metadata_before_heads_is_kept_and_heads_are_read() -> None:
    raw = valid()
    heads = raw.pop("heads")
    graph = read({**raw, "metadata": {"any": [1, None]}, "heads": heads})
    assert graph.metadata == {"any": [1, None]}
    assert graph.heads.tolist() == [[4, 0], [2, 0]]
    assert [issue.rule for issue in graph.issues] == ["metadata-not-last"]
    assert not read({**valid(), "metadata": None}).issues


def test_mutated_dump_and_raw_graph() -> None:
    raw, dump = valid(), mutate(valid())
    alone = read(dump)
    assert alone.form == "mutated"
    assert_is(alone, raw, edges=False)
    assert alone.edge_trust.tolist() == [Trust.EXACT, Trust.AMBIGUOUS, Trust.EXACT, Trust.EXACT]
    assert_is(read(dump, read(raw)), raw)


def test_debugger_type_note_is_not_an_attribute() -> None:
    graph = read(mutate(valid()))
    assert all("T" not in attrs for attrs in graph.attrs)


@pytest.mark.spec_only
def test_node_shapes_are_used_only_without_shape_list() -> None:
    dump = mutate(valid())
    dump["nodes"][3]["shape"] = [9, 9]
    assert read(dump).shape(3) == (2, 3)
    del dump["attrs"]
    graph = read(dump)
    assert graph.shape(3) == (9, 9)
    assert graph.shape(2, 1) is None
    assert graph.dtype(2, 0) == "float32"
    assert graph.dtype(2, 1) is None
    assert len(graph.issues.by_rule("entries-from-nodes")) == 1


def reshapes() -> dict[str, object]:
    """Two ``reshape_nop`` of different storages, each read by a ``__nop`` and by an operator."""
    nodes = [
        null("x"),
        operator("a", "fused_a", [0]),
        operator("reshape_nop", "__nop", [1]),
        operator("b", "fused_b", [0]),
        operator("reshape_nop", "__nop", [3]),
        operator("reshape_nop", "__nop", [2]),
        operator("c", "fused_c", [4]),
        operator("d", "fused_d", [5]),
    ]
    shapes = [[6], [6], [2, 3], [6], [2, 3], [3, 2], [6], [6]]
    return document(nodes, heads=[7, 6], shapes=shapes, storage=[0, 1, 1, 2, 2, 1, 3, 2])


@pytest.mark.spec_only
def test_storage_resolves_equal_names_only_for_nop_readers() -> None:
    raw = reshapes()
    graph = read(mutate(raw))
    trust = dict(zip(graph.edge_target.tolist(), graph.edge_trust.tolist(), strict=True))
    assert edges_of(graph)[4] == (2, 0, 5, 0)
    assert trust[5] == Trust.BY_NAME
    assert trust[6] == Trust.AMBIGUOUS
    assert graph.edge_candidates[5] == (2, 4, 5)
    assert graph.edge_source[5] == 5
    assert trust[7] == Trust.AMBIGUOUS


@pytest.mark.spec_only
def test_overwritten_producer_is_not_a_candidate() -> None:
    raw = reshapes()
    raw["attrs"]["storage_id"][1][6] = 1  # c takes the storage of both other reshapes
    raw["nodes"][7]["inputs"] = [[4, 0, 0]]
    raw["attrs"]["storage_id"][1][7] = 5
    graph = read(mutate(raw))
    assert edges_of(graph)[6] == (4, 0, 7, 0)
    assert graph.edge_trust[6] == Trust.BY_NAME


@pytest.mark.spec_only
def test_output_read_by_nop_is_resolved_by_storage() -> None:
    raw = valid()
    raw["nodes"][4]["inputs"] = [[2, 1, 0]]
    raw["attrs"]["storage_id"][1][5] = 3
    graph = read(mutate(raw))
    assert edges_of(graph)[3] == (2, 1, 4, 0)
    assert graph.edge_trust[3] == Trust.BY_NAME


@pytest.mark.spec_only
def test_without_storage_equal_names_stay_ambiguous() -> None:
    raw = reshapes()
    del raw["attrs"]["storage_id"]
    graph = read(mutate(raw))
    assert edges_of(graph)[4][0] == 4
    assert graph.edge_candidates[4] == (2, 4)


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw["nodes"][3].update(name="other"),
        lambda raw: raw["nodes"][3]["attrs"].update(func_name="other"),
        lambda raw: raw["nodes"].pop(),
        lambda raw: raw["nodes"][3]["inputs"].pop(),
        lambda raw: raw["nodes"][3].update(inputs=[[0, 0, 0], [1, 0, 0]]),
        lambda raw: raw["attrs"]["shape"][1].__setitem__(1, [2, 4]),
        lambda raw: raw["attrs"]["dltype"][1].__setitem__(1, "int8"),
        lambda raw: raw["attrs"]["storage_id"][1].__setitem__(1, 7),
        lambda raw: raw["attrs"]["device_index"][1].__setitem__(1, 2),
        lambda raw: raw.update(node_row_ptr=[0, 1, 3, 4, 5, 6]),
    ],
)
def test_a_raw_graph_of_something_else_is_refused(change: object) -> None:
    other = valid()
    change(other)  # type: ignore[operator]
    dump = read(mutate(valid()))
    graph = read(mutate(valid()), read(other))
    assert [issue.rule for issue in graph.issues][:1] == ["raw-graph-does-not-match"]
    assert edges_of(graph) == edges_of(dump)
    assert graph.edge_trust.tolist() == dump.edge_trust.tolist()


def test_parameters_are_identified_by_params_file() -> None:
    graph = read(valid()).with_parameters({"x", "split", "nowhere"})
    assert graph.kinds.tolist()[:3] == [NodeKind.PARAMETER, NodeKind.INPUT, NodeKind.OPERATOR]
    assert graph.parameter_trust.tolist() == [Trust.EXACT, Trust.EXACT, 4, 4, 4]


def role(nodes: list[tuple[str, str, list[int]]], shapes: list[list[int]], **more: object) -> str:
    """Return the roles of the null nodes of a graph, and what each rests on, in letters."""
    written = [
        {
            "op": "tvm_op" if func else "null",
            "name": name,
            "inputs": [[each, 0, 0] for each in reads],
            **({"attrs": {"func_name": func, "num_outputs": "1"}} if func else {}),
        }
        for name, func, reads in nodes
    ]
    count = len(nodes)
    dtypes = more.get("dtypes", ["float32"] * count)
    document = {
        "nodes": written,
        "arg_nodes": [at for at, (_, func, _) in enumerate(nodes) if not func],
        "heads": [[count - 1, 0, 0]],
        "node_row_ptr": list(range(count + 1)),
        "attrs": {"shape": ["list_shape", shapes], "dltype": ["list_str", dtypes]},
    }
    graph = read(document)
    return " ".join(
        f"{node.role}/{node.role_basis}" for node in graph.nodes if node.kind <= NodeKind.PARAMETER
    )


IMAGE, WEIGHT, OUT = [1, 3, 8, 8], [8, 3, 3, 3], [1, 8, 6, 6]
INPUT, PARAM = "input/structure", "parameter/structure"


@pytest.mark.parametrize("name", ["w", "_param_1", "conv0_weight_sc", "image", "p0", "w_OIHW8i8o"])
def test_second_operand_of_layer_is_parameter_under_any_name(name: str) -> None:
    nodes = [
        ("p0", "", []),
        (name, "", []),
        ("c", "tvmgen_default_fused_nn_conv2d_nn_relu", [0, 1]),
    ]
    assert role(nodes, [IMAGE, WEIGHT, OUT]) == f"{INPUT} {PARAM}"


def test_a_weight_in_another_layout_stays_a_weight() -> None:
    nodes = [
        ("a", "", []),
        ("b", "", []),
        ("c", "", []),
        ("d", "fused_layout_transform", [1]),
        ("e", "fused_layout_transform_1", [0]),
        ("f", "fused_nn_contrib_conv2d_NCHWc_add", [4, 3, 2]),
    ]
    shapes = [[1, 8, 8, 8], [8, 8, 3, 3], [1, 1, 1, 1, 8], [1, 1, 3, 3, 8, 8], [1, 1, 8, 8, 8]]
    assert role(nodes, [*shapes, [1, 1, 6, 6, 8]]) == f"{INPUT} {PARAM} {PARAM}"


def test_three_inputs_of_a_language_model_stay_inputs() -> None:
    nodes = [
        ("p0", "", []),
        ("a", "", []),
        ("b", "", []),
        ("m", "", []),
        ("p1", "", []),
        ("e", "fused_take", [0, 1]),
        ("f", "fused_take_1", [4, 2]),
        ("g", "fused_add", [5, 6]),
        ("h", "fused_nn_batch_matmul", [7, 7]),
        ("i", "fused_subtract_multiply", [3]),
        ("j", "fused_add_1", [8, 9]),
    ]
    floats = ["float32"] * 11
    floats[1] = floats[2] = "int64"
    hidden = [1, 8, 16]
    shapes = [[100, 16], [1, 8], [1, 8], [1, 1, 8], [2, 16], *([hidden] * 3), [1, 8, 8]]
    shapes += [[1, 1, 8], [1, 8, 8]]
    told = role(nodes, shapes, dtypes=floats)
    assert told == f"{PARAM} {INPUT} {INPUT} input/unknown {PARAM}"


def test_names_decide_roles_only_if_structure_does_not() -> None:
    nodes = [("p0", "", []), ("data", "", []), ("s", "fused_add", [0, 1])]
    assert role(nodes, [[2, 3]] * 3) == "parameter/name input/name"
    assert role([("p0", "", []), ("s", "fused_nn_relu", [0])], [[2, 3]] * 2) == INPUT


def test_params_file_of_another_model_leaves_graph_unchanged() -> None:
    graph = read(valid())
    assert graph.with_parameters({"of", "another"}) is graph
