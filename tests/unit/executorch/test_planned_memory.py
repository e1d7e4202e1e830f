"""Memory plans of programs against flatc's decode of the same files, and against a replay."""

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import FOLDER, read_json
from tests.formats.executorch.case_files import PTE, graph_of_program
from tests.unit.graph.test_memory_plan import graph_of as graph_of_nodes
from tests.unit.graph.test_memory_plan import op
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan, memory_plan
from tvmdbg_widgets.analysis.opening import highlights
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.graph.columns import PlannedMemory
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds
from tvmdbg_widgets.model.graph.nodes import Entry
from tvmdbg_widgets.model.parts import RunParts

METHODS = tuple(
    (path.stem, plan["name"])
    for path in sorted(PTE.glob("*.pte"))
    for plan in read_json(f"pte/{path.stem}.flatc.json")["execution_plan"]
)
#: Programs with branches or a loop.
JUMPING = ("zoo_cond", "zoo_scan")
#: Programs with views that have no instruction.
VIEWING = ("04_transformer_portable", "zoo_view")
STRAIGHT = [each for each in METHODS if each[0] not in JUMPING]
WIDTH = {"BYTE": 1, "CHAR": 1, "BOOL": 1, "HALF": 2, "INT": 4, "FLOAT": 4, "LONG": 8, "DOUBLE": 8}

Range = tuple[int, int, int]


def decoded(name: str, method: str) -> Any:
    plans = read_json(f"pte/{name}.flatc.json")["execution_plan"]
    return next(each for each in plans if each["name"] == method)


def planned(name: str, method: str = "forward") -> MemoryPlan:
    return memory_plan(graph_of_program(name, method).graph)


def ranges(told: dict[str, Any]) -> dict[int, Range]:
    """Buffer, start and end of each value that is planned, as flatc decodes them."""
    found = {}
    for index, value in enumerate(told["values"]):
        tensor = value.get("val", {})
        place = tensor.get("allocation_info")
        if place is not None:
            size = int(np.prod(tensor["sizes"], dtype=object)) * WIDTH[tensor["scalar_type"]]
            start = (place["memory_offset_high"] << 32) + place["memory_offset_low"]
            found[index] = (place["memory_id"], start, start + size)
    return found


def named(told: dict[str, Any], args: list[int]) -> set[int]:
    found = set(args)
    for index in args:
        value = told["values"][index]
        if value["val_type"] in ("TensorList", "OptionalTensorList"):
            found |= set(value["val"]["items"])
    return found


def live_of(told: dict[str, Any]) -> list[int]:
    """Bytes that hold a value at each instruction, from the first that names it to the last."""
    places, uses = ranges(told), dict[int, list[int]]()
    (chain,) = told["chains"]
    for step, each in enumerate(chain["instructions"]):
        for index in named(told, each["instr_args"].get("args", [])):
            uses.setdefault(index, []).append(step)
    end = len(chain["instructions"]) - 1
    before, inputs = max(told["inputs"], default=-1), set(told["inputs"])
    for index, steps in uses.items():
        data = told["values"][index].get("val", {}).get("data_buffer_idx", 0)
        kept = index not in inputs and (index < before or data > 0)
        if index in inputs or kept:
            steps.append(0)
        if index in told["outputs"] or kept:
            steps.append(end)
    ends = [(places[at], min(own), max(own)) for at, own in uses.items() if at in places]
    live = []
    for step in range(end + 1):
        there = [place for place, first, last in ends if first <= step <= last]
        live.append(len({(buffer, byte) for buffer, *span in there for byte in range(*span)}))
    return live


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_workspace_and_offsets_match_the_program(name: str, method: str) -> None:
    plan, told = planned(name, method), decoded(name, method)
    assert plan.allocated == sum(told["non_const_buffer_sizes"])
    assert plan.peak.bytes <= plan.least <= plan.allocated
    assert (plan.waste, plan.losses) == (plan.allocated - plan.least, ())
    known = set(ranges(told).values())
    for slot in plan.slots:
        assert slot.is_parameter == (slot.buffer < 0)
        for entry in slot.entries:
            size = plan.entry(*entry).bytes
            if slot.buffer >= 0 and size is not None:
                assert (slot.buffer, slot.offset, slot.offset + size) in known


