"""Slices in rows and their own time, against the definition written out for every pair."""

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.timeline.slices_truth import Span
from tests.unit.timeline.slices_truth import timeline as slices
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.rows import RowKind, TimelineRows, rows
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Times are multiples of this, far above what rounding of printed times makes.
STEP = 10.0


def timeline(spans: list[Span], step: float = 1.0, tracks: int = 3) -> Timeline:
    return slices(spans, tracks=tracks, step=step)


class Truth:
    """The definition: every slice against all that stand before it."""

    def __init__(self, spans: list[Span]) -> None:
        self.place: dict[int, tuple[int, int, int]] = {}  # index: track, kind, depth
        self.parent = [-1] * len(spans)
        self.own = [length for _, length, _ in spans]
        for track in sorted({each for _, _, each in spans}):
            self._track([i for i, each in enumerate(spans) if each[2] == track], spans)
        keys = sorted(set(self.place.values()))
        self.rows = [
            sorted(
                (i for i, key in self.place.items() if key == row),
                key=lambda i: (spans[i][0], -spans[i][1], i),
            )
            for row in keys
        ]
        self.keys = keys

    def _track(self, members: list[int], spans: list[Span]) -> None:
        members.sort(key=lambda i: (spans[i][0], -spans[i][1], i))
        wide = [i for i in members if spans[i][1] > 0]
        end = {i: spans[i][0] + spans[i][1] for i in members}
        nested: list[int] = []
        lanes: list[list[int]] = []
        for at, each in enumerate(wide):
            start = spans[each][0]
            holders = [i for i in nested if end[i] >= end[each]]
            key = RowKind.NESTED, len(holders)
            if any(start < end[i] < end[each] for i in nested):
                holders = [i for i in wide[:at] if end[i] >= end[each]]
                free = [k for k, lane in enumerate(lanes) if all(end[i] <= start for i in lane)]
                lane = free[0] if free else len(lanes)
                lanes += [[]] if lane == len(lanes) else []
                lanes[lane].append(each)
                key = RowKind.OVERLAP, lane
            else:
                nested.append(each)
            holders = holders or [i for i in wide[:at] if end[i] >= end[each]]
            self.parent[each] = holders[-1] if holders else -1
            self.place[each] = (spans[each][2], *key)
        for each in set(members) - set(wide):
            self.place[each] = (spans[each][2], RowKind.INSTANT, 0)
        for each in wide:
            inner = [i for i in wide if self.parent[i] == each]
            covered = {t for i in inner for t in range(int(spans[i][0]), int(end[i]))}
            self.own[each] = spans[each][1] - len(covered)


def as_lists(found: TimelineRows) -> list[list[int]]:
    return [part.tolist() for part in np.split(found.order, found.first[1:-1])]


SPANS = st.lists(
    st.tuples(st.integers(0, 24), st.integers(0, 14), st.integers(0, 2)), min_size=1, max_size=24
)


@given(SPANS)
def test_rows_match_definition(spans: list[Span]) -> None:
    truth = Truth(spans)
    found = timeline(spans, STEP).rows
    assert as_lists(found) == truth.rows
    keys = zip(found.track.tolist(), found.kind.tolist(), found.depth.tolist(), strict=True)
    assert list(keys) == truth.keys
    assert found.parent.tolist() == truth.parent
    assert (found.self_ns / STEP).tolist() == truth.own
    assert found.unusable == 0


@st.composite
def deep(draw: st.DrawFn) -> list[Span]:
    """Slices in each other, more levels than are placed at once, some of them moved across."""
    spans: list[Span] = []
    for level in range(draw(st.integers(10, 40))):
        spans.append((level, 100 - 2 * level, 0))
        if draw(st.booleans()):
            spans.append((level, draw(st.integers(1, 100)), 0))
    return draw(st.permutations(spans))


@given(deep())
def test_rows_of_deep_nests_match_definition(spans: list[Span]) -> None:
    truth = Truth(spans)
    found = timeline(spans, STEP).rows
    assert as_lists(found) == truth.rows
    assert found.parent.tolist() == truth.parent
    assert (found.self_ns / STEP).tolist() == truth.own


