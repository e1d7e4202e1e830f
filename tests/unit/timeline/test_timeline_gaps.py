"""Gaps, against every step of time; arrows, against every slice."""

import json
import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.unit.timeline.test_timeline_rows import SPANS, STEP, Span, timeline
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Slice, Timeline
from tvmdbg_widgets.run import DebugRun


def idle(spans: list[Span], track: int, low: int, high: int) -> list[tuple[int, int]]:
    """Stretches of steps on which no slice of the track lies."""
    busy = {
        step
        for start, length, of in spans
        if of == track
        for step in range(int(start), int(start + length))
    }
    found: list[tuple[int, int]] = []
    for step in range(low, high):
        if step in busy:
            continue
        if found and found[-1][1] == step:
            found[-1] = (found[-1][0], step + 1)
        else:
            found.append((step, step + 1))
    return found


@given(SPANS, st.tuples(st.integers(-2, 20), st.integers(1, 30)), st.integers(1, 3))
def test_gaps_match_idle_steps_of_time(
    spans: list[Span], within: tuple[int, int], least: int
) -> None:
    made = timeline(spans, STEP)
    low = int(min((start for start, _, _ in spans), default=0))
    high = int(max((start + length for start, length, _ in spans), default=0))
    found = made.gaps()
    expected = [(t, a, b) for t in range(3) for a, b in idle(spans, t, low, high)]
    assert [
        (int(track), round(start / STEP), round((start + length) / STEP))
        for track, start, length in zip(found.track, found.start_ns, found.duration_ns, strict=True)
    ] == expected
    for gap, (track, begin, end) in zip(found, expected, strict=True):
        own = [i for i, each in enumerate(spans) if each[2] == track and each[1]]
        ends = [spans[i][0] + spans[i][1] for i in own if i == gap.before]
        starts = [spans[i][0] for i in own if i == gap.after]
        assert ends == ([begin] if gap.before >= 0 else [])
        assert starts == ([end] if gap.after >= 0 else [])
        assert gap.before >= 0 or begin == low
        assert gap.after >= 0 or end == high
    a, b = within[0], within[0] + within[1]
    cut = [(t, max(x, a), min(y, b)) for t, x, y in expected]
    cut = [(t, x, y) for t, x, y in cut if y - x >= least]
    some = made.gaps(within=(a * STEP, b * STEP), at_least_ns=least * STEP)
    assert [(int(t), s / STEP) for t, s in zip(some.track, some.start_ns, strict=True)] == [
        (t, x) for t, x, _ in cut
    ]
    assert (some.duration_ns / STEP).tolist() == [y - x for _, x, y in cut]


def test_gap_repr_names_track_and_neighbors() -> None:
    made = timeline([(0, 10, 0), (30, 10, 0), (0, 5, 1)], tracks=2)
    found = made.gaps("thread 0")
    assert repr(found[0]) == "Gap: 20.00 ns from 10.00 ns on thread 0, between slice 0 and slice 1"
    assert repr(made.gaps(1)[0]).endswith("on thread 1, between slice 2 and the timeline's end")
    assert [gap.duration_ns for gap in made.gaps().longest(1)] == [35.0]
    assert len(made.gaps()[:1]) == 1
    assert "2 gaps, 55.00 ns together" in repr(made.gaps())
    assert len(made.gaps().to_dataframe()) == 2
    assert repr(timeline([]).gaps()) == "Gaps: none"
    with pytest.raises(ValueError, match="did you mean 'thread 1' or 'thread 0'"):
        made.gaps("thread")
    with pytest.raises(IndexError, match="track 7"):
        made.gaps(7)


def test_synthetic_slices_have_no_gaps() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert run.timeline.synthetic
    two_devices = replace(
        run.timeline,
        slice_track=(np.arange(run.timeline.num_slices) % 2).astype(np.int32),
        tracks=("CPU:0", "GPU:0"),
        track_run=np.zeros(2, np.int32),
        track_device=("CPU:0", "GPU:0"),
        track_thread=("", ""),
    )
    found = two_devices.gaps()
    assert (len(found), found.longest(3).synthetic) == (0, True)
    assert repr(found).startswith("Gaps: none in a synthetic timeline")
    area = DebugRun(replace(run.parts, timeline=two_devices)).area(0, 60e6)
    assert all(math.isnan(each.busy) and not each.gaps for each in area.tracks)
    assert sum(each.slices for each in area.tracks) == area.count > 0
    assert "busy" not in repr(area)


