"""One accounting of time: every view of a run of ExecuTorch says the same of an operator."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import CASES, case_dir
from tests.unit.executorch.dumps import Logged, dump_of
from tvmdbg_widgets import samples
from tvmdbg_widgets.analysis.opening import highlights
from tvmdbg_widgets.analysis.view_columns import graph_columns
from tvmdbg_widgets.formats.executorch.event_timeline import timeline_of
from tvmdbg_widgets.model.executorch.event_nodes import NONE, EventNodes
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.recorders.etdump_writer import RecordedBlock, RecordedEvent, etdump_bytes
from tvmdbg_widgets.run import DebugRun

EXECUTE = "Method::execute"
XNNPACK = samples.executorch_xnnpack


#: Its list of events is broken.
BROKEN = "17a_half_debug"
REST = "XNNPACK call 1 of 2, outside its operators"
LAYOUT = "layout conversion inserted by lowering (XNNPACK call 1 of 2)"


def _dump(folder: Path) -> Path | None:
    return next((path for path in folder.iterdir() if path.suffix in (".etdp", ".etdump")), None)


def _folders() -> Iterator[Path]:
    """Folders whose ETDump names an execution: the project's, and recorded ones outside of it."""
    folders = [*map(case_dir, CASES), samples.executorch_demo_delegate, XNNPACK]
    if corpus := os.environ.get("TVMDBG_CORPUS"):
        folders += sorted(path for path in Path(corpus, "executorch").iterdir() if path.is_dir())
    for folder in folders:
        dump = _dump(folder)
        if dump and EXECUTE.encode() in dump.read_bytes() and folder.name != BROKEN:
            yield folder


def executions_and_outside_ns(line: Any) -> tuple[float, float]:
    """Sum of all executions, and the part in which no instruction runs, by the slices alone."""
    starts, lengths = line.slice_start_ns, line.slice_duration_ns
    executions = np.flatnonzero(np.array(list(line.slice_names)) == EXECUTE)
    inner = 0.0
    for at in executions:
        inside = np.flatnonzero((line.rows.parent == at) & (line.slice_track == 0))
        assert (starts[inside] >= starts[at]).all()
        assert (starts[inside] + lengths[inside] <= starts[at] + lengths[at]).all()
        inner += float(lengths[inside].sum())
    whole = float(lengths[executions].sum())
    return whole, whole - inner


@pytest.mark.parametrize("alone", [False, True], ids=["together", "dump alone"])
@pytest.mark.parametrize("folder", list(_folders()), ids=lambda path: path.name)
def test_rows_and_gaps_add_up_to_execution_time(folder: Path, alone: bool) -> None:
    run: DebugRun = tvmdbg.open((alone and _dump(folder)) or folder)
    line: Any = run.timeline
    executions, outside = executions_and_outside_ns(line)
    assert line.executions > 0
    shared = 0 if line.shared is None else float(line.shared.repeats_ns.sum())
    assert float(line.repeats_ns.sum()) + shared + outside == pytest.approx(executions, abs=1e-6)
    assert line.account.gap_ns * line.executions == pytest.approx(outside, abs=1e-6)
    assert line.total_ns == pytest.approx(executions / line.executions)
    assert sum(row.share for row in run.table() if not np.isnan(row.share)) == pytest.approx(1)
    for by in ("node", "kind", "name", "device", "callers"):
        sums = run.times(by)
        assert sums.total_ns == pytest.approx(executions)
        assert np.nansum(sums.share) == pytest.approx(1)


def slices(events: list[Logged], backends: dict[tuple[int, int], str] | None = None) -> Any:
    dump = dump_of(events)
    nothing = np.full(len(events), -1, np.int32)
    return timeline_of(
        dump,
        EventNodes(nothing, (), np.full(len(events), NONE, np.uint8), {}, backends or {}),
        None,
    )


