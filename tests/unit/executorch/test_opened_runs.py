"""ExecuTorch's files opened as one run, against what torch and the Inspector said of them."""

from __future__ import annotations

import shutil
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, FOLDER, answers, case_dir
from tvmdbg_widgets import DebugRun, FormatError
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch.event_nodes import (
    BY_ORDER,
    EXACT,
    HOW,
    NONE,
    UNMAPPED,
    WHOLE_INSTRUCTION,
)
from tvmdbg_widgets.model.graph.groups import GroupSource

FILES = ("etdump.etdp", "etrecord.bin", "debug_buffer.bin")
WHOLE = tuple(
    name
    for name in CASES
    if (case_dir(name) / "etrecord.bin").exists()
    and name not in ("09n_no_identifier", "17a_half_debug")
)
WITH_VALUES = tuple(name for name in WHOLE if (case_dir(name) / "debug_buffer.bin").exists())


@cache
def opened(name: str) -> DebugRun:
    paths = [case_dir(name) / file for file in FILES]
    return tvmdbg.open([path for path in paths if path.exists()])


@cache
def arrays(name: str) -> dict[str, np.ndarray[Any, Any]]:
    with np.load(case_dir(name) / "inspector_tensors.npz") as file:
        return dict(file)


@pytest.mark.parametrize("name", WITH_VALUES)
def test_node_tensors_match_torch(name: str) -> None:
    run = opened(name)
    checked = 0
    for row in answers(name)["inspector"].get("numeric_gap_edge_MSE", {}).get("rows", ()):
        value = row["aot_intermediate_output"]
        if len(row["aot_debug_handle"]) != 1 or not isinstance(value, dict) or "npz" not in value:
            continue
        wanted = str(row["aot_debug_handle"][0])
        # torch's value of a handle is that of its last operator.
        node = [n.id for n in run.graph.nodes if n.attrs.get("debug_handle") == wanted][-1]
        expected = arrays(name)[value["npz"]]
        if (node, 0) in run.tensors and run.tensors[node].shape == expected.shape:
            np.testing.assert_allclose(run.tensors[node].numpy(), expected, atol=2e-5, rtol=1e-4)
            checked += 1
    # The Inspector answered 03d and 04 with an error, 05c not at all, and 08 for delegates alone.
    assert checked or name.startswith(("03d", "04", "05c", "08"))


@pytest.mark.parametrize("name", WITH_VALUES)
def test_outputs_match_torch(name: str) -> None:
    run = opened(name)
    if not (case_dir(name) / "io.npz").exists():
        pytest.skip("this case has no record of what torch returned")
    with np.load(case_dir(name) / "io.npz") as file:
        eager = [file[key] for key in sorted(file) if key.startswith("eager")]
    if not eager or len(eager) != len(run.graph.heads):
        pytest.skip("this case has no eager outputs by themselves")
    for (node, output), expected in zip(run.graph.heads.tolist(), eager, strict=True):
        tensor = run.tensors[node, output]
        tolerance = 0.05 if "quant" in name else 1e-4
        np.testing.assert_allclose(tensor.numpy(), expected, atol=tolerance)


@pytest.mark.parametrize("name", ["06a_demo_generated_ids", "06b_demo_manual_ids"])
def test_operator_with_several_values_shows_its_result(name: str) -> None:
    """The delegate logs sine, cosine and quotient under identifiers of one tangent."""
    run = opened(name)
    (relu,) = (node.id for node in run.graph.nodes if "relu" in node.name)
    (tan,) = (node.id for node in run.graph.nodes if "tan" in node.name)
    np.testing.assert_allclose(run.tensors[tan], np.tan(run.tensors[relu].numpy()), rtol=1e-6)