@pytest.mark.parametrize(("name", "method"), STRAIGHT)
def test_live_bytes_match_values_used_by_instructions(name: str, method: str) -> None:
    plan, told = planned(name, method), live_of(decoded(name, method))
    if name in VIEWING:
        # Until a view is read, no instruction names what it views.
        assert (plan.live >= told).all()
        assert max(plan.live) == max(told)
    else:
        assert plan.live.tolist() == told
    # Values that share bytes are never live together.
    in_place = {plan.entry_of(each) for each in plan.in_place.tolist()}
    for entry in (entry for slot in plan.slots if slot.buffer >= 0 for entry in slot.entries):
        own = plan.graph.entry_id(*entry)
        for other in plan.entry(*entry).shares:
            at = plan.graph.entry_id(*other)
            apart = plan.last[own] < plan.first[at] or plan.last[at] < plan.first[own]
            assert apart or {entry, other} & in_place


def test_loop_input_is_live_until_the_loop_ends() -> None:
    plan: Any = planned("zoo_scan")
    ((begin, end),) = plan.graph.planned_memory.loops.tolist()
    assert plan.graph.nodes[begin].name == "select_copy_3"
    assert plan.entry("input_0").last == end
    carried = plan.entry("copy__6")
    assert (carried.first, carried.last) == (begin, plan.order[-1])


def test_plan_is_told_as_text_and_table() -> None:
    pytest.importorskip("pandas")
    run = tvmdbg.open(PTE / "04_transformer_portable.pte")
    plan = run.memory_plan()
    assert repr(plan).startswith(
        "MemoryPlan: workspace 7.4 KiB (7,552) in 1 planned buffer, used at 8 offsets, "
        "28.8 KiB (29,504) without sharing"
    )
    assert "peak 6.3 KiB (6,400) live while #43 addmm runs" in plan.text
    first = next(slot for slot in plan.slots if slot.buffer == 1 and slot.offset == 0)
    assert first.place == "bytes 0 … 4,095 of buffer 1 on cpu"
    assert pickle.loads(pickle.dumps(run.graph)).planned_memory.total == 7552  # noqa: S301
    for name, told in (
        ("08_conv_xnnpack_quant", "what 2 delegate calls may allocate beside it is not in"),
        ("zoo_cond", "values of all branches count as live"),
        ("zoo_scan", "4 entries without memory in the program, not counted"),
    ):
        assert told in planned(name).text
    plan = planned("01_mlp_portable")
    table = plan.to_dataframe()
    assert (set(table["buffer"]), table["offset"].max()) == ({-1, 1}, plan.slot_offsets.max())
    with pytest.raises(ValueError, match="edge program of an ETRecord, which is not planned"):
        tvmdbg.open(FOLDER / "01_mlp_portable/etrecord.bin").memory_plan()


def memory_of(sizes: tuple[int, ...], *columns: Any) -> PlannedMemory:
    kinds = (np.int32, np.int64, np.int32, np.int32)
    held = [np.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
    return PlannedMemory(sizes, *held, np.zeros((0, 2), np.int32))


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    """Operators over values at any offsets of two buffers; inputs lie apart from each other."""
    nodes: list[dict[str, Any]] = [{"name": f"n{at}"} for at in range(draw(st.integers(1, 3)))]
    given = len(nodes)
    entries = [(node, 0) for node in range(given)]
    for number in range(given, given + draw(st.integers(1, 9))):
        outputs = draw(st.integers(1, 2))
        inputs = draw(st.lists(st.sampled_from(entries), max_size=3))
        nodes.append(op(*inputs, outputs=outputs))
        entries += [(number, output) for output in range(outputs)]
    count, more = len(entries), len(entries) - given

    def some(low: int, high: int, many: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=many, max_size=many))

    shapes = [[size] for size in some(0, 6, count)]
    offsets = [16 * at for at in range(given)] + some(0, 24, more)
    buffers = [1] * given + some(1, 2, more)
    places = list(zip(buffers, offsets, strict=True))
    numbers = {place: number for number, place in enumerate(dict.fromkeys(places))}
    heads = draw(st.lists(st.sampled_from(entries), min_size=1, max_size=2))
    storage = [numbers[place] for place in places]
    graph = graph_of_nodes(nodes, storage, heads, shapes, ["int8"] * count)
    kept = sorted(draw(st.sets(st.integers(0, given - 1))))
    memory = memory_of((0, 64, 32), buffers, offsets, kept, [])
    return dataclasses.replace(graph, planned_memory=memory)


Byte = tuple[int, int]


