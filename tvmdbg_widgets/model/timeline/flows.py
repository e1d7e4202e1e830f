"""Arrows between slices: which slice each end of a flow is bound to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.timeline.columns import TimelineColumns
from tvmdbg_widgets.model.timeline.nesting import Nesting
from tvmdbg_widgets.model.timeline.rows import TimelineRows, in_order

_STEPS = 64

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Flows:
    """A arrows between slices, by the time they begin."""

    flow_from: npt.NDArray[np.int32]
    flow_to: npt.NDArray[np.int32]
    names: StringColumn
    unjoined: int

    def __len__(self) -> int:
        return len(self.flow_from)

    def __repr__(self) -> str:
        lost = f"; {counted(self.unjoined, 'event')} could not be matched" if self.unjoined else ""
        return f"Flows: {counted(len(self), 'arrow')} between slices{lost}"

    def to_dataframe(self) -> Any:
        """One row per arrow (``pandas.DataFrame``); ImportError without pandas."""
        return data_frame({"name": list(self.names), "from": self.flow_from, "to": self.flow_to})


def flows(timeline: TimelineColumns, rows: TimelineRows, nesting: Nesting) -> Flows:
    """Return the arrows between slices: to each end of a flow from the last that leaves one.

    An f event closes its flow. A slice that a flow enters, told of itself, does not: one that
    leaves a slice may enter several.
    """
    bound = bound_slices(timeline, rows, nesting)
    if timeline.extras is None or not len(bound):
        nothing = np.zeros(0, np.int32)
        return Flows(nothing, nothing, StringColumn((), nothing), 0)
    ends = timeline.extras.flow_ends
    order = np.lexsort((np.arange(len(ends)), ends.ns, ends.flow))
    flow, phase = ends.flow[order], ends.phase[order]
    leaves = phase != ord("f")
    at = np.arange(len(order))
    last = np.maximum.accumulate(np.where(leaves | ~ends.from_slice[order], at, -1))
    begins = np.flatnonzero(np.diff(flow, prepend=-1))
    last = np.concatenate(([-1], last[:-1]))
    linked = (last >= np.repeat(begins, np.diff(begins, append=len(at)))) & leaves[last]
    linked &= phase != ord("s")
    before, after = order[last[linked]], order[linked]
    joined = (bound[before] >= 0) & (bound[after] >= 0)
    before, after = before[joined], after[joined]
    used = np.zeros(len(ends), np.bool_)
    used[before] = used[after] = True
    by_time = np.lexsort((before, ends.ns[before]))
    before, after = before[by_time], after[by_time]
    return Flows(
        bound[before].astype(np.int32),
        bound[after].astype(np.int32),
        StringColumn(ends.names.unique, ends.names.codes[before]),
        int(np.count_nonzero(~used)),
    )


def bound_slices(timeline: TimelineColumns, rows: TimelineRows, nesting: Nesting) -> Ints:
    """Return the slice (index) that each end of a flow is bound to, -1 where there is none.

    "Trace Event Format" (Google, 2016), flow events: a beginning and a step are bound to the slice
    around them, an end to the next slice of its thread, or with ``"bp": "e"`` to that around it.
    Slices with a ``bind_id`` (the format's second version) are bound themselves.
    """
    ends = timeline.extras.flow_ends if timeline.extras is not None else None
    if ends is None or not len(ends):
        return np.zeros(0, np.int64)
    around = ends.encloses | (ends.phase != ord("f"))
    bound = np.full(len(ends), -1)
    if ends.slices is not None:
        bound[ends.from_slice] = ends.slices[ends.from_slice]
    known = (ends.track >= 0) & ~ends.from_slice
    all_slices = _SliceLookup(timeline, rows, nesting, wide=False)
    wide_slices = _SliceLookup(timeline, rows, nesting, wide=True)

    def enclosing(track: Ints, ns: Floats) -> Ints:
        """Innermost slices: what runs then, else what ends then, else an instant; or -1."""
        found, next_ = wide_slices.enclosing(track, ns), all_slices.following(track, ns)
        instant = (found < 0) & (next_ >= 0)
        instant[instant] = timeline.slice_start_ns[next_[instant]] == ns[instant]
        instant[instant] = timeline.slice_duration_ns[next_[instant]] == 0
        return np.where(instant, next_, found)

    for chosen, find in ((known & around, enclosing), (known & ~around, all_slices.following)):
        at = np.flatnonzero(chosen)
        bound[at] = find(ends.track[at].astype(np.int64), ends.ns[at])
    return bound


class _SliceLookup:
    """Usable slices by track, start, the longer first; ``wide``: without instants."""

    def __init__(
        self, timeline: TimelineColumns, rows: TimelineRows, nesting: Nesting, *, wide: bool
    ) -> None:
        start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
        self.at = in_order(timeline)
        if wide:
            self.at = self.at[duration[self.at] > 0]
        self.start, self.end = start[self.at], (start + duration)[self.at]
        tracks = np.arange(len(timeline.tracks) + 1)
        self.first = np.searchsorted(timeline.slice_track[self.at], tracks)
        self.parent = rows.parent
        self.overlapping = np.asarray(nesting.overlapping, np.bool_)
        self.place = np.full(timeline.num_slices, -1)
        self.place[self.at] = np.arange(len(self.at))

    def _until(self, track: Ints, ns: Floats, side: Literal["left", "right"]) -> Ints:
        """Place behind the slices of each moment's track that start before it, or then."""
        order = np.argsort(track, kind="stable")
        bounds = np.flatnonzero(np.diff(track[order], prepend=-1, append=-1))
        until = np.empty(len(ns), np.int64)
        for begin, end in pairwise(bounds.tolist()):
            own = order[begin:end]
            first, last = self.first[track[own[0]] : track[own[0]] + 2]
            until[own] = first + np.searchsorted(self.start[first:last], ns[own], side)
        return until

    def following(self, track: Ints, ns: Floats) -> Ints:
        """First slices that start at moments or later, the outer first; -1 where there is none."""
        found = self._until(track, ns, "left")
        there = found < self.first[track + 1]
        found[there], found[~there] = self.at[found[there]], -1
        return found

    def enclosing(self, track: Ints, ns: Floats) -> Ints:
        until = self._until(track, ns, "right")
        found = np.full(len(ns), -1)
        open_ = np.flatnonzero((until > self.first[track]) & ~self.overlapping[track])
        place = until[open_] - 1
        for _ in range(_STEPS):
            hit = self.end[place] > ns[open_]
            found[open_[hit]] = self.at[place[hit]]
            outer = self.parent[self.at[place]]
            more = ~hit & (outer >= 0)
            open_, place = open_[more], self.place[outer[more]]
            if not len(open_):
                break
        left = np.flatnonzero((found < 0) & (until > self.first[track]))
        found[left] = self._search(track[left], ns[left], until[left])
        return found

    def _search(self, track: Ints, ns: Floats, until: Ints) -> Ints:
        """Among all slices that stand before moments, the last that has not ended."""
        order = np.argsort(until, kind="stable")
        found = np.full(len(ns), -1)
        ends: list[float] = []  # negated, of slices behind which none ends later
        at: list[int] = []
        place, of = 0, -1
        for query in order.tolist():
            if track[query] != of:
                of, ends, at = int(track[query]), [], []
                place = int(self.first[of])
            last = int(until[query])
            for end, own in zip(
                self.end[place:last].tolist(), self.at[place:last].tolist(), strict=True
            ):
                while ends and -ends[-1] <= end:
                    ends.pop()
                    at.pop()
                ends.append(-end)
                at.append(own)
            place = last
            running = bisect_left(ends, -ns[query]) or bisect_right(ends, -ns[query])
            if running:
                found[query] = at[running - 1]
        return found
