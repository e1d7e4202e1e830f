"""Memory plans: against what was recorded beside the graphs, and against a step by step replay."""

import dataclasses
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document as graph_document
from tests.graph_json import null, operator
from tvmdbg_widgets.analysis.memory.lifetimes import Credibility
from tvmdbg_widgets.analysis.memory.planned import MemoryPlan, memory_plan
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.run import DebugRun

RECORDED = (
    *("resnet20_cifar", "resnet20_cifar_fp16", "resnet20_cifar_int8", "resnet20_cifar_nchw8c"),
    *("resnet20_cifar_own_storage_v0.6", "resnet20_cifar_unfused", "resnet20_two_devices"),
    *("resnet20_cifar_v0.6", "resnet20_cifar_v0.8", "transformer_encoder"),
)


def graph_of(
    nodes: list[dict[str, Any]],
    storage: list[int] | None,
    heads: list[tuple[int, int]],
    shapes: list[list[int]] | None = None,
    dtypes: list[str] | None = None,
    **lists: tuple[str, list[Any]],
) -> Graph:
    """A graph of nodes ``{"inputs": [(node, output)], "outputs": n, "func": name}``."""
    written = []
    for number, each in enumerate(nodes):
        name, reads = (
            each.get("name", f"n{number}"),
            [[*entry, 0] for entry in each.get("inputs", [])],
        )
        func, outputs = each.get("func"), each.get("outputs", 1)
        written.append(operator(name, func, reads, outputs) if func else null(name))
    document = graph_document(written, shapes=shapes or [4], dtypes=dtypes or "float32")
    document["heads"] = [[*head, 0] for head in heads]
    if storage is None:
        del document["attrs"]["storage_id"]
    else:
        document["attrs"]["storage_id"][1] = storage
    document["attrs"] |= {name: list(column) for name, column in lists.items()}
    graph = tvmdbg.open(json.dumps(document).encode()).graph
    assert graph is not None
    return graph


def op(*inputs: int | tuple[int, int], outputs: int = 1, func: str = "k_add") -> dict[str, Any]:
    pairs = [each if isinstance(each, tuple) else (each, 0) for each in inputs]
    return {"inputs": pairs, "outputs": outputs, "func": func}


IN: dict[str, Any] = {}
WIDTHS = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "int32": 4, "int64": 8} | {
    "float32x4": 16
}


Place = tuple[int, int | None]


