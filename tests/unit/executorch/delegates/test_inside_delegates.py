"""Delegates opened in runs, against what XNNPACK's runtime really did (``truth.json``)."""

import dataclasses
import hashlib
from collections.abc import Sequence
from functools import cache
from math import erf, sqrt
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.delegates import write
from tests.formats.executorch.xnnpack_truth import CASES, FOLDER, recorded, truth
from tvmdbg_widgets.formats.executorch.delegates import families
from tvmdbg_widgets.model.executorch.delegate_graph import Alignment, DelegateGraph

EACH = pytest.mark.parametrize("case", CASES)
BOTH = pytest.mark.parametrize("record", [False, True], ids=["program", "edge"])


@cache
def opened(case: str, record: bool = False, method: str | None = None) -> Any:
    folder = FOLDER / case
    files = [folder / "model.pte", folder / "etdump.etdp", *sorted(folder.glob("*.ptd"))]
    return tvmdbg.open(*files, *([folder / "etrecord.bin"] if record else []), method=method)


@recorded
@BOTH
@EACH
def test_every_event_maps_to_operators_it_ran(case: str, record: bool) -> None:
    told = truth(case)
    for call, expected in zip(opened(case, record).delegate_calls(), told["calls"], strict=True):
        delegate = told["delegates"][expected["delegate"]]
        assert (call.method, call.instruction) == (delegate["method"], expected["instruction_id"])
        assert [event.name for event in call.events] == expected["names"]
        covered = [list(event.delegate_nodes) for event in call.events]
        assert covered == [sorted(each) for each in expected["xnodes"]]
        assert {event.match for event in call.events} == {"exact"}
        types = [node["type"] for node in delegate["nodes"]]
        assert [call.graph.func_names[node] for node in range(len(types))] == types


@recorded
@EACH
def test_events_map_to_edge_graph(case: str) -> None:
    run = opened(case, record=True)
    told, graph = truth(case), run.graph
    shown = run.parts.executorch.method
    for call, expected in zip(run.delegate_calls(), told["calls"], strict=True):
        delegate = told["delegates"][expected["delegate"]]
        if delegate["method"] != shown:
            continue
        for event, numbers in zip(call.events, expected["xnodes"], strict=True):
            names = {delegate["nodes"][each]["edge_node_derived"] for each in numbers} - {None}
            taken_in = {
                each["name"]
                for each in delegate["absorbed_edge_nodes_derived"]
                if set(each["xnodes"]) & set(numbers)
            }
            # The rule behind these names gives an edge node to all that share a handle, ours to
            # the one that reads it.
            found = {graph.names[node] for node in event.nodes}
            assert names <= found <= names | taken_in
            nodes = [delegate["nodes"][each] for each in numbers]
            unsure = any(each.get("edge_node_alternatives", 1) > 1 for each in nodes)
            assert (event.edge_match == "ambiguous") == unsure


@recorded
@EACH
def test_program_graph_replaces_calls_with_operators(case: str) -> None:
    run = opened(case)
    shown = run.parts.executorch.method
    for each in (each for each in truth(case)["delegates"] if each["method"] == shown):
        for at in each["instruction_ids"]:
            own = {"instruction": str(at)}.items()
            attrs = enumerate(run.graph.attrs)
            nodes = [n for n, told in attrs if own <= told.items() and "delegate_node" in told]
            types = [run.graph.func_names[node] for node in nodes]
            assert types == [node["type"] for node in each["nodes"]]
            place = {node: number for number, node in enumerate(nodes)}
            ends = run.graph.edge_source.tolist(), run.graph.edge_target.tolist()
            edges = {(a, b) for a, b in zip(*ends, strict=True) if {a, b} <= place.keys()}
            assert {(place[a], place[b]) for a, b in edges} == _links(each["graph"])
    assert not run.check().by_rule("program-uncertain")


def _links(graph: dict[str, Any]) -> set[tuple[int, int]]:
    made = {}
    reads: list[tuple[int, int]] = []
    for number, node in enumerate(graph["xnodes"]):
        kind, fields = node["xnode_union_type"], node["xnode_union"]
        count = int(kind[-1]) if "Concatenate" in kind else 9
        for name, value in fields.items():
            if name.startswith("output") and name.endswith("id"):
                made[value] = number
            elif name.endswith("id") and not (name[5:6].isdigit() and int(name[5:6]) > count):
                reads.append((value, number))
    return {(made[value], number) for value, number in reads if value in made}


