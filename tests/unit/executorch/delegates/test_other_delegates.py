"""Runs of delegates other than XNNPACK, made by hand: Vulkan's, Core ML's, and closed ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.formats.executorch.etrecord_files import members, zipped
from tests.formats.executorch.vulkan_files import (
    Event,
    Runtime,
    chain_payload,
    dump_bytes,
    program_bytes,
    recorded,
)
from tvmdbg_widgets.run import DebugRun

pytestmark = pytest.mark.spec_only

OPERATORS = ("aten.relu.default", "aten.view_copy.default", "aten.add.Tensor")


def opened(folder: Path, **files: bytes) -> DebugRun:
    paths = []
    for name, data in files.items():
        path = folder / {"pte": "model.pte", "dump": "etdump.etdp", "record": "etrecord.bin"}[name]
        path.write_bytes(data)
        paths.append(path)
    return tvmdbg.open(*paths)


@pytest.fixture
def vulkan(tmp_path: Path) -> DebugRun:
    """Two delegates with the same operators, the second without ids of nodes before its own."""
    payload = chain_payload(OPERATORS)
    runtime = Runtime()
    calls = [runtime.names(OPERATORS, (2, 0, 1))[0] for _ in range(2)]
    pte = program_bytes(("VulkanBackend", payload), ("VulkanBackend", payload + bytes(16)))
    return opened(tmp_path, pte=pte, dump=recorded(calls))


def test_vulkan_dispatches_map_to_operators_of_opened_calls(vulkan: DebugRun) -> None:
    graph = vulkan.graph
    assert graph is not None
    for call in vulkan.delegate_calls():
        phases, dispatches = call.events[:3], call.events[3:]
        assert {each.reason for each in phases} == {"a phase of the call, of no operator"}
        assert [each.delegate_nodes for each in dispatches] == [(), (0,), (0,), (2,), ()]
        assert [each.match for each in dispatches] == ["none", "exact", "exact", "exact", "none"]
        for each in dispatches[1:4]:
            (node,) = each.nodes
            (index,) = each.delegate_nodes
            assert graph.attrs[node]["delegate_node"] == f"{OPERATORS[index]}_{index}"
            assert graph.attrs[node]["instruction"] == str(call.instruction)
            assert each.parts[0] == (OPERATORS[index], "operator of the delegate's graph")
        assert (
            "aten.relu.default · relu_0_float #1: 70.00 ns, exact, operator 0 of the delegate"
            in repr(dispatches[1])
        )
        assert call.graph is not None
        assert "clock of its own" in repr(call)
    told = [attrs.get("runs as") for attrs in graph.attrs if "delegate_node" in attrs][:3]
    assert told == [
        "aten.relu.default · relu_0_float #1, aten.relu.default · relu_1_float #2",
        "no operator at run time",
        "aten.add.Tensor · add_0_float #3",
    ]


def test_vulkan_dispatches_are_on_a_separate_track_from_phases(vulkan: DebugRun) -> None:
    timeline = vulkan.timeline
    assert timeline is not None
    assert timeline.tracks == ("runtime", "VulkanBackend (its own clock)")
    rows = timeline.to_dataframe()
    phases = rows[rows["name"].str.startswith("ETVK_")]
    assert set(phases["track"]) == {"runtime"}
    dispatches = rows[rows["track"] != "runtime"]
    assert "staging · nchw_to_image_texture3d_float #0" in set(dispatches["name"])
    assert not rows["name"].str.contains("{", regex=False).any()
    # A call's own time is that of its clock, and nothing is taken off it.
    calls = rows[rows["name"] == "DELEGATE_CALL"]
    assert list(calls["duration_ns"]) == [8_900, 8_900]
    assert "outside its operators" not in repr(vulkan.table())
    assert "inserted by lowering" not in repr(vulkan.table())


def test_slice_facts_contain_parts_of_the_event_name(vulkan: DebugRun) -> None:
    timeline = vulkan.timeline
    assert timeline is not None
    about = timeline.slice_about
    assert about is not None
    names = list(timeline.slice_names)
    text = about[names.index("aten.add.Tensor · add_0_float #3")]
    facts = dict(line.split("\t") for line in text.split("\n"))
    assert facts["add_0_float"] == "shader"
    assert facts["arguments"] == "Float [2, 3]"
    assert "delegate_node_id" in facts["identifier"]
    assert facts["match"] == "exact"


def test_a_delegate_of_vulkan_alone(vulkan: DebugRun) -> None:
    run = vulkan.delegate_calls()[1].run
    assert run.timeline is not None
    assert ": Vulkan graph, " in run.provenance.evidence[0]


COST = {
    "preferredComputeUnit": "NE",
    "supportedComputeUnits": ["NE", "CPU"],
    "outputNames": ["var_12"],
    "operatorName": "ios17.conv",
    "estimatedCost": 0.25,
}


@pytest.fixture
def coreml(tmp_path: Path) -> DebugRun:
    """The calls of a demo backend, told as Core ML's."""
    case = "06b_demo_manual_ids"
    record = dict(members(case))
    told: dict[str, Any] = {"name": "CoreMLBackend", "delegate_map": {"%12:conv": [2, 3]}}
    record["delegate_map"] = json.dumps({"forward": {"2": told}}).encode()
    metadata = json.dumps(COST).encode()
    events = [
        Event("Method::execute", 0, 1000, "", -1, -1),
        Event("", 200, 250, "%12:conv", 2, 0, metadata),
        Event("", 250, 300, "var_13:relu", 2, 0, b'{"a": ' + b"[" * 9_000),
        Event("DELEGATE_CALL", 100, 600, "", 2),
    ]
    assert case_dir(case).exists()
    return opened(tmp_path, record=zipped(record), dump=dump_bytes(events))


def test_symbols_of_core_ml_match_exactly_or_not_at_all(coreml: DebugRun) -> None:
    (call,) = coreml.delegate_calls()
    known, placeholder = call.events
    assert (known.name, known.match, len(known.nodes)) == ("%12:conv", "exact", 2)
    assert (placeholder.match, placeholder.nodes) == ("none", ())
    assert placeholder.reason == "the delegate map of the ETRecord does not have its identifier"


def test_core_ml_times_are_reported_once_as_estimated(coreml: DebugRun) -> None:
    (issue,) = [each for each in coreml.check() if each.rule == "times-estimated"]
    assert issue.message.startswith("times of events of CoreMLBackend are estimated: ")


def test_json_metadata_is_shown_by_field(coreml: DebugRun) -> None:
    timeline = coreml.timeline
    assert timeline is not None
    assert timeline.slice_about is not None
    texts = dict(zip(timeline.slice_names, timeline.slice_about, strict=True))
    facts = dict(line.split("\t") for line in texts["%12:conv"].split("\n"))
    told = {
        "preferred compute unit": "NE",
        "supported compute units": "NE, CPU",
        "operator name": "ios17.conv",
        "estimated cost": "0.25",
    }
    assert {name: facts[f"metadata: {name}"] for name in told} == told
    assert "metadata\t{" in texts["var_13:relu"]


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
    assert run.graph is not None
    told = {attrs["backend"]: attrs for attrs in run.graph.attrs if "backend" in attrs}
    for at, (backend, _, text) in enumerate(CLOSED):
        assert told[backend]["payload"] == text
        assert told[backend]["compile spec soc"] == "sm8650"
        said = f"delegate {at}, {backend}: {text}; compiled with soc = sm8650"
        assert said in run.provenance.evidence
