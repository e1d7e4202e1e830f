"""A long graph as columns side by side: its layers cut into stretches, the cut lines led around."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.graph.cuts import (
    Crossing,
    FramePiece,
    Piece,
    Point,
    cut_frames,
    cut_strokes,
    cuts_of,
    ends_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.graph.scene import Scene
    from tvmdbg_widgets.figures.layout import Layout

_LANE = 6
_SIDE = 10
_ABOVE = 6
_GAP = 24


@dataclass(frozen=True)
class Stroke:
    """Part of an edge; ``arrow`` where it ends at the box that reads it."""

    edge: int
    points: tuple[Point, ...]
    arrow: bool


@dataclass(frozen=True)
class FramePart:
    """Part of a frame in one stretch: upper left corner and size, px.

    ``begins`` and ``ends`` tell whether the frame does so here, or goes on in the next stretch.
    """

    frame: int
    x: float
    y: float
    width: float
    height: float
    begins: bool
    ends: bool


@dataclass
class Folded:
    """Where boxes and lines are, px, with (0, 0) at the upper left.

    Attributes
    ----------
    x, y : list of float
        Upper left corner of each box.
    strokes : list of Stroke
    width, height : float
    backwards : frozenset of int
        Edges that close a cycle.
    frames : list of FramePart
        Frames, each once in every stretch that it reaches into.
    """

    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    backwards: frozenset[int] = frozenset()
    frames: list[FramePart] = field(default_factory=list)


def fold(
    scene: Scene,
    placed: Layout,
    sizes: tuple[Sequence[float], Sequence[float], Sequence[float]],
    columns: int,
    through: bool = True,
) -> Folded:
    """Cut a layout into at most so many stretches and set them side by side.

    A layout that runs down becomes columns; one that runs to the right becomes rows.

    Parameters
    ----------
    sizes
        Widths and heights of boxes, and widths of the headers of frames.
    through
        May cut frames.
    """
    widths, heights, headers = sizes
    down = placed.direction == "down"
    cuts = cuts_of(placed, columns, through)
    pieces, crossings = cut_strokes(scene, placed, cuts)
    boxes = [
        (x, y, w, h) if down else (y, x, h, w)
        for x, y, w, h in zip(placed.x.tolist(), placed.y.tolist(), widths, heights, strict=True)
    ]
    stretches = len(cuts) + 1
    column = [bisect_right(cuts, along) for _, along, _, _ in boxes]
    ends = ends_of(placed)
    frames = cut_frames(placed, cuts, headers)
    _close_gaps(boxes, column, (pieces, frames), crossings, stretches)
    taken = _taken(boxes, column, (pieces, frames), stretches)
    low = [min((first for first, _ in each), default=0.0) for each in taken]
    high = [max((last for _, last in each), default=0.0) for each in taken]
    lanes = [
        sorted((c for c in crossings if c.cut == cut), key=lambda c: -c.before)
        for cut in range(len(cuts))
    ]
    above = max((_ABOVE + _LANE * len(each) for each in lanes), default=0)
    start, end = [ends[0], *cuts], [*cuts, ends[1]]
    shift, right = [], 0.0
    gutters: list[float] = []
    for at in range(stretches):
        shift.append(right - low[at])
        right += high[at] - low[at]
        if at < len(cuts):
            gutters.append(right + _SIDE)
            right += 2 * _SIDE + _LANE * max(0, len(lanes[at]) - 1)

    def move(at: int, point: Point) -> Point:
        return point[0] + shift[at], point[1] - start[at] + above

    found = Folded(backwards=frozenset(placed.reversed.tolist()))
    for part in frames:
        left, top = move(part.column, (part.low, part.top))
        size = part.high - part.low, part.bottom - part.top
        found.frames.append(FramePart(part.frame, left, top, *size, part.begins, part.ends))
    for (across, along, wide, high_), at in zip(boxes, column, strict=True):
        x, y = move(at, (across - wide / 2, along - high_ / 2))
        found.x.append(x)
        found.y.append(y)
    for piece in pieces:
        points = tuple(move(piece.column, point) for point in piece.points)
        found.strokes.append(Stroke(piece.edge, points, piece.arrow))
    bottom = 0.0
    for cut, each in enumerate(lanes):
        foot = end[cut] - start[cut] + above
        bottom = max(bottom, foot + _ABOVE + _LANE * len(each))
        ends_at = (gutters[cut], foot, float(above))
        found.strokes += _led_around(each, ends_at, (shift[cut], shift[cut + 1]))
    lengths = [end[at] - start[at] + above for at in range(stretches)]
    found.width, found.height = right, max(bottom, *lengths)
    return found if down else _turned(found)


def _led_around(
    crossings: list[Crossing], ends: tuple[float, float, float], shift: tuple[float, float]
) -> list[Stroke]:
    """Return cut lines led from one stretch to the next; ends: the gutter, the foot, the head."""
    gutter, foot, above = ends
    found = []
    for rank, crossing in enumerate(crossings):
        lane = gutter + _LANE * rank
        below = foot + _ABOVE + _LANE * rank
        over = above - _ABOVE - _LANE * (len(crossings) - 1 - rank)
        before, after = crossing.before + shift[0], crossing.after + shift[1]
        line = (
            *((before, foot), (before, below), (lane, below)),
            *((lane, over), (after, over), (after, above)),
        )
        found.append(Stroke(crossing.edge, line[::-1] if crossing.backwards else line, False))
    return found


def _close_gaps(
    boxes: list[tuple[float, float, float, float]],
    column: list[int],
    drawn: tuple[list[Piece], list[FramePiece]],
    crossings: list[Crossing],
    stretches: int,
) -> None:
    """Take out of each stretch the room that boxes and lines of other stretches needed.

    What lies across keeps its order, so that nothing comes to lie upon anything.
    """
    pieces, frames = drawn
    maps = [_Closed(each) for each in _taken(boxes, column, drawn, stretches)]
    for part in frames:
        part.low, part.high = maps[part.column](part.low), maps[part.column](part.high)
    boxes[:] = [
        (maps[at](across - wide / 2) + wide / 2, along, wide, high)
        for (across, along, wide, high), at in zip(boxes, column, strict=True)
    ]
    for piece in pieces:
        piece.points = [(maps[piece.column](across), along) for across, along in piece.points]
    for crossing in crossings:
        crossing.before = maps[crossing.cut](crossing.across)
        crossing.after = maps[crossing.cut + 1](crossing.across)


def _taken(
    boxes: list[tuple[float, float, float, float]],
    column: list[int],
    drawn: tuple[list[Piece], list[FramePiece]],
    stretches: int,
) -> list[list[tuple[float, float]]]:
    """Return what lies where across each stretch: first and last px."""
    taken: list[list[tuple[float, float]]] = [[] for _ in range(stretches)]
    for (across, _, wide, _), at in zip(boxes, column, strict=True):
        taken[at].append((across - wide / 2, across + wide / 2))
    pieces, frames = drawn
    for piece in pieces:
        taken[piece.column] += [(across, across) for across, _ in piece.points]
    for part in frames:
        taken[part.column] += [(part.low, part.low + part.header), (part.high, part.high)]
    return taken


class _Closed:
    """Moves positions together until no gap between taken ranges is wider than need be."""

    def __init__(self, taken: list[tuple[float, float]]) -> None:
        self._starts: list[float] = []
        self._moves: list[float] = []
        end, moved = np.inf, 0.0
        for low, high in sorted(taken):
            if low - end > _GAP:
                moved += low - end - _GAP
            if low > end or not self._starts:
                self._starts.append(low)
                self._moves.append(moved)
                end = high
            else:
                end = max(end, high)

    def __call__(self, across: float) -> float:
        return across - self._moves[max(0, bisect_right(self._starts, across) - 1)]


def _turned(found: Folded) -> Folded:
    strokes = [
        Stroke(each.edge, tuple((y, x) for x, y in each.points), each.arrow)
        for each in found.strokes
    ]
    frames = [
        replace(each, x=each.y, y=each.x, width=each.height, height=each.width)
        for each in found.frames
    ]
    return Folded(found.y, found.x, strokes, found.height, found.width, found.backwards, frames)
