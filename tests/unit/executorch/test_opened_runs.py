"""ExecuTorch's files opened as one run, against what torch and the Inspector said of them."""

import re
import shutil
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, FOLDER, answers, case_dir
from tests.formats.damages import damages
from tests.formats.executorch.case_files import arrays_of
from tvmdbg_widgets import DebugRun, FormatError
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of
from tvmdbg_widgets.analysis.timeline.repeat_matrix import repeat_matrix, why_no_repeats
from tvmdbg_widgets.analysis.work import work_of
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.executorch import event_nodes
from tvmdbg_widgets.model.executorch.event_nodes import BY_ORDER, EXACT, HOW
from tvmdbg_widgets.model.graph.groups import GroupSource

FILES = ("etdump.etdp", "etrecord.bin", "debug_buffer.bin")
WHOLE = tuple(
    name
    for name in CASES
    if (case_dir(name) / "etrecord.bin").exists()
    and name not in {"09n_no_identifier", "17a_half_debug"}
)
WITH_VALUES = tuple(name for name in WHOLE if (case_dir(name) / "debug_buffer.bin").exists())
DEMO, MANUAL = "06a_demo_generated_ids", "06b_demo_manual_ids"
MLP, MIXED, LOOKUP = "01_mlp_portable", "03b_mixed_xnnpack", "09j_delegate_map_lookup"


@cache
def opened(name: str) -> Any:
    paths = [case_dir(name) / file for file in FILES]
    return tvmdbg.open([path for path in paths if path.exists()])


def files_of(name: str, *files: str) -> list[Path]:
    return [case_dir(name) / file for file in files or FILES]


def blocks_of(name: str) -> Any:
    return answers(name)["inspector"].get("blocks", [])


@pytest.mark.parametrize("name", WITH_VALUES)
def test_node_tensors_match_torch(name: str) -> None:
    run, checked = opened(name), 0
    for row in answers(name)["inspector"].get("numeric_gap_edge_MSE", {}).get("rows", ()):
        value = row["aot_intermediate_output"]
        if len(row["aot_debug_handle"]) != 1 or not isinstance(value, dict) or "npz" not in value:
            continue
        wanted = str(row["aot_debug_handle"][0])
        # torch's value of a handle is that of its last operator.
        node = [n.id for n in run.graph.nodes if n.attrs.get("debug_handle") == wanted][-1]
        expected = arrays_of(name)[value["npz"]]
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
    arrays = arrays_of(name, "io.npz")
    eager = [arrays[key] for key in sorted(arrays) if key.startswith("eager")]
    if not eager or len(eager) != len(run.graph.heads):
        pytest.skip("this case has no eager outputs by themselves")
    for (node, output), expected in zip(run.graph.heads.tolist(), eager, strict=True):
        tolerance = 0.05 if "quant" in name else 1e-4
        np.testing.assert_allclose(run.tensors[node, output].numpy(), expected, atol=tolerance)


@pytest.mark.parametrize("name", [DEMO, MANUAL])
def test_operator_with_several_values_shows_its_result(name: str) -> None:
    """The delegate logs sine, cosine and quotient under identifiers of one tangent."""
    run = opened(name)
    (relu,) = (node.id for node in run.graph.nodes if "relu" in node.name)
    (tan,) = (node.id for node in run.graph.nodes if "tan" in node.name)
    np.testing.assert_allclose(run.tensors[tan], np.tan(run.tensors[relu].numpy()), rtol=1e-6)


