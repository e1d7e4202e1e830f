"""Graphs of programs against ExecuTorch's records of the same models and their runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.executorch_cases import CASES, FOLDER, answers, read_json
from tvmdbg_widgets.analysis.memory.planned import memory_plan
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.formats.executorch.program.instruction_graph import InstructionGraph, graph_of
from tvmdbg_widgets.formats.executorch.program.instruction_sources import read_bundled_program
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME
from tvmdbg_widgets.model.graph.graph import Entry, NodeKind
from tvmdbg_widgets.sources.file_source import FileSource

PTE = FOLDER / "pte"
ALL = tuple(sorted(path.stem for path in PTE.glob("*.pte")))
#: Programs of cases whose dump holds debug values (that of 17a is damaged).
RECORDED = tuple(name for name in ALL if name in CASES and not name.startswith("17a"))
#: Cases without delegates, whose instructions are the nodes of the edge program.
PORTABLE = ("01_mlp_portable", "04_transformer_portable", "10_multi_output_list", "14_bundled")
CALLS = {
    "OPERATOR_CALL": "KernelCall",
    "DELEGATE_CALL": "DelegateCall",
    "JF_CALL": "JumpFalseCall",
    "MOVE_CALL": "MoveCall",
    "FREE_CALL": "FreeCall",
}


def program(name: str) -> Program:
    if name == "14_bundled":
        return read_bundled_program(FileSource(FOLDER / name / "model.bpte")).program
    return read_program(FileSource(PTE / f"{name}.pte"))


def graph(name: str, method: str = "forward", **more: Any) -> InstructionGraph:
    return graph_of(program(name).plan(method), file=name, **more)


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = answers(name)["inspector"]["etrecord"]
    return found


def origin(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PTE / f"{name}.origin.json").read_bytes())
    return found


def edges(found: InstructionGraph) -> set[tuple[str, int, int]]:
    """Return (kind of source, its place, instruction that reads it)."""
    place = {node: instruction for (_, instruction), node in found.node_of.items()}
    pairs = zip(found.graph.edge_source.tolist(), found.graph.edge_target.tolist(), strict=True)
    return {
        ("instruction", place[source], place[target])
        if source in place
        else ("value", int(found.graph.attrs[source]["value"]), place[target])
        for source, target in pairs
    }


def contracted(nodes: list[dict[str, Any]]) -> set[tuple[str, int, int]]:
    """Return the edges of an edge program; a view is left out unless the program returns it."""
    returned = {name for node in nodes if node["op"] == "output" for name in node["inputs"]}
    sources: dict[str, set[tuple[str, int]]] = {}
    found: set[tuple[str, int, int]] = set()
    values = instructions = 0
    for node in nodes:
        read = {each for name in node["inputs"] for each in sources[name]}
        view = "view_copy" in node["name"] and node["name"] not in returned
        if node["op"] == "placeholder":
            sources[node["name"]] = {("value", values)}
            values += 1
        elif "getitem" in node["target"] or view:
            sources[node["name"]] = read
        elif node["op"] == "call_function":
            found |= {(kind, place, instructions) for kind, place in read}
            sources[node["name"]] = {("instruction", instructions)}
            instructions += 1
    return found


@pytest.mark.parametrize("name", PORTABLE)
def test_edges_match_the_edge_program(name: str) -> None:
    assert edges(graph(name)) == contracted(record(name)["edge_nodes"])


@pytest.mark.parametrize("name", RECORDED)
def test_node_outputs_match_the_logged_tensors(name: str) -> None:
    found = graph(name)
    assert answers(name)["etdump_raw_flatc_json"]["run_data"]
    for run in answers(name)["etdump_raw_flatc_json"]["run_data"]:
        logged: dict[int, list[tuple[tuple[int, ...], str]]] = {}
        for event in run.get("events") or []:
            debug = event.get("debug_event")
            if debug is None or debug["chain_index"] or debug["delegate_debug_id_int"] != -1:
                continue
            if debug.get("delegate_debug_id_str"):
                continue
            entry = debug["debug_entry"]
            tensors = entry.get("tensor_list", {}).get("tensors") or [entry["tensor"]]
            logged.setdefault(debug["instruction_id"], []).extend(map(described, tensors))
        for instruction, tensors in logged.items():
            node = found.graph.nodes[found.node_of[0, instruction]]
            ours = list(zip(node.shapes, node.dtypes, strict=True))
            # A delegate logs its inputs too, before its outputs.
            delegated = node.attrs["kind"] == "DelegateCall"
            assert ours == tensors[-len(ours) if delegated else 0 :]


def described(tensor: dict[str, Any]) -> tuple[tuple[int, ...], str]:
    names = dict(RUNTIME.values())
    return tuple(tensor.get("sizes") or ()), names[tensor["scalar_type"]]


@pytest.mark.parametrize("name", RECORDED)
def test_instruction_ids_match_the_record(name: str) -> None:
    told, found = record(name), graph(name)
    ids = {str(instruction) for _, instruction in found.node_of}
    assert ids == told["debug_handle_map"]["forward"].keys()
    for instruction, delegate in told["delegate_map"]["forward"].items():
        node = found.graph.nodes[found.node_of[0, int(instruction)]]
        assert node.attrs["backend"] == node.func_name == delegate["name"]
        assert node.name == f"{delegate['name']}_{instruction}"


@pytest.mark.parametrize("name", RECORDED)
def test_delegate_outputs_match_the_etrecord(name: str) -> None:
    told = record(name)["instruction_id_to_num_outs_map"]["forward"]
    guessed, known = graph(name), graph(name, num_outputs=told)
    assert edges(guessed) == edges(known)
    assert guessed.uncertain.keys() == {guessed.node_of[0, int(each)] for each in told}
    assert not known.uncertain
    for instruction, count in told.items():
        assert guessed.graph.nodes[guessed.node_of[0, int(instruction)]].num_outputs == count


@pytest.mark.parametrize("name", ALL)
def test_operators_and_outputs_match_the_program_file(name: str) -> None:
    for plan, told in zip(
        program(name).plans, read_json(f"pte/{name}.flatc.json")["execution_plan"], strict=True
    ):
        found = graph_of(plan)
        for (chain, instruction), node in found.node_of.items():
            each = told["chains"][chain]["instructions"][instruction]
            assert found.graph.attrs[node]["kind"] == each["instr_args_type"]
            if each["instr_args_type"] == "KernelCall":
                operator = told["operators"][each["instr_args"]["op_index"]]
                spelled = ".".join(filter(None, (operator["name"], operator["overload"])))
                assert found.graph.func_names[node] == spelled.replace("::", ".")
        shapes = [found.graph.shape(*head) for head in found.graph.outputs]
        values = [told["values"][index] for index in told["outputs"]]
        assert shapes == [
            tuple(value["val"]["sizes"]) if value["val_type"] == "Tensor" else shape
            for value, shape in zip(values, shapes, strict=True)
        ]


@pytest.mark.parametrize("name", [path.stem for path in sorted(PTE.glob("*.etdp"))])
def test_every_event_of_a_run_has_its_node(name: str) -> None:
    found, dump = graph(name), read_etdump(FileSource(PTE / f"{name}.etdp"))
    ran = [event for event in range(dump.num_events) if dump.chain_index[event] >= 0]
    assert ran
    for event in ran:
        place = int(dump.chain_index[event]), int(dump.instruction_id[event])
        node = found.graph.nodes[found.node_of[place]]
        label = dump.names[event]
        if label in CALLS:
            assert node.attrs["kind"] == CALLS[label]
        elif label.startswith("native_call_"):
            assert node.func_name.partition(".")[2] == label.removeprefix("native_call_")


@pytest.mark.parametrize("name", [path.name[:-12] for path in sorted(PTE.glob("*.origin.json"))])
def test_handles_and_inputs_of_generated_programs_match(name: str) -> None:
    told = origin(name)
    for method, handles in told["dhm"].items():
        found = graph(name, method)
        assert {(0, int(each)) for each in handles} <= found.node_of.keys()
    inputs = [
        (node.shapes[0], f"torch.{node.dtypes[0]}")
        for node in graph(name).graph.inputs
        if node.attrs["role"] == "input"
    ]
    if not name.startswith("zoo_dyn"):
        assert inputs[: len(told["ins"])] == [(tuple(s), dtype) for s, dtype in told["ins"]]


def test_outputs_are_certain_except_for_delegates() -> None:
    for name in ALL:
        for plan in program(name).plans:
            found = graph_of(plan)
            doubts = {found.graph.attrs[node].get("kind", "value") for node in found.uncertain} - {
                "DelegateCall"
            }
            assert doubts <= ({"value", "MoveCall"} if name in ("zoo_cond", "zoo_scan") else set())


def test_branches_writing_one_output_are_independent() -> None:
    found = graph("zoo_cond")
    node_of, graph_ = found.node_of, found.graph
    # The true branch jumps over the false one: neither reads what the other wrote.
    assert graph_.nodes[node_of[0, 8]].inputs == (
        Entry(node_of[0, 6], 0),
        Entry(node_of[0, 7], 0),
    )
    assert graph_.kinds[[node_of[0, 4], node_of[0, 9]]].tolist() == [NodeKind.NOP] * 2
    (head,) = graph_.outputs
    assert head.node == node_of[0, 9]
    assert "branches" in found.uncertain[head.node]


def test_loop_carried_values_have_two_writers() -> None:
    found = graph("zoo_scan")
    node_of, graph_ = found.node_of, found.graph
    carried = node_of[0, 4]
    into = graph_.in_edges(carried)[:2]
    writers = (node_of[0, 2], node_of[0, 6])
    assert tuple(graph_.edge_source[into].tolist()) == writers
    assert set(graph_.edge_trust[into].tolist()) == {Trust.AMBIGUOUS}
    assert [graph_.edge_candidates[edge] for edge in into.tolist()] == [writers] * 2


def test_edges_of_views_are_matched_by_order() -> None:
    graph_ = graph("04_transformer_portable").graph
    trust = graph_.edge_trust.tolist()
    assert trust.count(Trust.BY_ORDER) == 18
    assert trust.count(Trust.BY_ORDER) + trust.count(Trust.EXACT) == len(trust)


def test_mutable_buffers_are_recognized_as_state() -> None:
    graph_ = graph("zoo_kv").graph
    (state,) = [node for node in graph_.nodes if node.attrs.get("role") == "mutable buffer"]
    copies = [node for node in graph_.nodes if node.func_name == "aten.copy_"]
    assert all(Entry(state.id, 0) in copy.inputs for copy in copies)
    assert not [node for node in graph("zoo_initbuf").graph.nodes if "scratch" in str(node.attrs)]


def test_external_constants_have_their_names() -> None:
    graph_ = graph("zoo_external").graph
    assert {node.name for node in graph_.parameters} == {"linear.weight", "linear.bias", "scale"}


@pytest.mark.parametrize("name", ALL)
def test_memory_plan_peak_fits_the_buffers(name: str) -> None:
    for plan in program(name).plans:
        found = memory_plan(graph_of(plan).graph)
        assert not found.losses
        # Places may overlap, so they can take more together than the buffers that hold them; what
        # is live at a time cannot.
        assert found.peak.bytes <= sum(plan.buffer_sizes)
