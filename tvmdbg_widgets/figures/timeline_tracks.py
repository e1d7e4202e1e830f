"""The longest slices of each track of a timeline, in its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline_rows import RowKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.model.timeline import Timeline

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
        levels: list[Ints] = []
        instants, overlapping = np.zeros(0, np.int64), 0
        for row in range(bounds[track], bounds[track + 1]):
            own = rows.order[rows.first[row] : rows.first[row + 1]].astype(np.int64)
            start = timeline.slice_start_ns[own]
            own = own[(start <= within[1]) & (start + duration[own] >= within[0])]
            if rows.kind[row] == RowKind.INSTANT:
                instants = own
            elif len(own):
                levels.append(own)
                overlapping += len(own) if rows.kind[row] == RowKind.OVERLAP else 0
        yield Track(
            name,
            _longest(levels, duration, most),
            instants,
            sum(map(len, levels)) + len(instants),
            len(levels),
            timeline.nesting.nested[track],
            overlapping,
        )


def _longest(levels: list[Ints], duration: npt.NDArray[np.float64], most: int) -> list[Ints]:
    if not levels:
        return []
    every = np.concatenate(levels)
    chosen = np.zeros(len(every), np.bool_)
    chosen[np.argsort(-duration[every], kind="stable")[:most]] = True
    parts = np.split(chosen, np.cumsum([len(each) for each in levels])[:-1])
    kept = [each[part] for each, part in zip(levels, parts, strict=True)]
    return [each for each in kept if len(each)][:_MOST_LEVELS]