# Of 09j the Inspector's answers are by parts of identifiers.
@pytest.mark.parametrize("name", sorted({*WHOLE} - {"09j_delegate_map_lookup"}))
def test_operators_of_events_match_inspector_debug_handles(name: str) -> None:
    run = opened(name)
    found = run.parts.executorch
    events = (
        [
            (block["name"], event)
            for block in answers(name)["inspector"]["blocks"]
            for event in block["events"]
        ]
        if "blocks" in answers(name)["inspector"]
        else []
    )
    joined, dump = found.event_nodes, found.dump
    for block, event in events:
        key = event["delegate_debug_identifier"]
        rows = [
            at
            for at in range(dump.num_events)
            if dump.run_names[int(np.searchsorted(dump.run_offsets, at, "right")) - 1] == block
            and dump.instruction_id[at] == event["instruction_id"]
            and (key if key is not None else -1, event["name"])
            in (
                (int(dump.delegate_id_int[at]), event["name"]),
                (dump.delegate_id_str[at], event["name"]),
                (-1, dump.names[at]),
            )
        ]
        handles = event["debug_handles"]
        wanted = {handles} if isinstance(handles, int) else set(handles or ())
        for at in rows:
            if joined.how[at] in (EXACT, BY_ORDER):
                nodes = joined.of(at)
                own = {int(run.graph.attrs[node]["debug_handle"]) for node in nodes}
                assert own <= wanted, (event["name"], own, wanted)


def test_operators_sharing_a_handle_are_distinguished_by_kernel() -> None:
    run = opened("01_mlp_portable")
    for slice_ in range(run.timeline.num_slices):
        one = run.timeline.slice(slice_)
        if one.name.startswith("native_call_"):
            (node,) = run.timeline.nodes_of(slice_)
            kernel = one.name.removeprefix("native_call_").partition(".")[0]
            assert f"aten.{kernel}." in run.graph.func_names[node]


def test_times_of_a_call_are_shared_by_its_operators() -> None:
    run = opened("03b_mixed_xnnpack")
    told = answers("03b_mixed_xnnpack")["etdump_raw_flatc_json"]["run_data"][1]["events"]
    times = {
        (event["profile_event"]["instruction_id"], event["profile_event"].get("name")): event[
            "profile_event"
        ]["end_time"]
        - event["profile_event"]["start_time"]
        for event in told
        if event.get("profile_event")
    }
    shared = run.timeline.shared
    assert shared.total_ns == times[0, "DELEGATE_CALL"] + times[2, "DELEGATE_CALL"]
    (cumsum,) = (node.id for node in run.graph.nodes if "cumsum" in node.name)
    assert run.timeline.node_ns[cumsum] == times[1, "OPERATOR_CALL"]
    operators = [node.id for node in run.graph.nodes if node.func_name and node.id != cumsum]
    assert np.isnan(run.timeline.node_ns[operators]).all()
    whole = times[0, "Method::execute"]
    assert run.timeline.total_ns == whole
    assert run.timeline.account.gap_ns == whole - shared.total_ns - times[1, "OPERATOR_CALL"]
    first = run.groups.find("XNNPACK, instruction 0")[0]
    assert shared.within_groups(run.groups)[first.id] == times[0, "DELEGATE_CALL"]


def test_logged_operator_times_are_subtracted_from_delegate_call() -> None:
    run = opened("06a_demo_generated_ids")
    events = answers("06a_demo_generated_ids")["inspector"]["blocks"][1]["events"]
    ms = {each["name"]: each["perf_data"]["avg"] for each in events}
    by_name = {node.name: node.id for node in run.graph.nodes}
    ns = run.timeline.node_ns
    assert ns[by_name["aten_relu_default"]] == pytest.approx(ms["1"] * 1e6, abs=0.01)
    tan = ms["2"] + ms["3"] + ms["4"]
    assert ns[by_name["aten_tan_default"]] == pytest.approx(tan * 1e6, abs=0.01)
    (group,) = run.groups.find("TraceDemo, instruction 2")
    shared = run.timeline.shared.within_groups(run.groups)[group.id]
    whole = np.nansum(ns[list(group.nodes)]) + shared
    assert whole == pytest.approx(ms["DELEGATE_CALL"] * 1e6, abs=0.01)


