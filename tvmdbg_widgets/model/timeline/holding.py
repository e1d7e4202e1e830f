"""Which interval of a track lies in which, and which share time without lying inside."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

#: Printed times are rounded: intervals may reach so far into, or out of, each other.
TOLERANCE_NS = 1.0
#: … but no more than this share of an interval may reach out of what it lies in.
_MOST_OUTSIDE = 0.4
_ROUNDS, _LEAST_PROGRESS = 8, 1 / 16

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


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
        """Whether intervals come after these ends, with no more in common than rounding makes."""
        return (ends <= self.start[after] + self.tolerance) & (ends < self.inner[after])


@dataclass(frozen=True, eq=False)
class Holding:
    """Where each of P intervals lies."""

    depth: Ints
    parent: Ints
    across: Flags


def holding(intervals: Intervals) -> Holding:
    """Find what lies in what.

    Level by level: what nothing of its group reaches into begins an island. Where the first
    of an island holds all others, they are a group of the next level. Only islands in which
    it does not, and what is nested very deeply, are walked one by one.
    """
    count = len(intervals.start)
    found = Holding(np.zeros(count, np.int64), np.full(count, -1), np.zeros(count, np.bool_))
    if count:
        _by_level(intervals, found)
        _mend(intervals, found)
        _lanes(intervals, found)
    return found


@dataclass(frozen=True)
class _IntervalLevel:
    """Intervals still to be placed, in groups that lie inside one interval each, or in none."""

    at: Ints
    opens: Flags
    outer: Ints
    depth: int

    def part(self, chosen: Flags) -> _IntervalLevel:
        return _IntervalLevel(self.at[chosen], self.opens[chosen], self.outer[chosen], self.depth)


def _whole_tracks(given: Intervals, at: Ints) -> _IntervalLevel:
    opens = np.concatenate(([True], np.diff(given.track[at]) != 0))
    return _IntervalLevel(at, opens, np.full(len(at), -1), 0)


def _by_level(given: Intervals, found: Holding) -> None:
    count = len(given.start)
    by_end = np.argsort(given.end, kind="stable")
    rank = np.empty(count, np.int64)
    rank[by_end] = np.arange(count)
    ends = given.end[by_end]
    level = _whole_tracks(given, np.arange(count))
    while len(level.at):
        at = level.at
        # the latest end so far in each group, as one rising column of ranks
        latest = np.maximum.accumulate((np.cumsum(level.opens) - 1) * count + rank[at]) % count
        level.opens[1:] |= given.follow(ends[latest[:-1]], at[1:])
        first = np.flatnonzero(level.opens)
        size = np.diff(first, append=len(at))
        whole = given.end[at[first]] >= np.maximum.reduceat(given.inner[at], first)
        roots = first[whole]
        found.depth[at[roots]], found.parent[at[roots]] = level.depth, level.outer[roots]
        inside = np.repeat(whole, size)
        if not whole.all():
            _walk(given, found, level.part(~inside))
        inside[first] = False
        opens = np.concatenate(([False], level.opens[:-1]))[inside]
        outer = np.repeat(at[first], size)[inside]
        stuck = level.depth >= _ROUNDS and len(roots) < _LEAST_PROGRESS * len(at)
        level = _IntervalLevel(at[inside], opens, outer, level.depth + 1)
        if stuck:
            _walk(given, found, level)
            return


class _Open:
    """Intervals behind which none ends later: their ends fall."""

    def __init__(self) -> None:
        self.ends: list[float] = []  # negated, so that they rise
        self.positions: list[int] = []
        self.depths: list[int] = []

    def holders(self, inner: float) -> int:
        """How many end at ``inner`` or later; the last of them is the innermost."""
        return bisect_right(self.ends, -inner)

    def push(self, end: float, position: int, depth: int) -> None:
        while self.ends and -self.ends[-1] <= end:
            self.ends.pop()
            self.positions.pop()
            self.depths.pop()
        self.ends.append(-end)
        self.positions.append(position)
        self.depths.append(depth)


def _walk(given: Intervals, found: Holding, level: _IntervalLevel) -> None:
    """Place intervals one by one; where a group begins, what came before no longer matters."""
    at = level.at
    depths, parents, across = [], [], []
    nested, every = _Open(), _Open()
    last: list[float] = []  # end of the last interval of each depth
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
    found.depth[at], found.parent[at], found.across[at] = depths, parents, across


def by_row(track: Ints, depth: Ints) -> Ints:
    """Return the order of items by track and depth, those of one row as they stand."""
    if not len(track):
        return np.zeros(0, np.int64)
    deepest = int(depth.max()) + 1
    row = track * deepest + depth
    if (int(track.max()) + 1) * deepest < 1 << 16:  # numpy sorts 16 bits by radix
        row = row.astype(np.uint16)
    return np.argsort(row, kind="stable")


def _mend(given: Intervals, found: Holding) -> None:
    """Walk tracks anew where neighbors of one depth, of other parents, reach into each other."""
    nested = np.flatnonzero(~found.across)
    order = nested[by_row(given.track[nested], found.depth[nested])]
    before, after = order[:-1], order[1:]
    same = (given.track[before] == given.track[after]) & (found.depth[before] == found.depth[after])
    wrong = same & ~given.follow(given.end[before], after)
    if wrong.any():
        at = np.flatnonzero(np.isin(given.track, given.track[after[wrong]]))
        _walk(given, found, _whole_tracks(given, at))


def _lanes(given: Intervals, found: Holding) -> None:
    """Give each interval across the first lane of its track that is free."""
    at = np.flatnonzero(found.across)
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
    found.depth[at] = lanes
