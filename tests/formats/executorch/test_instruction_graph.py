"""Graphs of programs against ExecuTorch's records of the same models and their runs."""

from typing import Any

import pytest

from tests.executorch_cases import CASES, answers, read_json
from tests.formats.executorch import xnnpack_truth
from tests.formats.executorch.case_files import PROGRAMS, PTE, graph_of_program, program_of
from tests.formats.executorch.xnnpack_truth import FOLDER, truth
from tvmdbg_widgets.formats.executorch.etdump import read_etdump
from tvmdbg_widgets.formats.executorch.etrecord import read_etrecord
from tvmdbg_widgets.formats.executorch.program.instruction_graph import InstructionGraph, graph_of
from tvmdbg_widgets.formats.executorch.program.instruction_steps import Fresh, arguments, steps_of
from tvmdbg_widgets.formats.executorch.program.program_file import read_program
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch.etrecord import maps_of
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME
from tvmdbg_widgets.model.graph.graph import Entry, NodeKind
from tvmdbg_widgets.sources.file_source import FileSource

#: Programs of cases whose dump holds debug values (that of 17a is damaged).
RECORDED = tuple(name for name in PROGRAMS if name in CASES and not name.startswith("17a"))
#: Cases without delegates, whose instructions are the nodes of the edge program.
PORTABLE = ("01_mlp_portable", "04_transformer_portable", "10_multi_output_list", "14_bundled")
CALLS = {"OPERATOR": "Kernel", "DELEGATE": "Delegate", "JF": "JumpFalse"}
CALLS |= {"MOVE": "Move", "FREE": "Free"}


def record(name: str) -> Any:
    return answers(name)["inspector"]["etrecord"]


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
    assert edges(graph_of_program(name)) == contracted(record(name)["edge_nodes"])


@pytest.mark.parametrize("name", RECORDED)
def test_node_outputs_match_the_logged_tensors(name: str) -> None:
    found = graph_of_program(name)
    runs = answers(name)["etdump_raw_flatc_json"]["run_data"]
    assert runs
    for run in runs:
        logged: dict[int, list[tuple[tuple[int, ...], str]]] = {}
        for event in run.get("events") or []:
            debug = event.get("debug_event")
            if debug is None or debug["chain_index"] or debug["delegate_debug_id_int"] != -1:
                continue
            if not debug.get("delegate_debug_id_str"):
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
    return tuple(tensor.get("sizes") or ()), dict(RUNTIME.values())[tensor["scalar_type"]]


@pytest.mark.parametrize("name", RECORDED)
def test_instruction_ids_and_delegates_match_the_record(name: str) -> None:
    told, found = record(name), graph_of_program(name)
    ids = {str(instruction) for _, instruction in found.node_of}
    assert ids == told["debug_handle_map"]["forward"].keys()
    for instruction, delegate in told["delegate_map"]["forward"].items():
        node, backend = found.graph.nodes[found.node_of[0, int(instruction)]], delegate["name"]
        assert (node.attrs["backend"], node.func_name) == (backend, backend)
        assert node.name == f"{backend}_{instruction}"
    told_counts = told["instruction_id_to_num_outs_map"]["forward"]
    counts = {int(instruction): count for instruction, count in told_counts.items()}
    known = graph_of_program(name, num_outputs=counts)
    assert edges(found) == edges(known)
    assert found.uncertain.keys() == {found.node_of[0, each] for each in counts}
    assert not known.uncertain
    for instruction, count in counts.items():
        assert found.graph.nodes[found.node_of[0, instruction]].num_outputs == count


@pytest.mark.parametrize("name", PROGRAMS)
def test_operators_and_outputs_match_the_program_file(name: str) -> None:
    plans = read_json(f"pte/{name}.flatc.json")["execution_plan"]
    for plan, told in zip(program_of(name).plans, plans, strict=True):
        found = graph_of(plan)
        for (chain, instruction), node in found.node_of.items():
            each = told["chains"][chain]["instructions"][instruction]
            assert found.graph.attrs[node]["kind"] == each["instr_args_type"]
            if each["instr_args_type"] == "KernelCall":
                operator = told["operators"][each["instr_args"]["op_index"]]
                spelled = ".".join(filter(None, (operator["name"], operator["overload"])))
                assert found.graph.func_names[node] == spelled.replace("::", ".")
        for index, head in zip(told["outputs"], found.graph.outputs, strict=True):
            value = told["values"][index]
            if value["val_type"] == "Tensor":
                assert found.graph.shape(*head) == tuple(value["val"]["sizes"])
        # Delegates apart, outputs are certain.
        doubts = {found.graph.attrs[node].get("kind", "value") for node in found.uncertain}
        allowed = {"value", "MoveCall"} if name in {"zoo_cond", "zoo_scan"} else set()
        assert doubts - {"DelegateCall"} <= allowed


@pytest.mark.parametrize("name", [path.stem for path in sorted(PTE.glob("*.etdp"))])
def test_every_event_of_a_run_has_its_node(name: str) -> None:
    found, dump = graph_of_program(name), read_etdump(FileSource(PTE / f"{name}.etdp"))
    ran = [event for event in range(dump.num_events) if dump.chain_index[event] >= 0]
    assert ran
    for event in ran:
        place = int(dump.chain_index[event]), int(dump.instruction_id[event])
        node = found.graph.nodes[found.node_of[place]]
        label = dump.names[event]
        if label.removesuffix("_CALL") in CALLS:
            assert node.attrs["kind"] == f"{CALLS[label.removesuffix('_CALL')]}Call"
        elif label.startswith("native_call_"):
            assert node.func_name.partition(".")[2] == label.removeprefix("native_call_")


