"""Runs of delegates other than XNNPACK, made by hand: Vulkan's, Core ML's, and closed ones."""

import json
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.formats.executorch.etrecord_files import members, zipped
from tests.formats.executorch.vulkan_files import (
    Event,
    Runtime,
    chain_payload,
    dump_bytes,
    program_bytes,
    recorded,
)

pytestmark = pytest.mark.spec_only

RELU, ADD = "aten.relu.default", "aten.add.Tensor"
OPERATORS = (RELU, "aten.view_copy.default", ADD)


def opened(folder: Path, **files: bytes) -> Any:
    paths = []
    for name, data in files.items():
        path = folder / {"pte": "model.pte", "dump": "etdump.etdp", "record": "etrecord.bin"}[name]
        path.write_bytes(data)
        paths.append(path)
    return tvmdbg.open(*paths)


def facts_of(timeline: Any, name: str) -> dict[str, str]:
    text = timeline.slice_about[list(timeline.slice_names).index(name)]
    return dict(line.split("\t") for line in text.split("\n"))


@pytest.fixture
def vulkan(tmp_path: Path) -> Any:
    """Two delegates with the same operators, the second without ids of nodes before its own."""
    payload = chain_payload(OPERATORS)
    runtime = Runtime()
    calls = [runtime.names(OPERATORS, (2, 0, 1))[0] for _ in range(2)]
    pte = program_bytes(("VulkanBackend", payload), ("VulkanBackend", payload + bytes(16)))
    return opened(tmp_path, pte=pte, dump=recorded(calls))


def test_vulkan_dispatches_map_to_operators_of_opened_calls(vulkan: Any) -> None:
    graph = vulkan.graph
    for call in vulkan.delegate_calls():
        phases, dispatches = call.events[:3], call.events[3:]
        assert {each.reason for each in phases} == {"a phase of the call, of no operator"}
        assert [each.delegate_nodes for each in dispatches] == [(), (0,), (0,), (2,), ()]
        assert [each.match for each in dispatches] == ["none", "exact", "exact", "exact", "none"]
        for each in dispatches[1:4]:
            (node,), (index,) = each.nodes, each.delegate_nodes
            own = graph.attrs[node]["delegate_node"], graph.attrs[node]["instruction"]
            assert own == (f"{OPERATORS[index]}_{index}", str(call.instruction))
            assert each.parts[0] == (OPERATORS[index], "operator of the delegate's graph")
        said = f"{RELU} · relu_0_float #1: 70.00 ns, exact, operator 0 of the delegate"
        assert said in repr(dispatches[1])
        assert call.graph is not None
        assert "clock of its own" in repr(call)
    told = [attrs.get("runs as") for attrs in graph.attrs if "delegate_node" in attrs][:3]
    relus = f"{RELU} · relu_0_float #1, {RELU} · relu_1_float #2"
    assert told == [relus, "no operator at run time", f"{ADD} · add_0_float #3"]
    run = vulkan.delegate_calls()[1].run  # a delegate alone
    assert run.timeline is not None
    assert ": Vulkan graph, " in run.provenance.evidence[0]


def test_vulkan_dispatches_are_on_a_separate_track_from_phases(vulkan: Any) -> None:
    timeline = vulkan.timeline
    assert timeline.tracks == ("runtime", "VulkanBackend (its own clock)")
    rows = timeline.to_dataframe()
    assert set(rows[rows["name"].str.startswith("ETVK_")]["track"]) == {"runtime"}
    dispatches = rows[rows["track"] != "runtime"]
    assert "staging · nchw_to_image_texture3d_float #0" in set(dispatches["name"])
    assert not rows["name"].str.contains("{", regex=False).any()
    # A call's own time is that of its clock, and nothing is taken off it.
    calls = rows[rows["name"] == "DELEGATE_CALL"]
    assert list(calls["duration_ns"]) == [8_900, 8_900]
    for text in ("outside its operators", "inserted by lowering"):
        assert text not in repr(vulkan.table())
    facts = facts_of(timeline, f"{ADD} · add_0_float #3")
    told = {"add_0_float": "shader", "arguments": "Float [2, 3]", "match": "exact"}
    assert told.items() <= facts.items()
    assert "delegate_node_id" in facts["identifier"]


COST = {"preferredComputeUnit": "NE", "supportedComputeUnits": ["NE", "CPU"]}
COST |= {"outputNames": ["var_12"], "operatorName": "ios17.conv", "estimatedCost": 0.25}


def test_symbols_and_costs_of_core_ml(tmp_path: Path) -> None:
    """The calls of a demo backend, told as Core ML's."""
    record = dict(members("06b_demo_manual_ids"))
    told: dict[str, Any] = {"name": "CoreMLBackend", "delegate_map": {"%12:conv": [2, 3]}}
    record["delegate_map"] = json.dumps({"forward": {"2": told}}).encode()
    events = [
        Event("Method::execute", 0, 1000, "", -1, -1),
        Event("", 200, 250, "%12:conv", 2, 0, json.dumps(COST).encode()),
        Event("", 250, 300, "var_13:relu", 2, 0, b'{"a": ' + b"[" * 9_000),
        Event("DELEGATE_CALL", 100, 600, "", 2),
    ]
    run = opened(tmp_path, record=zipped(record), dump=dump_bytes(events))
    (call,) = run.delegate_calls()
    known, placeholder = call.events
    # They match exactly or not at all.
    assert (known.name, known.match, len(known.nodes)) == ("%12:conv", "exact", 2)
    assert (placeholder.match, placeholder.nodes) == ("none", ())
    assert placeholder.reason == "the delegate map of the ETRecord does not have its identifier"
    (issue,) = [each for each in run.check() if each.rule == "times-estimated"]
    assert issue.message.startswith("times of events of CoreMLBackend are estimated: ")
    shown = {"preferred compute unit": "NE", "supported compute units": "NE, CPU"}
    shown |= {"operator name": "ios17.conv", "estimated cost": "0.25"}
    facts = facts_of(run.timeline, "%12:conv")
    assert {f"metadata: {name}": value for name, value in shown.items()}.items() <= facts.items()
    assert facts_of(run.timeline, "var_13:relu")["metadata"].startswith("{")


CLOSED = [
    ("QnnBackend", b"\xcd\xab\x78\x56", "Qualcomm QNN context binary (closed), 4 bytes"),
    ("NeutronBackend", b"1234", "NXP Neutron program, 4 bytes"),
    ("EnnBackend", b"12", "Samsung ENN model (closed), 2 bytes"),
    ("SomebodysBackend", b"12", "unknown payload, 2 bytes, first 31 32"),
]


def test_unopened_delegates_show_payload_and_compile_specs(tmp_path: Path) -> None:
    held = [(backend, payload) for backend, payload, _ in CLOSED]
    run = opened(tmp_path, pte=program_bytes(*held, specs={"soc": b"sm8650"}))
    calls = run.delegate_calls()
    assert [each.payload for each in calls] == [text for *_, text in CLOSED]
    assert {each.compile_specs for each in calls} == {(("soc", "sm8650"),)}
    told = {attrs["backend"]: attrs for attrs in run.graph.attrs if "backend" in attrs}
    for at, (backend, _, text) in enumerate(CLOSED):
        own = {"payload": text, "compile spec soc": "sm8650"}
        assert own.items() <= told[backend].items()
        said = f"delegate {at}, {backend}: {text}; compiled with soc = sm8650"
        assert said in run.provenance.evidence
