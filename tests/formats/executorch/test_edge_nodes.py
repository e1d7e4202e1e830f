"""Nodes of delegates' graphs on the edge program, against recorded programs."""

import time
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.formats.executorch.xnnpack_truth import CASES, FOLDER, graph_of, recorded, truth
from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import edge_nodes
from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch import delegate_graph as inside
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateEdges, DelegateGraph, EdgeNode
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram, ProgramNode, maps_of
from tvmdbg_widgets.model.executorch.etrecord import ProgramValue as Value
from tvmdbg_widgets.sources.file_source import FileSource


@cache
def record(case: str) -> ETRecord:
    return read_etrecord(FileSource(FOLDER / case / "etrecord.bin"))


def delegates(case: str, method: str) -> dict[int, dict[str, Any]]:
    return {
        instruction: each
        for each in truth(case)["delegates"]
        for instruction in each["instruction_ids"]
        if each["method"] == method
    }


@cache
def joined(case: str, method: str = "forward") -> DelegateEdges:
    graphs = {at: graph_of(each["graph"]) for at, each in delegates(case, method).items()}
    found = record(case)
    return edge_nodes(graphs, found.edge_programs[method], maps_of(found, method).handles)


@recorded
@pytest.mark.parametrize("case", CASES)
def test_edge_nodes_match_the_recorded_truth(case: str) -> None:
    for method, program in record(case).edge_programs.items():
        found = joined(case, method)
        parts: dict[str, set[tuple[int, int]]] = {}
        for instruction, told in delegates(case, method).items():
            for node in told["nodes"]:
                ours = found.of.get((instruction, node["index"]))
                name = program.nodes[ours.node].name if ours else None
                alternatives = ours.alternatives if ours else None
                assert name == node["edge_node_derived"]
                assert alternatives == node.get("edge_node_alternatives")
            for part in told["absorbed_edge_nodes_derived"]:
                parts.setdefault(part["name"], set()).update(
                    (instruction, index) for index in part["xnodes"]
                )
        assert {program.nodes[at].name for at in found.part_of} == parts.keys()
        for at, owners in found.part_of.items():
            told_owners = parts[program.nodes[at].name]
            if set(owners) != told_owners:
                # The truth names all nodes with the handle of the nearest operator.
                assert case == "linear_qs8"
                assert set(owners) < told_owners
        for at in found.beside:
            assert program.nodes[at].debug_handle in handles_of(case, method)


def handles_of(case: str, method: str) -> set[int]:
    found = delegates(case, method).values()
    return {handle for each in found for handle in each["debug_handles_in_map"]}


def matched(found: DelegateEdges) -> set[int]:
    own = {each.node for each in found.of.values()}
    return own | found.part_of.keys() | found.beside.keys()


@recorded
def test_operators_of_recorded_delegates_are_matched() -> None:
    for case in ("cat_conv_qs8", "linear_qs8", "linear_dq8_single", "two_runs"):
        program = record(case).edge_programs["forward"]
        handles = handles_of(case, "forward")
        calls = {at for handle in handles for at in program.by_handle[handle]}
        assert matched(joined(case)) == calls
    # Expand nodes share a handle with the multiplication behind them.
    program, found = record("attention").edge_programs["forward"], joined("attention")
    expands = {at for at, node in enumerate(program.nodes) if node.operator == "expand_copy"}
    assert (len(expands), matched(found) & expands) == (4, set())
    bmm = found.of[3, 5]
    assert (program.nodes[bmm.node].operator, bmm.alternatives) == ("bmm", 1)
    assert found.of[3, 3].alternatives > 1
    # A fused activation.
    program, found = record("conv_relu").edge_programs["forward"], joined("conv_relu")
    names = [program.nodes[at].operator for at in found.nodes_of(0, 1)]
    assert names == ["convolution", "_native_batch_norm_legit_no_training", "relu"]
    assert found.nodes_of(0, 0) == found.nodes_of(9, 9) == ()


@recorded
def test_inserted_nodes_are_assigned_to_their_operator() -> None:
    expected = {
        "conv1d": {0: 2, 1: 2, 3: 2, 4: 7, 5: 7, 6: 7, 8: 7, 9: 7},
        "relu_two_users": {0: 1, 4: 3},
    }
    for case, inserted in expected.items():
        (told,) = delegates(case, "forward").values()
        assert graph_of(told["graph"]).inserted_for == inserted


# Made up: what no recorded program holds.


