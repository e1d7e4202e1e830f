"""The values of a plane in colours, their legend, and the histogram, as SVG marks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.colors import (
    OVER,
    SPECIAL,
    SPECIAL_TEXT,
    UNDER,
    ColorScale,
    table,
)
from tvmdbg_widgets.figures.png import data_uri, png
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.texts import about_text, fit, short_text, width, wrap
from tvmdbg_widgets.figures.theme import channels
from tvmdbg_widgets.model.pictures import NAN, POS_INF, Channels, Picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.figures.tensor_facts import TensorFacts

#: Cells with sharp edges: browsers know the value of CSS, rasterisers that of SVG 1.1.
_CELLS = 'image-rendering="optimizeSpeed" style="image-rendering:pixelated"'
_MOST_CELL = 40.0
_THIN = 24.0
_PROFILE = 120.0
#: Room for the number of a column.
_TICKS = 44.0
_BAR, _BAR_STEPS = 108.0, 27


@dataclass(frozen=True)
class Box:
    """Where something is drawn, px."""

    x: float
    y: float
    room: float
    tall: float


def plane_picture(facts: TensorFacts, box: Box, most_pixels: int) -> Picture:
    """Return the picture of a plane with as many cells as can be seen in the box."""
    shown = facts.shown
    if shown.rows == 1 and shown.cols > 1:
        return shown.picture(1, min(shown.cols, int(box.room / 2)))
    wide, high = cell_size(shown.rows, shown.cols, box.room, box.tall)
    return shown.picture(*cells_within(shown.rows * high, shown.cols * wide, facts, most_pixels))


def cells_within(tall: float, room: float, facts: TensorFacts, most_pixels: int) -> tuple[int, int]:
    """Return as many rows and columns of cells as there are pixels and values."""
    rows = max(1, math.floor(min(facts.shown.rows, tall)))
    cols = max(1, math.floor(min(facts.shown.cols, room)))
    over = math.sqrt(rows * cols / most_pixels)
    return (max(1, int(rows / over)), max(1, int(cols / over))) if over > 1 else (rows, cols)


def draw_plane(
    marks: Marks, facts: TensorFacts, drawn: Picture, scale: ColorScale | None, box: Box
) -> float:
    """Draw the plane within the box; return the y below it."""
    shown = facts.shown
    if shown.rows == 1 and shown.cols > 1:
        return _profile(marks, facts, drawn, scale, Box(box.x, box.y, box.room, _PROFILE))
    wide, high = cell_size(shown.rows, shown.cols, box.room, box.tall)
    # Cells begin at multiples of their step and may reach beyond the part that is wanted.
    rows = min(drawn.rows * drawn.row_step, facts_rows(facts) - drawn.row)
    cols = min(drawn.cols * drawn.col_step, facts_cols(facts) - drawn.col)
    high, wide = high * shown.rows / rows, wide * shown.cols / cols
    size = (cols * wide, rows * high)
    codes = codes_of(drawn, scale, facts.options.cells).reshape(drawn.rows, drawn.cols)
    draw_cells(marks, codes, scale, box, size)
    return draw_caption(marks, facts, drawn, replace(box, y=box.y + size[1]))


def facts_rows(facts: TensorFacts) -> int:
    """Rows of the whole plane."""
    return 1 if facts.shown.plane is None else facts.shown.plane.rows


def facts_cols(facts: TensorFacts) -> int:
    """Columns of the whole plane."""
    return 1 if facts.shown.plane is None else facts.shown.plane.cols


def draw_cells(
    marks: Marks,
    codes: npt.NDArray[np.uint16],
    scale: ColorScale | None,
    box: Box,
    size: tuple[float, float],
) -> None:
    """Draw cells of colours, ``uint16 [rows, cols]``, as one image with a frame."""
    x, y = box.x, box.y
    marks.add(
        f'<image x="{number(x)}" y="{number(y)}" width="{number(size[0])}" '
        f'height="{number(size[1])}" preserveAspectRatio="none" {_CELLS} '
        f'href="{data_uri(_png(codes, scale))}"/>'
    )
    marks.rect(x, y, *size, fill="none", stroke=marks.theme.line)


def draw_caption(marks: Marks, facts: TensorFacts, shown: Picture | Channels, box: Box) -> float:
    """Say how many values are behind one cell, where it is more than one, and what of them."""
    y = box.y
    if shown.row_step * shown.col_step == 1:
        return y
    said = f"{shown.row_step:,} × {shown.col_step:,} values"
    which = "" if getattr(shown, "exact", True) else ", of which it was sampled"
    cells = facts.options.cells
    what = "value farthest from 0" if cells == "extreme" else cells
    text = f"each cell is coloured by the {what} of up to {said}{which}"
    for line in wrap(text, box.room, SMALL, 3):
        y += LINE_HEIGHT
        marks.text(line, box.x, y - 3, fill=marks.theme.muted)
    return y


def cell_size(rows: int, cols: int, room: float, tall: float) -> tuple[float, float]:
    """Width and height of one value, square unless a side would be too thin to see."""
    square = min(room / cols, tall / rows, _MOST_CELL)
    if rows == cols or square * min(rows, cols) >= _THIN:
        return square, square
    return max(square, min(room / cols, _THIN)), max(square, min(tall / rows, _THIN))


#: Codes of colours beyond the table: NaN, +Inf, -Inf, below and above the scale.
_NAN, _POS_INF, _NEG_INF, _UNDER, _OVER = range(256, 261)


def cell_values(shown: Picture | Channels, cells: str) -> npt.NDArray[np.floating]:
    """Return what the colours show of each cell, as ``js/src/tensor/plane_painter.ts`` has it."""
    if cells == "mean":
        return shown.mean
    least, largest = shown.minimum, shown.maximum
    if cells == "extreme":
        return np.where(np.abs(least) > np.abs(largest), least, largest)
    return least if cells == "least" else largest


def codes_of(
    shown: Picture | Channels, scale: ColorScale | None, cells: str = "mean"
) -> npt.NDArray[np.uint16]:
    """Return 0 … 255 of the colour table, 256 on for what has no place there."""
    numbers = cell_values(shown, cells)
    codes = np.full(numbers.shape, _NAN, np.uint16)
    if scale is not None:
        known = np.isfinite(numbers)
        values = numbers[known].astype(np.float64)
        found = np.floor(255 * scale.share(values) + 0.5).astype(np.uint16)
        least, most = scale.least, scale.most
        if numbers.dtype == np.float32:
            # Cells of values at the ends may lie a step beyond those.
            least, most = _less(least), -_less(-most)
        found[values < least] = _UNDER
        found[values > most] = _OVER
        codes[known] = found
    flags = shown.flags
    codes[flags != 0] = _NEG_INF
    codes[(flags & POS_INF) != 0] = _POS_INF
    codes[(flags & NAN) != 0] = _NAN
    return codes


def share_between(value: float, low: float, high: float) -> float:
    """Return 0 … 1 from ``low`` to ``high``, whose difference may be larger than any float64."""
    unit = 0.5 if high > 1 or low < -1 else 1.0
    return (value * unit - low * unit) / (high * unit - low * unit)


def _less(bound: float) -> float:
    """The float32 next below a bound, which a rounded value at the bound reaches at most."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.nextafter(np.float32(bound), np.float32(-np.inf)))