def test_operator_repeats_match_executions() -> None:
    run = opened("05_multirun")
    blocks = answers("05_multirun")["inspector"]["blocks"]
    raw = next(
        event["perf_data"]["raw"]
        for block in blocks
        for event in block["events"]
        if event["name"] == "OPERATOR_CALL"
    )
    first = next(node.id for node in run.graph.nodes if node.func_name)
    offsets = run.timeline.repeats_offsets
    repeats = run.timeline.repeats_ns[offsets[first] : offsets[first + 1]]
    np.testing.assert_allclose(repeats, np.array(raw) * 1e6, atol=0.01)


def test_events_record_how_nodes_were_matched() -> None:
    how = {
        name: {HOW[each] for each in opened(name).parts.executorch.event_nodes.how}
        for name in ("03b_mixed_xnnpack", "06a_demo_generated_ids", "09j_delegate_map_lookup")
    }
    assert HOW[WHOLE_INSTRUCTION] in how["03b_mixed_xnnpack"]
    assert how["06a_demo_generated_ids"] == {HOW[EXACT], HOW[NONE]}
    assert HOW[UNMAPPED] in how["09j_delegate_map_lookup"]


def test_identifiers_match_exactly_or_not_at_all() -> None:
    found = opened("09j_delegate_map_lookup").parts.executorch
    for at in range(found.dump.num_events):
        identifier = found.dump.delegate_id_str[at] or str(found.dump.delegate_id_int[at])
        told = found.record.delegate_map["forward"].get(str(found.dump.instruction_id[at]))
        if told is not None and identifier != "-1":
            assert (found.event_nodes.how[at] == EXACT) == (identifier in (told.identifiers or ()))


def test_delegates_are_groups() -> None:
    groups = opened("08_conv_xnnpack_quant").groups
    calls = [group for group in groups if group.source is GroupSource.DELEGATE]
    assert [group.name for group in calls] == [
        "XNNPACK, instruction 0",
        "XNNPACK, instruction 2",
    ]
    told = answers("08_conv_xnnpack_quant")["inspector"]["etrecord"]["debug_handle_map"]["forward"]
    graph = opened("08_conv_xnnpack_quant").graph
    for group, key in zip(calls, ("0", "2"), strict=True):
        operators = [node for node in group.nodes if graph.func_names[node]]
        handles = sorted(int(graph.attrs[node]["debug_handle"]) for node in operators)
        assert handles == sorted(told[key])