class Replay:
    """A program done node by node: what every byte holds."""

    def __init__(self, graph: Graph) -> None:
        memory: Any = graph.planned_memory
        self.graph, self.kept = graph, set(memory.kept.tolist())
        self.bytes_of: dict[Entry, list[Byte]] = {}
        for node in graph.nodes:
            for entry, shape in zip(node.outputs, node.shapes, strict=True):
                at = graph.entry_id(*entry)
                buffer, start = int(memory.buffers[at]), int(memory.offsets[at])
                size = (shape or (0,))[0]
                self.bytes_of[entry] = [(buffer, byte) for byte in range(start, start + size)]
        self.running = [node for node in graph.nodes if node.func_name]
        self.before = [entry for entry in self.bytes_of if not graph.nodes[entry.node].func_name]

    def is_live(self, entry: Entry, node: int) -> bool:
        written = -1 if entry in self.before else entry.node
        if entry.node in self.kept or node in (written, self.running[0].id if written < 0 else -1):
            return True
        readers = self.graph.nodes[entry.node].consumers
        read = any(entry in self.graph.nodes[each].inputs and each >= node for each in readers)
        return written < node and (read or entry in self.graph.outputs)

    def live(self) -> list[int]:
        return [
            len({b for e, own in self.bytes_of.items() if self.is_live(e, node.id) for b in own})
            for node in self.running
        ]

    def lost(self) -> set[Entry]:
        holds = {byte: entry for entry in self.before for byte in self.bytes_of[entry]}
        needed: list[Entry] = []
        for node in self.running:
            needed += [each for each in node.inputs if self.gone(each, holds)]
            for entry in node.outputs:
                holds |= dict.fromkeys(self.bytes_of[entry], entry)
        return {*needed, *(each for each in self.graph.outputs if self.gone(each, holds))}

    def gone(self, entry: Entry, holds: dict[Byte, Entry]) -> bool:
        return any(holds[byte] != entry for byte in self.bytes_of[entry])


@given(programs())
def test_memory_plan_matches_replay(graph: Graph) -> None:
    plan, replay = memory_plan(graph), Replay(graph)
    assert plan.live.tolist() == replay.live()
    assert {each.entry for each in plan.losses} == replay.lost()
    assert plan.peak.bytes == plan.least <= plan.allocated == 96
    for entry, own in replay.bytes_of.items():
        sharing = {each for each, other in replay.bytes_of.items() if set(own) & set(other)}
        assert set(plan.entry(*entry).shares) == sharing - {entry}


def scratched() -> Graph:
    """An operator is given scratch memory in bytes that two earlier outputs had in turn."""
    nodes = [{"name": "x"}, {"name": "buffer_9"}, op((0, 0)), op((2, 0)), op((3, 0), (1, 0))]
    graph = graph_of_nodes(nodes, [0, 1, 1, 2, 3], [(4, 0)], [[8]] * 5, ["int8"] * 5)
    memory = memory_of((0, 64), [1] * 5, [0, 16, 16, 32, 48], [], [1])
    doubt = {"uncertain": "mutable buffer without a start value, or scratch memory"}
    attrs = tuple(doubt if node == 1 else each for node, each in enumerate(graph.attrs))
    return dataclasses.replace(graph, planned_memory=memory, attrs=attrs, form="program")


def test_scratch_memory_is_neither_lost_output_nor_input() -> None:
    graph = scratched()
    plan = memory_plan(graph)
    assert (plan.losses, plan.first[1], plan.last[1]) == ((), 2, 2)
    assert [node.name for node in graph.inputs] == ["x"]
    role = "buffer without a start value"
    assert (graph.nodes[1].role, graph.nodes[1].op_kind) == (role, "buffer")
    assert node_op_kinds(graph)[1] == "buffer"
    assert f"1 input, 1 {role}" in repr(graph)
    run = tvmdbg.DebugRun(RunParts("run", graph))
    assert not run.findings(progress=False).by_rule("lost-values")
    text = run.figure("graph").text
    assert f"1 input, 1 {role}" in text
    assert f"#1 buffer_9; int8 8; {role}; buffer" in text
    found = [[n.id for n in run.select(f"kind:{kind}").nodes] for kind in ("input", "buffer")]
    assert found == [[0], [1]]
    details = answer(run.facts, {"id": 1, "client": "x", "kind": "node", "node": 1}).result
    assert (details["kind"], details["opKind"]) == (role, "buffer")
    assert details["times"] == [("time", role)]
    assert "Largest input" not in {each.label for each in highlights(run.facts) if 1 in each.nodes}


def test_lost_value_of_possible_scratch_memory_has_low_confidence() -> None:
    graph: Any = scratched()
    memory = dataclasses.replace(graph.planned_memory, scratch=np.zeros(0, np.int32))
    run = tvmdbg.DebugRun(RunParts("run", dataclasses.replace(graph, planned_memory=memory)))
    (told,) = run.findings(progress=False).by_rule("lost-values")
    assert told.confidence == "low"
    assert "or scratch memory" in told.why
