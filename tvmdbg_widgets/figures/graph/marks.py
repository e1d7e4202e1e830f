"""Lines of a graph, and marks on boxes that stand for nodes as well as for groups."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph.boxes import GAP, VALUE
from tvmdbg_widgets.figures.graph.scene import AMBIGUOUS, BRIDGE, CONTROL, Scene
from tvmdbg_widgets.figures.svg import LARGE, SMALL, Marks, Style, number
from tvmdbg_widgets.figures.texts import fit, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.graph.boxes import Arrangement, Direction

DASHES = {AMBIGUOUS: "6 4", CONTROL: "1.5 4", BRIDGE: "4 2 1 2"}
_CORNER = 6.0


def hatch(marks: Marks, box: tuple[float, float, float, float], z: int = 2) -> None:
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


def draw_compact(
    marks: Marks, words: tuple[str, str], line: tuple[float, float, float], ink: str, soft: str
) -> None:
    """Write the title of a compact box, and what the colors say at its right if there is room.

    ``line`` is where it starts, how long it is, and its baseline.
    """
    (title, value), (start, room, y) = words, line
    taken = width(value, SMALL)
    if taken > VALUE:
        value, taken = "", 0.0
    shown = fit(title, room - (taken + GAP if value else 0), LARGE)
    marks.text(shown, start, y, fill=ink, font_size=LARGE)
    marks.text(value, start + room - taken, y, fill=soft)


def draw_lines(
    marks: Marks, scene: Scene, arrangement: Arrangement, left: float, top: float
) -> None:
    """Add the edges with their heads, moved by (left, top)."""
    edge = marks.theme.edge
    for stroke in arrangement.folded.strokes:
        points = [(x + left, y + top) for x, y in stroke.points]
        style = scene.style[stroke.edge]
        line: Style = {"stroke_dasharray": DASHES[style]} if style in DASHES else {}
        marks.path(rounded(points), fill="none", stroke=edge, stroke_width=1.2, **line)
    backwards = arrangement.folded.backwards
    for stroke in arrangement.folded.strokes:
        if stroke.arrow:
            x, y = stroke.points[-1]
            back = stroke.edge in backwards
            marks.path(arrow(x + left, y + top, arrangement.direction, back), fill=edge)


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