def _said(run: DebugRun, what: str) -> set[str]:
    found = set()
    texts = [run.summary(), repr(run.table()), repr(run.timeline.top()), repr(run.times("node"))]
    texts += [run.figure("timeline").text, run.figure("graph", color_by="time").text]
    texts += [text for finding in run.findings() for text in (finding.title, *finding.evidence)]
    for line in (line for text in texts for line in text.splitlines() if what in line):
        words = line.split(what, 1)[1].replace("\u00a0", " ").split()
        at = next((i for i, word in enumerate(words) if word.startswith("%")), None)
        if at:
            found.add(words[at - 1])
    return found


def test_views_agree_on_operator_shares() -> None:
    run = tvmdbg.open(XNNPACK)
    assert (_said(run, LAYOUT), _said(run, REST)) == ({"21.3"}, {"25.6"})
    rows = run.table()
    (rest,) = (row for row in rows if row.name == REST)
    assert (rest.time_ns, round(rest.share, 3)) == (45_821.0, 0.256)
    # What the call took is that and what the delegate logged in it, in whole microseconds.
    (call, _) = run.delegate_calls()
    assert rest.time_ns + call.inside_ns == call.duration_ns == 146_821.0
    assert round(next(row for row in rows if row.node == 33).share, 4) == 0.0887
    (palette,) = (each for each in highlights(run.facts) if each.about == "time")
    assert (palette.label, palette.value) == ("Slowest operators", "38.00 µs, 21.3 %")
    assert palette.name == LAYOUT


def test_call_time_outside_operators_is_no_slowest_operator() -> None:
    run = tvmdbg.open(XNNPACK)
    line = run.timeline
    left = {name for name in line.shared.names if name.endswith("outside its operators")}
    assert len(left) == 2
    assert not {*line.top(None).names, *(row.name for row in run.top(100))} & left
    assert {row.name for row in run.table()} >= left
    (slowest,) = (each for each in run.findings() if each.rule == "slowest-operators")
    said = "".join((slowest.title, *slowest.evidence)).replace("\u00a0", " ")
    assert not any(name in said for name in left)
    part = sum(row.share for row in run.table() if row.name in left)
    assert f"{100 * part:.1f} % of the time is in delegate calls" in said
    alone = tvmdbg.open(XNNPACK / "model.pte", XNNPACK / "etdump.etdp")
    (palette,) = (each for each in highlights(alone.facts) if each.about == "time")
    assert (palette.label, palette.name) == ("Slowest operator", "#2 StaticTranspose")
    # Nor is it in views.
    account = line.account
    assert account.left.any()
    assert not account.operators[account.left].any()
    columns = graph_columns(run.graph, line)
    named = zip(columns["callNames"], columns["callLeft"].astype(bool), strict=True)
    assert all(name.endswith("outside its operators") == each for name, each in named)
    assert "outside its operators" not in run.figure("timeline").text


def test_loading_is_not_an_operator_and_all_executions_count() -> None:
    for run in (tvmdbg.open(XNNPACK), tvmdbg.open(XNNPACK / "etdump.etdp")):
        loading = [row for row in run.table() if row.op_kind == "loading"]
        assert {row.name for row in loading} == {"Method::init", "Program::load_method"}
        assert all(np.isnan(row.share) for row in loading)
        assert not {row.name for row in run.top(100)} & {row.name for row in loading}
        assert run.timeline.account.loading_ns == pytest.approx(327_311.0, abs=100)
        by_kind = {row.key: row for row in run.times("kind")}
        assert np.isnan(by_kind["loading"].share)
    # Shares of a repeated run count all executions.
    run = tvmdbg.open(case_dir("05_multirun"))
    total = run.timeline.repeats_ns.sum()
    row = run.table()[0]
    own = run.timeline.repeats(row.node).sum()
    gap = run.timeline.account.gap_ns * run.timeline.executions
    assert row.share == pytest.approx(own / (total + gap))


def test_what_a_run_logs_while_loading_is_loading_within_it_alone() -> None:
    """Recorded runs load or execute; a table without names of blocks is a run of both."""
    spans = (("Method::init", 0, 10), ("a", 2, 5), ("b", 8, 12), (EXECUTE, 20, 30), ("c", 22, 25))
    events = [Logged(name, start, end, chain=-1) for name, start, end in spans]
    found = slices(events)
    loading = found.slice_role == SliceRole.LOADING
    assert [name for name, own in zip(found.slice_names, loading, strict=True) if own] == [
        "Method::init",
        "a",
    ]
    start = time.process_time()
    loads = [Logged("Method::init", at, at + 1, chain=-1) for at in range(100_000)]
    assert (slices([*loads, events[3]]).slice_role == SliceRole.LOADING).sum() == 100_000
    assert time.process_time() - start < 4