def program_of(*calls: tuple[str, str, int, tuple[int, ...], str]) -> ExportedProgram:
    """Return a program of (name, operator, handle, sizes, names of values read)."""
    nodes = [
        ProgramNode(
            name,
            "call_function",
            f"ops.{operator}",
            op_type=f"aten.{operator}.default",
            inputs=tuple(("x", each) for each in reads.split()),
            outputs=(Value(name, sizes=sizes),),
            debug_handle=handle,
        )
        for name, operator, handle, sizes, reads in calls
    ]
    return ExportedProgram("edge", tuple(nodes), ())


def delegate_of(*nodes: tuple[str, int | None, tuple[int, ...]]) -> DelegateGraph:
    """Return a chain of (type, handle, sizes of the output)."""
    sizes = [(), *(each for _, _, each in nodes)]
    values = {at: inside.DelegateValue(at, "fp32", each) for at, each in enumerate(sizes)}
    chain = tuple(
        inside.DelegateNode(at, kind, 0, handle, (("input_id", at),), (("output_id", at + 1),))
        for at, (kind, handle, _) in enumerate(nodes)
    )
    return DelegateGraph("XnnpackBackend", "m.pte", "XN01", "0", {}, chain, values, 0, (), ())


A = ("a", "add", 1, (), "")
ADD = ("Add", 1, ())


@pytest.mark.spec_only
def test_equal_sizes_take_precedence_over_order() -> None:
    views = ("a", "view_copy", 1, (2, 3), ""), ("b", "view_copy", 1, (4, 5), "a")
    reshapes = ("StaticReshape", 1, (5, 4)), ("StaticReshape", 1, (7,))
    graph = delegate_of(*reshapes, ("Multiply", 1, ()))
    found = edge_nodes({0: graph}, program_of(*views, ("c", "mul", 1, (), "")), {0: [1, 1, 1]})
    assert found.of == {(0, 0): EdgeNode(1), (0, 1): EdgeNode(0), (0, 2): EdgeNode(2)}


@pytest.mark.spec_only
def test_delegates_take_nodes_in_turn_and_operators_may_split() -> None:
    cat, other = ("a", "cat", 1, (2,), ""), ("b", "cat", 1, (2,), "")
    graph = delegate_of(("Concatenate2", 1, (2,)))
    found = edge_nodes({10: graph, 9: graph}, program_of(cat, other), {9: [1], 10: [1]})
    assert found.of == {(9, 0): EdgeNode(0, 2), (10, 0): EdgeNode(1)}
    split = delegate_of(("Concatenate5", 1, (1,)), ("Concatenate2", 1, (2,)))
    found = edge_nodes({0: split}, program_of(cat), {0: [1]})
    assert found.of == {(0, 0): EdgeNode(0), (0, 1): EdgeNode(0)}
    assert found.nodes_of(0, 1) == (0,)


@pytest.mark.spec_only
def test_files_of_different_exports_match_no_nodes() -> None:
    graphs = {0: delegate_of(ADD)}
    for handles in ({0: 1}, {1: [1]}, {0: [2]}):
        found = edge_nodes(graphs, program_of(A), handles)
        assert (found.of, found.contradicted) == ({}, {0})
    assert edge_nodes(graphs, program_of(A), {}).of == {(0, 0): EdgeNode(0)}


@pytest.mark.spec_only
def test_wrong_handle_or_half_wrong_nodes_mean_another_export() -> None:
    program = program_of(("a", "add", 1, (2, 3), ""), ("b", "mul", 2, (2, 3), "a"))
    handles = {0: [1, 2]}
    add, mul = ("Add", 1, (2, 3)), ("Multiply", 2, (3, 2, 1))
    for other in (("Multiply", 3, (2, 3)), ("Sigmoid", 2, (2, 3)), ("Multiply", 2, (2, 4))):
        found = edge_nodes({0: delegate_of(add, other)}, program, handles)
        assert (found.of, found.contradicted) == ({}, {0})
        more = edge_nodes({0: delegate_of(add, mul, other)}, program, handles)
        assert more.contradicted == ({0} if other[1] == 3 else set())
    found = edge_nodes({0: delegate_of(add, mul)}, program, handles)
    assert (len(found.of), found.contradicted) == (2, frozenset())