@recorded
@EACH
def test_constant_keys_are_hashes_of_their_bytes(case: str) -> None:
    run, found = opened(case), 0
    for call in run.delegate_calls():
        for tensor in (call.run.tensors or {}).values():
            attrs = call.graph.attrs[tensor.node]
            digest = hashlib.sha256(tensor.record.raw().tobytes()).hexdigest()
            assert attrs["named data"].removeprefix("scale_") == digest
            found += 1
    keys = [
        each["named_key"]
        for delegate in truth(case)["delegates"]
        for each in delegate["graph"].get("constant_data", ())
        if each["named_key"] and not each["named_key"].startswith("scale_")
    ]
    assert bool(found) == bool(keys)


def gelu(found: Any) -> Any:
    return found * np.array([[0.5 * (1 + erf(x / sqrt(2))) for x in row] for row in found])


@recorded
def test_delegate_weights_reproduce_program_output() -> None:
    (call,) = opened("mlp").delegate_calls()
    tensors, values = call.run.tensors, np.load(FOLDER / "mlp" / "io.npz")
    found = values["run0.in0"]
    for node in call.graph.nodes:
        operands = [tensors.get((edge.node, 0)) for edge in node.inputs]
        weights = [each.numpy() for each in operands if each is not None]
        match node.func_name:
            case "FullyConnected":
                found = found @ weights[0].T + weights[1]
                if "fused activation" in node.attrs:
                    found = np.maximum(found, 0)
            case "Gelu":
                found = gelu(found)
            case "Softmax":
                found = np.exp(found - found.max(-1, keepdims=True))
                found /= found.sum(-1, keepdims=True)
    assert np.allclose(found, values["run0.out0"], atol=1e-5)


@recorded
@EACH
def test_dump_of_another_program_has_no_exact_matches(case: str) -> None:
    other = CASES[(CASES.index(case) + 1) % len(CASES)]
    run = tvmdbg.open(FOLDER / case / "model.pte", FOLDER / other / "etdump.etdp")
    own = [call["names"] for call in truth(case)["calls"]]
    found = run.delegate_calls()
    for call in found:
        names = [event.name for event in call.events]
        if names not in own:
            assert not [event for event in call.events if event.match == "exact"]
    if not any(event.match in ("exact", "order") for call in found for event in call.events):
        assert run.check().by_rule("executorch-disagree")


@recorded
def test_files_of_another_model_are_reported_and_give_no_nodes() -> None:
    own = [FOLDER / "mlp" / name for name in ("model.pte", "etdump.etdp")]
    run = tvmdbg.open(*own, FOLDER / "attention" / "etrecord.bin")
    (issue,) = run.check().by_rule("executorch-disagree")
    assert "ETRecord and program are not of the same export" in str(issue)
    events = run.delegate_calls()[0].events
    assert {(event.match, event.nodes, event.edge_match) for event in events} == {("exact", (), "")}
    assert np.isnan(run.timeline.node_ns).all()
    # A dump of fewer events than the program has operators.
    dump = FOLDER / "linear_dq8_single" / "etdump.etdp"
    run = tvmdbg.open(FOLDER / "qkv_dq8" / "model.pte", dump)
    (issue,) = run.check().by_rule("executorch-disagree")
    assert "do not fit the program's operators" in issue.message
    events = [event for call in run.delegate_calls() for event in call.events]
    assert not [event for event in events if event.match == "exact"]


@recorded
@pytest.mark.parametrize("method", ["forward", "encode"])
def test_executed_method_is_identified_from_events(method: str) -> None:
    run = opened("two_methods", method=method)
    calls = run.delegate_calls()
    assert [call.method for call in calls] == ["encode", "encode", "forward"]
    for call in calls:
        assert all(bool(event.nodes) == (call.method == method) for event in call.events)
    own = [call.duration_ns for call in calls if call.method == method]
    timed = {node for call in calls for event in call.events for node in event.nodes}
    total = sum(run.timeline.node_ns[node] for node in timed)
    assert 0 <= total < np.mean(own)


