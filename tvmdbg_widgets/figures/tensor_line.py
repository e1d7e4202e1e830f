"""One row of values as bars over their indices, as ``js/src/tensor/profile_painter.ts`` does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.colors import ColorScale
from tvmdbg_widgets.figures.svg import Marks, number
from tvmdbg_widgets.figures.tensor_labels import Labels
from tvmdbg_widgets.figures.tensor_marks import MARK_FROM, box_path, draw_columns, draw_signs
from tvmdbg_widgets.figures.tensor_picture import (
    Box,
    codes_of,
    draw_caption,
    draw_cells,
    facts_cols,
)
from tvmdbg_widgets.figures.tensor_ticks import DIGIT, index_ticks, nice_ticks, power_ticks
from tvmdbg_widgets.model.base.number_text import short_text

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.figures.tensor_facts import TensorFacts
    from tvmdbg_widgets.model.pictures import Picture

#: Room for the numbers at the left, px.
LEFT = 62.0
_TALL, _PAD, _STRIP = 120.0, 5.0, 10.0
_WIDEST = 40.0
_LEVELS = 24.0
#: The bars reach to zero where it is not far from them, as a share of the largest.
_NEAR_ZERO = 0.5


def line_picture(facts: TensorFacts, box: Box) -> Picture:
    """Return the row in as many cells as there are pairs of pixels."""
    return facts.shown.picture(1, max(1, min(facts.shown.cols, int((box.room - LEFT) / 2))))


def draw_line(
    marks: Marks, facts: TensorFacts, drawn: Picture, scale: ColorScale | None, box: Box
) -> float:
    """Draw the row within the box; return the y below it."""
    theme = marks.theme
    # Cells begin at multiples of their step and may reach beyond the part that is wanted.
    values = min(drawn.cols * drawn.col_step, facts_cols(facts) - drawn.col)
    each = min(_WIDEST, (box.room - LEFT) / values)
    plot = Box(box.x + LEFT, box.y + 6, each * values, _TALL)
    past = np.minimum((np.arange(drawn.cols) + 1) * drawn.col_step, values)
    ends = [plot.x, *(plot.x + past * each).tolist()]
    labels = Labels(marks, box.x, box.x + box.room)
    axis = None if scale is None else _axis(scale)
    across = f"h{number(plot.room)}"
    if axis is not None:
        levels = _levels(axis)
        for value, y in zip(levels, _heights(plot, axis, levels), strict=True):
            marks.path(f"M{number(plot.x)} {number(y)}{across}", stroke=theme.line)
            labels.write(short_text(value), plot.x - 6, y, align="right")
    draw_columns(marks, drawn.flags, ends, plot.y, plot.tall)
    if axis is not None:
        _bars(marks, drawn, ends, plot, axis)
    marks.rect(plot.x, plot.y, plot.room, plot.tall, fill="none", stroke=theme.line)
    strip = replace(plot, y=plot.y + plot.tall + 3, tall=_STRIP)
    codes = codes_of(drawn, scale, facts.options.cells).reshape(1, drawn.cols)
    draw_cells(marks, codes, scale, strip, (strip.room, strip.tall))
    draw_signs(marks, drawn.flags, ends, strip.y, strip.tall)
    below = strip.y + _STRIP + 9
    spacing = len(str(facts_cols(facts))) * DIGIT + 14
    for index, at in index_ticks(drawn.col, plot.room, each, facts_cols(facts), spacing):
        labels.write(str(index), plot.x + at, below, align="center")
    labels.write(f"{facts.shown.names[1]} →", plot.x, below + 15)
    return draw_caption(marks, facts, drawn, replace(box, y=below + 24))


def _axis(scale: ColorScale) -> ColorScale:
    low, high = scale.low, scale.high
    if 0 < low <= _NEAR_ZERO * high:
        low = 0.0
    elif 0 > high >= _NEAR_ZERO * low:
        high = 0.0
    return (
        ColorScale(low, high, scale.map, scale.scale, linear=scale.threshold)
        if scale.scale != "log"
        else scale
    )


def _levels(axis: ColorScale) -> list[float]:
    """Values to write at the left."""
    if axis.low == axis.high:
        return [axis.low]
    if axis.scale == "linear":
        return nice_ticks(axis.low, axis.high, _TALL / _LEVELS)
    return power_ticks(axis.low, axis.high, axis.low if axis.scale == "log" else axis.threshold)


def _heights(plot: Box, axis: ColorScale, values: npt.ArrayLike) -> list[float]:
    """Return the y of values, the nearest of those on the axis; NaN of NaN."""
    inside = np.clip(np.asarray(values, np.float64), axis.low, axis.high)
    down = (plot.tall - 2 * _PAD) * (1 - axis.share(inside))
    found: list[float] = (plot.y + _PAD + down).tolist()
    return found


def _bars(marks: Marks, drawn: Picture, ends: list[float], plot: Box, axis: ColorScale) -> None:
    """From the least to the largest of each cell, with stems to zero."""
    numbers = (drawn.minimum, drawn.maximum, drawn.mean)
    least, largest, mean = (_heights(plot, axis, each) for each in numbers)
    zero = _heights(plot, axis, [0.0])[0] if axis.low <= 0 <= axis.high else math.nan
    bars: list[str] = []
    stems: list[str] = []
    for col in np.flatnonzero(~np.isnan(drawn.mean)).tolist():
        x, wide = ends[col], ends[col + 1] - ends[col]
        wide = max(1.0, wide - (max(1.0, round(0.15 * wide)) if wide >= MARK_FROM else 0))
        bars.append(box_path(x, largest[col] - 1, wide, max(2.0, least[col] - largest[col])))
        if abs(zero - mean[col]) >= 1:
            stems.append(box_path(x, min(zero, mean[col]), wide, abs(zero - mean[col])))
    marks.path("".join(stems), fill=marks.theme.accent, fill_opacity=0.3)
    marks.path("".join(bars), fill=marks.theme.accent)
    if not math.isnan(zero):
        line = f"M{number(plot.x)} {number(zero)}h{number(plot.room)}"
        marks.path(line, stroke=marks.theme.muted)