# Of 09j the Inspector's answers are by parts of identifiers.
@pytest.mark.parametrize("name", sorted({*WHOLE} - {LOOKUP}))
def test_operators_of_events_match_inspector_debug_handles(name: str) -> None:
    run = opened(name)
    joined, dump = run.parts.executorch.event_nodes, run.parts.executorch.dump
    told: dict[Any, list[Any]] = {}
    for block in blocks_of(name):
        for event in block["events"]:
            key, handles = event["delegate_debug_identifier"], event["debug_handles"]
            wanted = {handles} if isinstance(handles, int) else set(handles or ())
            place = block["name"], event["instruction_id"]
            told.setdefault(place, []).append((-1 if key is None else key, event["name"], wanted))
    for at in range(dump.num_events):
        block = dump.run_names[int(np.searchsorted(dump.run_offsets, at, "right")) - 1]
        ids = {int(dump.delegate_id_int[at]), dump.delegate_id_str[at]}
        for key, event, wanted in told.get((block, dump.instruction_id[at]), ()):
            own = {int(run.graph.attrs[node]["debug_handle"]) for node in joined.of(at)}
            if key in ids or (key, event) == (-1, dump.names[at]):
                assert joined.how[at] not in {EXACT, BY_ORDER} or own <= wanted, (event, own)


def test_operators_sharing_a_handle_are_distinguished_by_kernel() -> None:
    run = opened(MLP)
    for slice_ in range(run.timeline.num_slices):
        one = run.timeline.slice(slice_)
        if one.name.startswith("native_call_"):
            (node,) = run.timeline.nodes_of(slice_)
            kernel = one.name.removeprefix("native_call_").partition(".")[0]
            assert f"aten.{kernel}." in run.graph.func_names[node]


def test_times_of_a_call_are_shared_by_its_operators() -> None:
    run = opened(MIXED)
    told = answers(MIXED)["etdump_raw_flatc_json"]["run_data"][1]["events"]
    events = [event["profile_event"] for event in told if event.get("profile_event")]
    times = {(e["instruction_id"], e.get("name")): e["end_time"] - e["start_time"] for e in events}
    line, shared = run.timeline, run.timeline.shared
    assert shared.total_ns == times[0, "DELEGATE_CALL"] + times[2, "DELEGATE_CALL"]
    (cumsum,) = (node.id for node in run.graph.nodes if "cumsum" in node.name)
    assert line.node_ns[cumsum] == times[1, "OPERATOR_CALL"]
    operators = [node.id for node in run.graph.nodes if node.func_name and node.id != cumsum]
    assert np.isnan(line.node_ns[operators]).all()
    assert line.total_ns == times[0, "Method::execute"]
    assert line.account.gap_ns == line.total_ns - shared.total_ns - times[1, "OPERATOR_CALL"]
    first = run.groups.find("XNNPACK call 1 of 2")[0]
    assert shared.within_groups(run.groups)[first.id] == times[0, "DELEGATE_CALL"]


def test_logged_operator_times_are_subtracted_from_delegate_call() -> None:
    run = opened(DEMO)
    ms = {each["name"]: each["perf_data"]["avg"] for each in blocks_of(DEMO)[1]["events"]}
    by_name = {node.name: node.id for node in run.graph.nodes}
    ns = run.timeline.node_ns
    assert ns[by_name["aten_relu_default"]] == pytest.approx(ms["1"] * 1e6, abs=0.01)
    tan = ms["2"] + ms["3"] + ms["4"]
    assert ns[by_name["aten_tan_default"]] == pytest.approx(tan * 1e6, abs=0.01)
    (group,) = run.groups.find("TraceDemo call")
    shared = run.timeline.shared.within_groups(run.groups)[group.id]
    whole = np.nansum(ns[list(group.nodes)]) + shared
    assert whole == pytest.approx(ms["DELEGATE_CALL"] * 1e6, abs=0.01)


def test_operator_repeats_match_executions() -> None:
    run = opened("05_multirun")
    events = [event for block in blocks_of("05_multirun") for event in block["events"]]
    raw = next(each["perf_data"]["raw"] for each in events if each["name"] == "OPERATOR_CALL")
    first = next(node.id for node in run.graph.nodes if node.func_name)
    offsets = run.timeline.repeats_offsets
    repeats = run.timeline.repeats_ns[offsets[first] : offsets[first + 1]]
    np.testing.assert_allclose(repeats, np.array(raw) * 1e6, atol=0.01)
    # One execution has no repeats.
    told = why_no_repeats(opened(MLP).parts)
    assert "execute the method several times with one event tracer" in told