@recorded
@BOTH
def test_inspector_table_is_matched_by_order(tmp_path: Path, record: bool) -> None:
    told, table = truth("attention"), tmp_path / "table.txt"
    with table.open("w", encoding="utf-8") as file:
        opened("attention").inspector.print_data_tabular(file)
    files = [FOLDER / "attention" / "model.pte", table]
    run = tvmdbg.open(*files, *([FOLDER / "attention" / "etrecord.bin"] if record else []))
    for call, expected in zip(run.delegate_calls(), told["calls"], strict=True):
        assert [list(event.delegate_nodes) for event in call.events] == expected["xnodes"]
        assert {event.match for event in call.events} == {"order"}
    assert "holds a table of ExecuTorch's Inspector" in run.provenance.evidence[0]


@recorded
def test_a_delegate_without_a_dump_has_its_graph() -> None:
    (call,) = tvmdbg.open(FOLDER / "residual" / "model.pte").delegate_calls()
    assert (call.execution, len(call.events)) == (-1, 0)
    assert call.graph.to_networkx().number_of_nodes() == call.graph.num_nodes
    assert "XNNPACK graph" in repr(call)


def test_methods_with_the_same_operators_are_ambiguous(tmp_path: Path) -> None:
    """The dump does not name the method: nobody knows which of them ran."""
    two = write(tmp_path / "two", 1, nodes=3, executions=2, methods=("encode", "forward"))
    files = sorted(two.iterdir())
    run = tvmdbg.open(*files)
    for call in run.delegate_calls():
        assert (call.method, call.graph) == ("", None)
        for at, event in enumerate(call.events):
            assert (event.match, event.delegate_nodes, event.nodes) == ("ambiguous", (), ())
            assert event.candidates == (at,)
        assert "Abs_1 of 'encode' or Abs_1 of 'forward'" in call.events[1].reason
    assert not np.isfinite(run.timeline.node_ns).any()
    chosen = tvmdbg.open(*files, method="encode").delegate_calls()
    assert {event.match for call in chosen for event in call.events} == {"exact"}
    assert {call.method for call in chosen} == {"encode"}


def test_shared_delegate_is_opened_only_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of calls of one payload would be a graph of any size."""
    monkeypatch.setattr(families, "_FEW_NODES", 0)
    files = sorted(write(tmp_path / "many", 1, nodes=100, executions=1, repeats=200).iterdir())
    run = tvmdbg.open(*files)
    assert run.graph.num_nodes < 40 * 100
    (issue,) = run.check().by_rule("delegates-shared")
    assert "operators of delegates" in issue.message
    assert len(run.delegate_calls()) == 1


def test_number_of_event_list_alignments_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(families, "_FEW_NODES", 0)
    monkeypatch.setattr(families, "_MOST_LISTS", 1)
    compared: list[int] = []
    family = families.family_of("XnnpackBackend")

    def counted(graph: DelegateGraph, names: Sequence[str]) -> Alignment:
        compared.append(len(graph.nodes))
        return family.align(graph, names)

    monkeypatch.setattr(families, "family_of", lambda _: dataclasses.replace(family, align=counted))
    files = sorted(write(tmp_path / "lists", 1, nodes=100, executions=50, another=True).iterdir())
    calls = tvmdbg.open(*files).delegate_calls()
    assert len(calls) == 50
    assert len(compared) < 50
    assert calls[-1].events[0].reason == "too many different lists of events to compare"


@recorded
def test_four_bit_weights_reproduce_program_output() -> None:
    """Stored values are 8 more than the weights over their scale, low bits first."""
    run = opened("linear_dq4_channel")
    files = run.parts.executorch
    where = families.ConstantBytes(files.program, files.program_source, files.named_data)
    values = np.load(FOLDER / "linear_dq4_channel" / "io.npz")
    found = values["run0.in0"]
    for node in run.graph.nodes:
        if node.func_name == "Gelu":
            found = gelu(found)
        if node.func_name != "FullyConnected":
            continue
        inside = files.insides.of("forward")[0, int(node.attrs["instruction"])].graph
        operands = [run.tensors[edge.node, 0] for edge in node.inputs if edge in run.tensors]
        weights, bias = (each.numpy() for each in operands)
        (stored,) = (each for each in inside.values.values() if each.dtype == "qbint4")
        source, span = where.of(inside.constants[stored.quantization["scale_buffer_idx"]])
        scales = np.frombuffer(source.read(*span), ml_dtypes.bfloat16).astype(np.float32)
        found = found @ ((weights.astype(np.float32) - 8) * scales[:, None]).T + bias
    # Inputs are quantized to 8 bits at run time.
    np.testing.assert_allclose(found, values["run0.out0"], atol=0.02)
