"""Stretches of time in which nothing runs on a track."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.time_ranges import checked_range
from tvmdbg_widgets.model.timeline.columns import TimelineColumns
from tvmdbg_widgets.model.timeline.rows import RowKind, TimelineRows

#: What is shorter lies between sums of doubles, not between slices.
NOTHING_NS = 0.01
_SHOWN = 10

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap; ``before`` and ``after`` are slices (index), -1 where the timeline ends."""

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
            "the timeline's end" if each < 0 else f"slice {each}"
            for each in (self.before, self.after)
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
        """Return the k longest, the longest first."""
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
                "track": [self.tracks[each] for each in self.track.tolist()],
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
        lines += [f"  {str(each).removeprefix('Gap: ')}" for each in self.longest(_SHOWN)]
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
    # of each track: its beginning, then what follows each slice up to the next one or its end
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
    """Slices that lie in no nested one, by track and start; their tracks; which ended last."""
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
    # which ended last so far in each track, as one rising column of ranks
    latest = np.maximum.accumulate(of * len(at) + rank) if len(at) else rank
    return at, of, at[by_end[latest % max(1, len(at))]]


def extents(timeline: TimelineColumns, rows: TimelineRows) -> Floats:
    """Return the first start and the last end of each run (float64[R, 2]); 0 without slices."""
    order = rows.order
    run = timeline.track_run[timeline.slice_track[order]]
    start = timeline.slice_start_ns[order]
    end = start + timeline.slice_duration_ns[order]
    found = np.zeros((int(timeline.track_run.max(initial=0)) + 1, 2))
    for number in np.unique(run).tolist():
        own = run == number
        found[number] = start[own].min(), end[own].max()
    return found


def _number(timeline: TimelineColumns, track: int | str) -> int:
    if isinstance(track, str):
        return timeline.tracks.index(one_of("track", track, timeline.tracks))
    if not 0 <= track < len(timeline.tracks):
        raise IndexError(
            f"track {track} of a timeline with {counted(len(timeline.tracks), 'track')}"
        )
    return track
