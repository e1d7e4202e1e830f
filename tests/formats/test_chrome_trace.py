"""Any Chrome trace: real ones of other programs, and events of every phase by the rules."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tvmdbg_widgets.formats.chrome import event as chrome_events
from tvmdbg_widgets.formats.chrome.trace import ChromeTrace, read_chrome_trace, sniff
from tvmdbg_widgets.formats.families import KINDS
from tvmdbg_widgets.formats.family import identify
from tvmdbg_widgets.formats.tvm.trace import sniff as sniff_classic
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError, IssueSeverity
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource

Event = dict[str, Any]


def event(ph: str, ts: object = 0, name: str = "a", **more: object) -> Event:
    return {"ph": ph, "ts": ts, "pid": 1, "tid": 1, "name": name} | more


def read(events: object, name: str = "t.json", **top: object) -> ChromeTrace:
    document = {"traceEvents": events, **top} if top else events
    text = events if isinstance(events, str) else json.dumps(document)
    return read_chrome_trace(BytesSource(text.encode(), name))


def rules(trace: ChromeTrace) -> list[str]:
    return [issue.rule for issue in trace.issues]


def rows(trace: ChromeTrace) -> list[tuple[str, float, float, str]]:
    return [
        (name, start / 1e3, duration / 1e3, trace.tracks[track])
        for name, start, duration, track in zip(
            trace.names, trace.start_ns, trace.duration_ns, trace.track.tolist(), strict=True
        )
    ]


def test_viztracer_trace_matches_its_events(data: Path) -> None:
    file = data / "chrome/viztracer.json"
    truth = json.loads(file.read_text())["traceEvents"]
    spans = [e for e in truth if e["ph"] == "X"]
    names = {e["tid"]: e["args"]["name"] for e in truth if e["name"] == "thread_name"}
    origin = min(e["ts"] for e in spans)
    run = tvmdbg.open(file)
    timeline = run.timeline
    assert timeline.num_slices == len(spans) == 257
    assert set(timeline.tracks) == set(names.values()) == {"MainThread", "worker"}
    assert not timeline.synthetic
    found = sorted(
        (timeline.slice(i).name, timeline.slice(i).track, timeline.slice(i).start_ns / 1e3)
        for i in range(257)
    )
    expected = sorted((e["name"], names[e["tid"]], e["ts"] - origin) for e in spans)
    for (name, track, start), (own_name, own_track, own_start) in zip(found, expected, strict=True):
        assert (name, track) == (own_name, own_track)
        assert start == pytest.approx(own_start, abs=1e-5)
    assert timeline.slice_duration_ns.sum() / 1e3 == pytest.approx(sum(e["dur"] for e in spans))
    assert not run.check()
    assert "2 tracks" in repr(timeline)
    assert "8.8" in repr(timeline)


def test_nodejs_trace_has_an_asynchronous_interval(data: Path) -> None:
    file = data / "chrome/node.json"
    truth = json.loads(file.read_text())["traceEvents"]
    begin = next(e for e in truth if e["ph"] == "b")
    end = next(e for e in truth if e["ph"] == "e")
    trace = read_chrome_trace(FileSource(file))
    assert rows(trace) == [("time::inner", 0.0, end["ts"] - begin["ts"], "async node,node.console")]
    assert trace.extras.counts["M"] == sum(e["ph"] == "M" for e in truth)
    assert not trace.issues


def test_begin_and_end_events_nest_per_thread_in_any_file_order() -> None:
    events = [
        event("E", 10, "outer"),
        event("B", 0, "outer"),
        event("B", 2, "inner"),
        event("E", 5, ""),
        event("B", 1, "other", tid=2),
        event("E", 3, "other", tid=2),
        event("B", 6, "inner"),
        event("E", 6, "inner"),
    ]
    trace = read(events)
    assert rows(trace) == [
        ("outer", 0, 10, "thread 1"),
        ("other", 1, 2, "thread 2"),
        ("inner", 2, 3, "thread 1"),
        ("inner", 6, 0, "thread 1"),
    ]
    assert not trace.issues


def test_unpaired_events_are_counted_with_their_first_position() -> None:
    trace = read([event("E", 1), event("B", 2), event("B", 3), event("X", 4, dur=1)])
    assert [(name, start, took) for name, start, took, _ in rows(trace)] == [
        ("a (begin missing)", 0, 0),
        ("a (end missing)", 1, 0),
        ("a (end missing)", 2, 0),
        ("a", 3, 1),
    ]
    missing = {issue.rule: issue.message for issue in trace.issues}
    assert set(missing) == {"end-missing", "begin-missing"}
    assert "traceEvents[1] (2.000 µs)" in missing["end-missing"]
    assert "2 such events" in missing["end-missing"]
    assert "traceEvents[0]" in missing["begin-missing"]
    assert all(issue.severity is IssueSeverity.ERROR for issue in trace.issues)
    crossed = read([event("B", 0, "a"), event("B", 1, "b"), event("E", 2, "a"), event("E", 3, "b")])
    assert rules(crossed) == ["names-differ"]


def test_unpaired_begin_and_end_events_are_labelled() -> None:
    trace = read([event("E", 1, ""), event("B", 2, "x"), event("B", 3, "\ud800"), event("E", 4)])
    assert [name for name, *_ in rows(trace)] == ["(begin missing)", "x (end missing)", "\ufffd"]
    same = read([event("X", 0, "a (end missing)", dur=1), event("B", 2), event("X", 3, "\ud800")])
    assert len(set(same.names.codes.tolist())) == 1


def test_begin_without_end_is_not_a_repeat_of_its_operator(data: Path) -> None:
    graph = (data / "graph/nop_reshape_v0.19/graph.json").read_bytes()
    operators = [node for node in json.loads(graph)["nodes"] if node["op"] != "null"]
    name = operators[0]["name"]
    events = [event("X", 0, name, dur=2), event("B", 5, name)]
    run = tvmdbg.open(graph, trace=json.dumps(events).encode())
    assert run.timeline.repeats_ns.tolist() == [2000.0]
    assert run.timeline.slice_names[1] == f"{name} (end missing)"


def test_times_as_text_are_read_and_display_units_ignored() -> None:
    trace = read([event("X", "1.5", dur="2.25")], displayTimeUnit="ns", otherData={"v": 1})
    assert rows(trace) == [("a", 0.0, 2.25, "thread 1")]
    assert trace.top == {"displayTimeUnit": "ns", "otherData": {"v": 1}}


def test_tracks_are_named_and_ordered_by_metadata() -> None:
    def meta(kind: str, pid: int, tid: int = 0, **arguments: object) -> Event:
        return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": arguments}

    events = [
        event("X", 0, dur=1, pid=1, tid=1),
        event("X", 0, dur=1, pid=1, tid=2),
        event("X", 0, dur=1, pid=2, tid=7),
        meta("process_name", 1, name="host"),
        meta("process_name", 2, name="gpu"),
        meta("thread_name", 1, 2, name="io"),
        meta("process_sort_index", 2, sort_index=-1),
        meta("thread_sort_index", 1, 2, sort_index=-5),
    ]
    assert read(events).tracks == ("gpu: thread 7", "host: io", "host: thread 1")
    same = [event("X", 0, dur=1, tid=i) for i in (1, 2)]
    same += [meta("thread_name", 1, i, name="w") for i in (1, 2)]
    assert read(same).tracks == ("w (1, 1)", "w (1, 2)")


def meta(what: str, pid: object, **arguments: object) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "args": arguments}


@pytest.mark.parametrize("bare", [False, True])
def test_devices_with_one_name_are_distinguished_by_label_and_pid(*, bare: bool) -> None:
    pids = {0: "GPU 0", 1: "GPU 1", 77: "CPU", 78: "CPU", "99": ""}
    events = [event("X", pid, f"op{pid}", pid=pid, dur=1) for pid in (0, 1, 77, 78)]
    events += [event("X", 99, "op99", pid="99", tid="1", dur=1)]
    events += [event("X", 100, "op99", pid=99, tid=1, dur=1)]
    events += [meta("process_name", pid, name="python") for pid in pids]
    events += [meta("process_labels", pid, labels=label) for pid, label in pids.items() if label]
    events += [meta("process_sort_index", pid, sort_index=-at) for at, pid in enumerate(pids)]
    events += [meta("thread_name", 0, name="old") | {"tid": 1}]
    events += [meta("thread_name", 0, name="stream 7") | {"tid": 1}]
    trace = read(json.dumps(events)) if bare else read(events, displayTimeUnit="ns")
    devices = ["python", "python (CPU) (pid 78)", "python (CPU) (pid 77)"]
    assert list(trace.devices) == [*devices, "python (GPU 1)", "python (GPU 0)"]
    assert list(trace.threads) == ["thread 1"] * 4 + ["stream 7"]
    assert [trace.devices[track] for track in trace.track.tolist()[-2:]] == ["python"] * 2
    assert not any(trace.observers)


def test_profiler_own_events_are_put_on_a_profiler_track() -> None:
    own = [
        event("X", 0, "PyTorch Profiler (0)", pid="Spans", tid="x", cat="Trace", dur=99),
        event("X", 1, "ProfilerStep#3", cat="user_annotation", dur=50),
        event("X", 2, "ProfilerStep#3", pid=2, cat="gpu_user_annotation", dur=50),
        event("X", 3, "Activity Buffer Request", cat="overhead", tid=9, dur=5),
        event("i", 4, "Iteration Start: PyTorch Profiler", pid="Traces", cat="Trace"),
    ]
    work = [
        event("X", 5, "aten::mm", cat="cpu_op", dur=9),
        event("X", 6, "aten::mm", pid=2, cat=["kernel"], dur=9),
        event("X", 7, "my trace", cat="Trace", dur=1),
    ]
    trace = read(own + work)
    lanes = {name: trace.tracks[at] for name, at in zip(trace.names, trace.track, strict=True)}
    observed = [trace.observers[at] for at in trace.track.tolist()]
    assert observed == [True] * len(own) + [False] * len(work)
    assert lanes["Activity Buffer Request"] == "process 1: profiler"
    assert {trace.threads[at] for at in trace.track.tolist()[: len(own)]} == {"profiler"}
    assert lanes["my trace"] == "process 1: thread 1"


def test_instants_counters_flows_and_other_events_are_kept() -> None:
    events = [
        event("i", 1, "mark", s="g"),
        event("I", 2, "old"),
        event("C", 3, "mem", args={"used": 5, "free": 2.5, "text": "x"}),
        event("s", 4, id=1, cat="c"),
        event("f", 5, id=1, cat="c", bp="e"),
        event("n", 6, "note", id=9, cat="k"),
        event("P", 7),
        event("N", 8, id="0x1"),
        event("X", 9, dur=0),
    ]
    trace = read(events)
    assert [(n, d, t) for n, _, d, t in rows(trace)] == [
        ("mark", 0, "thread 1"),
        ("old", 0, "thread 1"),
        ("note", 0, "async k"),
        ("a", 0, "thread 1"),
    ]
    extras = trace.extras
    counters = extras.counters
    assert (counters.names, counters.series) == (("mem", "mem"), ("used", "free"))
    assert counters.ns.tolist() == [2000.0, 2000.0]
    assert counters.values.tolist() == [5.0, 2.5]
    assert list(map(chr, extras.flow_ends.phase)) == ["s", "f"]
    assert extras.flows == 1
    assert extras.counts == dict.fromkeys("iICsfnPNX", 1)
    assert rules(trace) == ["events-not-shown"]
    timeline = tvmdbg.open(json.dumps(events).encode()).timeline
    assert timeline.extras.counts == extras.counts


def arrows(events: list[Event]) -> list[tuple[str, str]]:
    timeline = tvmdbg.open(json.dumps(events).encode()).timeline
    names, found = timeline.slice_names, timeline.flows
    return [
        (names[one], names[other])
        for one, other in zip(found.flow_from.tolist(), found.flow_to.tolist(), strict=True)
    ]


def test_flows_are_read_from_slice_bind_ids() -> None:
    out, through = {"flow_out": True}, {"flow_in": True, "flow_out": True}
    into = {"flow_in": True, "flow_out": False}
    events = [
        event("X", 0, "one", dur=9, bind_id="0x10", **out),
        event("X", 0, "inside", dur=9),
        event("B", 10, "two", bind_id=16, tid=2, **through),
        event("E", 12, "two", tid=2),
        event("X", 20, "three", dur=1, bind_id="0x10", **into),
        event("X", 30, "four", dur=1, bind_id="16", tid=3, **into),
        event("X", 40, "next", dur=1, bind_id="0x10", **out),
        event("X", 50, "last", dur=1, bind_id="0x10", **into),
        event("X", 60, "other", dur=1, bind_id="words", **into),
        event("X", 70, "none", dur=1, bind_id="0x10"),
    ]
    expected = [("one", "two"), ("two", "three"), ("two", "four"), ("next", "last")]
    assert arrows(events) == expected
    timeline = tvmdbg.open(json.dumps(events).encode()).timeline
    assert timeline.flows.unjoined == 1
    assert timeline.extras.flows == 2


def test_flows_of_unusable_slices_are_dropped() -> None:
    events = [
        event("X", 0, "one", dur=-1, bind_id=1, flow_out=True),
        event("X", 1, "two", dur=1, bind_id=1, flow_in=True),
        event("X", 1, "three", dur=1, bind_id={"no": "id"}, flow_in=1),
    ]
    assert arrows(events) == []


def test_asynchronous_intervals_pair_by_category_and_id() -> None:
    events = [
        event("b", 0, "x", id=1, cat="c"),
        event("b", 1, "y", id=2, cat="c"),
        event("e", 2, "x", id=1, cat="c"),
        event("e", 9, "y", id=2, cat="c", tid=4),
        event("b", 3, "z", id2={"local": "1"}, cat="c"),
        event("e", 4, "z", id2={"local": "1"}, cat="c", pid=2),
    ]
    trace = read(events)
    assert rows(trace) == [
        ("x", 0, 2, "process 1: async c"),
        ("y", 1, 8, "process 1: async c"),
        ("z (end missing)", 3, 0, "process 1: async c"),
        ("z (begin missing)", 4, 0, "process 2: async c"),
    ]
    assert sorted(rules(trace)) == ["begin-missing", "end-missing"]


def test_unusable_events_are_counted() -> None:
    events = [
        7,
        {"ts": 1},
        event("X", 1),
        event("X", "x", dur=1),
        event("X", 1, dur=-1),
        event("X", 1, dur=1, pid=[1]),
        {"ph": "B", "name": "a"},
        event("X", 2, dur=1),
    ]
    trace = read(events)
    assert len(trace) == 1
    assert set(rules(trace)) == {"event-unusable"}
    assert sum(int(i.message.rsplit("(", 1)[1].split()[0]) for i in trace.issues) == 7
    bad = read('[{"ph":"X","ts":NaN,"dur":1,"pid":1},{"ph":"X","ts":1e999,"dur":1,"pid":1}]')
    assert rules(bad) == ["event-unusable"]


def test_event_lists_may_be_bare_unclosed_or_end_in_a_comma() -> None:
    events = json.dumps([event("X", 0, dur=1), event("X", 1, dur=1)])
    for text in (events, events[:-1], events[:-1] + ",", events[:-1] + ",\n]", events[:-1] + ",\n"):
        trace = read(text)
        assert len(trace) == 2
        assert not trace.truncated
        assert rules(trace) == ([] if text.endswith("]") else ["trace-not-closed"])
        assert sniff(text.encode())
    late = '{"meta": {"a": [1, {"b": 2}]}, "traceEvents" : ' + events + ', "x": 1}'
    assert len(read(late)) == 2
    assert read(late).top == {"meta": {"a": [1, {"b": 2}]}, "x": 1}


@pytest.mark.parametrize("block", mostly_slow([7, 64, 4 << 20], 64))
def test_truncated_trace_keeps_the_slices_before_the_cut(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(chrome_events, "_BLOCK", block)
    events = [event("X", i, f'n{i}"é{{[', dur=1, args={"k": [{"z": "},{"}]}) for i in range(5)]
    for text in (
        json.dumps({"displayTimeUnit": "ms", "traceEvents": events, "other": {"a": 1}}),
        json.dumps(events, ensure_ascii=False, indent=1),
    ):
        data = text.encode()
        whole = read_chrome_trace(BytesSource(data))
        assert len(whole) == 5
        assert not whole.issues
        seen = set()
        for length in range(len(data)):
            try:
                part = read_chrome_trace(BytesSource(data[:length]))
            except FormatError:
                seen.add(0)
                continue
            count = len(part)
            seen.add(count)
            assert list(part.names) == list(whole.names)[:count]
            assert part.start_ns.tolist() == whole.start_ns[:count].tolist()
            assert part.issues.by_rule("trace-cut") or part.issues.by_rule("trace-not-closed")
        assert seen == set(range(6))


spans = st.recursive(
    st.lists(st.tuples(st.sampled_from("ab"), st.just([])), max_size=3),
    lambda inner: st.lists(st.tuples(st.sampled_from("ab"), inner), max_size=3),
    max_leaves=12,
)


@given(spans)
def test_nested_begin_and_end_events_round_trip(tree: list[Any]) -> None:
    events: list[Event] = []
    expected: list[tuple[str, float, float]] = []

    def walk(nodes: list[Any]) -> None:
        for name, inner in nodes:
            start = len(events)
            place = len(expected)
            expected.append((name, float(start), 0.0))
            events.append(event("B", start, name))
            walk(inner)
            expected[place] = (name, float(start), float(len(events) - start))
            events.append(event("E", len(events), name))

    walk(tree)
    if not events:
        return
    trace = read(events)
    assert [(n, s, d) for n, s, d, _ in rows(trace)] == expected
    assert not trace.issues


@pytest.mark.parametrize("text", ["", "{}", "[", "7", '{"traceEvents": 7}', "[" * 100_000, "nope"])
def test_non_trace_is_refused(text: str) -> None:
    if text == "[":
        assert len(read(text)) == 0
        return
    with pytest.raises(FormatError):
        read(text)


def test_slices_join_operators_by_name(corpus: Path) -> None:
    graph = corpus / "tvm/resnet20_cifar/graph.json"
    nodes = json.loads(graph.read_text())["nodes"]
    functions = [n["attrs"]["func_name"] if n["op"] == "tvm_op" else "" for n in nodes]
    alone = next(i for i, f in enumerate(functions) if f and functions.count(f) == 1)
    shared = next(f for f in functions if f and functions.count(f) > 2)
    owners = [i for i, f in enumerate(functions) if f == shared]
    exact = next((i for i in owners if nodes[i]["name"] == shared), None)
    events = [event("X", 10 * i, functions[alone], dur=i + 1) for i in range(2)]
    events += [event("X", 100 + 10 * i, shared, dur=1) for i in range(2)]
    events += [event("X", 200, "python", dur=1), event("X", 300, nodes[owners[-1]]["name"], dur=4)]
    run = tvmdbg.open(graph, trace=json.dumps(events).encode())
    timeline = run.timeline
    assert timeline.slice_node[:2].tolist() == [alone, alone]
    assert timeline.repeats(alone).tolist() == [1000.0, 2000.0]
    assert timeline.node_ns[alone] == 1500.0
    assert timeline.slice(0).trust is Trust.BY_NAME
    if exact is not None:  # a node's own name goes before its function's
        assert timeline.slice_node[2:4].tolist() == [exact, exact]
    else:
        assert timeline.slice(2).trust is Trust.AMBIGUOUS
    assert timeline.slice_node[4] == -1
    assert timeline.slice_node[5] == owners[-1]


def test_functions_of_several_operators_are_ambiguous(corpus: Path) -> None:
    graph = corpus / "tvm/edge_cases/v0.19/odd_names/graph.json"
    events = [event("X", i, "k_relu", dur=1) for i in range(3)]
    run = tvmdbg.open(graph, json.dumps(events).encode())
    assert {run.timeline.slice(i).trust for i in range(3)} == {Trust.AMBIGUOUS}
    assert run.check().by_rule("slices-ambiguous")
    lost = tvmdbg.open(graph, json.dumps([event("X", 0, "zzz", dur=1)]).encode())
    assert lost.check().by_rule("slices-not-joined")


def test_debugger_trace_keeps_its_own_reader(corpus: Path) -> None:
    for file in sorted(corpus.rglob("_tvmdbg_execution_trace.json")):
        assert identify(FileSource(file), KINDS).part == "trace", file
    five = [
        {"ts": i, "tid": 1, "pid": 1, "name": n, "ph": p}
        for i, (n, p) in enumerate([("a", "B"), ("b", "B"), ("b", "E"), ("a", "E")])
    ]
    for document in ({"traceEvents": five}, five):
        data = json.dumps(document).encode()
        assert not sniff_classic(data)
        assert identify(BytesSource(data), KINDS).part == "chrome"
        assert tvmdbg.open(data).timeline.num_slices == 2


def test_chrome_trace_beside_a_dump_is_reported_as_left_out(data: Path) -> None:
    case = data / "times/split_multi_v0.19"
    own = case / "_tvmdbg_execution_trace.json"
    run = tvmdbg.open(case / "graph.json", own, data / "chrome/viztracer.json")
    assert run.timeline.num_slices == 4
    (issue,) = run.check().by_rule("chrome-left-out")
    assert "257 slices on 2 tracks" in issue.message
    assert tvmdbg.open(data / "chrome/viztracer.json").provenance.releases == "Chrome trace"


def test_recording_restores_extras(tmp_path: Path) -> None:
    events = [event("X", 0, dur=1), event("C", 1, "mem", args={"used": 1})]
    run = tvmdbg.open(json.dumps(events).encode())
    run.save(tmp_path / "saved")
    again = tvmdbg.open(tmp_path / "saved")
    assert again.timeline.num_slices == 1
    assert again.timeline.tracks == run.timeline.tracks
    assert again.timeline.extras.counts == run.timeline.extras.counts


def test_times_since_1970_are_exact_to_the_nanosecond() -> None:
    texts = [
        "1722963293847123.456",
        "1722963293847123.457",
        '"1722963293847124.999"',
        "17229632938e5",
    ]
    events = ",".join(f'{{"ph":"X","ts":{t},"dur":0.001,"pid":1,"tid":1}}' for t in texts)
    trace = read(f"[{events}]")
    assert trace.origin_ns == 1722963293800000000
    assert trace.start_ns.tolist() == [0.0, 47123456.0, 47123457.0, 47124999.0]
    assert trace.duration_ns.tolist() == [1.0] * 4
    assert not trace.issues
    timeline = tvmdbg.open(f"[{events}]".encode()).timeline
    assert timeline.exact
    assert timeline.origin_ns == trace.origin_ns


def test_fractions_of_nanoseconds_are_kept() -> None:
    text = '[{"ph":"B","ts":-1.00025,"tid":1},{"ph":"E","ts":2.0005,"tid":1}]'
    trace = read(text)
    assert trace.origin_ns == -1001
    assert trace.start_ns.tolist() == [0.75]
    assert trace.duration_ns.tolist() == [3000.75]
    assert not tvmdbg.open(text.encode()).timeline.exact


def test_very_long_trace_raises_a_time_precision_issue() -> None:
    assert rules(read([event("X", 0, dur=1), event("X", 10**13, dur=1)])) == ["time-precision"]


MANY: dict[str, Callable[[int], list[Event]]] = {
    "tracks": lambda n: [event("X", i, dur=1, tid=i) for i in range(n)],
    "processes of long names": lambda n: [event("X", i, dur=1, pid=f"{i:099}") for i in range(n)],
    "begins without an end": lambda n: [event("B", i) for i in range(n)],
    "ends without a begin": lambda n: [event("E", i) for i in range(n)],
    "begins in each other": lambda n: [
        *(event("B", i) for i in range(n // 2)),
        *(event("E", n + i) for i in range(n // 2)),
    ],
    "phases": lambda n: [event(f"Z{i}") for i in range(n)],
    "series": lambda n: [event("C", i, args={f"k{i}": i}) for i in range(n)],
    "categories": lambda n: [event("b", i, id=i, cat=f"c{i}") for i in range(n)],
    "flows": lambda n: [event("s", i, id=i) for i in range(n)],
    "names": lambda n: [event("X", i, f"n{i}", dur=1) for i in range(n)],
    "times that are none": lambda n: [event("X", f"x{i}", dur=1) for i in range(n)],
    "times of many digits": lambda n: [event("X", f"0.{i:050}", dur=1) for i in range(n)],
    "metadata": lambda n: [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": {"name": "w"}}
        for i in range(n)
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MANY)
def test_reading_time_does_not_grow_quadratically(what: str) -> None:
    took = []
    for count in (3_000, 12_000):
        data = json.dumps([event("X", 0, dur=1), *MANY[what](count)]).encode()
        started = time.process_time()
        trace = read_chrome_trace(BytesSource(data))
        took.append(time.process_time() - started)
        assert sum(trace.extras.counts.values()) == count // 2 * 2 + 1
        assert all(len(issue.message) < 500 for issue in trace.issues)
    assert took[1] < 10 * took[0] + 0.3, took


def test_impossible_times_are_left_out_and_run_can_be_saved(tmp_path: Path) -> None:
    events = [event("X", 0, dur=1e308), event("X", -1e308, dur=1), event("X", 5, "b", dur=2)]
    trace = read(events)
    assert rows(trace) == [("b", 0.0, 2.0, trace.tracks[0])]
    assert rules(trace) == ["event-unusable", "event-unusable"]
    tvmdbg.open(json.dumps(events).encode()).save(tmp_path / "kept")
