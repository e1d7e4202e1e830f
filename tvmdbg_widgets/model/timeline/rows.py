"""The rows a timeline is drawn in: by track, depth, and where slices overlap, extra lanes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.timeline.columns import TimelineColumns
from tvmdbg_widgets.model.timeline.holding import Intervals, by_row, holding

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class RowKind(IntEnum):
    """What the slices of a row have in common."""

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
        told = [f"{counted(len(self.order), 'slice')} in {counted(len(self), 'row')}"]
        lanes = self.kind == RowKind.OVERLAP
        if lanes.any():
            overlapping = int(np.diff(self.first)[lanes].sum())
            apart = counted(int(lanes.sum()), "separate lane")
            told.append(f"{overlapping:,} {agree(overlapping, 'overlaps')} others, on {apart}")
        if self.unusable:
            told.append(f"{self.unusable:,} not drawn: no usable start or duration")
        return f"Rows: {'; '.join(told)}"


def rows(timeline: TimelineColumns) -> TimelineRows:
    """Sort the slices of a timeline into rows."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    order = in_order(timeline)
    track = timeline.slice_track[order].astype(np.int64)
    instant = duration[order] == 0
    wide = order[~instant]
    intervals = Intervals.of(track[~instant], start[wide], duration[wide])
    found = holding(intervals)
    own = np.full(timeline.num_slices, np.nan)
    own[order] = duration[order]
    covered, lost = _covered(intervals, found.parent, found.across)
    own[wide] -= covered
    if timeline.whole:
        own[wide] -= lost
    np.maximum(own, 0.0, out=own)
    parent = np.full(timeline.num_slices, -1, np.int32)
    held = found.parent >= 0
    parent[wide[held]] = wide[found.parent[held]]
    kind = np.full(len(order), RowKind.INSTANT, np.int64)
    kind[~instant] = np.where(found.across, RowKind.OVERLAP, RowKind.NESTED)
    depth = np.zeros(len(order), np.int64)
    depth[~instant] = found.depth
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
    """Return the usable slices by track, start, the longer first, index (int64)."""
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
    """Order of items by row, and where the rows begin in it."""
    track = track * len(RowKind) + kind
    order = by_row(track, depth)
    track, depth = track[order], depth[order]
    begins = (track[1:] != track[:-1]) | (depth[1:] != depth[:-1])
    ends = [len(order)] if len(order) else []
    return order, np.concatenate(([0], np.flatnonzero(begins) + 1, ends)).astype(np.int64)


def _covered(given: Intervals, parent: Ints, across: Flags) -> tuple[Floats, Floats]:
    """By interval: how much those cover whose parent it is; how much is another's or outside."""
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
        # the latest end so far among those of one parent, as one ascending column of ranks
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
