"""The values of a plane in colours, their legend, and the histogram, as SVG marks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.colors import SPECIAL, SPECIAL_TEXT, ColorScale, table
from tvmdbg_widgets.figures.png import data_uri, png
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.texts import about_text, fit, short_text, width, wrap
from tvmdbg_widgets.figures.theme import channels
from tvmdbg_widgets.model.numbers import counted
from tvmdbg_widgets.model.pictures import NAN, POS_INF, Picture, picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.tensor_facts import TensorFacts

#: Cells with sharp edges: browsers know the value of CSS, rasterisers that of SVG 1.1.
_CELLS = 'image-rendering="optimizeSpeed" style="image-rendering:pixelated"'
_MOST_CELL = 40.0
_THIN = 24.0
_PROFILE = 120.0
_BAR, _BAR_STEPS = 108.0, 27


def draw_plane(
    marks: Marks,
    facts: TensorFacts,
    x: float,
    y: float,
    *,
    room: float,
    tall: float,
    most_pixels: int,
) -> float:
    """Draw the plane within ``room`` x ``tall`` px; return the y below it."""
    plane = facts.plane
    if plane is None:
        return y
    scale = facts.scale
    if plane.rows == 1 and plane.cols > 1:
        shown = picture(facts.tensor.record.values(), plane, 1, min(plane.cols, int(room / 2)))
        return _profile(marks, shown, scale, (x, y, room, min(tall, _PROFILE)))
    wide, high = _cell(plane.rows, plane.cols, room, tall)
    rows = max(1, math.floor(plane.rows * min(1.0, high)))
    cols = max(1, math.floor(plane.cols * min(1.0, wide)))
    over = math.sqrt(rows * cols / most_pixels)
    if over > 1:
        rows, cols = max(1, int(rows / over)), max(1, int(cols / over))
    shown = picture(facts.tensor.record.values(), plane, rows, cols)
    size = (plane.cols * wide, plane.rows * high)
    marks.add(
        f'<image x="{number(x)}" y="{number(y)}" width="{number(size[0])}" '
        f'height="{number(size[1])}" preserveAspectRatio="none" {_CELLS} '
        f'href="{data_uri(_png(shown, scale))}"/>'
    )
    marks.rect(x, y, *size, fill="none", stroke=marks.theme.line)
    return _reduced(marks, shown, x, y + size[1], room)


def _reduced(marks: Marks, shown: Picture, x: float, y: float, room: float) -> float:
    """Say how many values are behind one cell, where it is more than one."""
    if shown.row_step * shown.col_step == 1:
        return y
    said = f"{shown.row_step:,} × {shown.col_step:,} values"
    for line in wrap(f"each cell is coloured by the mean of up to {said}", room, SMALL, 3):
        y += LINE_HEIGHT
        marks.text(line, x, y - 3, fill=marks.theme.muted)
    return y


def _cell(rows: int, cols: int, room: float, tall: float) -> tuple[float, float]:
    """Width and height of one value, square unless a side would be too thin to see."""
    square = min(room / cols, tall / rows, _MOST_CELL)
    if rows == cols or square * min(rows, cols) >= _THIN:
        return square, square
    return max(square, min(room / cols, _THIN)), max(square, min(tall / rows, _THIN))


def _codes(shown: Picture, scale: ColorScale | None) -> npt.NDArray[np.uint16]:
    """Return 0 … 255 of the colour table, 256 NaN, 257 +Inf, 258 -Inf."""
    codes = np.full(shown.mean.shape, 256, np.uint16)
    if scale is not None:
        known = np.isfinite(shown.mean)
        codes[known] = np.floor(255 * scale.share(shown.mean[known]) + 0.5)
    flags = shown.flags
    codes[flags != 0] = 258
    codes[(flags & POS_INF) != 0] = 257
    codes[(flags & NAN) != 0] = 256
    return codes


def _palette(scale: ColorScale | None) -> npt.NDArray[np.uint8]:
    specials = np.array([channels(each) for each in SPECIAL.values()], np.uint8)
    own = table(scale.map) if scale is not None else np.zeros((256, 3), np.uint8)
    return np.concatenate([own, specials])


def _png(shown: Picture, scale: ColorScale | None) -> bytes:
    codes, palette = _codes(shown, scale), _palette(scale)
    used, at = np.unique(codes, return_inverse=True)
    if len(used) > 256:
        codes = np.where(codes < 256, codes & ~np.uint16(1), codes)
        used, at = np.unique(codes, return_inverse=True)
    return png(at.reshape(shown.rows, shown.cols).astype(np.uint8), palette[used])


def _profile(
    marks: Marks,
    shown: Picture,
    scale: ColorScale | None,
    box: tuple[float, float, float, float],
) -> float:
    """Draw one row of values as bars from zero, each from the least to the largest of its cell."""
    left, top, room, tall = box
    step = min(_MOST_CELL, room / shown.cols)
    gap = 1.0 if step >= 4 else 0.0
    palette, codes = _palette(scale), _codes(shown, scale)
    low, high = (min(0.0, scale.low), max(0.0, scale.high)) if scale is not None else (0.0, 0.0)

    def level(value: float) -> float:
        return top + tall * (1 - (value - low) / (high - low)) if high > low else top + tall

    for col in range(shown.cols):
        x = left + col * step
        color = "#{:02x}{:02x}{:02x}".format(*palette[codes[col]])
        if codes[col] > 255 or scale is None:
            marks.rect(x, top, step - gap, tall, own={"fill": color}, fill_opacity=0.6)
            continue
        ends = [level(0.0), level(float(shown.minimum[col])), level(float(shown.maximum[col]))]
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
    every = max(1, math.ceil(38 / step / max(1, shown.col_step)))
    for col in range(0, shown.cols, every):
        said = str(col * shown.col_step)
        if left + col * step + width(said, SMALL) <= left + room:
            marks.text(said, left + col * step, top + tall + 13, fill=marks.theme.muted)
    return _reduced(marks, shown, left, top + tall + 16, room)


def draw_color_bar(marks: Marks, facts: TensorFacts, x: float, y: float, room: float) -> float:
    """Say what the colours mean, in as many lines as it takes; return the y below them."""
    scale = facts.scale
    middle, at = y + 8, x
    if scale is not None and scale.low == scale.high:
        at = _swatch(marks, scale.color(0.5), f"all {about_text(scale.low)}", at, middle)
    elif scale is not None:
        low, high = about_text(scale.low), about_text(scale.high)
        marks.text(low, at, middle + 4, fill=marks.theme.muted)
        at += width(low, SMALL) + 5
        step = _BAR / _BAR_STEPS
        for i in range(_BAR_STEPS):
            fill = {"fill": scale.color((i + 0.5) / _BAR_STEPS)}
            marks.rect(at + step * i, middle - 5, step + (i < _BAR_STEPS - 1) * 0.3, 10, own=fill)
        marks.rect(at, middle - 5, _BAR, 10, fill="none", stroke=marks.theme.line, stroke_width=0.5)
        marks.text(high, at + _BAR + 5, middle + 4, fill=marks.theme.muted)
        at += _BAR + 5 + width(high, SMALL) + 14
        if scale.scale == "symlog":
            said = f"symlog: linear within ±{short_text(scale.threshold)}, logarithmic beyond"
            for line in wrap(said, room, SMALL, 3):
                middle += LINE_HEIGHT
                marks.text(line, x, middle + 4, fill=marks.theme.muted)
            if any(facts.specials().values()):
                at, middle = x, middle + LINE_HEIGHT
    for name, count in facts.specials().items():
        if not count:
            continue
        said = f"{SPECIAL_TEXT[name]} ({count:,})"
        if at > x and at + 14 + width(said, SMALL) > x + room:
            at, middle = x, middle + LINE_HEIGHT
        at = _swatch(marks, SPECIAL[name], said, at, middle)
    return middle + 10


def _swatch(marks: Marks, color: str, said: str, x: float, middle: float) -> float:
    marks.rect(x, middle - 5, 10, 10, own={"fill": color})
    marks.text(said, x + 14, middle + 4)
    return x + 28 + width(said, SMALL)


def draw_histogram(
    marks: Marks, facts: TensorFacts, x: float, y: float, *, room: float, tall: float
) -> float:
    """Draw the counts of the finite values, with NaN and the infinities at the right."""
    others = [(name, count) for name, count in facts.specials().items() if count]
    found = facts.statistics.histogram
    counts: Sequence[int] = [] if found is None else np.asarray(found.counts).tolist()
    top = max([1, *counts, *(count for _, count in others)])
    slot = 34.0
    wide = room - slot * len(others) - (8 if others else 0)
    if counts:
        said = f"histogram of {len(counts)} bins, the highest of {counted(max(counts), 'value')}"
        marks.text(fit(said, room, SMALL), x, y + 10, fill=marks.theme.muted)
        y += LINE_HEIGHT
    foot, step = number(y + tall), wide / max(1, len(counts))
    bars = "".join(
        f"M{number(x + i * step)} {foot}"
        f"v-{number(max(1.0, tall * count / top))}h{number(step - 0.4)}V{foot}z"
        for i, count in enumerate(counts)
        if count
    )
    if bars:
        marks.path(bars, fill=marks.theme.accent)
    marks.path(f"M{number(x)} {number(y + tall)}h{number(room)}", stroke=marks.theme.line)
    for i, (name, count) in enumerate(others):
        high = max(1.0, tall * count / top)
        at = x + wide + 8 + i * slot
        marks.rect(at + 4, y + tall - high, slot - 8, high, own={"fill": SPECIAL[name]})
        marks.text(SPECIAL_TEXT[name], at + 2, y + tall + 13)
    if found is not None:
        edges = np.asarray(found.edges, np.float64)
        ends = [about_text(float(edges[0])), about_text(float(edges[-1]))]
        marks.text(ends[0], x, y + tall + 13, fill=marks.theme.muted)
        last = ends[1]
        if edges[0] < edges[-1] and width(ends[0] + last, SMALL) + 8 <= wide:
            marks.text(last, x + wide - width(last, SMALL), y + tall + 13, fill=marks.theme.muted)
    return y + tall + 18