class Replay:
    """A graph done node by node: where each entry lies, and what its place holds."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.size: dict[Entry, int] = {}
        self.where: dict[Entry, Place] = {}
        for node in graph.nodes:
            for entry, shape, dtype in zip(node.outputs, node.shapes, node.dtypes, strict=True):
                at = graph.entry_id(*entry)
                device = None if graph.device_types is None else int(graph.device_types[at])
                assert shape is not None
                self.size[entry] = int(np.prod(shape, dtype=object)) * WIDTHS[dtype or ""]
                self.where[entry] = (int(graph.storage_ids[at]), device)
        self.running = [node for node in graph.nodes if node.kind >= NodeKind.OPERATOR]
        self.heads = set(graph.outputs)

    def kind(self, entry: Entry) -> NodeKind:
        return self.graph.nodes[entry.node].kind

    def is_live(self, entry: Entry, node: int) -> bool:
        if self.kind(entry) < NodeKind.OPERATOR or entry.node == node:
            return True
        readers = self.graph.nodes[entry.node].consumers
        read = any(entry in self.graph.nodes[each].inputs and each >= node for each in readers)
        return entry.node < node and (read or entry in self.heads)

    def live(self) -> list[int]:
        """Bytes of the workspace that are live while each node runs."""
        fixed = {self.where[each] for each in self.where if self.kind(each) == NodeKind.PARAMETER}
        found = []
        for node in self.running:
            there: dict[Place, int] = {}
            for entry, own in self.size.items():
                at = self.where[entry]
                if self.is_live(entry, node.id) and at not in fixed:
                    there[at] = max(own, there.get(at, 0))
            found.append(sum(there.values()))
        return found

    def lost(self) -> set[Entry]:
        """The entries that are not in their place when they are needed."""
        given = [each for each in self.size if self.kind(each) < NodeKind.OPERATOR]
        value: dict[Entry, Any] = {entry: entry for entry in given}
        holds: dict[Place, Any] = {self.where[entry]: entry for entry in given}
        lost = set()

        def needed(entry: Entry) -> None:
            if self.size[entry] and holds[self.where[entry]] != value[entry]:
                lost.add(entry)

        for node in self.running:
            for entry in node.inputs:
                needed(entry)
            out = [entry for entry in node.outputs if self.size[entry]]
            places = [self.where[entry] for entry in out]
            for entry, place in zip(out, places, strict=True):
                if node.kind == NodeKind.NOP:
                    value[entry] = holds[place]
                    continue
                value[entry] = entry
                holds[place] = entry if places.count(place) == 1 else node.id
        kept = [each for each in given if self.kind(each) == NodeKind.PARAMETER]
        for entry in [*self.heads, *kept]:
            needed(entry)
        return lost


def agrees(graph: Graph) -> MemoryPlan:
    plan = memory_plan(graph)
    replay = Replay(graph)
    live, lost = replay.live(), replay.lost()
    assert plan.live.tolist() == live
    assert {each.entry for each in plan.losses} == lost
    if live:
        assert plan.peak.bytes == max(live)
        assert plan.peak.nodes[0] == plan.order[live.index(max(live))]
    assert sum(each.bytes or 0 for each in plan.peak.entries) == plan.peak.bytes
    assert plan.peak.bytes <= plan.least <= plan.allocated
    return plan


@pytest.mark.parametrize("case", RECORDED)
def test_slots_and_bytes_match_recorded_plan(corpus: Path, case: str) -> None:
    folder = corpus / "tvm" / case
    recorded = json.loads((folder / "meta.json").read_text())["storage_plan"]
    run = tvmdbg.open(folder)
    plan = run.memory_plan()
    assert len(plan.slots) == recorded["storages"]
    assert plan.allocated + plan.parameter_bytes == recorded["planned_bytes"]
    assert int(plan.entry_bytes.sum()) == recorded["bytes_without_reuse"]
    assert len(plan.entry_bytes) == recorded["tensors"]
    agrees_on_real(run.graph)


def agrees_on_real(graph: Graph) -> None:
    if set(graph.dtypes) <= WIDTHS.keys():
        assert agrees(graph).losses == ()


def test_corpus_graphs_match_step_by_step_replay(corpus: Path) -> None:
    files = sorted((corpus / "tvm").glob("**/graph.json"))
    assert len(files) > 30
    for file in files:
        graph = tvmdbg.open(file).graph
        agrees_on_real(graph)


def test_a_chain_takes_two_slots_in_turn() -> None:
    graph = graph_of([IN, op(0), op(1), op(2), op(3)], [0, 1, 2, 1, 2], [(4, 0)])
    plan = agrees(graph)
    assert [slot.bytes for slot in plan.slots] == [16, 16, 16]
    assert plan.slots[1].entries == (Entry(1, 0), Entry(3, 0))
    assert (plan.live.tolist(), plan.peak.nodes) == ([32, 48, 48, 48], (2, 3, 4))
    assert (plan.allocated, plan.least, plan.waste) == (48, 48, 0)
    life = plan.entry(1)
    assert (life.first, life.last, life.shares) == (1, 2, (Entry(3, 0),))
    assert (
        repr(life)
        == "<Life of 1:0: 16 B in slot 1, live from #1 to #2, shared in turn with 1 other>"
    )
    assert repr(plan.peak) == "<Peak 48 B while #2, #3, #4 run: 3 entries live>"
    assert plan.entry("n0").first is None
    assert [each.node for each in plan.live_at(2)] == [0, 1, 2]
    with pytest.raises(ValueError, match="node 0 does not run: it is of kind INPUT"):
        plan.live_at(0)
    for missing in (-1, 5):
        with pytest.raises(IndexError, match=f"no node {missing}; ids are 0 to 4"):
            plan.live_at(missing)


def test_a_value_overwritten_before_its_last_reader_is_lost() -> None:
    graph = graph_of([IN, op(0), op(1), op(1, 2)], [0, 1, 1, 2], [(3, 0)])
    (loss,) = agrees(graph).losses
    assert loss == (Entry(1, 0), 2, 3)
    assert "#1 by #2 k_add, read again by #3 k_add" in memory_plan(graph).text


def test_an_output_and_a_parameter_must_not_be_overwritten_at_all() -> None:
    graph = graph_of([IN, op(0), op(1), op(2)], [0, 1, 2, 1], [(1, 0), (3, 0)])
    assert memory_plan(graph).losses == ((Entry(1, 0), 3, -1),)
    named = graph_of([IN, {"name": "p0"}, op(0, 1), op(2)], [0, 1, 2, 1], [(3, 0)])
    assert memory_plan(named.with_parameters(["p0"])).losses == ((Entry(1, 0), 3, -1),)
    assert memory_plan(named.with_parameters([])).losses == ()


def test_value_read_over_ambiguous_edge_is_not_reported_lost() -> None:
    graph = graph_of([IN, op(0), op(1), op(1, 2)], [0, 1, 1, 2], [(3, 0)])
    trust = graph.edge_trust.copy()
    trust[graph.edge_target == 3] = Trust.AMBIGUOUS
    plan = memory_plan(dataclasses.replace(graph, edge_trust=trust))
    assert plan.losses == ()
    assert plan.entry(1).last == 3, "it is kept in the sums as if it were read"


def test_no_sum_of_hostile_sizes_overflows() -> None:
    count = 3000
    shapes = [[2**40]] * count
    graph = graph_of([IN] * count, list(range(count)), [(0, 0)], shapes, ["int8"] * count)
    assert memory_plan(graph).allocated == count * 2**40


def test_empty_tensors_have_no_memory_peak() -> None:
    plan = memory_plan(graph_of([IN, op(0)], [0, 1], [(1, 0)], [[0], [0]]))
    assert "no live entry has a known size" in plan.text


def test_in_place_and_reshapes_count_once() -> None:
    graph = graph_of([IN, op(0), op(1, func="__nop"), op(2), op(3)], [0, 1, 1, 1, 2], [(4, 0)])
    plan = agrees(graph)
    assert plan.live.tolist() == [32, 32, 32, 48]
    assert (plan.in_place.tolist(), plan.aliases.tolist(), plan.losses) == ([3], [2], ())


def test_parameters_are_counted_apart_from_workspace() -> None:
    nodes = [IN, {"name": "p0"}, {"name": "p1"}, op(0, 1), op(3, 2)]
    graph = graph_of(nodes, [0, 1, 2, 3, 4], [(4, 0)], [[2], [100], [50], [2], [2]])
    plan = agrees(graph.with_parameters(["p0", "p1"]))
    assert (plan.allocated, plan.parameter_bytes) == (24, 600)
    assert plan.slots[1].is_parameter
    assert "parameters 600 B in 2 slots, allocated throughout" in repr(plan)
    assert "workspace 24 B in 3 slots" in repr(plan)


SIZES = json.loads((Path(__file__).parents[2] / "data/color/sizes.json").read_text())


@pytest.mark.parametrize(("dtype", "shape", "size"), SIZES)
def test_size_of_an_entry(dtype: str, shape: list[int], size: int | None) -> None:
    graph = graph_of([IN, op(0)], [0, 1], [(1, 0)], [shape, [1]], [dtype, "float32"])
    plan = memory_plan(graph)
    assert (plan.entry(0).bytes, plan.unknown_sizes) == (size, size is None)
    assert plan.allocated == 4 + (size or 0)
    assert ("1 entry of unknown size" in plan.text) == (size is None)
    assert known_sizes(graph)[0] == pytest.approx(math.nan if size is None else size, nan_ok=True)


@pytest.mark.spec_only
def test_size_of_texture_entry_is_unknown() -> None:
    scopes = ("list_str", ["global.texture", "global"])
    plan = memory_plan(graph_of([IN, op(0)], [0, 1], [(1, 0)], storage_scope=scopes))
    assert (plan.entry(0).bytes, plan.entry(1).bytes) == (None, 16)


def test_one_storage_id_on_two_devices_is_two_slots() -> None:
    devices = ("list_int", [1, 2, 2])
    graph = graph_of([IN, op(0), op(1)], [0, 0, 1], [(2, 0)], device_index=devices)
    plan = memory_plan(graph)
    assert [(slot.storage_id, slot.device) for slot in plan.slots] == [(0, 1), (0, 2), (1, 2)]
    assert "on cuda" in repr(plan.slots)


def test_minimum_memory_is_computed_per_device() -> None:
    devices = ("list_int", [1, 1, 1, 2, 2])
    nodes = [IN, op(0), op(1), op(2, func="__copy"), op(3)]
    graph = graph_of(nodes, [0, 1, 2, 3, 4], [(4, 0)], device_index=devices)
    plan = agrees(graph)
    assert (plan.allocated, plan.peak.bytes, plan.least, plan.waste) == (80, 48, 80, 0)


def test_entries_without_storage_id_are_counted_but_not_summed() -> None:
    plan = memory_plan(graph_of([IN, op(0), op(1)], [0, -1, 1], [(2, 0)]))
    assert (plan.unplaced, plan.allocated, plan.live.tolist()) == (1, 32, [16, 32])
    assert plan.entry(1).slot is None
    assert "1 entry without a usable storage_id, not counted" in plan.text


def test_missing_storage_ids_error_explains_how_to_get_them(data: Path) -> None:
    run = tvmdbg.open(data / "graph/nnvm.json")
    if run.graph.storage_ids is None:
        with pytest.raises(ValueError, match="storage_id"):
            run.memory_plan()
    with pytest.raises(ValueError, match=r"lib\.get_graph_json"):
        memory_plan(graph_of([IN, op(0)], None, [(1, 0)]))
    with pytest.raises(ValueError, match="no graph"):
        tvmdbg.open(data / "times/split_multi_v0.19/time_list.json").memory_plan()


def test_peak_without_operators_is_before_the_run() -> None:
    plan = memory_plan(graph_of([IN, IN], [0, 1], [(0, 0)]))
    assert (plan.peak.bytes, plan.peak.nodes, plan.live.tolist()) == (32, (), [])
    assert "before anything runs" in plan.text
    assert memory_plan(graph_of([], [], [])).peak.bytes == 0


def test_table_has_one_row_per_entry() -> None:
    pytest.importorskip("pandas")
    graph = graph_of([IN, op(0, outputs=2), op((1, 1))], [3, 1, -1, 3], [(2, 0)])
    table = memory_plan(graph).to_dataframe()
    assert (table["node"].tolist(), table["output"].tolist()) == ([0, 1, 1, 2], [0, 0, 1, 0])
    assert table["storage_id"].tolist() == [3, 1, -1, 3]
    assert table["last_node"].tolist() == [2, 1, 2, 2]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any nodes in order, whatever their slots do to each other."""
    nodes: list[dict[str, Any]] = []
    entries: list[tuple[int, int]] = []
    storage: list[int] = []
    shapes: list[list[int]] = []
    slots = st.integers(0, draw(st.integers(1, 8)))
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["op", "op", "op", "nop", "null"])) if entries else "null"
        if kind == "nop":
            entry = draw(st.sampled_from(entries))
            at = entries.index(entry)
            nodes.append(op(entry, func="__nop"))
            storage.append(storage[at])
            shapes.append(shapes[at])
            entries.append((number, 0))
            continue
        outputs = draw(st.integers(1, 3)) if kind == "op" else 1
        if kind == "op":
            inputs = draw(st.lists(st.sampled_from(entries), max_size=3))
            nodes.append(op(*inputs, outputs=outputs))
        else:
            nodes.append({"name": f"{draw(st.sampled_from('pn'))}{number}"})
        for output in range(outputs):
            entries.append((number, output))
            shapes.append([draw(st.integers(0, 4))])
            # two values that are there before the run cannot be in one slot
            storage.append(draw(slots) if kind == "op" else 100 + number)
    heads = draw(st.lists(st.sampled_from(entries), min_size=1, max_size=3))
    graph = graph_of(nodes, storage, heads, shapes)
    names = [each["name"] for each in nodes if each.get("name", "").startswith("p")]
    return graph.with_parameters(names)


