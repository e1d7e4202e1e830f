"""Slices inside other slices of their track: what of a slice's time is its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tvmdbg_widgets.model.timeline import Timeline

#: Slices that reach into each other by less are one after the other: printed times are rounded.
_TOLERANCE_NS = 1.0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Nesting:
    """How the slices of a timeline lie in each other.

    Attributes
    ----------
    self_ns : float64[S]
        Time of a slice in which no slice inside it runs; its duration where there is none. NaN
        where start or duration is no usable number.
    nested : tuple of bool
        By track: some slice lies inside another.
    overlapping : tuple of bool
        By track: two slices share time and neither lies inside the other.
    """

    self_ns: Floats
    nested: tuple[bool, ...]
    overlapping: tuple[bool, ...]


def nesting(timeline: Timeline) -> Nesting:
    """Find what lies in what; a slice is inside another that starts before it and ends after it.

    Of two slices of the same start and end the one that stands first is the outer one.
    """
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    usable = np.isfinite(start) & np.isfinite(duration) & (duration >= 0)
    own = np.where(usable, duration, np.nan)
    nested, overlapping = [], []
    for track in range(len(timeline.tracks)):
        rows = np.flatnonzero(usable & (timeline.slice_track == track) & (duration > 0))
        rows = rows[np.lexsort((rows, -duration[rows], start[rows]))]
        begin, end = start[rows], (start + duration)[rows]
        apart = not np.any(begin[1:] < np.maximum.accumulate(end)[:-1] - _TOLERANCE_NS)
        inside, across = (False, False) if apart else _track(rows, begin, end, own)
        nested.append(inside)
        overlapping.append(across)
    return Nesting(own, tuple(nested), tuple(overlapping))


def _track(
    rows: npt.NDArray[np.int64], begin: Floats, end: Floats, own: Floats
) -> tuple[bool, bool]:
    """Take the time of inner slices off the outer ones of a track."""
    inside = across = False
    open_: list[list[float]] = []  # end, end of what is covered, own time, row
    for row, first, last in zip(rows.tolist(), begin.tolist(), end.tolist(), strict=True):
        still = [each for each in open_ if each[0] > first + _TOLERANCE_NS]
        if len(still) < len(open_):
            for each in open_:
                if each[0] <= first + _TOLERANCE_NS:
                    own[int(each[3])] = each[2]
            open_ = still
        for each in open_:
            if last > each[0] + _TOLERANCE_NS:
                across = True
                continue
            inside = True
            until = min(last, each[0])
            if until > each[1]:
                each[2] = max(0.0, each[2] - (until - max(first, each[1])))
                each[1] = until
        open_.append([last, first, last - first, float(row)])
    for each in open_:
        own[int(each[3])] = each[2]
    return inside, across