def test_shorter_run_is_not_idle_after_its_end() -> None:
    """Of two runs compared the shorter one is not idle behind its end."""
    longer, shorter = (timeline([(0, 10, 0), (start, 10, 0)], tracks=1) for start in (90, 25))
    both = replace(
        longer,
        **{
            name: np.concatenate((getattr(longer, name), getattr(shorter, name)))
            for name in ("slice_node", "slice_start_ns", "slice_duration_ns", "slice_trust")
        },
        slice_occurrence=np.arange(4, dtype=np.int32),
        slice_names=StringColumn.from_strings("abcd"),
        slice_track=np.array([0, 0, 1, 1], np.int32),
        tracks=("A", "B"),
        track_run=np.array([0, 1], np.int32),
        track_device=("", ""),
        track_thread=("", ""),
    )
    assert [(gap.track, gap.duration_ns) for gap in both.gaps()] == [("A", 80), ("B", 15)]
    run = DebugRun(RunParts(title="both", timeline=both))
    a, b = run.area(0, 100).tracks
    assert (a.busy_ns, a.busy, a.gaps, a.idle_ns) == (20, 0.2, 1, 80)
    assert (b.busy_ns, b.busy, b.gaps, b.idle_ns) == (20, 20 / 35, 1, 15)
    late = run.area(40, 80)
    assert math.isnan(late.tracks[1].busy)
    assert "B" not in repr(late)


def flow_trace(spans: list[Span], ends: list[tuple[str, int, int, bool, int]]) -> Timeline:
    events: list[dict[str, Any]] = [
        {"ph": "X", "name": f"x{i}", "ts": start, "dur": length, "pid": 1, "tid": track}
        for i, (start, length, track) in enumerate(spans)
    ]
    for phase, ts, track, around, number in ends:
        own = {"ph": phase, "name": "f", "cat": "c", "id": number, "ts": ts, "tid": track, "pid": 1}
        events.append(own | ({"bp": "e"} if around else {}))
    found = tvmdbg.open(json.dumps(events).encode()).timeline
    assert found is not None
    return found


def place(each: Slice) -> tuple[float, float, int]:
    return each.start_ns, -each.duration_ns, each.index


def bound(found: Timeline, phase: str, ns: float, track: str, around: bool) -> int:
    """The slice an event is bound to, by looking at all of them."""
    of = [found.slice(i) for i in range(found.num_slices)]
    own = [each for each in of if each.track == track]
    if phase == "f" and not around:
        later = [each for each in own if each.start_ns >= ns]
        return (
            min(later, key=lambda e: (e.start_ns, -e.duration_ns, e.index)).index if later else -1
        )
    wide = [each for each in own if each.duration_ns and each.start_ns <= ns]
    for fits in (
        [each for each in wide if each.end_ns > ns],
        [each for each in wide if each.end_ns == ns],
    ):
        if fits:
            return max(fits, key=place).index
    instants = [each for each in own if each.start_ns == ns and not each.duration_ns]
    return min((each.index for each in instants), default=-1)


ENDS = st.lists(
    st.tuples(
        st.sampled_from("stf"),
        st.integers(0, 40),
        st.integers(0, 3),
        st.booleans(),
        st.integers(0, 2),
    ),
    max_size=10,
)


@given(SPANS, ENDS)
def test_flows_join_slices_by_rules_of_trace_format(
    spans: list[Span], ends: list[tuple[str, int, int, bool, int]]
) -> None:
    found = flow_trace(spans, ends)
    origin = found.origin_ns / 1e3
    expected = []
    used: set[int] = set()
    for number in {each[4] for each in ends}:
        own = sorted(
            (i for i, e in enumerate(ends) if e[4] == number), key=lambda i: (ends[i][1], i)
        )
        for before, after in pairwise(own):
            if ends[before][0] == "f" or ends[after][0] == "s":
                continue
            pair = [
                bound(found, phase, (ts - origin) * 1e3, f"thread {track}", around)
                for phase, ts, track, around, _ in (ends[before], ends[after])
            ]
            if min(pair) >= 0:
                expected.append((ends[before][1], *pair))
                used |= {before, after}
    arrows = found.flows
    assert sorted(zip(arrows.flow_from, arrows.flow_to, strict=True)) == sorted(
        (a, b) for _, a, b in expected
    )
    assert (arrows.unjoined, len(arrows.to_dataframe())) == (len(ends) - len(used), len(arrows))


def test_flows_repr_counts_arrows_and_unmatched_events() -> None:
    found = flow_trace([(0, 10, 0), (20, 5, 1)], [("s", 5, 0, False, 1), ("f", 15, 1, False, 1)])
    assert repr(found.flows) == "Flows: 1 arrow between slices"
    lost = flow_trace([(0, 10, 0)], [("s", 5, 0, False, 1), ("f", 15, 7, False, 1)])
    assert repr(lost.flows) == "Flows: 0 arrows between slices; 2 events could not be matched"
    assert np.array_equal(found.flows.flow_from, [0])


@pytest.mark.parametrize("within", [(float("nan"), 1), (5, 1), (0, float("inf")), ("a", 1), (1,)])
def test_gaps_refuse_invalid_range(within: Any) -> None:
    timeline = tvmdbg.open(b'[{"ph": "X", "ts": 0, "dur": 1, "pid": 1, "tid": 1}]').timeline
    with pytest.raises(ValueError, match=r"a range is \(start, end\) in nanoseconds"):
        timeline.gaps(within=within)
    with pytest.raises(ValueError, match="at_least_ns"):
        timeline.gaps(at_least_ns=float("nan"))
