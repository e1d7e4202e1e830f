"""Self time of slices inside other slices, against sums over every nanosecond."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.timeline.slices_truth import timeline as slices
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Times are multiples of this, far above the tolerance for rounding.
STEP = 10.0

Spans = list[tuple[int, int, int]]


def timeline(spans: Spans) -> Timeline:
    """Slices by start, the longer first."""
    return slices(sorted(spans, key=lambda each: (each[0], -each[1])), step=STEP)  # type: ignore[arg-type]


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


SPANS = st.lists(
    st.tuples(st.integers(0, 20), st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=14
)


@given(SPANS)
def test_self_time_excludes_inner_slices(spans: Spans) -> None:
    found = timeline(spans)
    own, nested, across = self_by_steps(found)
    assert (found.nesting.self_ns.tolist(), list(found.nesting.nested)) == (own, nested)
    assert list(found.nesting.overlapping) == across


@given(SPANS)
def test_rows_by_name_sum_up_self_times(spans: Spans) -> None:
    found = timeline(spans)
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
