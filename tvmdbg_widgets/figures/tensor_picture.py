"""The values of a plane in colors, with their indices, as SVG marks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.colors import (
    OVER,
    SPECIAL,
    UNDER,
    ColorScale,
    table,
)
from tvmdbg_widgets.figures.png import data_uri, png
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.tensor_labels import Labels
from tvmdbg_widgets.figures.tensor_marks import (
    SIGN_FROM,
    draw_chevron,
    mark_cells,
)
from tvmdbg_widgets.figures.tensor_ticks import DIGIT, index_ticks
from tvmdbg_widgets.figures.texts import balanced
from tvmdbg_widgets.figures.theme import channels
from tvmdbg_widgets.model.pictures import NAN, POS_INF, Channels, Picture

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.tensor_facts import TensorFacts

#: Cells with sharp edges: browsers know the value of CSS, rasterisers that of SVG 1.1.
_CELLS = 'image-rendering="optimizeSpeed" style="image-rendering:pixelated"'
_MOST_CELL = 40.0
_THIN = 24.0
#: Room for the name of an axis and for a line of indices, and between indices down, px.
_NAME, _TICKS, _APART = 16.0, 15.0, 22.0
#: Room that a name has however narrow the picture is, px.
_LEAST_NAME = 100.0


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
    plot = plot_of(facts, box)
    wide, high = cell_size(shown.rows, shown.cols, plot.room, plot.tall)
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
    """Draw the plane and its indices within the box; return the y below it."""
    shown = facts.shown
    plot = plot_of(facts, box)
    wide, high = cell_size(shown.rows, shown.cols, plot.room, plot.tall)
    # Cells begin at multiples of their step and may reach beyond the part that is wanted.
    rows = min(drawn.rows * drawn.row_step, facts_rows(facts) - drawn.row)
    cols = min(drawn.cols * drawn.col_step, facts_cols(facts) - drawn.col)
    high, wide = high * shown.rows / rows, wide * shown.cols / cols
    size = (cols * wide, rows * high)
    codes = codes_of(drawn, scale, facts.options.cells).reshape(drawn.rows, drawn.cols)
    draw_cells(marks, codes, scale, plot, size)
    mark_cells(marks, drawn.flags.reshape(codes.shape), plot.x, plot.y, size)
    _chevrons(marks, codes, plot, size)
    if plot != box:
        inner = replace(plot, room=size[0], tall=size[1])
        _draw_indices(marks, facts, drawn, inner, (wide, high))
    return draw_caption(marks, facts, drawn, replace(box, y=plot.y + size[1] + 2))


def plot_of(facts: TensorFacts, box: Box) -> Box:
    """The part of a box that the cells have, with their indices above and to the left."""
    shown = facts.shown
    if shown.rows * shown.cols == 1 and shown.region is None:
        return box
    left = _gutter(facts)
    return Box(box.x + left, box.y + _NAME + _TICKS, box.room - left, box.tall)


def _gutter(facts: TensorFacts) -> float:
    return _NAME + len(str(facts_rows(facts) - 1)) * DIGIT + 8


def _draw_indices(
    marks: Marks, facts: TensorFacts, drawn: Picture, plot: Box, each: tuple[float, float]
) -> None:
    """Write names and indices of both axes beside the cells."""
    rows, cols = facts_rows(facts), facts_cols(facts)
    gutter = _gutter(facts)
    labels = Labels(marks, plot.x - gutter, plot.x + max(plot.room, _LEAST_NAME))
    down, across = facts.shown.names
    labels.write(f"{across} →" if across else "", plot.x, plot.y - _TICKS - _NAME / 2)
    spacing = len(str(cols)) * DIGIT + 14
    for index, at in index_ticks(drawn.col, plot.room, each[0], cols, spacing):
        labels.write(str(index), plot.x + at, plot.y - 9, align="center")
    for index, at in index_ticks(drawn.row, plot.tall, each[1], rows, _APART):
        labels.write(str(index), plot.x - 6, plot.y + at, align="right")
    labels.turned(f"← {down}" if down else "", plot.x - gutter + 7, plot.y, plot.tall)


def _chevrons(
    marks: Marks, codes: npt.NDArray[np.uint16], plot: Box, size: tuple[float, float]
) -> None:
    """Mark cells that have no place on the scale, where they are large enough."""
    rows, cols = codes.shape
    wide, tall = size[0] / cols, size[1] / rows
    if min(wide, tall) < SIGN_FROM:
        return
    for code, side in ((_UNDER, "under"), (_OVER, "over")):
        for row, col in np.argwhere(codes == code).tolist():
            place = (plot.x + col * wide, plot.y + row * tall, wide, tall)
            draw_chevron(marks, side, place)


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
    """Draw cells of colors, ``uint16 [rows, cols]``, as one image with a frame."""
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
    what = {"mean": "mean", "least": "min", "largest": "max", "extreme": "max abs"}
    said = f"{what[facts.options.cells]} of {shown.row_step}×{shown.col_step} values"
    text = f"each cell: {said}{'' if getattr(shown, 'exact', True) else ', sampled'}"
    for line in balanced(text, box.room, SMALL, 3):
        y += LINE_HEIGHT
        marks.text(line, box.x, y - 3, fill=marks.theme.muted)
    return y


def cell_size(rows: int, cols: int, room: float, tall: float) -> tuple[float, float]:
    """Width and height of one value, square unless a side would be too thin to see."""
    square = min(room / cols, tall / rows, _MOST_CELL)
    if rows == cols or square * min(rows, cols) >= _THIN:
        return square, square
    return max(square, min(room / cols, _THIN)), max(square, min(tall / rows, _THIN))


#: Codes of colors beyond the table: NaN, +Inf, -Inf, below and above the scale.
_NAN, _POS_INF, _NEG_INF, _UNDER, _OVER = range(256, 261)


def cell_values(shown: Picture | Channels, cells: str) -> npt.NDArray[np.floating]:
    """Return what the colors show of each cell, as ``js/src/tensor/plane_painter.ts`` has it."""
    if cells == "mean":
        return shown.mean
    least, largest = shown.minimum, shown.maximum
    if cells == "extreme":
        return np.where(np.abs(least) > np.abs(largest), least, largest)
    return least if cells == "least" else largest


def codes_of(
    shown: Picture | Channels, scale: ColorScale | None, cells: str = "mean"
) -> npt.NDArray[np.uint16]:
    """Return 0 … 255 of the color table, 256 on for what has no place there."""
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


def palette(scale: ColorScale | None) -> npt.NDArray[np.uint8]:
    """Return the color of each code, ``uint8 [261, 3]``."""
    others = [*SPECIAL.values(), UNDER, OVER]
    specials = np.array([channels(each) for each in others], np.uint8)
    own = table(scale.map) if scale is not None else np.zeros((256, 3), np.uint8)
    return np.concatenate([own, specials])


def _png(codes: npt.NDArray[np.uint16], scale: ColorScale | None) -> bytes:
    colors = palette(scale)
    used, at = np.unique(codes, return_inverse=True)
    if len(used) > 256:
        codes = np.where(codes < 256, codes & ~np.uint16(1), codes)
        used, at = np.unique(codes, return_inverse=True)
    return png(at.reshape(codes.shape).astype(np.uint8), colors[used])