@given(graphs())
def test_random_graph_plans_match_replay(graph: Graph) -> None:
    plan = agrees(graph)
    assert sum(len(slot.entries) for slot in plan.slots) == graph.num_entries
    for slot in plan.slots:
        assert slot.bytes == max(plan.entry(*entry).bytes or 0 for entry in slot.entries)


def test_totals_report_basis_of_input_and_parameter_roles() -> None:
    nodes = [
        *(IN, {"name": "_param_1"}, op(0, 1, func="fused_nn_conv2d"), {"name": "other"}, op(2, 3))
    ]
    graph = graph_of(nodes, [0, 1, 2, 3, 4], [(4, 0)])
    assert (
        "parameters 16 B in 1 slot, allocated throughout; no params file tells inputs from "
        "parameters: 2 roles by structure, 1 unknown, counted as input"
    ) in memory_plan(graph).text
    assert "no params file" not in memory_plan(graph.with_parameters(["_param_1"])).text
    unknown = graph_of([{"name": "a"}, {"name": "b"}, op(0, 1)], [0, 1, 2], [(2, 0)])
    assert "no parameters known; no params file" in memory_plan(unknown).text


def shuffled(seed: int, outputs: int, slots: int) -> Graph:
    """A chain with shortcuts whose storage ids no planner made."""
    chance = random.Random(seed)
    later = (op(node - 1, max(0, node - 5)) for node in range(2, outputs + 1))
    nodes = [IN, op(0), *later]
    ids = [slots, *(chance.randrange(slots) for _ in range(outputs))]
    return graph_of(nodes, ids, [(outputs, 0)])


