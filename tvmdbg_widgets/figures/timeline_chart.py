"""Slices in time as bars of an SVG."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.timeline_names import Names, numbered, titled
from tvmdbg_widgets.figures.timeline_tracks import Track, tracks
from tvmdbg_widgets.model.base.numbers import counted, duration_text, fixed
from tvmdbg_widgets.model.timeline.kinds import name_kinds

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tvmdbg_widgets.figures.slice_paint import SlicePaint
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.timeline.timeline import Timeline

_MOST_SLICES = 160
_MOST_TRACKS = 8
_LANE = 22.0
_LONE_LANE = 30.0
_LABEL_FROM = 30
_SIZES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


Range = tuple[float, float]


def whole_range(timeline: Timeline) -> Range:
    """Return the first start and the last end, ns."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    usable = np.isfinite(start) & np.isfinite(duration) & (duration >= 0)
    if not usable.any():
        return 0.0, 0.0
    return float(start[usable].min()), float((start + duration)[usable].max())


class _Scale:
    """Times to px; what lies outside is moved to the end it lies beyond."""

    def __init__(self, shown: Range, left: float, room: float) -> None:
        self.first, self.last = shown
        self.left, self.room = left, room

    def x(self, ns: float) -> float:
        span = self.last - self.first
        share = (ns - self.first) / span if span > 0 else 0.0
        return self.left + self.room * min(1.0, max(0.0, share))

    def ticks(self) -> list[tuple[float, str]]:
        """Multiples of a round step, about one each 90 px."""
        span = self.last - self.first
        if span <= 0:
            return [(self.first, duration_text(self.first))]
        rough = span / max(1.0, self.room // 90)
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next((each for each in (1, 2, 5) if each * power >= rough), 10)
        largest = max(abs(self.first), abs(self.last))
        size, unit = next((each for each in _SIZES if largest >= each[0]), _SIZES[-1])
        digits = max(0, min(12, math.ceil(-math.log10(step / size) - 1e-9)))
        numbers = range(
            math.ceil(self.first / step - 1e-9), math.floor(self.last / step + 1e-9) + 1
        )
        return [
            (i * step, "0" if not i else f"{fixed(i * step / size, digits)} {unit}")
            for i in numbers
        ]


class Chart:
    """The time axis and the tracks below it."""

    def __init__(
        self,
        panel: Panel,
        timeline: Timeline,
        graph: Graph | None,
        shown: Range,
        selected: Collection[int] = (),
        *,
        paint: SlicePaint,
        others: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        """Draw what lies in a range; ``others``: label and kind of slices of a second run."""
        self._paint = paint
        self._marks, self._end = panel.marks, panel.width - MARGIN
        self._timeline, self._graph = timeline, graph
        self._range, self._selected = shown, selected
        self._others = others or {}
        self._kinds = name_kinds(timeline, graph)
        self._names = Names(timeline, graph)
        self._scale = _Scale(shown, float(MARGIN), self._end - MARGIN)

    def draw(self, y: float) -> float:
        """Draw from ``y`` down; return the y below it."""
        y = self._axis(y)
        for track in islice(tracks(self._timeline, _MOST_SLICES, self._range), _MOST_TRACKS):
            y = self._track(track, y)
        more = len(self._timeline.tracks) - _MOST_TRACKS
        if more > 0:
            y += LINE_HEIGHT
            said = f"{counted(more, 'more track')} not drawn"
            self._marks.text(said, MARGIN, y - 4, fill=self._marks.theme.muted)
        return y

    def _axis(self, y: float) -> float:
        marks = self._marks
        marks.path(f"M{MARGIN} {number(y + 16)}H{number(self._end)}", stroke=marks.theme.line)
        for ns, said in self._scale.ticks():
            x = self._scale.x(ns)
            marks.path(f"M{number(x)} {number(y + 12)}v4", stroke=marks.theme.line)
            if x + width(said, SMALL) <= self._end:
                marks.text(said, x, y + 10, fill=marks.theme.muted)
        return y + 20

    def _track(self, track: Track, y: float) -> float:
        drawn = sum(map(len, track.levels))
        said = counted(track.count - len(track.instants), "slice")
        if len(track.instants):
            said += f" · {len(track.instants):,} zero-duration"
        if track.nested:
            said += ", nested"
        if track.overlapping:
            said += f", {track.overlapping:,} overlapping, in separate lanes"
        wide = track.count - len(track.instants)
        if drawn < min(wide, _MOST_SLICES):
            said += f"; {drawn:,} are drawn, on {len(track.levels)} of {track.of_levels:,} levels"
        elif drawn < wide:
            said += f"; the {drawn:,} longest are drawn"
        room = self._end - MARGIN
        beside = room - 8 - width(said, SMALL)
        name = fit(track.name, room, SMALL, bold=True)
        aside = said if width(name, SMALL, bold=True) <= beside else ""
        self._marks.text(name, MARGIN, y + 11, aside=aside, gap=8, font_weight=600)
        if width(name, SMALL, bold=True) > beside:
            y += LINE_HEIGHT
            muted = self._marks.theme.muted
            self._marks.text(fit(said, room, SMALL), MARGIN, y + 11, fill=muted)
        y += 16
        high = _LONE_LANE if len(track.levels) == 1 else _LANE
        for level in track.levels:
            for each in level.tolist():
                self._slice(each, y, high)
            y += high + 2
        if len(track.instants):
            starts = self._timeline.slice_start_ns[track.instants].tolist()
            places = sorted({round(self._scale.x(start)) for start in starts})
            ticks = "".join(f"M{x} {number(y)}v5" for x in places)
            self._marks.path(ticks, stroke=self._marks.theme.muted)
            y += 8
        return y

    def _slice(self, index: int, y: float, high: float) -> None:
        each = self._timeline.slice(index)
        x, end = self._scale.x(each.start_ns), self._scale.x(each.end_ns)
        wide = max(0.6, end - x - (0.6 if end - x > 3 else 0))
        said, kind = self._names.label(each.node, each.name), ""
        name = self._names.title(each.node, each.name)
        if self._timeline.track_run[self._timeline.slice_track[index]] > 0:
            said, kind = self._others.get(each.name, (said, kind))
            name = titled(each.node, said)
        fill = self._marks.theme.kind(kind)
        if not kind and each.node >= 0 and self._graph is not None:
            fill = self._paint.node(each.node)
        elif not kind:
            own = self._kinds[self._timeline.slice_names.codes[index]]
            fill = self._paint.name(each.name, own)
        title = f"{name}: {duration_text(each.duration_ns)}"
        self._marks.rect(x, y, wide, high, title=title, fill=fill)
        if each.node in self._selected:
            self._marks.rect(
                x, y, wide, high, z=3, fill="none", stroke=self._marks.theme.accent, stroke_width=2
            )
        if wide <= _LABEL_FROM:
            return
        shown = name if width(name, SMALL) <= wide - 6 else numbered(each.node, said, wide - 6)
        self._marks.text(shown, x + 3, y + high / 2 + 4, fill=self._marks.theme.ink_on(fill))
