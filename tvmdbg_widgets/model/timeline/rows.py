"""The rows that a timeline is drawn in: by track and depth, with extra lanes for overlaps."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.timeline.columns import TimelineColumns

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class RowKind(IntEnum):
    """The kind of slices in a row."""

    #: They lie inside slices of the row above, or, at depth 0, in none.
    NESTED = 0
    #: They share time with a nested slice without lying inside it.
    OVERLAP = 1
    #: They have no duration.
    INSTANT = 2


@dataclass(frozen=True, eq=False)
class TimelineRows:
    """R rows of S' drawn slices, in the order they are drawn.

    By track; in a track by depth, then lanes of what overlaps, then instants. Slices of a row do
    not overlap by more than rounding makes (1 ns); starts and ends of a nested row both rise.

    Attributes
    ----------
    order : int32[S']
        Index into the timeline of each drawn slice: row after row, by start.
    first : int64[R + 1]
        Row r holds ``order[first[r]:first[r + 1]]``.
    track : int32[R]
    depth : int32[R]
        How many slices hold those of a nested row; the number of an overlap lane; 0 of instants.
    kind : uint8[R]
        :class:`RowKind`.
    parent : int32[S]
        By index into the timeline: the innermost slice that holds it, a nested one where there is
        one; -1 where none, and of instants.
    self_ns : float64[S]
        By index: time in which none of the slices runs whose parent it is. NaN where start or
        duration is no usable number. In the executions that shares are of, a stretch of time that
        several slices of a parent share counts to the one that began first, and none outside of it.
    unusable : int
        Slices that are not drawn: their start or duration is no number, or is negative.
    """

    order: npt.NDArray[np.int32]
    first: Ints
    track: npt.NDArray[np.int32]
    depth: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    parent: npt.NDArray[np.int32]
    self_ns: Floats
    unusable: int

    def __len__(self) -> int:
        return len(self.track)

    def __repr__(self) -> str:
        texts = [f"{counted(len(self.order), 'slice')} in {counted(len(self), 'row')}"]
        lanes = self.kind == RowKind.OVERLAP
        if lanes.any():
            overlapping = int(np.diff(self.first)[lanes].sum())
            apart = counted(int(lanes.sum()), "separate lane")
            texts.append(f"{overlapping:,} {agree(overlapping, 'overlaps')} others, on {apart}")
        if self.unusable:
            texts.append(f"{self.unusable:,} not drawn: no usable start or duration")
        return f"Rows: {'; '.join(texts)}"


def rows(timeline: TimelineColumns) -> TimelineRows:
    """Sort the slices of a timeline into rows."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    order = in_order(timeline)
    track = timeline.slice_track[order].astype(np.int64)
    instant = duration[order] == 0
    wide = order[~instant]
    intervals = Intervals.of(track[~instant], start[wide], duration[wide])
    held_in = holding(intervals)
    own = np.full(timeline.num_slices, np.nan)
    own[order] = duration[order]
    covered, lost = _covered(intervals, held_in.parent, held_in.across)
    own[wide] -= covered
    if timeline.whole:
        own[wide] -= lost
    np.maximum(own, 0.0, out=own)
    parent = np.full(timeline.num_slices, -1, np.int32)
    held = held_in.parent >= 0
    parent[wide[held]] = wide[held_in.parent[held]]
    kind = np.full(len(order), RowKind.INSTANT, np.int64)
    kind[~instant] = np.where(held_in.across, RowKind.OVERLAP, RowKind.NESTED)
    depth = np.zeros(len(order), np.int64)
    depth[~instant] = held_in.depth
    by_row, first = _rows(track, kind, depth)
    heads = by_row[first[:-1]]
    return TimelineRows(
        order=order[by_row].astype(np.int32),
        first=first,
        track=track[heads].astype(np.int32),
        depth=depth[heads].astype(np.int32),
        kind=kind[heads].astype(np.uint8),
        parent=parent,
        self_ns=own,
        unusable=timeline.num_slices - len(order),
    )


def in_order(timeline: TimelineColumns) -> Ints:
    """Return the usable slices by track, start, longer first, index (int64)."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    with np.errstate(invalid="ignore", over="ignore"):
        usable = np.isfinite(start + duration) & (duration >= 0)
    later, same = start[1:] > start[:-1], start[1:] == start[:-1]
    if usable.all() and (later | (same & (duration[1:] <= duration[:-1]))).all():
        order = np.arange(len(start))
    else:
        order = np.flatnonzero(usable)
        order = order[np.argsort(start[order], kind="stable")]
        same = start[order[1:]] == start[order[:-1]]
        tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
        slices = order[tied]
        order[tied] = slices[np.lexsort((-duration[slices], start[slices]))]
    track = timeline.slice_track[order]
    narrow = np.uint16 if len(timeline.tracks) <= 1 << 16 else np.int64
    return order[np.argsort(track.astype(narrow), kind="stable")]


def _rows(track: Ints, kind: Ints, depth: Ints) -> tuple[Ints, Ints]:
    """Return the order of items by row, and the starts of the rows in it."""
    track = track * len(RowKind) + kind
    order = by_row(track, depth)
    track, depth = track[order], depth[order]
    begins = (track[1:] != track[:-1]) | (depth[1:] != depth[:-1])
    ends = [len(order)] if len(order) else []
    return order, np.concatenate(([0], np.flatnonzero(begins) + 1, ends)).astype(np.int64)


def _covered(given: Intervals, parent: Ints, across: Flags) -> tuple[Floats, Floats]:
    """Return per interval the time of its children, and its time that belongs to others."""
    count = len(given.start)
    inner = np.flatnonzero(parent >= 0)
    if not len(inner):
        return np.zeros(count), np.zeros(count)
    inner = inner[np.argsort(parent[inner], kind="stable")]
    own = parent[inner]
    begin, end = given.start[inner], np.minimum(given.end[inner], given.end[own])
    begins = np.concatenate(([True], own[1:] != own[:-1]))
    before = np.full(len(inner), -np.inf)
    if across.any():
        # the latest end so far among siblings, as one ascending column of ranks
        by_end = np.argsort(end, kind="stable")
        rank = np.empty(len(inner), np.int64)
        rank[by_end] = np.arange(len(inner))
        latest = np.maximum.accumulate(np.cumsum(begins) * len(inner) + rank) % len(inner)
        before[1:] = end[by_end][latest[:-1]]
    else:
        before[1:] = end[:-1]
    before[begins] = -np.inf
    part = np.maximum(0.0, end - np.maximum(begin, before))
    covered = np.bincount(own, weights=part, minlength=count).astype(np.float64)
    lost = np.zeros(count)
    lost[inner] = given.end[inner] - given.start[inner] - part
    return covered, lost


@dataclass(frozen=True, eq=False)
class Nesting:
    """The nesting of the slices of a timeline; see :class:`TimelineRows`."""

    self_ns: npt.NDArray[np.float64]
    nested: tuple[bool, ...]
    overlapping: tuple[bool, ...]


def nesting(timeline: TimelineColumns, rows: TimelineRows) -> Nesting:
    """Return the nesting of slices by track."""
    nested = np.zeros(len(timeline.tracks), np.bool_)
    nested[timeline.slice_track[rows.parent >= 0]] = True
    overlapping = np.zeros(len(timeline.tracks), np.bool_)
    overlapping[rows.track[rows.kind == RowKind.OVERLAP]] = True
    return Nesting(rows.self_ns, tuple(nested.tolist()), tuple(overlapping.tolist()))


#: Printed times are rounded: intervals may overlap this much,
TOLERANCE_NS = 1.0
#: … but no more than this share of an interval may reach out of its parent.
_MOST_OUTSIDE = 0.4
_ROUNDS, _LEAST_PROGRESS = 8, 1 / 16


@dataclass(frozen=True, eq=False)
class Intervals:
    """P intervals by track and start, longer ones first: parents before children."""

    track: Ints
    start: Floats
    end: Floats
    inner: Floats
    tolerance: float

    @classmethod
    def of(
        cls, track: Ints, start: Floats, duration: Floats, tolerance: float = TOLERANCE_NS
    ) -> Intervals:
        """Return the intervals of these columns, which must be in order."""
        end = start + duration
        inner = end - np.minimum(tolerance, _MOST_OUTSIDE * duration)
        return cls(track, start, end, inner, tolerance)

    def follow(self, ends: Floats, after: Ints) -> Flags:
        """Return whether intervals start after these ends, up to rounding."""
        return (ends <= self.start[after] + self.tolerance) & (ends < self.inner[after])


@dataclass(frozen=True, eq=False)
class Holding:
    """Parent, depth and overlap of P intervals."""

    depth: Ints
    parent: Ints
    across: Flags


def holding(intervals: Intervals) -> Holding:
    """Find parents level by level; islands whose first interval does not hold all are walked."""
    count = len(intervals.start)
    result = Holding(np.zeros(count, np.int64), np.full(count, -1), np.zeros(count, np.bool_))
    if count:
        _by_level(intervals, result)
        _mend(intervals, result)
        _lanes(intervals, result)
    return result


@dataclass(frozen=True)
class _IntervalLevel:
    """Unplaced intervals in groups of siblings."""

    at: Ints
    opens: Flags
    outer: Ints
    depth: int

    def part(self, chosen: Flags) -> _IntervalLevel:
        return _IntervalLevel(self.at[chosen], self.opens[chosen], self.outer[chosen], self.depth)


def _entire_tracks(given: Intervals, at: Ints) -> _IntervalLevel:
    opens = np.concatenate(([True], np.diff(given.track[at]) != 0))
    return _IntervalLevel(at, opens, np.full(len(at), -1), 0)


def _by_level(given: Intervals, to: Holding) -> None:
    count = len(given.start)
    by_end = np.argsort(given.end, kind="stable")
    rank = np.empty(count, np.int64)
    rank[by_end] = np.arange(count)
    ends = given.end[by_end]
    level = _entire_tracks(given, np.arange(count))
    while len(level.at):
        at = level.at
        # the latest end so far per group, as one ascending column of ranks
        latest = np.maximum.accumulate((np.cumsum(level.opens) - 1) * count + rank[at]) % count
        level.opens[1:] |= given.follow(ends[latest[:-1]], at[1:])
        first = np.flatnonzero(level.opens)
        size = np.diff(first, append=len(at))
        holds_all = given.end[at[first]] >= np.maximum.reduceat(given.inner[at], first)
        roots = first[holds_all]
        to.depth[at[roots]], to.parent[at[roots]] = level.depth, level.outer[roots]
        inside = np.repeat(holds_all, size)
        if not holds_all.all():
            _walk(given, to, level.part(~inside))
        inside[first] = False
        opens = np.concatenate(([False], level.opens[:-1]))[inside]
        outer = np.repeat(at[first], size)[inside]
        stuck = level.depth >= _ROUNDS and len(roots) < _LEAST_PROGRESS * len(at)
        level = _IntervalLevel(at[inside], opens, outer, level.depth + 1)
        if stuck:
            _walk(given, to, level)
            return


class _Open:
    """Open intervals, by descending end."""

    def __init__(self) -> None:
        self.ends: list[float] = []  # negated, so that they rise
        self.positions: list[int] = []
        self.depths: list[int] = []

    def holders(self, inner: float) -> int:
        """Return how many end at ``inner`` or later; the last of them is the innermost."""
        return bisect_right(self.ends, -inner)

    def push(self, end: float, position: int, depth: int) -> None:
        while self.ends and -self.ends[-1] <= end:
            self.ends.pop()
            self.positions.pop()
            self.depths.pop()
        self.ends.append(-end)
        self.positions.append(position)
        self.depths.append(depth)


def _walk(given: Intervals, to: Holding, level: _IntervalLevel) -> None:
    """Place intervals one by one; the state is reset at the start of a group."""
    at = level.at
    depths, parents, across = [], [], []
    nested, every = _Open(), _Open()
    last: list[float] = []  # end of the last interval by depth
    for position, begins, start, end, inner, around in zip(
        at.tolist(),
        level.opens.tolist(),
        given.start[at].tolist(),
        given.end[at].tolist(),
        given.inner[at].tolist(),
        level.outer.tolist(),
        strict=True,
    ):
        if begins:
            nested, every, last = _Open(), _Open(), []
        late = start + given.tolerance
        holders = nested.holders(inner)
        depth = nested.depths[holders - 1] + 1 if holders else 0
        crosses = holders < len(nested.ends) and -nested.ends[holders] > late
        if depth < len(last):
            crosses = crosses or last[depth] > late or last[depth] >= inner
        among = every.holders(inner)
        parent = every.positions[among - 1] if among else around
        if not crosses and (holders or around >= 0):
            parent = nested.positions[holders - 1] if holders else around
        if not crosses:
            nested.push(end, position, depth)
            if depth == len(last):
                last.append(end)
            last[depth] = end
        every.push(end, position, depth)
        depths.append(level.depth + depth)
        parents.append(parent)
        across.append(crosses)
    to.depth[at], to.parent[at], to.across[at] = depths, parents, across


def by_row(track: Ints, depth: Ints) -> Ints:
    """Return the stable order of items by track and depth."""
    if not len(track):
        return np.zeros(0, np.int64)
    deepest = int(depth.max()) + 1
    row = track * deepest + depth
    if (int(track.max()) + 1) * deepest < 1 << 16:  # numpy sorts 16 bits by radix
        row = row.astype(np.uint16)
    return np.argsort(row, kind="stable")


def _mend(given: Intervals, to: Holding) -> None:
    """Walk tracks anew if neighbors of one depth, of other parents, reach into each other."""
    nested = np.flatnonzero(~to.across)
    order = nested[by_row(given.track[nested], to.depth[nested])]
    before, after = order[:-1], order[1:]
    same = (given.track[before] == given.track[after]) & (to.depth[before] == to.depth[after])
    wrong = same & ~given.follow(given.end[before], after)
    if wrong.any():
        at = np.flatnonzero(np.isin(given.track, given.track[after[wrong]]))
        _walk(given, to, _entire_tracks(given, at))


def _lanes(given: Intervals, to: Holding) -> None:
    """Give each overlapping interval the first free lane of its track."""
    at = np.flatnonzero(to.across)
    lanes = []
    track, count = -1, 0
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    for own, start, end in zip(
        given.track[at].tolist(), given.start[at].tolist(), given.end[at].tolist(), strict=True
    ):
        if own != track:
            track, count, free, busy = own, 0, [], []
        while busy and busy[0][0] <= start:
            heappush(free, heappop(busy)[1])
        if free:
            lane = heappop(free)
        else:
            lane, count = count, count + 1
        heappush(busy, (end, lane))
        lanes.append(lane)
    to.depth[at] = lanes
