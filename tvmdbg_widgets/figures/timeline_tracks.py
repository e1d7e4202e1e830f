"""The longest slices of each track of a timeline, in its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline.rows import RowKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.model.timeline.timeline import Timeline

_MOST_LEVELS = 8

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Track:
    """The slices of one track that are drawn.

    Attributes
    ----------
    name : str
    levels : list of int64 arrays
        Slices of each row, by start; nested ones by depth, then lanes of what overlaps.
    instants : int64 array
        Slices of no duration, by start.
    count : int
        All usable slices in the range, also those that are not drawn.
    of_levels : int
        How many rows all of them are on.
    nested : bool
        Some slice lies inside another.
    overlapping : int
        Slices that share time with others without lying inside.
    """

    name: str
    levels: list[Ints]
    instants: Ints
    count: int
    of_levels: int
    nested: bool
    overlapping: int


def tracks(timeline: Timeline, most: int, within: tuple[float, float]) -> Iterator[Track]:
    """Yield the ``most`` longest slices of each track and its instants, within a range (ns)."""
    rows, duration = timeline.rows, timeline.slice_duration_ns
    bounds = np.searchsorted(rows.track, np.arange(len(timeline.tracks) + 1)).tolist()
    for track, name in enumerate(timeline.tracks):
        first = rows.first[bounds[track] : bounds[track + 1] + 1]
        own = rows.order[first[0] : first[-1]].astype(np.int64)
        row = np.repeat(np.arange(*bounds[track : track + 2]), np.diff(first))
        start = timeline.slice_start_ns[own]
        seen = (start <= within[1]) & (start + duration[own] >= within[0])
        own, row = own[seen], row[seen]
        instant = rows.kind[row] == RowKind.INSTANT
        held, level = own[~instant], row[~instant]
        yield Track(
            name,
            _longest(held, level, duration, most),
            own[instant],
            len(own),
            len(np.unique(level)),
            timeline.nesting.nested[track],
            int(np.count_nonzero(rows.kind[level] == RowKind.OVERLAP)),
        )


def _longest(own: Ints, level: Ints, duration: npt.NDArray[np.float64], most: int) -> list[Ints]:
    if not len(own):
        return []
    kept = np.sort(np.argsort(-duration[own], kind="stable")[:most])
    return np.split(own[kept], np.flatnonzero(np.diff(level[kept])) + 1)[:_MOST_LEVELS]