def _palette(scale: ColorScale | None) -> npt.NDArray[np.uint8]:
    others = [*SPECIAL.values(), UNDER, OVER]
    specials = np.array([channels(each) for each in others], np.uint8)
    own = table(scale.map) if scale is not None else np.zeros((256, 3), np.uint8)
    return np.concatenate([own, specials])


def _png(codes: npt.NDArray[np.uint16], scale: ColorScale | None) -> bytes:
    palette = _palette(scale)
    used, at = np.unique(codes, return_inverse=True)
    if len(used) > 256:
        codes = np.where(codes < 256, codes & ~np.uint16(1), codes)
        used, at = np.unique(codes, return_inverse=True)
    return png(at.reshape(codes.shape).astype(np.uint8), palette[used])


def _profile(
    marks: Marks, facts: TensorFacts, shown: Picture, scale: ColorScale | None, box: Box
) -> float:
    """Draw one row of values as bars from zero, each from the least to the largest of its cell."""
    left, top, room, tall = box.x, box.y, box.room, box.tall
    step = min(_MOST_CELL, room / shown.cols)
    gap = 1.0 if step >= 4 else 0.0
    palette, codes = _palette(scale), codes_of(shown, scale, facts.options.cells)
    low, high = (min(0.0, scale.low), max(0.0, scale.high)) if scale is not None else (0.0, 0.0)

    def level(value: float) -> float:
        return top + tall * (1 - share_between(value, low, high)) if high > low else top + tall

    for col in range(shown.cols):
        x = left + col * step
        color = "#{:02x}{:02x}{:02x}".format(*palette[codes[col]])
        if codes[col] in (_NAN, _POS_INF, _NEG_INF) or scale is None:
            marks.rect(x, top, step - gap, tall, own={"fill": color}, fill_opacity=0.6)
            continue
        bounds = np.clip([0.0, shown.minimum[col], shown.maximum[col]], low, high)
        ends = [level(float(each)) for each in bounds]
        high_, low_ = min(ends), max(ends)
        marks.rect(
            x,
            high_,
            step - gap,
            max(1.0, low_ - high_),
            own={"fill": color},
            stroke=marks.theme.muted,
            stroke_width=0.5,
        )
    end = number(left + step * shown.cols)
    marks.path(f"M{number(left)} {number(level(0.0))}H{end}", stroke=marks.theme.muted)
    every = max(1, math.ceil(_TICKS / step))
    for col in range(0, shown.cols, every):
        said = str(shown.col + col * shown.col_step)
        if left + col * step + width(said, SMALL) <= left + room:
            marks.text(said, left + col * step, top + tall + 13, fill=marks.theme.muted)
    return draw_caption(marks, facts, shown, replace(box, y=top + tall + 16))


