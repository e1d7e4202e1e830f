"""Groups of nodes as boxes of an SVG, and frames around what is repeated."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.graph_boxes import (
    BADGE_PADDING,
    PADDING,
    RADIUS,
    STRIPE,
    TEXT_START,
    Arrangement,
    BoxSizes,
    pill_width,
)
from tvmdbg_widgets.figures.graph_health import NodeHealth, is_unknown
from tvmdbg_widgets.figures.graph_health import fill as health_fill
from tvmdbg_widgets.figures.graph_picture import draw_lines, draw_ring, hatch
from tvmdbg_widgets.figures.layout import Spacing
from tvmdbg_widgets.figures.svg import LARGE, SMALL, Marks, Style
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph_colors import Colors
    from tvmdbg_widgets.figures.graph_condensed import Condensed, GroupFacts

_LINE, _PAD = 14.0, 24.0
_FRAME, _CLOSE = 7.0, 5.0
_WIDEST = 250.0

Corner = npt.NDArray[np.float64]


def group_sizes(condensed: Condensed) -> list[BoxSizes]:
    """Return boxes with all lines of text, and without that of dtype and shape."""
    wanted = [
        min(_WIDEST, max(120.0, TEXT_START + PADDING + _widest(each))) for each in condensed.groups
    ]
    airy = Spacing(node_gap=20, line_gap=9, track_gap=7, layer_gap=20, component_gap=28)
    tight = Spacing(node_gap=18, line_gap=8, track_gap=6, layer_gap=16, component_gap=24)
    widest = (_WIDEST, 210.0, 180.0)
    lines = 3 if condensed.largest else 2
    return [
        BoxSizes("group", _PAD + lines * _LINE, 116.0, widest, airy, wanted),
        BoxSizes("group", _PAD + (lines - 1) * _LINE, 108.0, widest, tight, wanted),
    ]


def _widest(each: GroupFacts) -> float:
    lines = (each.time_text, each.count_text, each.result)
    title = width(each.title, LARGE, bold=True) + pill_width(each.times_text)
    return max(title, *(width(line, SMALL) for line in lines))


@dataclass(frozen=True)
class GroupPicture:
    """All that the picture of a condensed graph is drawn from; ``marked``, ``hits``: groups."""

    condensed: Condensed
    arrangement: Arrangement
    color_by: str
    marked: frozenset[int]
    hits: frozenset[int]
    health: NodeHealth | None = None
    colors: Colors | None = None

    def draw(self, marks: Marks, left: float, top: float) -> None:
        """Add frames, lines and boxes with their upper left corner at (left, top)."""
        self._frames(marks, left, top)
        draw_lines(marks, self.condensed.scene, self.arrangement, left, top)
        for at, each in enumerate(self.condensed.groups):
            self._box(marks, at, each, left, top)

    def _rect(self, at: int) -> tuple[float, float, float, float]:
        placed = self.arrangement
        return placed.folded.x[at], placed.folded.y[at], placed.widths[at], placed.heights[at]

    def _frames(self, marks: Marks, left: float, top: float) -> None:
        """Draw a frame around the parts of one stretch, where it would hold nothing else."""
        groups = self.condensed.groups
        for frame in sorted({each.frame for each in groups if each.frame >= 0}):
            own = [at for at, each in enumerate(groups) if each.frame == frame]
            others = [self._rect(at) for at in range(len(groups)) if at not in own]
            for members in self._columns(own):
                rects = np.array([self._rect(at) for at in members])
                low = rects[:, :2].min(axis=0) - _FRAME
                high = (rects[:, :2] + rects[:, 2:]).max(axis=0) + _FRAME
                self._clear_of_lines(low, high)
                if any(_meet((*low, *high), other) for other in others):
                    continue
                marks.rect(
                    float(low[0]) + left,
                    float(low[1]) + top,
                    *(float(each) for each in high - low),
                    z=-1,
                    fill=marks.theme.surface,
                    stroke=marks.theme.muted,
                    stroke_dasharray="2 3",
                    rx=7.0,
                )

    def _clear_of_lines(self, low: Corner, high: Corner) -> None:
        """Move a frame's sides outwards where lines run along them."""
        for stroke in self.arrangement.folded.strokes:
            for (x, y), (to_x, to_y) in pairwise(stroke.points):
                for axis, (one, two) in enumerate(((x, to_x), (y, to_y))):
                    if abs(one - two) > 1:
                        continue
                    if abs(one - low[axis]) < _CLOSE:
                        low[axis] = one - _CLOSE
                    elif abs(one - high[axis]) < _CLOSE:
                        high[axis] = one + _CLOSE

    def _columns(self, members: list[int]) -> list[list[int]]:
        """Return members that stand in one stretch of the folded layout."""
        found: dict[int, list[int]] = {}
        for at in members:
            x, y, wide, high = self._rect(at)
            along = x + wide / 2 if self.arrangement.direction == "down" else y + high / 2
            found.setdefault(bisect_right(self.arrangement.folded.borders, along), []).append(at)
        return list(found.values())

    def _box(self, marks: Marks, at: int, each: GroupFacts, left: float, top: float) -> None:
        theme = marks.theme
        x, y, wide, high = self._rect(at)
        x, y = x + left, y + top
        largest = self.condensed.largest
        hot = self.color_by == "time" and each.ns >= 0 and largest > 0 and not each.source
        kind = each.kinds[0][0] if each.kinds else "other"
        fill = theme.plain if self.color_by == "time" else theme.tint(kind)
        if hot:
            fill = theme.heat(each.ns / largest)
        verdict, judged = "", ""
        if self.health is not None:
            verdict, judged = self.health.of_group((*each.nodes, *each.inside))
            hot = verdict in ("sound", "doubtful", "faulty")
            fill = health_fill(theme, verdict)
        parts = [(theme.kind(name), share) for name, share in each.kinds]
        unknown = is_unknown(verdict)
        if self.colors is not None:
            found = self.colors.fill(theme, each.nodes)
            hot, unknown = found is not None, found is None
            fill = theme.plain if found is None else found
            parts = self.colors.parts(theme, each.nodes) or parts
            judged = self.colors.said(each.nodes)
        ink = theme.ink_on(fill) if hot else theme.text
        soft = ink if hot else theme.muted
        if len(each.nodes) > 1:
            behind: Style = {"fill": theme.background, "stroke": theme.edge}
            marks.rect(x + 3, y + 3, wide, high, z=0, rx=float(RADIUS), **behind)
        title = f"{each.count_text}: {each.title}"
        marks.rect(
            x,
            y,
            wide,
            high,
            own={"fill": fill},
            title=title,
            z=1,
            stroke=theme.edge,
            rx=float(RADIUS),
        )
        if unknown:
            hatch(marks, (x, y, wide, high))
        above = y
        for paint, share in parts:
            part = high * share
            marks.rect(x, above, STRIPE, part, own={"fill": paint}, z=2)
            above += part
        if at in self.marked or at in self.hits:
            draw_ring(marks, (x, y, wide, high), hit=at not in self.marked)
        room = (x + TEXT_START, y, wide - TEXT_START - PADDING, high)
        self._words(marks, each, room, ink, soft, judged=judged)

    def _words(
        self,
        marks: Marks,
        each: GroupFacts,
        box: tuple[float, float, float, float],
        ink: str,
        soft: str,
        *,
        judged: str,
    ) -> None:
        x, y, room, high = box
        pill = each.times_text
        base = y + 17
        shown = fit(each.title, room - pill_width(pill), LARGE, bold=True)
        marks.text(shown, x, base, fill=ink, font_size=LARGE, font_weight=600)
        if pill:
            wide = width(pill, SMALL) + 2 * BADGE_PADDING
            line: Style = {"fill": "none", "stroke": soft, "stroke_opacity": 0.6}
            marks.rect(x + room - wide, base - 11, wide, 14, z=3, rx=3.0, **line)
            marks.text(pill, x + room - wide / 2, base, fill=ink, text_anchor="middle")
        brief = each.time_text.split(" · ")[0]
        params = f" · {counted(each.parameters, 'param')}" if each.parameters else ""
        ends = each.count_text.rpartition(" · ")[0] or each.count_text
        timed = [(ink, [each.time_text, brief])] if self.condensed.largest else []
        if judged:
            timed = [(ink, [judged])]
        lines = [
            *timed,
            (soft, [each.count_text + params, each.count_text, ends + params, ends]),
            (soft, [each.result, each.result.rpartition(" ")[2]]),
        ]
        for color, choices in lines[: int((high - _PAD) / _LINE)]:
            base += _LINE
            line_ = next((said for said in choices if width(said, SMALL) <= room), choices[-1])
            marks.text(fit(line_, room, SMALL), x, base, fill=color)


def _meet(frame: tuple[float, float, float, float], box: tuple[float, float, float, float]) -> bool:
    x, y, wide, high = box
    left, top, right, bottom = frame
    return x < right and left < x + wide and y < bottom and top < y + high
