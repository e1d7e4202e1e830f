import json
from pathlib import Path

import numpy as np
import pytest
from formats.tvm.times_truth import Case, corpus_cases, own_cases

from tvmdbg_widgets.formats.tvm.trace import Trace, read_trace, sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.file_source import FileSource


def event(name: str, ph: str, ts: float, **more: object) -> dict[str, object]:
    return {"ts": ts, "tid": 1, "pid": 1, "name": name, "ph": ph} | more


def pairs(*items: tuple[str, float, float]) -> list[dict[str, object]]:
    return [e for name, b, s in items for e in (event(name, "B", b), event(name, "E", s))]


def read(events: object, **top: object) -> Trace:
    document = {"displayTimeUnit": "ns", "traceEvents": events} | top
    return read_trace(BytesSource(json.dumps(document).encode(), "t.json"))


def check_against_time_list(case: Case) -> None:
    trace = read_trace(FileSource(case.trace))
    expected = np.array(case.node_seconds) * 1e6
    assert list(trace.names) == case.names
    ulp = np.spacing(expected.sum() + 1)
    assert np.abs(trace.end_us - trace.start_us - expected).max() <= 4 * ulp
    starts = np.concatenate(([0.0], np.cumsum(expected)[:-1]))
    assert np.abs(trace.start_us - starts).max() <= 4 * len(expected) * ulp
    assert not trace.truncated
    assert not trace.issues
    assert sniff(case.trace.read_bytes()[:4096])


def test_own_traces_match_means_of_time_list(data: Path) -> None:
    cases = own_cases(data)
    assert len(cases) == 3
    for case in cases:
        check_against_time_list(case)


def test_corpus_traces_match_means_of_time_list(corpus: Path) -> None:
    cases = corpus_cases(corpus)
    assert len(cases) >= 46
    for case in cases:
        check_against_time_list(case)


def test_zero_durations_and_repeated_names_are_kept() -> None:
    trace = read(pairs(("x", 0.0, 0.0), ("reshape_nop", 0.0, 1.5), ("reshape_nop", 1.5, 2.0)))
    assert list(trace.names) == ["x", "reshape_nop", "reshape_nop"]
    assert trace.end_us.tolist() == [0.0, 1.5, 2.0]
    assert "3 pairs" in repr(trace)


def test_overlap_is_reported_only_beyond_rounding() -> None:
    end = 1000.1
    assert not read(pairs(("a", 0.0, end), ("b", end - np.spacing(end), 2000.0))).issues
    found = read(pairs(("a", 0.0, end), ("b", end - 0.001, 2000.0))).issues
    assert [issue.rule for issue in found] == ["slices-overlap"]
    assert "traceEvents[2]" in found[0].message


def test_times_are_read_digit_by_digit() -> None:
    text = "".join(
        f'{{"ts": {ts}, "tid": 1, "pid": 1, "name": "a", "ph": "{ph}"}},'
        for ph, ts in zip(
            "BEBE", ("1.5", "2.0025", "9007199254740.993", "9007199254741"), strict=True
        )
    )
    data = f'{{"displayTimeUnit": "ns", "traceEvents": [{text[:-1]}]}}'.encode()
    trace = read_trace(BytesSource(data, "t.json"))
    assert trace.start_ns.tolist() == [0.0, 9007199254739493.0]
    assert trace.duration_ns.tolist() == [502.5, 7.0]
    assert trace.end_us.tolist() == [2.0025, 9007199254741.0]


def test_begin_without_end_does_not_shift_later_nodes() -> None:
    events = pairs(("a", 0.0, 1.0), ("b", 1.0, 2.0), ("c", 2.0, 3.0))
    del events[3]
    trace = read(events)
    assert list(trace.names) == ["a", "b", "c"]
    assert np.isnan(trace.end_us[1])
    assert trace.end_us[2] == 3.0
    assert [issue.rule for issue in trace.issues] == ["end-missing"]
    assert "traceEvents[2]" in trace.issues[0].message


