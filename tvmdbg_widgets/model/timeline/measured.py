"""Flows, gaps and extents of a timeline, and the meaning of its node times."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.ranges import checked_range
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.timeline.columns import TimelineColumns
from tvmdbg_widgets.model.timeline.rows import Nesting, RowKind, TimelineRows, in_order

#: Share of a timeline from which executions need no range of their own.
_NEARLY_ALL = 0.9


class TimeMeaning(StrEnum):
    """The meaning of a node's time."""

    MEAN = "mean"  # of a node's repeats
    CALL = "call"  # one call in a pass of the model
    SUM = "sum"  # over several calls of a function


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
    """Return the arrows between slices: to each end of a flow from the last source before it."""
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
    """Return the slice (index) that each flow end is bound to by the trace format, or -1."""
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
        """Return the innermost slice that runs, else one that ends, else an instant; or -1."""
        outer, next_ = wide_slices.enclosing(track, ns), all_slices.following(track, ns)
        instant = (outer < 0) & (next_ >= 0)
        instant[instant] = timeline.slice_start_ns[next_[instant]] == ns[instant]
        instant[instant] = timeline.slice_duration_ns[next_[instant]] == 0
        return np.where(instant, next_, outer)

    for chosen, find in ((known & around, enclosing), (known & ~around, all_slices.following)):
        at = np.flatnonzero(chosen)
        bound[at] = find(ends.track[at].astype(np.int64), ends.ns[at])
    return bound


class _SliceLookup:
    """Usable slices by track, start, longer first; ``wide``: without instants."""

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
        """Return the end of the slices on a track that start before a moment, or at it."""
        order = np.argsort(track, kind="stable")
        bounds = np.flatnonzero(np.diff(track[order], prepend=-1, append=-1))
        until = np.empty(len(ns), np.int64)
        for begin, end in pairwise(bounds.tolist()):
            own = order[begin:end]
            first, last = self.first[track[own[0]] : track[own[0]] + 2]
            until[own] = first + np.searchsorted(self.start[first:last], ns[own], side)
        return until

    def following(self, track: Ints, ns: Floats) -> Ints:
        """Return the first slices that start at or after moments, outer first; or -1."""
        places = self._until(track, ns, "left")
        there = places < self.first[track + 1]
        places[there], places[~there] = self.at[places[there]], -1
        return places

    def enclosing(self, track: Ints, ns: Floats) -> Ints:
        until = self._until(track, ns, "right")
        slices = np.full(len(ns), -1)
        open_ = np.flatnonzero((until > self.first[track]) & ~self.overlapping[track])
        place = until[open_] - 1
        for _ in range(_STEPS):
            hit = self.end[place] > ns[open_]
            slices[open_[hit]] = self.at[place[hit]]
            outer = self.parent[self.at[place]]
            more = ~hit & (outer >= 0)
            open_, place = open_[more], self.place[outer[more]]
            if not len(open_):
                break
        left = np.flatnonzero((slices < 0) & (until > self.first[track]))
        slices[left] = self._search(track[left], ns[left], until[left])
        return slices

    def _search(self, track: Ints, ns: Floats, until: Ints) -> Ints:
        """Return the last slices before moments that have not ended."""
        order = np.argsort(until, kind="stable")
        slices = np.full(len(ns), -1)
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
                slices[query] = at[running - 1]
        return slices


