"""Nodes as boxes, as the live view draws them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph.boxes import (
    BADGE_PADDING,
    GAP,
    PADDING,
    RADIUS,
    STRIPE,
    TEXT_START,
    pill_width,
)
from tvmdbg_widgets.figures.graph.health import sign
from tvmdbg_widgets.figures.graph.label import TemplateLabels
from tvmdbg_widgets.figures.graph.marks import draw_compact, hatch
from tvmdbg_widgets.figures.graph.scene import badge
from tvmdbg_widgets.figures.svg import LARGE, SMALL, Marks, Style, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.picture import Picture

_SPUR = 8


class NodeBox:
    """One box while it is drawn."""

    def __init__(self, picture: Picture, marks: Marks, box: int, left: float, top: float) -> None:
        arrangement, theme = picture.arrangement, marks.theme
        self.theme = theme
        self.picture, self.marks, self.box = picture, marks, box
        self.node = picture.scene.nodes[box]
        self.kind = int(picture.graph.kinds[self.node])
        self.x, self.y = arrangement.folded.x[box] + left, arrangement.folded.y[box] + top
        self.wide, self.high = arrangement.widths[box], arrangement.heights[box]
        found = picture.fill(theme, box)
        self.hot = found is not None and picture.color_by != "kind"
        self.fill = theme.plain if found is None else found
        self.verdict = picture.verdict(box)[0]
        self.unknown = picture.is_unknown(box)
        self.ink = theme.ink_on(self.fill) if self.hot else theme.text
        self.soft = self.ink if self.hot else theme.muted

    def draw(self) -> None:
        """Add the box with its words."""
        self._shape()
        self._loose_ends()
        lines = {"full": self._two_lines, "compact": self._compact}
        lines.get(self.picture.arrangement.detail, self._one_line)()

    def _shape(self) -> None:
        picture, marks, node = self.picture, self.marks, self.node
        round_ = self.high / 2 if self.kind == NodeKind.INPUT else RADIUS
        if picture.labels.is_head(node):
            outer = (self.x - 2.5, self.y - 2.5, self.wide + 5, self.high + 5)
            marks.rect(*outer, fill="none", stroke=self.theme.edge, rx=float(round_ + 2.5))
        edge = {"stroke_dasharray": "3 3"} if self.kind == NodeKind.PARAMETER else {}
        marks.rect(
            self.x,
            self.y,
            self.wide,
            self.high,
            own={"fill": self.fill},
            title=f"#{node} {picture.graph.names[node]}" if picture.titled else "",
            z=1,
            stroke=self.theme.line if self.kind == NodeKind.NOP else self.theme.edge,
            rx=float(round_),
            **edge,
        )
        if self.unknown:
            hatch(marks, (self.x, self.y, self.wide, self.high))
        self._stripe()
        right = self.x + self.wide
        if node == picture.times.slowest and picture.health is None:
            corner = self.ink if self.hot else self.theme.error
            marks.path(f"M{number(right - 8)} {number(self.y)}h8v8z", z=2, fill=corner)
        picture.ring(marks, self.box, (self.x, self.y, self.wide, self.high))

    def _stripe(self) -> None:
        parts = self.picture.parts(self.theme, self.box)
        color = parts[0][0]
        if self.kind != NodeKind.INPUT:
            above = self.y
            for paint, share in parts:
                high = self.high * share
                self.marks.rect(self.x, above, STRIPE, high, own={"fill": paint}, z=2, rx=2.0)
                above += high
            return
        radius, chord = self.high / 2, STRIPE * 1.6
        inset = radius - math.sqrt(max(0.0, radius**2 - (radius - chord) ** 2))
        x, first, last = self.x + chord, self.y + inset, self.y + self.high - inset
        round_ = f"A{number(radius)} {number(radius)} 0 0 0"
        arc = f"M{number(x)} {number(first)}{round_} {number(x)} {number(last)}z"
        self.marks.path(arc, z=2, fill=color)

    def _two_lines(self) -> None:
        picture, node = self.picture, self.node
        room = self.wide - TEXT_START - PADDING
        labels = picture.labels
        said = picture.second(self.box)
        lines = [f"#{node} · {said}", f"#{node} · {said.split(' · ')[0]}", f"#{node}"]
        if isinstance(labels, TemplateLabels):
            parts = labels.second(node, said).split(" · ")
            lines = [" · ".join(parts[:end]) for end in range(len(parts), 0, -1)]
        count = len(picture.scene.folded[self.box])
        title, mark, inside = labels.title(node), self._mark(), badge(count)
        if inside and width(lines[0], SMALL) + pill_width(inside) > room:
            inside = f"+{count}"
        if inside and width(lines[min(1, len(lines) - 1)], SMALL) + pill_width(inside) > room:
            fits = not mark and width(title, LARGE) + pill_width(inside) <= room
            mark, inside = inside if fits else mark, ""
        self._row(title, mark, 0.31, room, main=True)
        left = room - pill_width(inside)
        line = next((each for each in lines if width(each, SMALL) <= left), lines[-1])
        self._row(line, inside, 0.71, room)

    def _one_line(self) -> None:
        picture, node = self.picture, self.node
        room = self.wide - TEXT_START - PADDING / 2
        labels, said = picture.labels, picture.second(self.box)
        if isinstance(labels, TemplateLabels):
            said = labels.second(node, said)
        title = f"#{node} {picture.labels.title(node)}"
        if sign(self.verdict):
            title = f"{sign(self.verdict)} {title}"
        brief = said.split(" · ")[0]
        left = room - GAP - width(title, SMALL)
        right = next((each for each in (said, brief) if width(each, SMALL) <= left), "")
        if not right and picture.color_by == "time" and room > 2 * width(brief, SMALL):
            right = brief
        taken = width(right, SMALL) + GAP if right else 0.0
        y = self.y + self.high / 2 + 4
        self.marks.text(fit(title, room - taken, SMALL), self.x + TEXT_START, y, fill=self.ink)
        if right:
            at = self.x + self.wide - PADDING / 2 - width(right, SMALL)
            self.marks.text(right, at, y, fill=self.soft)

    def _compact(self) -> None:
        title = self.picture.labels.title(self.node)
        named = f"{sign(self.verdict)} {title}".strip()
        start, room = self.x + TEXT_START, self.wide - TEXT_START - PADDING
        line = start, room, self.y + self.high / 2 + 4
        draw_compact(self.marks, (named, self.picture.value(self.box)), line, self.ink, self.soft)

    def _mark(self) -> str:
        found, health = sign(self.verdict), self.picture.health
        if health is not None and self.node == health.worst:
            return f"{found} worst"
        return found or self.picture.labels.mark(self.node)

    def _row(self, words: str, pill: str, at: float, room: float, *, main: bool = False) -> None:
        y, size = self.y + self.high * at, LARGE if main else SMALL
        taken = pill_width(pill)
        if taken and taken + (0 if not main else min(width(words, size), room * 0.6)) > room:
            pill, taken = "", 0.0
        start = self.x + TEXT_START
        shown = fit(words, room - taken, size)
        style: Style = {"font_weight": 500} if main else {}
        ink = self.ink if main else self.soft
        self.marks.text(shown, start, y + size * 0.36, fill=ink, font_size=size, **style)
        if pill:
            self._badge(pill, start + room, y)

    def _badge(self, pill: str, right: float, y: float) -> None:
        wide = width(pill, SMALL) + 2 * BADGE_PADDING
        loud = pill == "slowest" and not self.hot and not self.verdict
        style: Style = {"fill": self.theme.error}
        if not loud:
            style = {"fill": "none", "stroke": self.soft, "stroke_opacity": 0.5}
        self.marks.rect(right - wide, y - 7, wide, 14, z=3, rx=3.0, **style)
        ink = self.theme.ink_on(self.theme.error) if loud else self.soft
        self.marks.text(pill, right - wide / 2, y + 4, fill=ink, text_anchor="middle")

    def _loose_ends(self) -> None:
        """Operands that nothing produces (dashed, a ring), edges to what is left out (dotted)."""
        scene, x = self.picture.scene, self.x + 12
        line: Style = {"fill": "none", "stroke": self.theme.edge, "stroke_width": 1.2}
        if scene.dangling[self.box]:
            spur = f"M{number(x)} {number(self.y)}v-{_SPUR}m-3-3a3 3 0 1 0 6 0a3 3 0 1 0-6 0"
            self.marks.path(spur, stroke_dasharray="3 2", **line)
        if scene.cut_into[self.box]:
            spur = f"M{number(x + 12)} {number(self.y)}v-{_SPUR}"
            self.marks.path(spur, stroke_dasharray="1.5 2", **line)
        if scene.cut_out_of[self.box]:
            spur = f"M{number(x)} {number(self.y + self.high)}v{_SPUR}"
            self.marks.path(spur, stroke_dasharray="1.5 2", **line)