FINE = st.lists(
    st.tuples(
        st.integers(0, 60).map(lambda i: i / 4),
        st.integers(0, 40).map(lambda i: i / 4),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=30,
)


def fair(spans: list[Span], found: TimelineRows) -> None:
    """Every slice is drawn once and in full sight, whatever rounding makes of its neighbors."""
    assert sorted(found.order.tolist()) == list(range(len(spans)))
    for row, kind in zip(as_lists(found), found.kind.tolist(), strict=True):
        starts = [spans[i][0] for i in row]
        assert starts == sorted(starts)
        if kind == RowKind.INSTANT:
            assert not any(spans[i][1] for i in row)
            continue
        for before, after in pairwise(row):
            end, end_after = (sum(spans[i][:2]) for i in (before, after))
            assert end < end_after
            assert end <= spans[after][0] + 1
    level = {i: r for r, row in enumerate(as_lists(found)) for i in row}
    for each, parent in enumerate(found.parent.tolist()):
        if parent < 0:
            continue
        assert spans[parent][0] <= spans[each][0]
        assert sum(spans[each][:2]) <= sum(spans[parent][:2]) + 1
        both = (found.kind[level[each]], found.kind[level[parent]])
        if both == (RowKind.NESTED, RowKind.NESTED):
            assert level[each] == level[parent] + 1


@given(FINE)
def test_times_near_the_rounding_leave_every_slice_visible(spans: list[Span]) -> None:
    fair(spans, timeline(spans, tracks=2).rows)


def test_rounding_is_not_an_overlap() -> None:
    spans = [(0, 50, 0), (49.6, 50, 0), (100, 50, 0), (101, 50, 0)]
    found = timeline(spans).rows
    assert as_lists(found) == [[0, 1, 2], [3]]  # 3 reaches out of 2 by the nanosecond of rounding
    assert found.parent.tolist() == [-1, -1, -1, 2]
    assert timeline([(0, 50, 0), (48, 50, 0)]).rows.kind.tolist() == [0, RowKind.OVERLAP]


def test_slices_without_usable_time_are_counted() -> None:
    spans = [(0, 1, 0), (float("nan"), 1, 0), (0, -1, 0), (float("inf"), 1, 0), (1, 0, 0)]
    found = timeline(spans).rows
    assert as_lists(found) == [[0], [4]]
    assert found.unusable == 3
    assert np.isnan(found.self_ns).tolist() == [False, True, True, True, False]
    assert repr(found) == "Rows: 2 slices in 2 rows; 3 not drawn: no usable start or duration"


COUNT = 20_000
ADVERSARIES: dict[str, Callable[[int], list[Span]]] = {
    "staircase": lambda n: [(10 * i, 10 * n, 0) for i in range(n)],
    "identical": lambda n: [(0, 1000, 0)] * n,
    "one giant parent": lambda n: [(0, 11 * n, 0), *((10 * i + 1, 8, 0) for i in range(n))],
    "giant parent, overlaps inside": lambda n: [
        (0, 21 * n, 0),
        *((10 * i + 1, 8 + 9 * (i % 2), 0) for i in range(n)),
    ],
    "deep": lambda n: [(i, 2 * n - 2 * i + 5, 0) for i in range(n)],
    "tracks": lambda n: [(i, 5, i) for i in range(n)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ADVERSARIES)
def test_rows_cost_no_more_than_sorting(name: str) -> None:
    took = []
    for count in (COUNT // 4, COUNT):
        made = timeline(ADVERSARIES[name](count), tracks=count)
        started = time.process_time()
        found = rows(made)
        took.append(time.process_time() - started)
        assert len(found.order) >= count
    assert took[1] < 12 * took[0] + 0.2, took


def self_by_steps(found: Timeline) -> tuple[list[float], list[bool], list[bool]]:
    """By every step of time: it is a slice's own unless a slice right inside it runs."""
    begin = (found.slice_start_ns / STEP).astype(int).tolist()
    end = [first + int(d / STEP) for first, d in zip(begin, found.slice_duration_ns, strict=True)]
    track, parent = found.slice_track.tolist(), found.rows.parent.tolist()
    nested, across = [False] * len(found.tracks), [False] * len(found.tracks)
    own = []
    for i in range(found.num_slices):
        inner: set[int] = set()
        for j in range(found.num_slices):
            if j == i or track[j] != track[i] or begin[j] == end[j]:
                continue
            if parent[j] == i:
                inner |= set(range(begin[j], end[j]))
            outer = begin[i] <= begin[j] and end[j] <= end[i]
            if outer and ((begin[i], end[i]) != (begin[j], end[j]) or j > i):
                nested[track[i]] |= begin[i] < end[i]
            elif begin[i] < begin[j] < end[i] < end[j]:
                across[track[i]] = True
        own.append(len(set(range(begin[i], end[i])) - inner) * STEP)
    return own, nested, across


@given(SPANS)
def test_self_time_excludes_inner_slices(spans: list[Span]) -> None:
    found = timeline(sorted(spans, key=lambda each: (each[0], -each[1])), STEP)
    own, nested, across = self_by_steps(found)
    assert (found.nesting.self_ns.tolist(), list(found.nesting.nested)) == (own, nested)
    assert list(found.nesting.overlapping) == across


@given(SPANS)
def test_rows_by_name_sum_up_self_times(spans: list[Span]) -> None:
    found = timeline(sorted(spans, key=lambda each: (each[0], -each[1])), STEP)
    own, _, _ = self_by_steps(found)
    rows = operators(RunParts(title="t", timeline=found))
    names = list(found.slice_names)
    assert {row.name for row in rows} == set(names)
    for row in rows:
        mine = [i for i, name in enumerate(names) if name == row.name]
        assert row.time_ns == sum(own[i] for i in mine)
        assert row.within_ns == found.slice_duration_ns[mine].sum()
        assert (row.node, row.slices) == (-1, len(mine))
    top = operators(RunParts(title="t", timeline=found), top=2)
    assert [row.time_ns for row in top] == sorted((row.time_ns for row in rows), reverse=True)[:2]
