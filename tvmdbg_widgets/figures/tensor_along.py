"""Pictures of the channels of a tensor and its profile along one axis, as SVG marks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.tensor_labels import Labels
from tvmdbg_widgets.figures.tensor_line import LEFT
from tvmdbg_widgets.figures.tensor_marks import (
    MARK_FROM,
    draw_columns,
    draw_signs,
    draw_special,
    kinds,
    mark_cells,
)
from tvmdbg_widgets.figures.tensor_picture import (
    Box,
    codes_of,
    draw_caption,
    draw_cells,
    share_between,
)
from tvmdbg_widgets.figures.tensor_ticks import DIGIT, index_ticks, nice_ticks
from tvmdbg_widgets.figures.texts import width, wrap
from tvmdbg_widgets.model.base.number_text import short_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.figures.colors import ColorScale
    from tvmdbg_widgets.figures.tensor_facts import TensorFacts
    from tvmdbg_widgets.model.pictures import Channels, Profile

_GAP = 4
_MOST_CHANNELS = 64
_LEAST_SIDE = 24.0
#: Side of the sign beside the index of a channel with NaN or Inf in cells too small for one.
_BADGE = 10.0
_MOST_CELL = 12.0
#: Of a profile: its widest index, signs above it, room within it, px between numbers beside it.
_WIDEST, _FLAG, _PAD, _LEVELS = 64.0, 9.0, 4.0, 24.0
_NEAR_ZERO = 0.5


def channel_pictures(facts: TensorFacts, box: Box, most_pixels: int) -> Channels:
    """Return as many channels as the box has room for, reduced to what can be seen there."""
    count = _count(facts, box)
    side = _side(facts, box, count)
    each = max(1, most_pixels // count)
    wide = max(1, min(int(side), int(math.sqrt(each))))
    shown = facts.shown
    return shown.channels(count, min(wide, shown.rows), min(wide, shown.cols))


def draw_channels(
    marks: Marks, facts: TensorFacts, drawn: Channels, scale: ColorScale | None, box: Box
) -> float:
    """Draw the channels row by row with their indices; return the y below them."""
    side = _side(facts, box, drawn.count)
    tall = side * min(1.0, facts.shown.rows / facts.shown.cols)
    wide = side * min(1.0, facts.shown.cols / facts.shown.rows)
    tall, wide = max(tall, 4.0), max(wide, 4.0)
    codes = codes_of(drawn, scale, facts.options.cells).reshape(drawn.count, drawn.rows, drawn.cols)
    flags = drawn.flags.reshape(codes.shape)
    across = max(1, int((box.room + _GAP) // (max(wide, _LEAST_SIDE) + _GAP)))
    y = box.y
    for at in range(drawn.count):
        column = at % across
        if at and column == 0:
            y += tall + LINE_HEIGHT
        x = box.x + column * (max(wide, _LEAST_SIDE) + _GAP)
        draw_cells(marks, codes[at], scale, Box(x, y, wide, tall), (wide, tall))
        said = str(drawn.first + at)
        marks.text(said, x, y + tall + 11, fill=marks.theme.muted)
        if min(wide / drawn.cols, tall / drawn.rows) < MARK_FROM:
            beside = x + width(said, SMALL) + 1
            for name in list(kinds(flags[at]))[:1]:
                draw_special(marks, name, (beside, y + tall + 2, _BADGE, _BADGE))
        else:
            mark_cells(marks, flags[at], x, y, (wide, tall))
    y += tall + LINE_HEIGHT
    if drawn.count < drawn.length:
        y += LINE_HEIGHT
        said = f"the first {drawn.count:,} of {drawn.length:,}"
        marks.text(said, box.x, y - 3, fill=marks.theme.muted)
    return draw_caption(marks, facts, drawn, replace(box, y=y))


def _count(facts: TensorFacts, box: Box) -> int:
    axis = facts.shown.axis
    length = 1 if axis is None else facts.shown.values.view_shape[axis]
    across = int((box.room + _GAP) // (_LEAST_SIDE + _GAP))
    down = int(box.tall // (_LEAST_SIDE + LINE_HEIGHT))
    return max(1, min(length, _MOST_CHANNELS, across * down))


def _side(facts: TensorFacts, box: Box, count: int) -> float:
    """The longer side of one picture: the largest with which all of them fit."""
    flat = min(1.0, facts.shown.rows / facts.shown.cols)
    most = _MOST_CELL * max(facts.shown.rows, facts.shown.cols)
    for across in range(1, count + 1):
        side = (box.room + _GAP) / across - _GAP
        if -(-count // across) * (side * flat + LINE_HEIGHT) <= box.tall or side <= _LEAST_SIDE:
            return max(_LEAST_SIDE, min(side, most))
    return _LEAST_SIDE


def draw_profile(marks: Marks, facts: TensorFacts, drawn: Profile, box: Box) -> float:
    """Draw mean, minimum and maximum along the axis as the live view; return the y below."""
    theme = marks.theme
    count = len(drawn.flags)
    room = min(box.room - LEFT, drawn.length * _WIDEST)
    plot = Box(box.x + LEFT, box.y + _FLAG + 4, room, box.tall)
    past = np.minimum((np.arange(count) + 1) * drawn.step, drawn.length) * (room / drawn.length)
    ends = [plot.x, *(plot.x + past).tolist()]
    bounds = _bounds(drawn)
    labels = Labels(marks, box.x, box.x + box.room)
    heights = _heights(plot, bounds)
    low, high = bounds or (0.0, 0.0)
    ticks = nice_ticks(low, high, plot.tall / _LEVELS) if low < high else [low]
    for value in ticks if bounds is not None else []:
        y = heights(value)
        ink = theme.muted if value == 0 else theme.line
        marks.path(f"M{number(plot.x)} {number(y)}h{number(room)}", stroke=ink)
        labels.write(short_text(value), plot.x - 6, y, align="right")
    draw_columns(marks, drawn.flags, ends, plot.y, plot.tall)
    draw_signs(marks, drawn.flags, ends, plot.y - _FLAG - 2, _FLAG)
    band, edges, line = [], [], []
    for at in np.flatnonzero(np.isfinite(drawn.mean)).tolist():
        x, wide = ends[at], ends[at + 1] - ends[at]
        wide = max(1.0, wide - (wide >= 5))
        top, foot = heights(float(drawn.maximum[at])), heights(float(drawn.minimum[at]))
        across = f"h{number(wide)}"
        band.append(f"M{number(x)} {number(top)}{across}V{number(foot)}h-{number(wide)}z")
        edges += [f"M{number(x)} {number(y)}{across}" for y in (top, foot)]
        line.append(f"M{number(x)} {number(heights(float(drawn.mean[at])))}{across}")
    marks.path("".join(band), fill=theme.accent, fill_opacity=0.35)
    marks.path("".join(edges), stroke=theme.accent, fill="none")
    marks.path("".join(line), stroke=theme.text, stroke_width=2, fill="none")
    marks.rect(plot.x, plot.y, room, plot.tall, fill="none", stroke=theme.line)
    below = plot.y + plot.tall + 10
    spacing = len(str(drawn.length)) * DIGIT + 14
    for index, place in index_ticks(0, room, room / drawn.length, drawn.length, spacing):
        labels.write(str(index), plot.x + place, below, align="center")
    name = facts.shown.axis_text(drawn.axis)
    said = f"{name} →; band: min to max, line: mean"
    more = f", {drawn.step:,} indices per point" if drawn.step > 1 else ""
    y = below + 7
    for text in wrap(said + more, box.room, SMALL, 3):
        y += LINE_HEIGHT
        marks.text(text, box.x, y - 2, fill=theme.muted)
    return y + 4


def _heights(plot: Box, bounds: tuple[float, float] | None) -> Callable[[float], float]:
    """Return what places a value in the plot."""
    low, high = bounds or (0.0, 0.0)

    def height(value: float) -> float:
        share = share_between(value, low, high) if high > low else 0.5
        return plot.y + plot.tall - _PAD - share * (plot.tall - 2 * _PAD)

    return height


def _bounds(drawn: Profile) -> tuple[float, float] | None:
    """What the plot spans: all values, and zero where it is not far; None without a value."""
    finite = np.isfinite(drawn.minimum)
    if not finite.any():
        return None
    low, high = float(drawn.minimum[finite].min()), float(drawn.maximum[finite].max())
    if 0 < low <= _NEAR_ZERO * high:
        low = 0.0
    elif 0 > high >= _NEAR_ZERO * low:
        high = 0.0
    return low, high
