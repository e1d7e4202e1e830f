"""What views are told of a timeline is the timeline, in parts no larger than promised."""

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.timeline.slices_truth import Span, spans, timeline
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers import kept_timeline as timeline_kept
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.run import DebugRun

FIRST_ANSWER = 320 << 10
PART = 1 << 20


class TensorQuery:
    """A run of a timeline alone, and what it answers."""

    def __init__(self, own: Timeline) -> None:
        self.timeline = own
        self.run = DebugRun(RunParts("test", timeline=own))
        self.answers = Answers(self.run.facts)

    def reply(self, kind: str, **question: Any) -> tuple[Any, int]:
        reply = self.answers.answer({"kind": kind, **question})
        json.dumps(reply.result, allow_nan=False)
        size = sum(map(len, reply.buffers)) + len(json.dumps(reply.result))
        if reply.result is None or "columns" not in reply.result:
            return SimpleNamespace(**(reply.result or {})), size
        columns = wire.unpack(reply.result["columns"], reply.buffers[0])
        rest = {key: each for key, each in reply.result.items() if key not in {"columns", "info"}}
        return SimpleNamespace(info=reply.result.get("info"), **columns, **rest), size


@pytest.fixture
def crowd() -> TensorQuery:
    """30,000 slices, nested two deep, on three tracks, of many names."""
    rng = np.random.default_rng(7)
    begin = np.cumsum(rng.integers(100, 300, 10_000)).astype(float)
    given_spans: list[Span] = []
    for i, at in enumerate(begin.tolist()):
        length = 2.0 * float(rng.integers(10, 45))
        given_spans += [(at, length, i % 3), (at + 2, length / 2, i % 3), (at + 3, 0.0, i % 3)]
    names = tuple(f"name {i} of a slice that has much to tell" for i in range(5000))
    return TensorQuery(timeline(given_spans, names, tracks=3))


def whole(asked: TensorQuery) -> tuple[Any, dict[str, np.ndarray[Any, Any]]]:
    """All slices, put together from their parts as a page does it."""
    head, _ = asked.reply("timeline")
    parts: list[Any] = []
    first, count = 0, head.info["slices"]
    while first < count:
        last = min(count, first + 9_000)
        part, size = asked.reply("slices", first=first, last=last)
        assert size <= PART
        parts.append(part)
        first = last
    kinds = head.info["columns"]
    return head, {name: np.concatenate([getattr(each, name) for each in parts]) for name in kinds}


def test_long_timelines_come_as_bins_first_and_then_in_parts(crowd: TensorQuery) -> None:
    own = crowd.timeline
    head, size = crowd.reply("timeline")
    assert size <= FIRST_ANSWER
    assert not hasattr(head, "start")
    head, columns = whole(crowd)
    order = own.rows.order
    np.testing.assert_array_equal(columns["start"], own.slice_start_ns[order])
    np.testing.assert_array_equal(columns["duration"], own.slice_duration_ns[order])
    np.testing.assert_array_equal(columns["self"], own.rows.self_ns[order])
    np.testing.assert_array_equal(columns["source"], order)
    assert "node" not in columns
    assert "trust" not in columns
    np.testing.assert_array_equal(head.rowFirst, own.rows.first)
    assert sum(each.itemsize for each in columns.values()) <= 26


def test_names_are_summed_up_before_the_slices_come() -> None:
    rng = np.random.default_rng(1)
    start = np.cumsum(rng.integers(60, 90, 6000)).astype(float)
    given_spans: list[Span] = [
        each for at in start.tolist() for each in ((at, 50.0, 0), (at + 5, 20.0, 0))
    ]
    own = TensorQuery(timeline(given_spans, ("a", "b", "c"))).timeline
    head, _ = TensorQuery(own).reply("timeline")
    names = np.array(list(own.slice_names))
    for code, number, count, self_ns, within in zip(
        *(head.rankName, head.rankFirst, head.rankSlices, head.rankNs, head.rankWithin), strict=True
    ):
        slices = np.flatnonzero(names == head.names[code])
        assert own.rows.order[number] == slices.min()
        assert count == len(slices)
        assert self_ns == own.rows.self_ns[slices].sum()
        assert within == own.slice_duration_ns[slices].sum()
    assert len(head.rankName) == 3
    assert head.rankShare.sum() == pytest.approx(1)


