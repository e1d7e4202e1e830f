"""A condensed graph: groups of neighbors as boxes of an SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph.boxes import (
    BADGE_PADDING,
    FRAME_PADDING,
    HEADER,
    PADDING,
    RADIUS,
    STRIPE,
    TEXT_START,
    Arrangement,
    BoxSizes,
    frame_headers,
    pill_width,
)
from tvmdbg_widgets.figures.graph.faults import Faults, draw_fault
from tvmdbg_widgets.figures.graph.frames import draw_frames
from tvmdbg_widgets.figures.graph.health import NodeHealth, is_unknown
from tvmdbg_widgets.figures.graph.health import fill as health_fill
from tvmdbg_widgets.figures.graph.marks import draw_lines, draw_ring, hatch
from tvmdbg_widgets.figures.layout import Spacing
from tvmdbg_widgets.figures.svg import LARGE, SMALL, Marks, Style
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.colors import Colors
    from tvmdbg_widgets.figures.graph.condensed.condensed import Condensed, GroupFacts
    from tvmdbg_widgets.figures.graph.nesting import GroupWords

_LINE, _PAD = 14.0, 24.0
_WIDEST = 250.0


def group_sizes(condensed: Condensed, words: GroupWords) -> list[BoxSizes]:
    """Return boxes with all lines of text, and without that of dtype and shape."""
    wanted = [
        min(_WIDEST, max(120.0, TEXT_START + PADDING + _widest(each))) for each in condensed.groups
    ]
    airy, tight = (
        Spacing(*gaps, frame_header=HEADER, frame_padding=FRAME_PADDING)
        for gaps in ((20, 9, 7, 20, 28), (18, 8, 6, 16, 24))
    )
    widest = (_WIDEST, 210.0, 180.0)
    headers = frame_headers(condensed.scene, words)
    lines = 3 if condensed.largest else 2
    return [
        BoxSizes("group", [_PAD + each * _LINE] * len(wanted), least, widest, gaps, wanted, headers)
        for each, least, gaps in ((lines, 116.0, airy), (lines - 1, 108.0, tight))
    ]


def _widest(each: GroupFacts) -> float:
    lines = (each.time_text, each.count_text, each.result)
    title = width(each.title, LARGE, bold=True) + pill_width(each.times_text)
    return max(title, *(width(line, SMALL) for line in lines))


@dataclass(frozen=True)
class GroupPicture:
    """All that the picture of a condensed graph is drawn from; ``marked``, ``hits``: groups."""

    condensed: Condensed
    words: GroupWords
    arrangement: Arrangement
    color_by: str
    marked: frozenset[int]
    hits: frozenset[int]
    health: NodeHealth | None = None
    colors: Colors | None = None
    faults: Faults | None = None

    def draw(self, marks: Marks, left: float, top: float) -> None:
        """Add frames, lines and boxes with their upper left corner at (left, top)."""
        groups = [group for group, _ in self.condensed.scene.frames]
        draw_frames(marks, self.arrangement, groups, self.words, (left, top))
        draw_lines(marks, self.condensed.scene, self.arrangement, left, top)
        for at, each in enumerate(self.condensed.groups):
            self._box(marks, at, each, left, top)

    def _rect(self, at: int) -> tuple[float, float, float, float]:
        placed = self.arrangement
        return placed.folded.x[at], placed.folded.y[at], placed.widths[at], placed.heights[at]

    def _box(self, marks: Marks, at: int, each: GroupFacts, left: float, top: float) -> None:
        theme = marks.theme
        x, y, wide, high = self._rect(at)
        x, y = x + left, y + top
        largest = self.condensed.largest
        hot = self.color_by == "time" and each.ns >= 0 and largest > 0 and not each.given
        kind = each.kinds[0][0] if each.kinds else "other"
        fill = theme.plain if self.color_by == "time" else theme.tint(kind)
        if hot:
            fill = theme.heat(each.ns / largest)
        verdict, judged = "", ""
        if self.health is not None:
            verdict, judged = self.health.of_group((*each.nodes, *each.inside))
            hot = verdict in ("OK", "suspicious", "faulty")
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
        if self.faults is not None:
            fault = self.faults.of((*each.nodes, *each.inside))
            draw_fault(marks, fault, (x, y, wide, high), self.color_by)
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