def draw_color_bar(marks: Marks, facts: TensorFacts, scale: ColorScale | None, box: Box) -> float:
    """Say what the colours mean, in as many lines as it takes; return the y below them."""
    x, room = box.x, box.room
    middle, at = box.y + 8, x
    if scale is not None and scale.low == scale.high:
        at = _swatch(marks, scale.color(0.5), f"all {about_text(scale.low)}", at, middle)
    elif scale is not None:
        at = _bar(marks, scale, at, middle)
        for line in wrap(_scale_words(scale, facts), room, SMALL, 3):
            at, middle = x, middle + LINE_HEIGHT
            marks.text(line, x, middle + 4, fill=marks.theme.muted)
        if at == x:
            middle += LINE_HEIGHT
    swatches = [] if scale is None else list(_outside(facts, scale))
    for name, count in facts.specials().items():
        if count:
            swatches.append((SPECIAL[name], f"{SPECIAL_TEXT[name]} ({count:,})"))
    if not swatches and at == x:
        return middle - 5
    for color, text in swatches:
        said = fit(text, room - 14, SMALL)
        if at > x and at + 14 + width(said, SMALL) > x + room:
            at, middle = x, middle + LINE_HEIGHT
        at = _swatch(marks, color, said, at, middle)
    return middle + 10


def _bar(marks: Marks, scale: ColorScale, x: float, middle: float) -> float:
    """Draw the colours between their ends; return the x behind them."""
    low, high = about_text(scale.least), about_text(scale.most)
    marks.text(low, x, middle + 4, fill=marks.theme.muted)
    at = x + width(low, SMALL) + 5
    step = _BAR / _BAR_STEPS
    first, last = scale.share([scale.least, scale.most]).tolist()
    for i in range(_BAR_STEPS):
        fill = {"fill": scale.color(first + (last - first) * (i + 0.5) / _BAR_STEPS)}
        marks.rect(at + step * i, middle - 5, step + (i < _BAR_STEPS - 1) * 0.3, 10, own=fill)
    marks.rect(at, middle - 5, _BAR, 10, fill="none", stroke=marks.theme.line, stroke_width=0.5)
    marks.text(high, at + _BAR + 5, middle + 4, fill=marks.theme.muted)
    return at + _BAR + 5 + width(high, SMALL) + 14


def _scale_words(scale: ColorScale, facts: TensorFacts) -> str:
    """What is to be said of a scale that is not linear."""
    if scale.scale == "log":
        return "logarithmic"
    if scale.scale != "symlog":
        return ""
    said = f"symlog: linear within ±{short_text(scale.threshold)}, logarithmic beyond"
    no_log = "; no positive value, so no log" if facts.options.color_scale == "log" else ""
    return said + no_log


def _outside(facts: TensorFacts, scale: ColorScale) -> Iterator[tuple[str, str]]:
    colors = {"under": UNDER, "over": OVER}
    for side, said in facts.outside(scale).items():
        yield colors[side], said


def _swatch(marks: Marks, color: str, said: str, x: float, middle: float) -> float:
    marks.rect(x, middle - 5, 10, 10, own={"fill": color})
    marks.text(said, x + 14, middle + 4)
    return x + 28 + width(said, SMALL)