#: Shorter gaps come from rounding of doubles.
NOTHING_NS = 0.01
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap; ``before`` and ``after`` are slices (index), -1 at the ends of the timeline."""

    start_ns: float
    duration_ns: float
    track: str
    before: int
    after: int

    @property
    def end_ns(self) -> float:
        """``start_ns + duration_ns``."""
        return self.start_ns + self.duration_ns

    def __repr__(self) -> str:
        sides = " and ".join(
            "the timeline's end" if index < 0 else f"slice {index}"
            for index in (self.before, self.after)
        )
        return (
            f"Gap: {duration_text(self.duration_ns)} from {duration_text(self.start_ns)} on "
            f"{one_line(self.track)}, between {sides}"
        )


@dataclass(frozen=True, eq=False)
class Gaps(Sequence[Gap]):
    """G gaps by track, then time.

    Attributes
    ----------
    start_ns, duration_ns : float64[G]
    track : int32[G]
        Index into ``tracks``.
    before, after : int32[G]
        Index of the slice that ends last before the gap, and of the one that starts first after
        it; -1 where the timeline begins or ends.
    tracks : tuple of str
    synthetic : bool
        Slices are back to back: what lay between them is unknown, and there are no gaps.
    """

    start_ns: Floats
    duration_ns: Floats
    track: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    tracks: tuple[str, ...]
    synthetic: bool = False

    def __len__(self) -> int:
        return len(self.start_ns)

    @overload
    def __getitem__(self, index: int) -> Gap: ...
    @overload
    def __getitem__(self, index: slice) -> Gaps: ...
    def __getitem__(self, index: int | slice) -> Gap | Gaps:
        if isinstance(index, slice):
            return self._take(np.arange(len(self))[index])
        return Gap(
            float(self.start_ns[index]),
            float(self.duration_ns[index]),
            self.tracks[int(self.track[index])],
            int(self.before[index]),
            int(self.after[index]),
        )

    def __iter__(self) -> Iterator[Gap]:
        return (self[index] for index in range(len(self)))

    def longest(self, k: int = 10) -> Gaps:
        """Return the k longest, longest first."""
        return self._take(np.argsort(-self.duration_ns, kind="stable")[:k])

    def _take(self, at: Ints) -> Gaps:
        return Gaps(
            self.start_ns[at],
            self.duration_ns[at],
            self.track[at],
            self.before[at],
            self.after[at],
            self.tracks,
            self.synthetic,
        )

    def to_dataframe(self) -> Any:
        """One row per gap (``pandas.DataFrame``); ImportError without pandas."""
        return data_frame(
            {
                "start_ns": self.start_ns,
                "duration_ns": self.duration_ns,
                "track": [self.tracks[track] for track in self.track.tolist()],
                "before": self.before,
                "after": self.after,
            }
        )

    def __repr__(self) -> str:
        if self.synthetic:
            return "Gaps: none in a synthetic timeline, whose slices are back to back"
        if not len(self):
            return "Gaps: none"
        together = duration_text(float(self.duration_ns.sum()))
        lines = [f"Gaps: {counted(len(self), 'gap')}, {together} together; the longest:"]
        lines += [f"  {str(gap).removeprefix('Gap: ')}" for gap in self.longest(_SHOWN)]
        return "\n".join(lines)


def gaps(
    timeline: TimelineColumns,
    rows: TimelineRows,
    track: int | str | None = None,
    at_least_ns: float = 0.0,
    within: tuple[float, float] | None = None,
) -> Gaps:
    """Find the gaps of a timeline; see :meth:`Timeline.gaps`."""
    least = float(at_least_ns)
    if np.isnan(least):
        raise ValueError("at_least_ns is a number of nanoseconds, found nan")
    first_ns, last_ns = (-np.inf, np.inf) if within is None else checked_range(within)
    wanted = None if track is None else _number(timeline, track)
    if timeline.synthetic:
        none, no_index = np.zeros(0), np.zeros(0, np.int32)
        return Gaps(none, none, no_index, no_index, no_index, timeline.tracks, synthetic=True)
    at, of, latest = _outer(timeline, rows)
    start = timeline.slice_start_ns
    end = start + timeline.slice_duration_ns
    first = np.searchsorted(of, np.arange(len(timeline.tracks)))
    before, after = np.insert(latest, first, -1), np.insert(at, first, -1)
    # per track: its beginning, then the gap from each slice to the next one or the end
    after = np.append(after[1:], -1)
    tracks = np.insert(of, first, np.arange(len(timeline.tracks)))
    begin, until = extents(timeline, rows)[timeline.track_run[tracks]].T
    if len(at):
        begin = np.where(before < 0, begin, end[before])
        until = np.where(after < 0, until, start[after])
    begin, until = np.maximum(begin, first_ns), np.minimum(until, last_ns)
    kept = until - begin >= max(least, NOTHING_NS)
    if wanted is not None:
        kept &= tracks == wanted
    return Gaps(
        begin[kept],
        (until - begin)[kept],
        tracks[kept].astype(np.int32),
        before[kept].astype(np.int32),
        after[kept].astype(np.int32),
        timeline.tracks,
    )


def _outer(timeline: TimelineColumns, rows: TimelineRows) -> tuple[Ints, Ints, Ints]:
    """Return slices outside of nested ones, by track and start; their tracks; the last to end."""
    lies = (rows.kind == RowKind.NESTED) & (rows.depth == 0)
    lies |= rows.kind == RowKind.OVERLAP
    at = rows.order[np.repeat(lies, np.diff(rows.first))].astype(np.int64)
    of = timeline.slice_track[at].astype(np.int64)
    start = timeline.slice_start_ns
    if (rows.kind == RowKind.OVERLAP).any():
        order = np.lexsort((start[at], of))
        at, of = at[order], of[order]
    end = start[at] + timeline.slice_duration_ns[at]
    by_end = np.argsort(end, kind="stable")
    rank = np.empty(len(at), np.int64)
    rank[by_end] = np.arange(len(at))
    # the latest end so far per track, as one ascending column of ranks
    latest = np.maximum.accumulate(of * len(at) + rank) if len(at) else rank
    return at, of, at[by_end[latest % max(1, len(at))]]


def extents(timeline: TimelineColumns, rows: TimelineRows) -> Floats:
    """Return the first start and the last end per run (float64[R, 2]); 0 without slices."""
    order = rows.order
    run = timeline.track_run[timeline.slice_track[order]]
    start = timeline.slice_start_ns[order]
    end = start + timeline.slice_duration_ns[order]
    bounds = np.zeros((int(timeline.track_run.max(initial=0)) + 1, 2))
    for number in np.unique(run).tolist():
        own = run == number
        bounds[number] = start[own].min(), end[own].max()
    return bounds


def executions_range(timeline: TimelineColumns, rows: TimelineRows) -> tuple[float, float] | None:
    """Return the time from the first execution to the end of the last; None if it is nearly all."""
    names = timeline.slice_names
    if timeline.whole not in names.unique:
        return None
    order = rows.order
    own = order[names.codes[order] == names.unique.index(timeline.whole)]
    if not len(own):
        return None
    start, end = timeline.slice_start_ns, timeline.slice_start_ns + timeline.slice_duration_ns
    first, last = float(start[own].min()), float(end[own].max())
    whole = float(end[order].max() - start[order].min())
    return (first, last) if 0 < last - first < _NEARLY_ALL * whole else None


def _number(timeline: TimelineColumns, track: int | str) -> int:
    if isinstance(track, str):
        return timeline.tracks.index(one_of("track", track, timeline.tracks))
    if not 0 <= track < len(timeline.tracks):
        raise IndexError(
            f"track {track} of a timeline with {counted(len(timeline.tracks), 'track')}"
        )
    return track
