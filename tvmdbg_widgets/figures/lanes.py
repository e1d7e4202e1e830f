"""Slices of a timeline sorted into tracks and, where they overlap, into lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tvmdbg_widgets.model.timeline import Timeline

#: Neighbours that overlap by less are drawn one after the other: printed times are rounded.
_TOLERANCE_NS = 1.0
_MOST_LANES = 8

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Track:
    """The slices of one device that are drawn.

    Attributes
    ----------
    name : str
    lanes : list of int64 arrays
        Slices of each lane, by start.
    instants : int64 array
        Slices of no duration, by start.
    count : int
        All usable slices, also those too short to be drawn.
    nested, overlapping : bool
        Some slice lies inside another; two share time and neither is inside the other.
    """

    name: str
    lanes: list[Ints]
    instants: Ints
    count: int
    nested: bool
    overlapping: bool


def tracks(timeline: Timeline, most: int, within: tuple[float, float]) -> list[Track]:
    """Return the ``most`` longest slices of each track and its instants, within a range (ns)."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    usable = np.isfinite(start) & np.isfinite(duration) & (duration >= 0)
    usable &= (start <= within[1]) & (start + duration >= within[0])
    found = []
    for row, name in enumerate(timeline.tracks):
        own = np.flatnonzero(usable & (timeline.slice_track == row))
        wide = own[duration[own] > 0]
        if len(wide) > most:
            wide = wide[np.argsort(-duration[wide], kind="stable")[:most]]
        wide = wide[np.lexsort((wide, -duration[wide], start[wide]))]
        instants = own[duration[own] == 0]
        instants = instants[np.argsort(start[instants], kind="stable")]
        lanes = _lanes(wide, start, duration)
        nested, across = timeline.nesting.nested[row], timeline.nesting.overlapping[row]
        found.append(Track(name, lanes, instants, len(own), nested, across))
    return found


def _lanes(
    slices: Ints, start: npt.NDArray[np.float64], duration: npt.NDArray[np.float64]
) -> list[Ints]:
    """Put each slice into the first lane that is free; beyond the last lane they are left out."""
    ends: list[float] = []
    members: list[list[int]] = []
    for each in slices.tolist():
        begin = float(start[each])
        free = next((i for i, end in enumerate(ends) if end <= begin + _TOLERANCE_NS), len(ends))
        if free == _MOST_LANES:
            continue
        if free == len(ends):
            ends.append(0.0)
            members.append([])
        ends[free] = begin + float(duration[each])
        members[free].append(each)
    return [np.array(each, np.int64) for each in members]
