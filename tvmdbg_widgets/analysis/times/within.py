"""The slices that touch a range of time, and what of their own time lies in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.time_ranges import Range
from tvmdbg_widgets.model.timeline.timeline import Timeline

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SlicesInRange:
    """K slices that touch a range."""

    slices: Ints
    self_ns: Floats
    whole: npt.NDArray[np.bool_]

    def only(self, kept: npt.NDArray[np.bool_]) -> SlicesInRange:
        """Return some of them."""
        return SlicesInRange(self.slices[kept], self.self_ns[kept], self.whole[kept])


def slices_within(timeline: Timeline, within: Range | None) -> SlicesInRange:
    """Return the slices that touch a range, all of them without one."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    own, parent = timeline.rows.self_ns, timeline.rows.parent
    drawn = np.isfinite(own)
    if within is None:
        every = np.flatnonzero(drawn)
        return SlicesInRange(every, own[every], np.ones(len(every), np.bool_))
    low, high = within
    with np.errstate(invalid="ignore", over="ignore"):
        end = start + duration
        touching = (start < high) & (end > low) & (duration > 0)
        touching |= (duration == 0) & (start >= low) & (start <= high)
    slices = np.flatnonzero(touching & drawn)
    inside = (start[slices] >= low) & (end[slices] <= high)
    found = own[slices]
    cut = slices[~inside]
    place = np.full(timeline.num_slices, -1, np.int64)
    place[cut] = np.arange(len(cut))
    held = slices[parent[slices] >= 0]
    held = held[place[parent[held]] >= 0]
    begin = np.maximum(start[held], low)
    until = np.minimum(np.minimum(end[held], end[parent[held]]), high)
    shared = np.minimum(end[cut], high) - np.maximum(start[cut], low)
    covered = _union(place[parent[held]], begin, until, len(cut))
    found[~inside] = np.maximum(0.0, shared - covered)
    return SlicesInRange(slices, found, inside)


def _union(group: Ints, begin: Floats, until: Floats, size: int) -> Floats:
    """Time that the intervals of each group cover together."""
    covered = np.zeros(size)
    order = np.lexsort((begin, group))
    group, begin, until = group[order], begin[order], until[order]
    edges = np.concatenate(([0], np.flatnonzero(np.diff(group)) + 1, [len(group)]))
    if not len(group):
        return covered
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        reached = np.maximum.accumulate(until[first:last])
        before = np.concatenate(([-np.inf], reached[:-1]))
        parts = np.maximum(0.0, until[first:last] - np.maximum(begin[first:last], before))
        covered[group[first]] = math.fsum(parts.tolist())
    return covered