def test_slice_names_are_sent_on_demand(crowd: TensorQuery) -> None:
    own = crowd.timeline
    head, columns = whole(crowd)
    assert len(head.names) < head.info["names"] == 5000
    assert head.lodName.max() < len(head.names)
    assert (head.lodName >= 0).mean() > 0.2
    names = list(head.names)
    while len(names) < head.info["names"]:
        more, size = crowd.reply("names", first=len(names))
        assert size <= PART
        names += more.names
    told = [names[code] for code in columns["name"].tolist()]
    assert told == [own.slice_names[each] for each in own.rows.order.tolist()]
    shown = head.lodName >= 0
    dominant = own.rows.order[head.lodSlice[shown]].tolist()
    assert [names[code] for code in head.lodName[shown]] == [own.slice_names[i] for i in dominant]


def test_windows_and_bins_include_names_of_their_slices(
    crowd: TensorQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = crowd.timeline
    with monkeypatch.context() as patch:
        patch.setattr("tvmdbg_widgets.answers.ranges._WINDOW", 50)
        found, size = crowd.reply("window", **{"from": 98_304, "to": 131_072, "bins": 512})
    assert size <= PART
    assert found.info == {"bins": 512}
    shown = found.lodSlice >= 0
    assert shown.any()
    dominant = own.rows.order[found.lodSlice[shown]].tolist()
    assert [found.names[code] for code in found.lodName[shown]] == [
        own.slice_names[i] for i in dominant
    ]
    begin, end = 5_000.0, 9_000.0
    window, _ = crowd.reply("window", **{"from": begin, "to": end})
    inside = {each.index for each in own.between(begin, end)}
    assert set(window.source.tolist()) == inside
    assert [window.names[code] for code in window.name] == [
        own.slice_names[i] for i in window.source.tolist()
    ]
    for at, parent in enumerate(window.parent.tolist()):
        expected = int(own.rows.parent[window.source[at]])
        assert (window.source[parent] if parent >= 0 else -1) == expected
    for row in range(len(own.rows)):
        first, last = window.rowFirst[row], window.rowFirst[row + 1]
        numbers = np.arange(first, last) - first + window.rowNumber[row]
        np.testing.assert_array_equal(window.source[first:last], own.rows.order[numbers])


def test_window_with_too_many_slices_is_binned(
    crowd: TensorQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tvmdbg_widgets.answers.ranges._WINDOW", 50)
    found, _ = crowd.reply("window", **{"from": 0, "to": 1e6})
    assert not hasattr(found, "start")
    assert found.lodBusy.size == len(crowd.timeline.rows) * found.info["bins"]
    assert found.lodBusy.max() <= 1


def test_timeline_above_limit_is_not_marked_whole(
    crowd: TensorQuery, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert crowd.reply("timeline")[0].info["whole"] is True
    monkeypatch.setattr(timeline_kept, "MOST_WHOLE", 29_999)
    assert crowd.reply("timeline")[0].info["whole"] is False


@given(spans(), st.sampled_from(["f0", "f", "F1", "1", "#1", "", "nothing"]), st.integers(0, 250))
@settings(max_examples=50)
def test_find_matches_slices_by_name(given_spans: list[Span], text: str, at: int) -> None:
    asked = TensorQuery(timeline(given_spans))
    own = asked.timeline
    found, _ = asked.reply("find", text=text, regex=False, at=at)
    numbers = [
        number
        for number, source in enumerate(own.rows.order.tolist())
        if text and text.lower() in own.slice_names[source]
    ]
    assert found.count == len(numbers)
    sources = own.rows.order[numbers]
    assert found.selfNs == pytest.approx(float(own.rows.self_ns[sources].sum()))
    later = [
        (own.slice_start_ns[source], number)
        for number, source in zip(numbers, sources, strict=True)
        if own.slice_start_ns[source] >= at
    ]
    assert (found.next and found.next["slice"]) == (min(later)[1] if later else None)
    if found.next:
        each = own.slice(int(own.rows.order[found.next["slice"]]))
        told = (each.name, each.start_ns, each.duration_ns)
        assert tuple(found.next[key] for key in ("name", "start", "duration")) == told


@given(spans(), st.integers(0, 200), st.integers(1, 200))
@settings(max_examples=30)
def test_area_answer_matches_the_run(given_spans: list[Span], begin: int, width: int) -> None:
    asked = TensorQuery(timeline(given_spans))
    found, _ = asked.reply("area", **{"from": begin, "to": begin + width, "by": "name"})
    expected = asked.run.area(begin, begin + width)
    told = found.info
    assert (told["count"], told["sum"]) == (expected.count, expected.ns)
    assert [each["busy"] for each in told["tracks"]] == [each.busy_ns for each in expected.tracks]
    assert list(found.label) == list(expected.by("name").labels)
    rows = asked.run.timeline.rows
    cut = dict(zip(found.cutSlice.tolist(), found.cutSelf.tolist(), strict=True))
    for number, source in enumerate(rows.order.tolist()):
        each = asked.run.timeline.slice(source)
        is_cut = each.start_ns < begin < each.end_ns or each.start_ns < begin + width < each.end_ns
        assert is_cut == (number in cut)
    for scope, row_of in [("track", rows.track), ("row", np.arange(len(rows.track)))]:
        told = [
            asked.reply("area", **{"from": begin, "to": begin + width, scope: number})[0].info
            for number in sorted(set(row_of.tolist()))
        ]
        assert sum(each["count"] for each in told) == expected.count
        assert math.fsum(each["sum"] for each in told) == pytest.approx(expected.ns)


@given(spans(), st.sampled_from(["name", "device", "track", "callers"]), st.booleans())
@settings(max_examples=30)
def test_sums_answer_matches_the_run(given_spans: list[Span], by: str, is_part: bool) -> None:
    asked = TensorQuery(timeline(given_spans))
    within = (20.0, 90.0) if is_part else None
    area = {} if within is None else {"from": 20, "to": 90}
    found, _ = asked.reply("sums", by=by, **area)
    table = asked.run.times("node" if by == "callers" else by, within)
    top = found.around < 0
    assert found.ns[top].tolist() == table.ns.tolist()
    assert found.p90[top].tolist() == pytest.approx(table.p90.tolist(), nan_ok=True)
    assert (found.info["total"], found.info["rows"]) == (table.total_ns, len(table))
    check_rows_hold_rows(found)
    few, _ = asked.reply("sums", by=by, most=1, **area)
    assert (few.around < 0).sum() == min(1, len(table)) <= few.info["rows"]
    paths, _ = asked.reply("paths", **area)
    assert math.fsum(paths.self) == pytest.approx(table.total_ns)


def check_rows_hold_rows(found: Any) -> None:
    """Rows that hold others have their sums of time, slices, nodes; the first of their slices."""
    for row in set(found.around.tolist()) - {-1}:
        held = np.flatnonzero(found.around == row)
        assert math.fsum(found.ns[held]) == pytest.approx(found.ns[row])
        assert found.count[held].sum() == found.count[row]
        first = found.slice[held][found.slice[held] >= 0]
        assert found.slice[row] == min(first, default=-1)
        nodes = [set(found.nodes[slice(*found.nodeStart[i : i + 2])].tolist()) for i in held]
        own = found.nodes[slice(*found.nodeStart[row : row + 2])].tolist()
        assert set().union(*nodes) == set(own)
        kinds = {found.kind[i] for i in held}
        assert found.kind[row] == ("" if len(kinds) > 1 else kinds.pop())


@pytest.mark.parametrize("within", [{}, {"from": 1e6, "to": 3e7}])
@pytest.mark.parametrize("by", ["kind", "part", "group", "module", "device", "name"])
@pytest.mark.parametrize("sample", ["resnet20_cifar", "executorch_xnnpack"])
def test_rows_of_a_network_hold_rows(sample: str, by: str, within: dict[str, float]) -> None:
    run = tvmdbg.open(getattr(tvmdbg.samples, sample))
    asked = TensorQuery(run.timeline)
    asked.run, asked.answers = run, Answers(run.facts)
    if by == "module" and sample == "resnet20_cifar":
        with pytest.raises(ValueError, match="module"):
            asked.reply("sums", by=by)
        return
    found, _ = asked.reply("sums", by=by, **within)
    check_rows_hold_rows(found)
    is_single = found.key >= 0
    assert (found.around[is_single] >= 0).any() == (by != "name" and bool(found.info["total"]))
    if by == "group" and sample == "resnet20_cifar" and not within:
        assert (found.around[found.around[found.around >= 0]] >= 0).any()
    if not within:
        repeats = found.repeats[is_single & (found.work == 1) & (found.ns > 0)]
        assert set(repeats.tolist()) <= ({5} if sample == "resnet20_cifar" else {0})


def test_timeline_without_drawn_slices_still_answers() -> None:
    asked = TensorQuery(timeline([(0, float("inf"), 0)]))
    head, _ = asked.reply("timeline")
    assert (head.info["slices"], head.info["unusable"], len(head.start)) == (0, 1, 0)
    asked.reply("window", **{"from": 0, "to": 5})
    assert asked.reply("find", text="f", regex=True, at=0)[0].count == 0


HOSTILE: list[dict[str, Any]] = [
    *({"kind": "slices", "first": -1, "last": 5}, {"kind": "slices", "first": 5, "last": 4}),
    {"kind": "slices", "first": 0, "last": 1 << 40},
    *({"kind": "slices", "first": 0.5, "last": 5}, {"kind": "names", "first": 1e9}),
    {"kind": "window", "from": 0, "to": 1, "bins": 0},
    {"kind": "window", "from": 0, "to": 1, "bins": 1 << 20},
    {"kind": "window", "from": 0, "to": 1, "bins": 1.5},
    *({"kind": "window", "from": float("nan"), "to": 1}, {"kind": "window", "from": 2, "to": 1}),
    *({"kind": "window", "from": "0", "to": 1}, {"kind": "window", "from": 0}),
    *({"kind": "area", "from": 0, "to": float("inf")}, {"kind": "area", "from": 5, "to": 5}),
    {"kind": "area", "from": 0, "to": 5, "by": "__class__"},
    {"kind": "area", "from": 0, "to": 5, "track": 99},
    *({"kind": "area", "from": 0, "to": 5, "row": -1}, {"kind": "sums"}),
    *({"kind": "sums", "by": "__class__"}, {"kind": "sums", "by": "name", "from": 0}),
    *({"kind": "sums", "by": "name", "most": 0}, {"kind": "paths", "from": 5, "to": 5}),
    *({"kind": "find", "text": "x" * 1001, "at": 0}, {"kind": "find", "text": 5, "at": 0}),
    *({"kind": "find", "text": "f"}, {"kind": "find", "text": "(", "regex": True, "at": 0}),
    {"kind": "find", "text": "f", "at": 0, "slice": 1 << 33},
]


@pytest.mark.parametrize("message", HOSTILE, ids=lambda each: json.dumps(each)[:60])
def test_invalid_questions_are_refused(message: dict[str, Any]) -> None:
    asked = TensorQuery(timeline([(0, 5, 0), (3, 5, 0), (9, 0, 1)]))
    with pytest.raises((ValueError, LookupError)):
        asked.answers.answer(message)


@pytest.mark.parametrize("level", [0, 30, 62])
@pytest.mark.parametrize("first", [-(2**44), -1, 0, 2**44 - 1])
def test_bins_far_from_slices_are_idle(
    level: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = TensorQuery(timeline([(0, 5, 0), (3, 5, 0), (9, 0, 1)]))
    monkeypatch.setattr("tvmdbg_widgets.answers.ranges._WINDOW", -1)
    begin, end = (float(each * 512 * 2**level) for each in (first, first + 1))
    found, _ = asked.reply("window", **{"from": begin, "to": end, "bins": 512})
    assert found.info["bins"] == 512
    assert np.isfinite(found.lodBusy).all()
    assert (found.lodSlice >= 0).any() == (first == 0)


def test_flows_connect_slices_of_trace_events() -> None:
    def event(phase: str, ts: float, tid: int, **more: Any) -> dict[str, Any]:
        return {"ph": phase, "name": "call", "cat": "c", "pid": 1, "tid": tid, "ts": ts, **more}

    events = [
        *(event("X", 0, 1, dur=10), event("X", 2, 1, dur=5), event("X", 20, 2, dur=10)),
        *(event("s", 3, 1, id=7), event("f", 21, 2, id=7, bp="e"), event("s", 90, 1, id=8)),
    ]
    run = tvmdbg.open(json.dumps(events).encode())
    reply = Answers(run.facts).answer({"kind": "flows"})
    found = wire.unpack(reply.result["columns"], reply.buffers[0])
    order = run.timeline.rows.order
    ends = order[found["flowFrom"]], order[found["flowTo"]]
    starts = [run.timeline.slice_start_ns[each].tolist() for each in ends]
    assert starts == [[2000.0], [20_000.0]]
    assert found["flowNames"] == ["call"]
    assert reply.result["info"]["count"] == 1