def test_events_record_how_nodes_were_matched() -> None:
    how = {
        name: {HOW[each] for each in opened(name).parts.executorch.event_nodes.how}
        for name in (MIXED, DEMO, LOOKUP)
    }
    assert HOW[event_nodes.WHOLE_INSTRUCTION] in how[MIXED]
    assert how[DEMO] == {HOW[EXACT], HOW[event_nodes.NONE]}
    assert HOW[event_nodes.UNMAPPED] in how[LOOKUP]
    # Identifiers match exactly or not at all.
    found = opened(LOOKUP).parts.executorch
    for at in range(found.dump.num_events):
        identifier = found.dump.delegate_id_str[at] or str(found.dump.delegate_id_int[at])
        told = found.record.delegate_map["forward"].get(str(found.dump.instruction_id[at]))
        if told is not None and identifier != "-1":
            assert (found.event_nodes.how[at] == EXACT) == (identifier in (told.identifiers or ()))


def test_delegates_are_groups() -> None:
    name = "08_conv_xnnpack_quant"
    calls = [group for group in opened(name).groups if group.source is GroupSource.DELEGATE]
    assert [group.name for group in calls] == [
        "XNNPACK call 1 of 2 · 19 operators",
        "XNNPACK call 2 of 2 · 6 operators",
    ]
    told = answers(name)["inspector"]["etrecord"]["debug_handle_map"]["forward"]
    graph = opened(name).graph
    for group, key in zip(calls, ("0", "2"), strict=True):
        operators = [node for node in group.nodes if graph.func_names[node]]
        handles = sorted(int(graph.attrs[node]["debug_handle"]) for node in operators)
        assert handles == sorted(told[key])