@pytest.mark.parametrize("slots", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_unplanned_storage_ids_are_reported_once(seed: int, slots: int) -> None:
    graph = shuffled(seed, 40, slots)
    plan = memory_plan(graph)
    assert plan.losses
    assert plan.said[0].startswith("storage_id says nothing about memory here")
    assert "overwritten while still needed" not in plan.text
    run = DebugRun(RunParts(title="shuffled", graph=graph))
    assert not run.findings(progress=False).by_rule("lost-values")
    (told,) = run.findings(progress=False).by_rule("storage-ids")
    assert told.title.startswith("storage_id says nothing about memory here")
    assert (told.severity, told.confidence) == ("warning", "medium")


@pytest.mark.parametrize("func", ["fused_nn_conv2d_add_nn_relu", "fused_nn_dense"])
def test_no_planner_lets_a_convolution_run_in_place(func: str) -> None:
    def chain(func: str) -> Graph:
        ops = [op(node, func=func) for node in range(12)]
        return graph_of([IN, *ops], [0, *(1 + node // 6 for node in range(12))], [(12, 0)])

    plan = memory_plan(chain(func))
    assert plan.losses == ()
    assert plan.said[0] == (
        "storage_id says nothing about memory here: by it 10 convolutions or matmuls would write "
        "over the input being read, which no planner does"
    )
    run = DebugRun(RunParts(title="in place", graph=chain(func)))
    (told,) = run.findings(progress=False).by_rule("storage-ids")
    assert told.title == plan.said[0]
    assert memory_plan(chain("fused_nn_relu")).credibility is not Credibility.MEANINGLESS


def test_one_wrong_slot_of_a_planned_graph_stays_an_error() -> None:
    nodes = [IN, op(0), *(op(node) for node in range(1, 39)), op(39, 1)]
    ids = [0, 1, *(2 + node % 3 for node in range(38)), 5]
    assert memory_plan(graph_of(nodes, ids, [(40, 0)])).losses == ()
    ids[20] = 1
    plan = memory_plan(graph_of(nodes, ids, [(40, 0)]))
    assert (len(plan.losses), plan.credibility) == (1, Credibility.PLANNED)
