"""A long graph as columns side by side: its layers cut into stretches, the cut lines led around."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.graph_scene import Scene
    from tvmdbg_widgets.figures.layout import Layout

Point = tuple[float, float]

_LANE = 6
_SIDE = 10
_ABOVE = 6
#: Just below a layer all lines are still upright, and those of one tensor still one.
_BELOW = 0.5
_GAP = 24


@dataclass(frozen=True)
class Stroke:
    """Part of an edge; ``arrow`` where it ends at the box that reads it."""

    edge: int
    points: tuple[Point, ...]
    arrow: bool


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
    borders : tuple of float
        Where one stretch ends and the next begins: x of columns, y of rows.
    """

    x: list[float] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    strokes: list[Stroke] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0
    backwards: frozenset[int] = frozenset()
    borders: tuple[float, ...] = ()


@dataclass
class _Crossing:
    edge: int
    cut: int
    across: float
    backwards: bool
    before: float = 0.0
    after: float = 0.0


def fold(
    scene: Scene, placed: Layout, widths: Sequence[float], heights: Sequence[float], columns: int
) -> Folded:
    """Cut a layout into at most so many stretches and set them side by side.

    A layout that runs down becomes columns; one that runs to the right becomes rows.
    """
    down = placed.direction == "down"
    cuts = _cuts(placed, columns)
    pieces, crossings = _pieces(scene, placed, cuts)
    boxes = [
        (x, y, w, h) if down else (y, x, h, w)
        for x, y, w, h in zip(placed.x.tolist(), placed.y.tolist(), widths, heights, strict=True)
    ]
    stretches = len(cuts) + 1
    column = [bisect_right(cuts, along) for _, along, _, _ in boxes]
    _close_gaps(boxes, column, pieces, crossings, stretches)
    low, high = [np.inf] * stretches, [-np.inf] * stretches
    for (across, _, wide, _), at in zip(boxes, column, strict=True):
        low[at], high[at] = min(low[at], across - wide / 2), max(high[at], across + wide / 2)
    for piece in pieces:
        at = piece.column
        low[at] = min(low[at], *(across for across, _ in piece.points))
        high[at] = max(high[at], *(across for across, _ in piece.points))
    lanes = [
        sorted((c for c in crossings if c.cut == cut), key=lambda c: -c.before)
        for cut in range(len(cuts))
    ]
    above = max((_ABOVE + _LANE * len(each) for each in lanes), default=0)
    start = [float(placed.layer_top[0]) if placed.layers else 0.0, *cuts]
    end = [*cuts, float(placed.layer_bottom[-1]) if placed.layers else 0.0]
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

    found = Folded(backwards=frozenset(placed.reversed.tolist()), borders=tuple(gutters))
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
        for rank, crossing in enumerate(each):
            lane = gutters[cut] + _LANE * rank
            below, over = (
                foot + _ABOVE + _LANE * rank,
                above - _ABOVE - _LANE * (len(each) - 1 - rank),
            )
            line = (
                (crossing.before + shift[cut], foot),
                (crossing.before + shift[cut], below),
                (lane, below),
                (lane, over),
                (crossing.after + shift[cut + 1], over),
                (crossing.after + shift[cut + 1], float(above)),
            )
            found.strokes.append(
                Stroke(crossing.edge, line[::-1] if crossing.backwards else line, False)
            )
    lengths = [end[at] - start[at] + above for at in range(stretches)]
    found.width, found.height = right, max(bottom, *lengths)
    return found if down else _turned(found)


def _close_gaps(
    boxes: list[tuple[float, float, float, float]],
    column: list[int],
    pieces: list[_Piece],
    crossings: list[_Crossing],
    stretches: int,
) -> None:
    """Take out of each stretch the room that boxes and lines of other stretches needed.

    What lies across keeps its order, so that nothing comes to lie upon anything.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(stretches)]
    for (across, _, wide, _), at in zip(boxes, column, strict=True):
        taken[at].append((across - wide / 2, across + wide / 2))
    for piece in pieces:
        taken[piece.column] += [(across, across) for across, _ in piece.points]
    maps = [_Closed(each) for each in taken]
    boxes[:] = [
        (maps[at](across - wide / 2) + wide / 2, along, wide, high)
        for (across, along, wide, high), at in zip(boxes, column, strict=True)
    ]
    for piece in pieces:
        piece.points = [(maps[piece.column](across), along) for across, along in piece.points]
    for crossing in crossings:
        crossing.before = maps[crossing.cut](crossing.across)
        crossing.after = maps[crossing.cut + 1](crossing.across)


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
    return Folded(
        found.y, found.x, strokes, found.height, found.width, found.backwards, found.borders
    )


def _cuts(placed: Layout, columns: int) -> list[float]:
    """Where to cut so that the longest stretch is as short as can be."""
    top, bottom = placed.layer_top.tolist(), placed.layer_bottom.tolist()
    if not top:
        return []

    def stretches(most: float) -> list[int]:
        firsts = [0]
        for layer in range(len(top)):
            if bottom[layer] - top[firsts[-1]] > most and layer > firsts[-1]:
                firsts.append(layer)
        return firsts

    longest = max(b - t for t, b in zip(top, bottom, strict=True))
    low, high = longest, bottom[-1] - top[0]
    for _ in range(24):
        middle = (low + high) / 2
        if len(stretches(middle)) <= columns:
            high = middle
        else:
            low = middle
    return [bottom[at - 1] + _BELOW for at in stretches(high)[1:]]


@dataclass
class _Piece:
    edge: int
    column: int
    points: list[Point]
    arrow: bool = False


def _pieces(
    scene: Scene, placed: Layout, cuts: list[float]
) -> tuple[list[_Piece], list[_Crossing]]:
    """Every stroke, cut where it leaves a stretch."""
    offsets = placed.routes.offsets.tolist()
    points = placed.routes.points
    if placed.direction == "right":
        points = points[:, ::-1]
    stubs = set(placed.stubs.tolist())
    pieces: list[_Piece] = []
    crossings: list[_Crossing] = []
    for edge in range(len(scene.source)):
        line = [(float(a), float(b)) for a, b in points[offsets[edge] : offsets[edge + 1]]]
        for part in [line[:2], line[2:]] if edge in stubs else [line]:
            if len(part) >= 2:
                found, crossed = _cut_line(edge, part, cuts)
                pieces += found
                crossings += crossed
        if len(line) >= 2:
            pieces[-1].arrow = True
    return pieces, crossings


def _cut_line(
    edge: int, line: list[Point], cuts: list[float]
) -> tuple[list[_Piece], list[_Crossing]]:
    at = bisect_right(cuts, line[0][1])
    pieces = [_Piece(edge, at, [line[0]])]
    crossings: list[_Crossing] = []
    for before, after in pairwise(line):
        there = bisect_right(cuts, after[1])
        while at != there:
            cut = at if there > at else at - 1
            share = (cuts[cut] - before[1]) / (after[1] - before[1])
            across = before[0] + share * (after[0] - before[0])
            pieces[-1].points.append((across, cuts[cut]))
            crossings.append(_Crossing(edge, cut, across, there < at))
            at += 1 if there > at else -1
            pieces.append(_Piece(edge, at, [(across, cuts[cut])]))
        pieces[-1].points.append(after)
    return pieces, crossings
