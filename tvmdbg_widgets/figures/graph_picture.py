"""Boxes and lines of a graph as SVG marks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph_boxes import (
    BADGE_PADDING,
    GAP,
    PADDING,
    RADIUS,
    STRIPE,
    TEXT_START,
    Arrangement,
    Direction,
    pill_width,
)
from tvmdbg_widgets.figures.graph_health import NodeHealth, fill, is_unknown, sign
from tvmdbg_widgets.figures.graph_label import TemplateLabels
from tvmdbg_widgets.figures.graph_scene import (
    AMBIGUOUS,
    BRIDGE,
    CONTROL,
    Labels,
    Scene,
    Times,
    badge,
)
from tvmdbg_widgets.figures.svg import LARGE, SMALL, Marks, Style, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.graph_colors import Colors
    from tvmdbg_widgets.model.graph import Graph

_DASHES = {AMBIGUOUS: "6 4", CONTROL: "1.5 4", BRIDGE: "4 2 1 2"}
_CORNER = 6.0
_SPUR = 8


@dataclass(frozen=True)
class Picture:
    """All that the picture of a graph is drawn from; ``marked`` and ``hits`` are node ids."""

    graph: Graph
    scene: Scene
    times: Times
    labels: Labels
    arrangement: Arrangement
    color_by: str
    marked: frozenset[int]
    hits: frozenset[int]
    titled: bool = True
    health: NodeHealth | None = None
    colors: Colors | None = None

    def draw(self, marks: Marks, left: float, top: float) -> None:
        """Add boxes and lines with their upper left corner at (left, top)."""
        draw_lines(marks, self.scene, self.arrangement, left, top)
        for box in range(len(self.scene.nodes)):
            _Box(self, marks, box, left, top).draw()


def draw_lines(
    marks: Marks, scene: Scene, arrangement: Arrangement, left: float, top: float
) -> None:
    """Add the edges with their heads, moved by (left, top)."""
    edge = marks.theme.edge
    for stroke in arrangement.folded.strokes:
        points = [(x + left, y + top) for x, y in stroke.points]
        style = scene.style[stroke.edge]
        line: Style = {"stroke_dasharray": _DASHES[style]} if style in _DASHES else {}
        marks.path(rounded(points), fill="none", stroke=edge, stroke_width=1.2, **line)
    backwards = arrangement.folded.backwards
    for stroke in arrangement.folded.strokes:
        if stroke.arrow:
            x, y = stroke.points[-1]
            back = stroke.edge in backwards
            marks.path(arrow(x + left, y + top, arrangement.direction, back), fill=edge)


def hatch(marks: Marks, box: tuple[float, float, float, float], z: int = 1) -> None:
    """Fill a box with diagonal lines: what it is for is not known."""
    x, y, wide, high = box
    lines = []
    for start in range(8, int(wide + high), 8):
        left, right = max(0.0, start - high), min(wide, float(start))
        lines.append(
            f"M{number(x + left)} {number(y + start - left)}"
            f"L{number(x + right)} {number(y + start - right)}"
        )
    marks.path("".join(lines), z=z, fill="none", stroke=marks.theme.line, stroke_width=1)


def draw_ring(marks: Marks, box: tuple[float, float, float, float], *, hit: bool = False) -> None:
    """Add the ring of a selected box, or the thinner one of a box that the search finds."""
    x, y, wide, high = box
    style: Style = {"stroke": marks.theme.accent, "stroke_width": 2.5}
    if hit:
        style = {"stroke": marks.theme.warning, "stroke_width": 2, "stroke_dasharray": "5 2"}
    outer = (x - 2.5, y - 2.5, wide + 5, high + 5)
    marks.rect(*outer, z=4, fill="none", rx=6.0, **style)


class _Box:
    """One box while it is drawn."""

    def __init__(self, picture: Picture, marks: Marks, box: int, left: float, top: float) -> None:
        arrangement, theme = picture.arrangement, marks.theme
        self.theme = theme
        self.picture, self.marks, self.box = picture, marks, box
        self.node = picture.scene.nodes[box]
        self.kind = int(picture.graph.kinds[self.node])
        self.op_kind = picture.graph.nodes[self.node].op_kind
        self.x, self.y = arrangement.folded.x[box] + left, arrangement.folded.y[box] + top
        self.wide, self.high = arrangement.widths[box], arrangement.heights[box]
        heat = picture.times.heat(self.node)
        self.hot = picture.color_by == "time" and heat >= 0
        nop = self.kind == NodeKind.NOP
        plain = nop or picture.color_by == "time"
        self.fill = (
            theme.heat(heat) if self.hot else theme.plain if plain else theme.tint(self.op_kind)
        )
        self.verdict, self.judged = "", ""
        if picture.health is not None:
            self.verdict, self.judged = picture.health.of_box(picture.scene, box)
            self.hot = self.verdict in ("sound", "doubtful", "faulty")
            self.fill = fill(theme, self.verdict)
        self.unknown = is_unknown(self.verdict)
        if picture.colors is not None:
            found = picture.colors.fill(theme, (self.node,))
            self.hot, self.unknown = found is not None, found is None
            self.fill = theme.plain if found is None else found
            self.judged = picture.colors.said((self.node,))
        self.ink = theme.ink_on(self.fill) if self.hot else theme.text
        self.soft = self.ink if self.hot else theme.muted

    def draw(self) -> None:
        self._shape()
        self._loose_ends()
        if self.picture.arrangement.detail == "full":
            self._two_lines()
        else:
            self._one_line()

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
        box = (self.x, self.y, self.wide, self.high)
        if node in picture.marked:
            draw_ring(marks, box)
        elif node in picture.hits:
            draw_ring(marks, box, hit=True)

    def _stripe(self) -> None:
        color = self.theme.kind(self.op_kind)
        colors = self.picture.colors
        parts = (colors and colors.parts(self.theme, (self.node,))) or [(color, 1.0)]
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
        said = self._said()
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
        labels, said = self.picture.labels, self._said()
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

    def _said(self) -> str:
        """What the second line tells beside the id."""
        labels = self.picture.labels
        if self.judged:
            return self.judged
        by_time = self.picture.color_by == "time"
        return labels.time(self.node) if by_time else labels.shape(self.node)

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


def rounded(points: Sequence[tuple[float, float]]) -> str:
    """Return a path through the points with rounded corners."""
    first, *middle = points
    data = f"M{_at(first)}"
    before = first
    for at, here in enumerate(middle[:-1], 1):
        after = points[at + 1]
        round_ = min(_CORNER, math.dist(before, here) / 2, math.dist(here, after) / 2)
        if round_ < 0.5 or _straight(before, here, after):
            data += _to(here)
        else:
            start, end = _towards(here, before, round_), _towards(here, after, round_)
            data += f"{_to(start)}Q{_at(here)} {_at(end)}"
        before = here
    return data + _to(points[-1])


def _straight(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return abs((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0])) < 1e-6


def _at(point: tuple[float, float]) -> str:
    return f"{number(point[0])} {number(point[1])}"


def _to(point: tuple[float, float]) -> str:
    return f"L{_at(point)}"


def _towards(
    here: tuple[float, float], there: tuple[float, float], by: float
) -> tuple[float, float]:
    share = by / math.dist(here, there)
    return here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1])


def arrow(x: float, y: float, direction: Direction, backwards: bool) -> str:
    """Return a head that ends at a point; against the flow where an edge closes a cycle."""
    way = "" if backwards else "-"
    head = f"M{number(x)} {number(y)}"
    return head + (f"l-3.5 {way}6h7z" if direction == "down" else f"l{way}6-3.5v7z")
