"""Pictures of the channels of a tensor and its profile along one axis, as SVG marks."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.colors import SPECIAL
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.tensor_picture import (
    Box,
    codes_of,
    draw_caption,
    draw_cells,
    share_between,
)
from tvmdbg_widgets.figures.texts import about_text, width, wrap
from tvmdbg_widgets.model.pictures import NAN, NEG_INF, POS_INF

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.colors import ColorScale
    from tvmdbg_widgets.figures.tensor_facts import TensorFacts
    from tvmdbg_widgets.model.pictures import Channels, Profile

_GAP = 4
_MOST_CHANNELS = 64
_LEAST_SIDE = 24.0
_MOST_CELL = 12.0
_FLAGS = {"nan": NAN, "pos_inf": POS_INF, "neg_inf": NEG_INF}


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
    across = max(1, int((box.room + _GAP) // (max(wide, _LEAST_SIDE) + _GAP)))
    y = box.y
    for at in range(drawn.count):
        column = at % across
        if at and column == 0:
            y += tall + LINE_HEIGHT
        x = box.x + column * (max(wide, _LEAST_SIDE) + _GAP)
        draw_cells(marks, codes[at], scale, Box(x, y, wide, tall), (wide, tall))
        marks.text(str(drawn.first + at), x, y + tall + 11, fill=marks.theme.muted)
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
    """Draw mean, minimum and maximum along the axis; return the y below."""
    low, high = _bounds(drawn)
    count = len(drawn.flags)
    step = box.room / count

    def level(value: float) -> float:
        return box.y + box.tall * (1 - share_between(value, low, high)) if high > low else box.y

    for name, bit in _FLAGS.items():
        for at in np.flatnonzero(drawn.flags & bit).tolist():
            fill = {"fill": SPECIAL[name]}
            x = box.x + at * step
            marks.rect(x, box.y, max(1.0, step), box.tall, own=fill, fill_opacity=0.4)
    spans, line = [], []
    for at in range(count):
        if not np.isfinite(drawn.mean[at]):
            continue
        x, wide = box.x + at * step, max(1.0, step - (step > 4))
        top, foot = level(float(drawn.maximum[at])), level(float(drawn.minimum[at]))
        spans.append(f"M{number(x)} {number(top)}h{number(wide)}V{number(foot)}h-{number(wide)}z")
        line.append(f"M{number(x)} {number(level(float(drawn.mean[at])))}h{number(wide)}")
    marks.path("".join(spans), fill=marks.theme.line)
    marks.path("".join(line), stroke=marks.theme.accent, stroke_width=2, fill="none")
    marks.rect(box.x, box.y, box.room, box.tall, fill="none", stroke=marks.theme.line)
    y = box.y + box.tall + 13
    axis = drawn.axis
    ends = ["0", str(drawn.length - 1)]
    marks.text(ends[0], box.x, y, fill=marks.theme.muted)
    if drawn.length > 1:
        x = box.x + box.room - width(ends[1], SMALL)
        marks.text(ends[1], x, y, fill=marks.theme.muted)
    name = facts.shown.axis_text(axis)
    said = f"{name}: mean, and from {about_text(low)} to {about_text(high)}"
    more = f", {drawn.step:,} indices a point" if drawn.step > 1 else ""
    for text in wrap(said + more, box.room, SMALL, 3):
        y += LINE_HEIGHT
        marks.text(text, box.x, y, fill=marks.theme.muted)
    return y + 4


def _bounds(drawn: Profile) -> tuple[float, float]:
    finite = np.isfinite(drawn.minimum)
    if not finite.any():
        return 0.0, 0.0
    return float(drawn.minimum[finite].min()), float(drawn.maximum[finite].max())
