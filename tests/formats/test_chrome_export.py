"""What is written as a Chrome trace is read back equal, and nests on every thread."""

import json
import math
import time
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tvmdbg_widgets.export.chrome_trace import microseconds, send_chrome_trace, write_chrome_trace
from tvmdbg_widgets.formats.decimals import DecimalText, nanoseconds
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.timeline.builders import from_events
from tvmdbg_widgets.model.timeline.node_sets import Counters, FlowEnds, TraceExtras
from tvmdbg_widgets.model.timeline.timeline import Timeline

Document = dict[str, Any]


class _Sink:
    """A file that keeps what is written."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.parts.append(data)
        return len(data)


def written(timeline: Timeline) -> bytes:
    sink = _Sink()
    send_chrome_trace(timeline, None, sink, title="t")  # type: ignore[arg-type]
    return b"".join(sink.parts)


def read(data: bytes) -> Timeline:
    found = tvmdbg.open(data).timeline
    assert found is not None
    return found


NAMES = ["conv", 'a"b\\', "ü\n", "\u202e", ""]
TIMES = st.integers(0, 5000) | st.floats(1e-9, 5000)
SLICES = st.lists(
    st.tuples(TIMES, st.just(0) | TIMES, st.integers(0, 3), st.sampled_from(NAMES)), max_size=12
)
VALUES = st.integers(-5, 5).map(float) | st.floats(allow_nan=False, allow_infinity=False)
SERIES = st.lists(
    st.tuples(
        st.sampled_from(["mem", "fps"]),
        st.sampled_from(["used", "free"]),
        st.sampled_from(["gpu", "elsewhere"]),
        st.lists(st.tuples(st.integers(0, 5000), VALUES), min_size=1, max_size=4),
    ),
    unique_by=lambda each: each[:3],
    max_size=4,
)
FLOWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from("stf"),
        st.integers(0, 6000),
        st.integers(-1, 3),
        st.booleans(),
    ),
    max_size=6,
)


def made(slices: list[Any], series: list[Any], flows: list[Any], origin: int) -> Timeline:
    """A timeline of four tracks of two devices, as whatever wrote it left it."""
    order = sorted(slices, key=lambda each: (each[0], -each[1]))
    flows = sorted(flows, key=lambda each: each[2])
    counts = [len(values) for *_, values in series]
    values = [pair for *_, own in series for pair in sorted(own, key=lambda each: each[0])]
    extras = TraceExtras(
        Counters(
            tuple(name for name, *_ in series),
            tuple(key for _, key, *_ in series),
            tuple(device for _, _, device, _ in series),
            np.cumsum([0, *counts]),
            np.array([ns for ns, _ in values], np.float64),
            np.array([value for _, value in values], np.float64),
        ),
        FlowEnds(
            np.array([flow for flow, *_ in flows], np.int32),
            np.array([ord(phase) for _, phase, *_ in flows], np.uint8),
            np.array([ns for _, _, ns, *_ in flows], np.float64),
            np.array([track for *_, track, _ in flows], np.int32),
            np.array([around for *_, around in flows], np.bool_),
            StringColumn.from_strings(f"flow {flow}" for flow, *_ in flows),
        ),
        {},
    )
    timeline = from_events(
        StringColumn.from_strings(name for *_, name in order),
        np.array([start for start, *_ in order], np.float64),
        np.array([length for _, length, *_ in order], np.float64),
        np.array([track for _, _, track, _ in order], np.int32),
        ("gpu a", "cpu", "gpu b", "cpu again"),
        graph=None,
        source="t",
        extras=extras,
    )
    return replace(
        timeline,
        origin_ns=origin,
        track_run=np.array([0, 0, 0, 1], np.int32),
        track_device=("gpu", "cpu", "gpu", "cpu"),
        track_thread=("a", "", "b", ""),
    )


def facts(timeline: Timeline) -> list[tuple[Any, ...]]:
    """All slices, with the moment they start at as an exact number."""
    whole = [Decimal(start) + timeline.origin_ns for start in timeline.slice_start_ns.tolist()]
    lengths = timeline.slice_duration_ns.tolist()
    tracks = timeline.slice_track.tolist()
    return sorted(zip(timeline.slice_names, whole, lengths, tracks, strict=True))


def counters(timeline: Timeline) -> dict[tuple[str, ...], list[tuple[Decimal, float]]]:
    given = timeline.extras.counters
    found = {}
    for k in range(len(given)):
        own = slice(given.offsets[k], given.offsets[k + 1])
        ns = [Decimal(each) + timeline.origin_ns for each in given.ns[own].tolist()]
        key = given.names[k], given.series[k], given.devices[k]
        found[key] = list(zip(ns, given.values[own].tolist(), strict=True))
    return found


def arrows(timeline: Timeline) -> list[tuple[Any, ...]]:
    """Arrows by what they join, as slices of equal times may be numbered otherwise."""
    told = list(zip(timeline.slice_names, timeline.slice_duration_ns.tolist(), strict=True))
    of = timeline.slice_track.tolist()
    given = timeline.flows
    ends = zip(given.flow_from.tolist(), given.flow_to.tolist(), strict=True)
    return sorted(
        (name, told[a], of[a], told[b], of[b])
        for name, (a, b) in zip(given.names, ends, strict=True)
    )


@given(SLICES, SERIES, FLOWS, st.sampled_from([0, -7, 1_722_963_293_847_123_456]))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_written_timeline_is_read_back(
    slices: list[Any], series: list[Any], flows: list[Any], origin: int
) -> None:
    timeline = made(slices, series, flows, origin)
    again = read(written(timeline))
    shift = again.origin_ns - timeline.origin_ns
    whole = bool((timeline.slice_start_ns == np.rint(timeline.slice_start_ns)).all())
    if whole or not shift:
        assert facts(again) == facts(timeline)
    else:
        for ours, theirs in zip(facts(again), facts(timeline), strict=True):
            assert (ours[0], ours[2:]) == (theirs[0], theirs[2:])
            assert float(ours[1] - theirs[1]) == pytest.approx(0, abs=1e-9)
    assert again.tracks == timeline.tracks
    assert again.track_device == timeline.track_device
    assert again.track_thread == timeline.track_thread
    assert again.track_run.tolist() == timeline.track_run.tolist()
    assert counters(again) == counters(timeline)
    assert again.flows.unjoined == timeline.flows.unjoined
    if whole:
        assert arrows(again) == arrows(timeline)
    assert not again.issues


def perfetto_ns(value: float | str) -> int:
    """Whole nanoseconds as Perfetto reads them: of texts the decimal, of numbers the double."""
    return math.floor(Decimal(value) * 1000) if isinstance(value, str) else int(value * 1000.0)


@given(SLICES)
def test_slices_of_one_thread_are_nested(slices: list[Any]) -> None:
    """In whole nanoseconds, as Perfetto counts; of equal ones the outer stands first."""
    events = json.loads(written(made(slices, [], [], 0)))["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    threads = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
    assert threads.keys() <= named
    for own in threads.values():
        open_: list[int] = []
        own.sort(key=lambda each: perfetto_ns(each["ts"]))
        for event in own:
            start, length = (perfetto_ns(event[name]) for name in ("ts", "dur"))
            while open_ and open_[-1] <= start:
                open_.pop()
            assert not open_ or start + length <= open_[-1]
            open_.append(start + length)


@given(st.lists(st.floats(1e-9, 2**60) | st.integers(0, 2**53).map(float) | st.floats(1e-9, 9)))
def test_times_are_written_with_every_digit(times: list[float]) -> None:
    texts = microseconds(np.array(times, np.float64))
    values = [json.loads(text, parse_float=DecimalText) for text in texts]
    found = nanoseconds(values)
    rest = np.zeros(len(times)) if found.rest is None else found.rest
    for at, ns in enumerate(times):
        assert float(found.whole[at]) + rest[at] == ns
        assert "e" not in texts[at].lower()
        assert perfetto_ns(json.loads(texts[at])) == found.whole[at]


def test_slices_name_their_nodes_and_synthetic_times_stay_synthetic(
    corpus: Path, tmp_path: Path
) -> None:
    case = corpus / "tvm/resnet20_cifar/tvmdbg"
    run = tvmdbg.open(case)
    path = run.to_chrome_trace(tmp_path / "trace.json")
    document: Document = json.loads(path.read_text())
    nodes = json.loads(next(case.rglob("_tvmdbg_graph_dump.json")).read_text())["nodes"]
    slices = [event for event in document["traceEvents"] if event["ph"] in "Xi"]
    assert len(slices) == len(nodes)
    assert sorted(event["args"]["node"] for event in slices) == list(range(len(nodes)))
    for event in slices:
        assert event["name"] == nodes[event["args"]["node"]]["name"]
        assert event["args"]["trust"] == "by order"
        assert event["args"]["op"] == run.graph.nodes[event["args"]["node"]].op_kind
    (process,) = (e for e in document["traceEvents"] if e["name"] == "process_name")
    assert "synthetic" in process["args"]["name"]
    again = tvmdbg.open(path).timeline
    assert again.synthetic
    assert sorted(again.slice_start_ns) == sorted(run.timeline.slice_start_ns)
    assert sorted(again.slice_duration_ns) == sorted(run.timeline.slice_duration_ns)


def test_slices_that_cannot_be_written_are_counted(tmp_path: Path) -> None:
    timeline = made([(0, 5, 0, "a"), (1, 2, 0, "b")], [], [], 0)
    broken = replace(timeline, slice_start_ns=np.array([0.0, np.nan]))
    path = write_chrome_trace(broken, None, tmp_path / "t.json")
    document: Document = json.loads(path.read_text())
    assert document["otherData"]["tvmdbg"]["slices_left_out"] == 1
    assert [event["name"] for event in document["traceEvents"] if event["ph"] == "X"] == ["a"]
    with pytest.raises(ValueError, match=r"must end in \.json"):
        write_chrome_trace(timeline, None, tmp_path / "t.txt")
    with pytest.raises(ValueError, match="trace"):
        tvmdbg.open(b'{"nodes":[],"arg_nodes":[],"heads":[]}').to_chrome_trace("x.json")
    assert not (tmp_path / "t.txt").exists()


@pytest.mark.slow
def test_100000_slices_are_exported_quickly(tmp_path: Path) -> None:
    count = 100_000
    start = np.arange(count) * 10.0
    timeline = from_events(
        StringColumn(("a", "b"), np.arange(count) % 2),
        start,
        np.full(count, 14.0),
        np.zeros(count, np.int32),
        ("t",),
        graph=None,
        source="t",
    )
    started = time.process_time()
    path = write_chrome_trace(timeline, None, tmp_path / "t.json")
    assert time.process_time() - started < 10
    again = tvmdbg.open(path).timeline
    assert again.slice_start_ns.tolist() == start.tolist()
    assert again.tracks == ("t",)
    assert len(again.rows) == 2


def test_flows_declared_by_slices_survive_export(tmp_path: Path) -> None:
    def slice_(name: str, ts: float, dur: float, **more: object) -> dict[str, object]:
        return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1, **more}

    events = [
        slice_("outer", 0, 5, bind_id="0x2", flow_out=True),
        slice_("inner", 0, 5),
        slice_("open", 7, 1, ph="B", bind_id="0x2", flow_in=True, flow_out=True),
        slice_("end", 9, 1, bind_id="0x2", flow_in=True),
    ]
    run = tvmdbg.open(json.dumps(events).encode())
    path = run.to_chrome_trace(tmp_path / "t.json")
    again = tvmdbg.open(path).timeline
    assert len(run.timeline.flows) == len(again.flows) == 2
    for name in ("flow_from", "flow_to"):
        assert np.array_equal(getattr(again.flows, name), getattr(run.timeline.flows, name))
    assert list(again.slice_names) == list(run.timeline.slice_names)


def test_reopened_trace_has_the_same_totals(tmp_path: Path) -> None:
    run = tvmdbg.open(case_dir("05_multirun"))
    again = tvmdbg.open(run.to_chrome_trace(tmp_path / "trace.json"))
    assert again.timeline.executions == run.timeline.executions == 10
    assert again.timeline.total_ns == pytest.approx(run.timeline.total_ns)
    by_name = {row.key: row.share for row in run.times("name")}
    assert {row.key: row.share for row in again.times("name")} == pytest.approx(
        by_name, nan_ok=True
    )
    assert np.isnan(by_name["Method::init"])

    step = {"ph": "X", "pid": 1, "tid": 1, "ts": 0}
    events = [
        step | {"name": "ProfilerStep#3", "cat": "user_annotation", "dur": 90},
        step | {"name": "gemm", "dur": 10},
    ]
    torch = tvmdbg.open(json.dumps(events).encode())
    again = tvmdbg.open(torch.to_chrome_trace(tmp_path / "torch.json"))
    assert [row.share for row in again.top(5)] == [1.0]


@pytest.mark.parametrize(
    "said", [{"roles": 3, "executions": "x", "whole": 7}, {"roles": {"loading": [1, "a"]}}]
)
def test_malformed_metadata_of_an_exported_trace_is_ignored(said: Document) -> None:
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "name": name, "dur": 5} for name in "ab"]
    document = {"traceEvents": events, "otherData": {"tvmdbg": said}}
    run = tvmdbg.open(json.dumps(document).encode())
    assert len(run.table()) == 2
