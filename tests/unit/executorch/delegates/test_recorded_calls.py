"""What calls of delegates took, against the times that flatc reads of the dumps."""

import gc
import pickle
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import answers, case_dir
from tests.formats.executorch.xnnpack_truth import FOLDER, recorded
from tests.unit.executorch.dumps import Logged, dump_of
from tvmdbg_widgets.analysis.view_columns import graph_columns
from tvmdbg_widgets.model.executorch.etdump import DelegateCalls, rounding_ns
from tvmdbg_widgets.widgets.run_model import model_of

QUANTIZED = case_dir("08_conv_xnnpack_quant")
CASES = ("03b_mixed_xnnpack", "03d_xnnpack_two_outputs", "06a_demo_generated_ids", QUANTIZED.name)


def residual() -> Any:
    return tvmdbg.open(FOLDER / "residual" / "model.pte", FOLDER / "residual" / "etdump.etdp")


def took(event: dict[str, Any]) -> int:
    return int(event["end_time"] - event["start_time"])


@pytest.mark.parametrize("name", CASES)
def test_events_and_gaps_add_up_to_the_call(name: str) -> None:
    calls = tvmdbg.open(case_dir(name)).delegate_calls()
    (execute,) = answers(name)["etdump_raw_flatc_json"]["run_data"][1:]
    events = [each["profile_event"] for each in execute["events"] if each.get("profile_event")]
    told = [each for each in events if each.get("name") == "DELEGATE_CALL"]
    for call, expected in zip(calls, told, strict=True):
        own = call.instruction, call.duration_ns
        assert own == (expected["instruction_id"], took(expected))
        inner = [
            each
            for each in events
            if each["instruction_id"] == call.instruction
            and (each["delegate_debug_id_int"] != -1 or each.get("delegate_debug_id_str"))
        ]
        # These delegates log one event after the other.
        assert (len(call.events), call.inside_ns) == (len(inner), sum(map(took, inner)))
        assert call.inside_ns + sum(length for _, length in call.gaps) == call.duration_ns


def test_call_without_graph_is_not_a_run() -> None:
    calls = tvmdbg.open(QUANTIZED).delegate_calls()
    assert list(calls.to_dataframe()["backend"]) == ["XnnpackBackend"] * 2
    assert "9 events that cover 68.8 %" in repr(calls)
    assert [call.title for call in calls] == ["XNNPACK call 1 of 2", "XNNPACK call 2 of 2"]
    assert all(
        call.title in line for call, line in zip(calls, repr(calls).split("\n")[1:], strict=True)
    )
    assert calls[0].events[0].reason.endswith("known: the .pte may have one")
    with pytest.raises(TypeError, match=r"not RecordedCall: pass its \.run"):
        tvmdbg.GraphView(calls[0])
    with pytest.raises(ValueError, match=r"no graph of XNNPACK call 1 of 2 .* open the \.pte, too"):
        _ = calls[0].run
    with pytest.raises(ValueError, match="neither an ETDump nor a program"):
        tvmdbg.open(tvmdbg.samples.resnet20_cifar).delegate_calls()


@recorded
def test_a_call_of_the_corpus_opens_as_a_run(tmp_path: Path) -> None:
    run = residual()
    (call,) = run.delegate_calls()
    assert isinstance(call.run, tvmdbg.DebugRun)
    assert call.run is call.run
    assert call.run.timeline.total_ns == call.duration_ns
    assert "#1 Conv2d" in call.run.figure("graph").text
    assert call.run.save_html(tmp_path / "delegate.html").stat().st_size > 10_000
    (again,) = pickle.loads(pickle.dumps(run.delegate_calls()))  # noqa: S301
    assert list(again.run.graph.names) == list(call.graph.names)
    with pytest.raises(ValueError, match="save the run that it is a part of"):
        call.run.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


@recorded
def test_a_graph_alone_is_shown_and_freed(tmp_path: Path) -> None:
    graph = residual().delegate_calls()[0].graph
    view = tvmdbg.GraphView(graph, focus="Conv2d_1")
    assert view._debug_run.graph is graph
    assert "#1 Conv2d" in view.figure().text
    view.save_html(tmp_path / "graph.html")
    view.close()
    gone = weakref.ref(view._debug_run), weakref.ref(model_of(view.shown))
    del view
    gc.collect()
    assert [each() for each in gone] == [None, None]


@recorded
def test_frames_count_matches_and_name_operators() -> None:
    calls = residual().delegate_calls()
    row, events = dict(calls.to_dataframe().iloc[0]), calls.events()
    assert calls[0].to_dataframe().equals(events)
    told = {"method": "forward", "instruction": 0, "operators": 6, "events": 7, "exact": 7}
    assert {name: row[name] for name in (*told, "order", "none")} == told | {"order": 0, "none": 0}
    assert row["payload"].startswith("XNNPACK graph")
    assert list(events["operators"])[:2] == [("StaticTranspose_0",), ("Conv2d_1",)]
    assert set(events["match"]) == {"exact"}


# Times that XNNPACK counts in whole microseconds: 0 is less than one ------------------------------

ADD, CLAMP = "Add (ND) #1", "Clamp (NC) #1"
HERE, ELSEWHERE = "XnnpackBackend", "CoreMLBackend"


@pytest.mark.parametrize(
    ("inner", "backend", "expected"),
    [
        ([(ADD, 100, 2100), (CLAMP, 2100, 2100)], HERE, 1000),
        ([(ADD, 100, 2100), (CLAMP, 2100, 2100)], "", 1000),
        ([("any", 100, 2100)], HERE, 1000),
        ([("any", 100, 2100)], "", 0),
        ([(ADD, 100, 2100)], ELSEWHERE, 0),
        ([(ADD, 100, 2101), (CLAMP, 2101, 2101)], HERE, 0),
        ([(ADD, 2100, 100)], HERE, 0),
        ([(7, 100, 2100)], "", 0),
        ([], HERE, 0),
    ],
)
def test_rounding_is_detected_from_event_times_and_backend(
    inner: list[tuple[str | int, int, int]], backend: str, expected: float
) -> None:
    events = [Logged("", start, stop, 3, identifier=name) for name, start, stop in inner]
    dump = dump_of([*events, Logged("DELEGATE_CALL", 100, 5_700, 3)])
    backends = {(0, 3): backend} if backend else {}
    assert rounding_ns(dump, DelegateCalls.of(dump), backends) == expected


def test_zero_durations_print_as_less_than_one_microsecond() -> None:
    run: Any = tvmdbg.open(QUANTIZED)
    timeline, calls, short = run.timeline, run.delegate_calls(), "< 1 µs"
    assert timeline.rounding_ns == 1000
    first = int(np.flatnonzero(timeline.slice_duration_ns == 0)[0])
    (row,) = (r for r in run.times("name") if r.label == timeline.slice_names[first])
    assert (row.ns, row.share) == (0, 0)
    shown = [repr(run.times("name")), run.figure("timeline", table_by="name").text]
    events = repr(calls[0].events) + repr(calls[1].events)
    for text in (*shown, repr(row), repr(timeline.slice(first)), events):
        assert short in text
    assert not [text for text in shown if "0 ns" in text.replace("00 ns", "")]
    assert 0 in calls.events()["duration_ns"].tolist()
    assert "rounding_ns" not in {*calls.events(), *run.table().to_dataframe()}
    for line, expected in ((timeline, [1000]), (replace(timeline, rounding_ns=0.0), [0])):
        assert graph_columns(run.graph, line)["timeRounding"].tolist() == expected