def test_executions_have_their_own_values() -> None:
    run = opened("05c_multirun_debug_different_inputs")
    (head,) = run.graph.heads.tolist()
    first, second = (run.execution(number).tensors[tuple(head)].numpy() for number in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(run.tensors[tuple(head)].numpy(), first)
    with pytest.raises(FormatError, match="no execution 2"):
        run.execution(2)


def test_reference_outputs_match_executed_case(tmp_path: Path) -> None:
    run = opened("14_bundled")
    (head,) = map(tuple, run.graph.heads.tolist())
    for number in range(3):
        execution = run.execution(number)
        reference = execution.reference.tensors[head]
        assert reference.trust is Trust.EXACT
        np.testing.assert_allclose(reference, execution.tensors[head], atol=1e-6)
    assert tvmdbg.compare(run.reference, run) is not None
    # A saved run reopens with the same tensors and title.
    run = tvmdbg.open(case_dir("14_bundled"), execution=2)
    again = tvmdbg.open(run.save(tmp_path / "saved"))
    np.testing.assert_array_equal(again.tensors[head], run.tensors[head])
    assert again.title == run.title


@pytest.mark.parametrize("files", [FILES[::-1], FILES[:1], FILES[1:2], (FILES[0], FILES[2])])
def test_any_files_in_any_order(files: tuple[str, ...]) -> None:
    run = tvmdbg.open(*files_of(MANUAL, *files))
    assert (run.graph is not None) == ("etrecord.bin" in files)
    assert (run.timeline is not None) == ("etdump.etdp" in files)
    assert (run.tensors is not None) == (len(files) == 3)


def test_folders_archives_and_buffers(tmp_path: Path) -> None:
    runs = [tvmdbg.open(case_dir(MIXED))]
    archive, folder = tmp_path / "run.zip", tmp_path / "run"
    folder.mkdir()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for each in files_of(MIXED):
            file.write(each, each.name)
            shutil.copy(each, folder)
    runs.append(tvmdbg.open(archive))
    (folder / "other.bin").write_bytes(bytes(4096))
    with pytest.raises(FormatError, match=r"debug_buffer\.bin, .*other\.bin|other\.bin, .*debug"):
        tvmdbg.open(folder)
    dump, record, buffer = (folder / each for each in FILES)
    runs.append(tvmdbg.open(dump, record, debug_buffer=buffer))
    assert [len(run.tensors) for run in runs] == [3, 3, 3]
    run = tvmdbg.open(*files_of(MLP, *FILES[:2]), debug_buffer=bytes(64))
    assert "belongs to another run" in "\n".join(map(str, run.check()))


def test_program_identifies_events_of_dump_without_etrecord_and_has_methods() -> None:
    run = tvmdbg.open(FOLDER / "pte" / f"{MIXED}.pte", case_dir(MIXED) / "etdump.etdp")
    assert run.timeline.total_ns == opened(MIXED).timeline.total_ns
    (first, second) = run.delegate_calls()
    (event,) = first.events
    (node,) = event.nodes
    assert run.graph.func_names[node] == "FullyConnected"
    assert run.timeline.node_ns[node] == event.duration_ns
    assert second.events[0].nodes != event.nodes
    # A method is chosen by name.
    program = FOLDER / "pte" / "zoo_multim.pte"
    with pytest.raises(FormatError, match=r"method="):
        tvmdbg.open(program, method="nothing")
    names = tvmdbg.open(program).program.methods
    graphs = {name: tvmdbg.open(program, method=name).graph for name in names}
    assert len({graph.num_nodes for graph in graphs.values()} | set(names)) > 1
    for option in ({"method": "forward"}, {"execution": 0}):
        with pytest.raises(ValueError, match="is for ExecuTorch files"):
            tvmdbg.open(tvmdbg.samples.resnet20_cifar, **option)


def test_inspector_of_run_links_back_to_run() -> None:
    run = opened(MANUAL)
    assert run.inspector.run is run
    assert [block.name for block in run.inspector.event_blocks] == ["Default", "Execute"]
    with pytest.raises(ValueError, match="no ETDump"):
        _ = tvmdbg.open(tvmdbg.samples.resnet20_cifar).inspector
    with pytest.raises(ValueError, match=r"open the \.pte"):
        _ = run.program


DUMP = case_dir("05_multirun") / "etdump.etdp"
RECORD = DUMP.with_name("etrecord.bin")
DELEGATED = case_dir("03d_xnnpack_two_outputs")


@pytest.mark.parametrize(
    ("ask", "path", "said"),
    [
        (critical_path_of, DUMP, "open(…, 'etrecord.bin') or open(…, 'model.pte')"),
        (critical_path_of, RECORD, "open(…, 'etdump.etdp')"),
        (critical_path_of, DELEGATED, "what delegates ran was timed as a whole"),
        (work_of, DUMP, "open(…, 'etrecord.bin') or open(…, 'model.pte')"),
        (repeat_matrix, RECORD, "open(…, 'etdump.etdp')"),
    ],
)
def test_missing_part_explains_how_to_get_it(ask: Any, path: Path, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        ask(tvmdbg.open(path).parts)


# Broken files ------------------------------------------------------------------------------------

PARTS = {"etdump": FILES[0], "etrecord": FILES[1], "buffer": FILES[2]}
SOUND = {part: (case_dir(DEMO) / name).read_bytes() for part, name in PARTS.items()}
SOUND["program"] = (FOLDER / "pte" / f"{DEMO}.pte").read_bytes()


def use(**changed: bytes) -> None:
    """Open the files of a run and ask what a view asks; only a FormatError may come."""
    files = SOUND | changed
    buffer = files.pop("buffer")
    try:
        run: DebugRun = tvmdbg.open(*files.values(), debug_buffer=buffer)
    except FormatError:
        return
    assert run.summary()
    run.check()
    if run.graph is not None:
        assert len(run.groups.order) == run.graph.num_nodes
    for tensor in (run.tensors or {}).values():
        tensor.numpy()


@pytest.mark.parametrize("part", SOUND)
def test_run_with_one_damaged_file_opens_or_is_rejected(part: str) -> None:
    for _, data in [*damages(SOUND[part])][::8]:
        use(**{part: data})


def test_files_of_different_runs_are_reported() -> None:
    run = tvmdbg.open((case_dir(MLP) / "etdump.etdp").read_bytes(), SOUND["etrecord"])
    assert run.check().by_rule("executorch-disagree")