def test_an_end_without_begin_and_an_odd_count_are_issues() -> None:
    events = pairs(("a", 0.0, 1.0), ("b", 1.0, 2.0))
    assert [i.rule for i in read(events[1:]).issues] == ["begin-missing"]
    assert [i.rule for i in read(events[:3]).issues] == ["end-missing"]


def test_events_with_unequal_names_are_paired_with_an_issue() -> None:
    trace = read([event("a", "B", 0.0), event("b", "E", 1.0)])
    assert list(trace.names) == ["a"]
    assert [i.rule for i in trace.issues] == ["names-differ"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_nonfinite_times_are_issues(value: float) -> None:
    trace = read(pairs(("a", 0.0, value)))
    assert [i.rule for i in trace.issues] == ["time-not-finite"]
    assert "traceEvents[1]" in trace.issues[0].message


def test_pair_ending_before_its_start_is_an_issue() -> None:
    assert [i.rule for i in read(pairs(("a", 2.0, 1.0))).issues] == ["ends-before-start"]


def test_several_tracks_and_other_time_unit_are_reported() -> None:
    trace = read([event("a", "B", 0.0), event("a", "E", 1.0, tid=2)], displayTimeUnit="ms")
    assert [i.rule for i in trace.issues] == ["display-time-unit", "several-tracks"]


def test_unpaired_surrogate_is_replaced() -> None:
    trace = read(pairs(("\ud800x", 0.0, 1.0), ("\U0001f600", 1.0, 2.0)))
    assert list(trace.names) == ["\ufffdx", "\U0001f600"]
    assert [i.rule for i in trace.issues] == ["not-text"]


@pytest.mark.parametrize(
    "events",
    [
        [event("a", "X", 0.0)],
        [event("a", "B", 0.0), event("a", "E", 1.0, args={})],
        [event("a", "B", 0.0), {"ph": "M", "name": "process_name"}],
        [event("a", "", 0.0)],
        [event("a", "BE", 0.0)],
        [{**event("a", "B", 0.0), "ph": ["B"]}],
        [event("a", "B", 0.0), event("b", "B", 1.0), event("b", "E", 2.0), event("a", "E", 3.0)],
        [None],
    ],
)
def test_other_chrome_traces_are_refused_by_name(events: list[object]) -> None:
    with pytest.raises(FormatError, match="another format") as caught:
        read(events)
    assert "traceEvents[" in str(caught.value.field)
    if len(events) == 1:
        head = json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()
        assert not sniff(head)


def test_a_bare_list_of_events_is_refused() -> None:
    with pytest.raises(FormatError, match="Chrome trace of another kind"):
        read_trace(BytesSource(json.dumps(pairs(("a", 0.0, 1.0))).encode()))


@pytest.mark.parametrize(
    ("name", "value"), [("ts", "1"), ("ts", True), ("ts", None), ("name", 3), ("tid", [1])]
)
def test_fields_of_the_wrong_type_are_named(name: str, value: object) -> None:
    with pytest.raises(FormatError) as caught:
        read([event("a", "B", 0.0), {**event("a", "E", 1.0), name: value}])
    assert caught.value.field == f"traceEvents[1].{name}"


def test_truncated_trace_gives_earlier_pairs_or_an_error(data: Path) -> None:
    content = (data / "times" / "split_multi_v0.19" / "_tvmdbg_execution_trace.json").read_bytes()
    whole = read_trace(BytesSource(content))
    shown = set()
    for length in range(len(content)):
        try:
            trace = read_trace(BytesSource(content[:length]))
        except FormatError:
            shown.add(0)
            continue
        count = len(trace)
        shown.add(count)
        assert trace.truncated
        assert trace.issues.by_rule("trace-cut")
        assert list(trace.names) == list(whole.names)[:count]
        assert trace.start_us.tolist() == whole.start_us[:count].tolist()
        ended = np.isfinite(trace.end_us)
        assert trace.end_us[ended].tolist() == whole.end_us[:count][ended].tolist()
        assert ended[:-1].all()
    assert shown == set(range(len(whole) + 1))


def test_empty_trace_has_no_issues() -> None:
    trace = read([])
    assert len(trace) == 0
    assert not trace.issues