@recorded
@pytest.mark.parametrize("case", ["mlp", "attention", "weights_ptd", "conv_transpose"])
def test_record_of_another_model_matches_no_nodes(case: str) -> None:
    graphs = {at: graph_of(each["graph"]) for at, each in delegates(case, "forward").items()}
    assert not joined(case).contradicted
    for other in set(CASES) - {case}:
        found = record(other)
        program, handles = found.edge_programs["forward"], maps_of(found, "forward").handles
        assert not edge_nodes(graphs, program, handles).of, other


@pytest.mark.spec_only
def test_unknown_node_type_is_matched_by_an_unshared_handle() -> None:
    graphs, rolls = {0: delegate_of(("type 77", 1, ()))}, [("a", "roll", 1, (), "")]
    assert edge_nodes(graphs, program_of(*rolls), {0: [1]}).of == {(0, 0): EdgeNode(0)}
    assert not edge_nodes(graphs, program_of(*rolls), {0: [1], 1: 1}).of
    assert not edge_nodes(graphs, program_of(*rolls, ("b", *rolls[0][1:])), {0: [1, 1]}).of


@pytest.mark.spec_only
def test_nodes_outnumbering_the_handles_of_a_call_are_not_fused() -> None:
    program = program_of(A, ("b", "relu", 2, (), "a"), ("c", "relu", 2, (), "a"))
    found = edge_nodes({0: delegate_of(ADD)}, program, {0: [1, 2, 2]})
    assert (found.part_of, found.beside) == ({1: ((0, 0),)}, {2: ((0, 0),)})
    found = edge_nodes({0: delegate_of(ADD)}, program, {0: [1, 2], 1: 2})
    assert (found.part_of, found.beside) == ({}, {})


@pytest.mark.spec_only
def test_operator_of_two_identifiers_is_taken_once() -> None:
    """A call takes the first of two operators, one of Vulkan the second twice: none is left."""
    adds = tuple(
        inside.DelegateNode(at, "aten.add.Tensor", 0, None, (), (), None, {"node_id": at})
        for at in (0, 1)
    )
    vulkan = DelegateGraph("VulkanBackend", "m.pte", "VK00", "0", {}, adds, {}, 0, (), ())
    graphs = {0: delegate_of(ADD), 1: vulkan, 2: delegate_of(ADD)}
    program, handles = program_of(A, ("b", "add", 1, (), "")), {at: [1] for at in graphs}
    found = edge_nodes(graphs, program, handles, {1: {"0": [1], "1": [1]}})
    taken = {of: each.node for of, each in found.of.items()}
    assert taken == {(0, 0): 0, (1, 0): 1, (1, 1): 1}


@pytest.mark.spec_only
def test_cyclic_values_and_repeated_handles_terminate() -> None:
    program = program_of(("a", "relu", 1, (), "b"), ("b", "relu", 1, (), "a"))
    found = edge_nodes({0: delegate_of(ADD)}, program, {0: [1, 1, 1]})
    assert (found.of, found.part_of, found.beside) == ({}, {}, {})
    (node,) = program_of(("a", "add", 1, (2,), "")).nodes
    program = ExportedProgram("edge", (replace(node, debug_handle=(1, 1, 2)),), ())
    graph = delegate_of(("Add", 1, (2,)), ("Add", 2, (3,)), ("Add", 1, (2,)))
    found = edge_nodes({0: graph}, program, {0: [1, 2]})
    assert found.of == {(0, at): EdgeNode(0) for at in range(3)}


@pytest.mark.spec_only
def test_handle_shared_by_20000_nodes_takes_linear_time() -> None:
    count = 20_000
    program = program_of(*((f"n{at}", "add", 1, (at % 7,), f"n{at - 1}") for at in range(count)))
    graph = delegate_of(*(("Add", 1, (at % 5,)) for at in range(count)))
    start = time.process_time()
    assert len(edge_nodes({0: graph}, program, {0: [1] * count}).of) == count
    assert len(delegate_of(*[("Add", None, ())] * count, ADD).inserted_for) == count
    assert time.process_time() - start < 3


@pytest.mark.spec_only
def test_too_many_links_between_operators_are_refused() -> None:
    many = range(1000)
    program = program_of(
        *((f"d{at}", "dequantize_affine", 1, (), "") for at in many),
        ("r", "dequantize_affine", 1, (), " ".join(f"d{at}" for at in many)),
        *((f"u{at}", "mul", 2, (), "r") for at in many),
    )
    graph = delegate_of(*[("Multiply", 2, ())] * 1000)
    with pytest.raises(FormatError, match="steps between operators"):
        edge_nodes({0: graph}, program, {0: [1] * 1001 + [2] * 1000})