@pytest.mark.parametrize("name", [path.name[:-12] for path in sorted(PTE.glob("*.origin.json"))])
def test_handles_and_inputs_of_generated_programs_match(name: str) -> None:
    told = read_json(f"pte/{name}.origin.json")
    for method, handles in told["dhm"].items():
        found = graph_of_program(name, method)
        assert {(0, int(each)) for each in handles} <= found.node_of.keys()
    nodes = [node for node in graph_of_program(name).graph.inputs if node.attrs["role"] == "input"]
    inputs = [(node.shapes[0], f"torch.{node.dtypes[0]}") for node in nodes]
    if not name.startswith("zoo_dyn"):
        assert inputs[: len(told["ins"])] == [(tuple(s), dtype) for s, dtype in told["ins"]]


def test_branches_writing_one_output_are_independent() -> None:
    found = graph_of_program("zoo_cond")
    node_of, graph = found.node_of, found.graph
    # The true branch jumps over the false one: neither reads what the other wrote.
    read = tuple(Entry(node_of[0, at], 0) for at in (6, 7))
    assert graph.nodes[node_of[0, 8]].inputs == read
    assert graph.kinds[[node_of[0, 4], node_of[0, 9]]].tolist() == [NodeKind.NOP] * 2
    (head,) = graph.outputs
    assert head.node == node_of[0, 9]
    assert "branches" in found.uncertain[head.node]


def test_loop_carried_values_have_two_writers() -> None:
    found = graph_of_program("zoo_scan")
    node_of, graph = found.node_of, found.graph
    into = graph.in_edges(node_of[0, 4])[:2]
    writers = (node_of[0, 2], node_of[0, 6])
    assert tuple(graph.edge_source[into].tolist()) == writers
    assert set(graph.edge_trust[into].tolist()) == {Trust.AMBIGUOUS}
    assert [graph.edge_candidates[edge] for edge in into.tolist()] == [writers] * 2


def test_edges_of_views_are_by_order_and_buffers_are_state() -> None:
    trust = graph_of_program("04_transformer_portable").graph.edge_trust.tolist()
    assert trust.count(Trust.BY_ORDER) == 18
    assert trust.count(Trust.BY_ORDER) + trust.count(Trust.EXACT) == len(trust)
    # Mutable buffers are state.
    nodes = graph_of_program("zoo_kv").graph.nodes
    (state,) = [node for node in nodes if node.attrs.get("role") == "mutable buffer"]
    copies = [node for node in nodes if node.func_name == "aten.copy_"]
    assert all(Entry(state.id, 0) in copy.inputs for copy in copies)
    nodes = graph_of_program("zoo_initbuf").graph.nodes
    assert not [node for node in nodes if "scratch" in str(node.attrs)]


# Calls of delegates ------------------------------------------------------------------------------

GUESSED = "outputs by the order of values"
#: Shipped programs with delegates.
WITH_DELEGATES = ("03b_mixed_xnnpack", "06a_demo_generated_ids", "08_conv_xnnpack_quant")


@xnnpack_truth.recorded
@pytest.mark.parametrize("case", xnnpack_truth.CASES)
def test_delegate_calls_are_certain_and_match_the_record(case: str) -> None:
    program = read_program(FileSource(FOLDER / case / "model.pte"))
    record: Any = read_etrecord(FileSource(FOLDER / case / "etrecord.bin"))
    for plan in program.plans:
        externals = {
            each["delegate_index"]: xnnpack_truth.graph_of(each["graph"]).externals
            for each in truth(case)["delegates"]
            if each["method"] == plan.name
        }
        counts = maps_of(record, plan.name).outputs
        known = graph_of(plan, externals=externals)
        assert not known.uncertain
        nodes, node_of = known.graph.nodes, known.node_of
        assert {at: nodes[node_of[0, at]].num_outputs for at in counts} == counts
        told = steps_of(plan, counts, "")
        assert steps_of(plan, None, "", externals) == steps_of(plan, counts, "", externals) == told


@pytest.mark.parametrize("name", WITH_DELEGATES)
def test_argument_positions_are_used_where_they_are_valid(name: str) -> None:
    plan = program_of(name).plans[0]
    told = record(name)["instruction_id_to_num_outs_map"]["forward"]
    at, count = next(iter(told.items()))
    call: Any = plan.chains[0].instructions[int(at)]

    def ask(*given: Any) -> Any:
        return arguments(plan, call, Fresh(plan), *given)

    every = tuple(range(len(call.args)))
    split = len(every) - count
    right = {call.delegate_index: (every[:split], every[split:])}
    for number in (None, count):
        assert ask(number, right) == (call.args[:split], call.args[split:], "")
    found = ask(count + 1, right)
    assert found[:2] == (call.args[:split], call.args[split:])
    assert found.doubt.endswith(f" in the delegate's payload, {count + 1} in the ETRecord")
    assert ask(None).doubt == GUESSED
    assert len(every) > 1
    wrong = [(every[:-1], (other,)) for other in (len(every), -1, 2**32)]
    wrong += [((), ()), (every, ()), (every[:-1], ())]
    wrong += [(every[1:-1], every[-1:]), (every, every[-1:]), (every[1:], (0,))]
    for positions in wrong:
        for delegate in (call.delegate_index, call.delegate_index + 1):
            guessed = ask(None, {delegate: positions})
            assert guessed == ask(None)
            assert guessed.doubt == GUESSED
            assert ask(count, {delegate: positions}) == ask(count)
