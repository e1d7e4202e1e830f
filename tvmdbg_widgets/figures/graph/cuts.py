"""Where the layers of a long graph are cut, and what lies on either side."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.graph.scene import Scene
    from tvmdbg_widgets.figures.layout import Layout

Point = tuple[float, float]

#: Just below a layer all lines are still upright, and those of one tensor still one.
_BELOW = 0.5
#: Of a frame whose flow runs to the right: what its header takes of its height.
HEADER_BAND = 20.0


@dataclass
class Crossing:
    """Where a line crosses a cut: across the flow, and there in the stretches before and after."""

    edge: int
    cut: int
    across: float
    backwards: bool
    before: float = 0.0
    after: float = 0.0


def cuts_of(placed: Layout, columns: int, through: bool) -> list[float]:
    """Where to cut so that the longest stretch is as short as can be."""
    top, bottom = placed.layer_top.tolist(), placed.layer_bottom.tolist()
    if not top:
        return []
    at, may = _below(placed, through)

    def stretches(most: float) -> list[int]:
        firsts, latest = [0], 0
        for layer in range(len(top)):
            if layer and may[layer - 1]:
                latest = layer
            if bottom[layer] - top[firsts[-1]] > most and latest > firsts[-1]:
                firsts.append(latest)
        return firsts

    longest = max(b - t for t, b in zip(top, bottom, strict=True))
    low, high = longest, bottom[-1] - top[0]
    for _ in range(24):
        middle = (low + high) / 2
        if len(stretches(middle)) <= columns:
            high = middle
        else:
            low = middle
    return [at[layer - 1] for layer in stretches(high)[1:]]


def _below(placed: Layout, through: bool) -> tuple[list[float], list[bool]]:
    """Return where to cut below each layer, behind the frames that end there, and whether to."""
    top, bottom = placed.layer_top.tolist(), placed.layer_bottom.tolist()
    frames, down = placed.frames, placed.direction == "down"
    first, length = (frames.y, frames.height) if down else (frames.x, frames.width)
    at, may = [], []
    for layer, low in enumerate(bottom):
        high = top[layer + 1] if layer + 1 < len(top) else np.inf
        ends = first + length
        here = ends[(ends > low) & (ends < high)].max(initial=low) + _BELOW
        at.append(float(here))
        may.append(through or not ((first < here) & (ends > here)).any())
    return at, may


@dataclass
class FramePiece:
    """Part of a frame in one stretch, across the flow and along it."""

    frame: int
    column: int
    low: float
    high: float
    top: float
    bottom: float
    header: float
    begins: bool
    ends: bool


def ends_of(placed: Layout) -> tuple[float, float]:
    """Return where boxes and frames begin and end along the flow."""
    if not placed.layers:
        return 0.0, 0.0
    frames, down = placed.frames, placed.direction == "down"
    tops, sizes = (frames.y, frames.height) if down else (frames.x, frames.width)
    first, last = float(placed.layer_top[0]), float(placed.layer_bottom[-1])
    return min([first, *tops.tolist()]), max([last, *(tops + sizes).tolist()])


def cut_frames(placed: Layout, cuts: list[float], headers: Sequence[float]) -> list[FramePiece]:
    """Every frame, cut where it leaves a stretch; those around others come first."""
    frames, down = placed.frames, placed.direction == "down"
    columns = (frames.x, frames.y, frames.width, frames.height)
    if not down:
        columns = (frames.y, frames.x, frames.height, frames.width)
    pieces = []
    for frame, (low, top, wide, high) in enumerate(
        zip(*(each.tolist() for each in columns), strict=True)
    ):
        first, last = bisect_right(cuts, top), bisect_right(cuts, top + high)
        for column in range(first, last + 1):
            begins, ends = column == first, column == last
            above = top if begins else cuts[column - 1]
            below = top + high if ends else cuts[column]
            if below - above < HEADER_BAND and not (begins and ends):
                continue
            header = headers[frame] if down else HEADER_BAND
            pieces.append(
                FramePiece(frame, column, low, low + wide, above, below, header, begins, ends)
            )
    return pieces


@dataclass
class Piece:
    """Part of a line in one stretch."""

    edge: int
    column: int
    points: list[Point]
    arrow: bool = False


def cut_strokes(
    scene: Scene, placed: Layout, cuts: list[float]
) -> tuple[list[Piece], list[Crossing]]:
    """Every stroke, cut where it leaves a stretch."""
    offsets = placed.routes.offsets.tolist()
    points = placed.routes.points
    if placed.direction == "right":
        points = points[:, ::-1]
    stubs = set(placed.stubs.tolist())
    pieces: list[Piece] = []
    crossings: list[Crossing] = []
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
) -> tuple[list[Piece], list[Crossing]]:
    at = bisect_right(cuts, line[0][1])
    pieces = [Piece(edge, at, [line[0]])]
    crossings: list[Crossing] = []
    for before, after in pairwise(line):
        there = bisect_right(cuts, after[1])
        while at != there:
            cut = at if there > at else at - 1
            share = (cuts[cut] - before[1]) / (after[1] - before[1])
            across = before[0] + share * (after[0] - before[0])
            pieces[-1].points.append((across, cuts[cut]))
            crossings.append(Crossing(edge, cut, across, there < at))
            at += 1 if there > at else -1
            pieces.append(Piece(edge, at, [(across, cuts[cut])]))
        pieces[-1].points.append(after)
    return pieces, crossings