def test_executions_have_their_own_values() -> None:
    name = "05c_multirun_debug_different_inputs"
    run = opened(name)
    (head,) = run.graph.heads.tolist()
    first, second = (run.execution(number).tensors[tuple(head)].numpy() for number in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(run.tensors[tuple(head)].numpy(), first)
    with pytest.raises(FormatError, match="no execution 2"):
        run.execution(2)


def test_reference_outputs_match_executed_case() -> None:
    run = opened("14_bundled")
    (head,) = map(tuple, run.graph.heads.tolist())
    for number in range(3):
        execution = run.execution(number)
        reference = execution.reference.tensors[head]
        assert reference.trust is Trust.EXACT
        np.testing.assert_allclose(reference, execution.tensors[head], atol=1e-6)
    assert tvmdbg.compare(run.reference, run) is not None


@pytest.mark.parametrize("files", [FILES[::-1], FILES[:1], FILES[1:2], (FILES[0], FILES[2])])
def test_any_files_in_any_order(files: tuple[str, ...]) -> None:
    run = tvmdbg.open(*(case_dir("06b_demo_manual_ids") / file for file in files))
    assert (run.graph is not None) == ("etrecord.bin" in files)
    assert (run.timeline is not None) == ("etdump.etdp" in files)
    assert (run.tensors is not None) == (len(files) == 3)


def test_a_folder_and_an_archive_of_it(tmp_path: Path) -> None:
    folder = case_dir("03b_mixed_xnnpack")
    assert len(tvmdbg.open(folder).tensors) == 3
    archive = tmp_path / "run.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for each in FILES:
            file.write(folder / each, each)
    assert len(tvmdbg.open(archive).tensors) == 3


def test_ambiguous_buffer_files_are_named(tmp_path: Path) -> None:
    for each in FILES:
        shutil.copy(case_dir("03b_mixed_xnnpack") / each, tmp_path)
    (tmp_path / "other.bin").write_bytes(bytes(4096))
    with pytest.raises(FormatError, match=r"debug_buffer\.bin, .*other\.bin|other\.bin, .*debug"):
        tvmdbg.open(tmp_path)
    run = tvmdbg.open(
        tmp_path / "etdump.etdp",
        tmp_path / "etrecord.bin",
        debug_buffer=tmp_path / "debug_buffer.bin",
    )
    assert len(run.tensors) == 3


def test_debug_buffer_of_another_run_is_reported(tmp_path: Path) -> None:
    short = tmp_path / "short.bin"
    short.write_bytes(bytes(64))
    run = tvmdbg.open(
        case_dir("01_mlp_portable") / "etdump.etdp",
        case_dir("01_mlp_portable") / "etrecord.bin",
        debug_buffer=short,
    )
    assert "belongs to another run" in "\n".join(map(str, run.check()))


def test_program_identifies_events_of_dump_without_etrecord() -> None:
    program = FOLDER / "pte" / "03b_mixed_xnnpack.pte"
    run = tvmdbg.open(program, case_dir("03b_mixed_xnnpack") / "etdump.etdp")
    with_record = opened("03b_mixed_xnnpack").timeline.total_ns
    assert run.timeline.total_ns == with_record
    (first, second) = run.delegate_calls()
    (event,) = first.events
    (node,) = event.nodes
    assert run.graph.func_names[node] == "FullyConnected"
    assert run.timeline.node_ns[node] == event.duration_ns
    assert second.events[0].nodes != event.nodes


def test_events_of_another_program_are_reported() -> None:
    run = tvmdbg.open(
        case_dir("01_mlp_portable") / "etdump.etdp",
        case_dir("10_multi_output_list") / "etrecord.bin",
    )
    assert run.check().by_rule("executorch-disagree")


def test_saved_run_reopens_with_same_tensors_and_title(tmp_path: Path) -> None:
    run = tvmdbg.open(case_dir("14_bundled"), execution=2)
    again = tvmdbg.open(run.save(tmp_path / "saved"))
    (head,) = map(tuple, run.graph.heads.tolist())
    np.testing.assert_array_equal(again.tensors[head], run.tensors[head])
    assert again.title == run.title


def test_a_method_is_chosen_by_name() -> None:
    program = FOLDER / "pte" / "zoo_multim.pte"
    with pytest.raises(FormatError, match=r"method="):
        tvmdbg.open(program, method="nothing")
    names = tvmdbg.open(program).program.methods
    graphs = {name: tvmdbg.open(program, method=name).graph for name in names}
    assert len({graph.num_nodes for graph in graphs.values()} | set(names)) > 1


def test_missing_program_error_suggests_opening_pte() -> None:
    with pytest.raises(ValueError, match=r"open the \.pte"):
        _ = opened("06b_demo_manual_ids").program


def test_inspector_of_run_links_back_to_run() -> None:
    run = opened("06b_demo_manual_ids")
    assert run.inspector.run is run
    assert [block.name for block in run.inspector.event_blocks] == ["Default", "Execute"]
    with pytest.raises(ValueError, match="no ETDump"):
        _ = tvmdbg.open(tvmdbg.samples.resnet20_cifar).inspector