def test_20_000_backends_with_clocks_of_their_own_take_linear_time() -> None:
    count = 20_000
    call = [
        (Logged("", 10**9, 10**9 + 5, at, identifier="x"), Logged("DELEGATE_CALL", at, at, at))
        for at in range(count)
    ]
    start = time.process_time()
    found = slices(
        [event for each in call for event in each], {(0, at): str(at) for at in range(count)}
    )
    assert len(found.tracks) == count + 1
    assert time.process_time() - start < 4


def test_time_comparison_includes_delegate_calls() -> None:
    folder = case_dir("03b_mixed_xnnpack")
    one = tvmdbg.open(folder)
    compared = tvmdbg.compare_times(one, one)
    assert compared.total_a == compared.total_b == one.timeline.total_ns
    calls = [row for row in compared if row.kind == "delegate"]
    labels = [f"XNNPACK call {at} of 2 · 2 operators" for at in (1, 2)]
    assert [row.label for row in calls] == labels
    assert sum(row.ns_a for row in calls) == one.timeline.shared.total_ns
    assert sum(row.ns_a for row in compared) + compared.gap_ns[0] == pytest.approx(compared.total_a)
    assert compared.sentence.startswith("B takes as long as A")


def test_unrelated_models_have_no_speed_up() -> None:
    cases = (
        "01_mlp_portable",
        "04_transformer_portable",
        "02_conv_portable",
        "08_conv_xnnpack_quant",
    )
    mlp, transformer, portable, quantized = (tvmdbg.open(case_dir(name)) for name in cases)
    said = tvmdbg.compare_times(mlp, transformer).sentence
    assert said.startswith("A and B share 2 of 17 operators: they look like different models")
    assert "faster" not in said
    builds = tvmdbg.compare_times(portable, quantized)
    assert builds.sentence.startswith("B is 6.6× faster")
    assert builds.total_b == quantized.timeline.total_ns


def _demo(*events: tuple[str, int, int]) -> DebugRun:
    """Make an execution of 1,000 ns with one call, 300 to 500, in which a delegate logs events."""
    told = [RecordedEvent(0, 2, None, name, start, end, b"") for name, start, end in events]
    told += [RecordedEvent(0, 2, "DELEGATE_CALL", start=300, end=500)]
    told += [RecordedEvent(-1, -1, EXECUTE, start=0, end=1000)]
    dump = etdump_bytes([RecordedBlock("Execute", events=told)])
    return tvmdbg.open(dump, case_dir("06b_demo_manual_ids") / "etrecord.bin")


CHAIN = [("relu_0", 310, 360), ("tan_0::sin", 350, 380), ("tan_0::cos", 370, 400)]


@pytest.mark.parametrize(
    ("events", "took"),
    [
        ([("fused_mul_add_0", 310, 490), ("relu_0", 320, 495)], [180, 5, 15]),
        ([("relu_0", 310, 400), ("relu_0", 320, 380)], [90, 110]),
        ([("relu_0", 450, 600)], [100, 200]),
        (CHAIN, [50, 40, 110]),
    ],
    ids=["overlap", "twice", "outlasts the call", "chain"],
)
def test_events_that_overlap_count_once(events: Any, took: list[float]) -> None:
    run = _demo(*events)
    assert run.timeline.total_ns == 1000
    rows = [row for row in run.table() if row.time_ns == row.time_ns and row.name != EXECUTE]
    assert sorted(row.time_ns for row in rows) == sorted(took)
    assert [row.time_ns / 1000 for row in rows] == pytest.approx([row.share for row in rows])
    assert sum(took) + run.timeline.account.gap_ns == 1000
    (issue,) = (each for each in run.check() if each.rule == "delegate-overlap")
    assert "counts once, to the one that began first" in issue.message
