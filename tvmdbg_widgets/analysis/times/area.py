"""A range of time: sums and durations of its slices, and use of its tracks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.times.sums import SlicesInRange, slices_within, times
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.ranges import Range, checked_range, group_spread, total
from tvmdbg_widgets.model.base.text import columns_of, data_frame, one_line
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.measured import NOTHING_NS, extents
from tvmdbg_widgets.model.timeline.rows import RowKind
from tvmdbg_widgets.model.timeline.timeline import Timeline

Floats = npt.NDArray[np.float64]

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class TrackArea:
    """Use of a track in a range; nanoseconds.

    Only the time within the track's run counts. ``busy_ns`` is the time in which at least one slice
    runs, ``busy`` its share, NaN outside of the run; ``gaps`` counts idle stretches, also at the
    ends.
    """

    track: str
    slices: int
    busy_ns: float
    busy: float
    gaps: int
    idle_ns: float
    longest_gap_ns: float


@dataclass(frozen=True, eq=False, repr=False)
class Area:
    """Slices in a range of time.

    Attributes
    ----------
    start, end : float
        Nanoseconds.
    count : int
        Slices that touch the range.
    instants : int
        Slices without a duration.
    ns : float
        Sum of the time in the range during which a slice runs and none inside it.
    whole : int
        Slices entirely in the range, without instants.
    minimum, mean, p50, p90, maximum : float
        Of the full durations of these; NaN where there is none.
    tracks : tuple of TrackArea
        Where the timeline is synthetic, ``busy`` is NaN: what ran between slices is unknown.
    rounding_ns : float
        As of the timeline: a time of 0 is less than this.
    """

    start: float
    end: float
    count: int
    instants: int
    ns: float
    whole: int
    minimum: float
    mean: float
    p50: float
    p90: float
    maximum: float
    tracks: tuple[TrackArea, ...]
    _by: Callable[[str, Range, int | None], TimeTable] = field(repr=False)
    rounding_ns: float = 0.0

    def by(self, by: str, level: int | None = None) -> TimeTable:
        """Return the times in the range by a key, as ``run.times(by, within=…)``."""
        return self._by(by, (self.start, self.end), level)

    def to_dataframe(self) -> Any:
        """Return one row per track as a ``pandas.DataFrame``; times in nanoseconds."""
        return data_frame(columns_of(self.tracks, TrackArea.__slots__))

    def __repr__(self) -> str:
        lasts = f"of {duration_text(0, self.rounding_ns)}" if self.rounding_ns else "zero-duration"
        instants = f" ({self.instants:,} {lasts})" if self.instants else ""
        ns = duration_text(self.ns, self.rounding_ns)
        from_to = f"{duration_text(self.start)} to {duration_text(self.end)}"
        counts = f"{counted(self.count, 'slice')}{instants}, {ns} in all"
        lines = [f"Area: {from_to}, {duration_text(self.end - self.start)}: {counts}"]
        if self.whole:
            lines.append(
                f"  {counted(self.whole, 'slice')} within: min {duration_text(self.minimum)}, "
                f"mean {duration_text(self.mean)}, median {duration_text(self.p50)}, "
                f"p90 {duration_text(self.p90)}, max {duration_text(self.maximum)}"
            )
        for track in self.tracks[:_SHOWN]:
            if math.isnan(track.busy):
                continue
            gaps = "no gaps"
            if track.gaps:
                longest = f"longest {duration_text(track.longest_gap_ns)}"
                gaps = f"{counted(track.gaps, 'gap')}, {longest}"
            lines.append(f"  {one_line(track.track)}: busy {percent(track.busy)}, {gaps}")
        if len(self.tracks) > _SHOWN:
            more = counted(len(self.tracks) - _SHOWN, "more track")
            lines.append(f"  … and {more}: to_dataframe()")
        return "\n".join(lines)


def area(
    run: RunParts,
    groups: Callable[[], Groups],
    start: float,
    end: float,
    slices: SlicesInRange | None = None,
) -> Area:
    """Return what runs from ``start`` to ``end`` (nanoseconds), of some slices or all."""
    timeline = run.timeline
    if timeline is None:
        raise ValueError(how_to_get("timeline", run))
    within = checked_range((start, end))
    slices = slices_within(timeline, within) if slices is None else slices
    duration = timeline.slice_duration_ns[slices.slices]
    lies = duration[slices.whole & (duration > 0)]
    spread = group_spread(np.zeros(len(lies), np.int64), lies, 1)
    return Area(
        start=within[0],
        end=within[1],
        count=len(slices.slices),
        instants=int(np.count_nonzero(duration == 0)),
        ns=total(slices.self_ns),
        whole=len(lies),
        minimum=float(spread.minimum[0]),
        mean=float(spread.mean[0]),
        p50=float(spread.p50[0]),
        p90=float(spread.p90[0]),
        maximum=float(spread.maximum[0]),
        tracks=_tracks(timeline, within, slices.slices),
        _by=lambda by, part, level: times(run, groups, by, part, level),
        rounding_ns=timeline.rounding_ns,
    )


def _tracks(
    timeline: Timeline, within: Range, slices: npt.NDArray[np.int64]
) -> tuple[TrackArea, ...]:
    own_extents = extents(timeline, timeline.rows)[timeline.track_run] * (not timeline.synthetic)
    counts = np.bincount(timeline.slice_track[slices], minlength=len(timeline.tracks))
    rows = timeline.rows
    starts, ends = timeline.slice_start_ns, timeline.slice_start_ns + timeline.slice_duration_ns
    outer = (rows.kind == RowKind.OVERLAP) | ((rows.kind == RowKind.NESTED) & (rows.depth == 0))
    lying = np.flatnonzero(outer)
    bounds = np.searchsorted(rows.track[lying], np.arange(len(timeline.tracks) + 1)).tolist()
    areas = []
    for track, name in enumerate(timeline.tracks):
        first, last = own_extents[track].tolist()
        low, high = max(within[0], first), max(first, min(within[1], last))
        own = lying[bounds[track] : bounds[track + 1]].tolist()
        pieces = [rows.order[rows.first[row] : rows.first[row + 1]] for row in own]
        each = np.concatenate(pieces) if pieces else np.zeros(0, np.int32)
        begin, until = np.maximum(starts[each], low), np.minimum(ends[each], high)
        kept = until > begin
        begin, until = begin[kept], until[kept]
        if len(pieces) > 1:
            order = np.argsort(begin, kind="stable")
            begin, until = begin[order], until[order]
        reached = np.maximum.accumulate(until) if len(until) else until
        idle = np.concatenate((begin, [high])) - np.concatenate(([low], reached))
        gaps = idle[idle > NOTHING_NS]
        away = math.fsum(gaps.tolist())
        busy = max(0.0, high - low - away)
        areas.append(
            TrackArea(
                track=name,
                slices=int(counts[track]),
                busy_ns=busy,
                busy=busy / (high - low) if high > low else math.nan,
                gaps=len(gaps),
                idle_ns=away,
                longest_gap_ns=float(gaps.max(initial=0.0)),
            )
        )
    return tuple(areas)
