"""Signs on what is not finite or beyond the colors: told apart without color, as live."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.colors import SPECIAL
from tvmdbg_widgets.figures.svg import Marks, number
from tvmdbg_widgets.model.pictures import NAN, NEG_INF, POS_INF

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

Place = tuple[float, float, float, float]

_FLAGS = {"nan": NAN, "pos_inf": POS_INF, "neg_inf": NEG_INF}
_Z = 2
_STRIPE = 4
#: From this many px on a cell that is not finite gets a sign, one beyond the colors a chevron.
MARK_FROM, SIGN_FROM = 6, 10
#: Narrower signs say nothing.
_LEAST_SIGN = 3
#: So many signs are drawn one by one; of more, cells beside each other share one.
_MANY = 300
#: Cells too small for a sign are marked by squares of this side: with a sign where half of it is
#: of their kind, else with a ring, unless that were more rings than these.
_BLOCK, _RINGS = 16, 40


def draw_special(marks: Marks, name: str, place: Place) -> None:
    """Draw a box of NaN, +Inf or -Inf."""
    marks.path(box_path(*place), fill=SPECIAL[name], z=1)
    draw_sign(marks, name, place)


def box_path(x: float, y: float, wide: float, tall: float) -> str:
    """A box as a part of a path."""
    return f"M{number(x)} {number(y)}h{number(wide)}v{number(tall)}h-{number(wide)}z"


def draw_columns(
    marks: Marks, flags: npt.NDArray[np.uint8], ends: list[float], y: float, tall: float
) -> None:
    """Shade what is not finite along a row of cells, of which ``ends`` are the borders, px."""
    for name, first, past in column_runs(flags):
        wide = max(1.0, ends[past] - ends[first])
        shade = box_path(ends[first], y, wide, tall)
        marks.path(shade, fill=SPECIAL[name], fill_opacity=0.33)


def draw_signs(
    marks: Marks, flags: npt.NDArray[np.uint8], ends: list[float], y: float, tall: float
) -> None:
    """Draw what is not finite along a row of cells; those beside each other share a sign."""
    for name, first, past in column_runs(flags):
        wide = ends[past] - ends[first]
        step = wide if (wide / (past - first)) < MARK_FROM else wide / (past - first)
        for at in range(max(1, round(wide / step))):
            place = (ends[first] + at * step, y, max(1.0, step), tall)
            marks.path(box_path(*place), fill=SPECIAL[name], z=1)
            if step >= _LEAST_SIGN:
                draw_sign(marks, name, place)


def column_runs(flags: npt.NDArray[np.uint8]) -> Iterator[tuple[str, int, int]]:
    """Kind, first cell and the one past the last of those of a kind beside each other."""
    for name, here in kinds(flags.reshape(1, -1)).items():
        for _, first, past in _runs(here, joined=True):
            yield name, first, past


def draw_sign(marks: Marks, name: str, place: Place, stripe: int = _STRIPE) -> None:
    """Hatch a box of NaN; +Inf points up and -Inf down."""
    if name == "nan":
        marks.path(_hatched(place, stripe), z=_Z, stroke="#ffffff", fill="none")
        return
    x, y, wide, tall = place
    side = 0.3 * min(wide, tall, 24)
    up = -side if name == "pos_inf" else side
    across = number(2 * side)
    start = f"M{number(x + wide / 2 - side)} {number(y + tall / 2 - up)}"
    marks.path(f"{start}h{across}l-{number(side)} {number(2 * up)}z", z=_Z, fill="#000000")


def draw_chevron(marks: Marks, side: str, place: Place) -> None:
    """Draw a chevron: to the left below the colors, to the right above them."""
    x, y, wide, tall = place
    reach = 0.18 * min(wide, tall, 24)
    tip = -reach if side == "under" else reach
    start = f"M{number(x + wide / 2 - tip / 2)} {number(y + tall / 2 - reach)}"
    to = f"l{number(tip)} {number(reach)}l{number(-tip)} {number(reach)}"
    ink = "#ffffff" if side == "under" else "#000000"
    marks.path(start + to, z=_Z, stroke=ink, stroke_width=1.5, fill="none")


def mark_cells(
    marks: Marks, flags: npt.NDArray[np.uint8], x: float, y: float, size: tuple[float, float]
) -> None:
    """Mark the cells that are not finite.

    Parameters
    ----------
    flags : uint8 [rows, cols]
        As of a picture.
    size
        Width and height of all cells, px.
    """
    rows, cols = flags.shape
    wide, tall = size[0] / cols, size[1] / rows
    for name, here in kinds(flags).items():
        if min(wide, tall) < MARK_FROM:
            _mark_blocks(marks, name, here, (x, y, *size))
            continue
        many = int(np.count_nonzero(here)) > _MANY
        for row, first, past in _runs(here, joined=many):
            place = (x + first * wide, y + row * tall, (past - first) * wide, tall)
            draw_sign(marks, name, place, 2 * _STRIPE if many else _STRIPE)


def kinds(flags: npt.NDArray[np.uint8]) -> dict[str, npt.NDArray[np.bool_]]:
    """Return where NaN is, where +Inf without NaN, and where -Inf alone."""
    found: dict[str, npt.NDArray[np.bool_]] = {}
    left = np.ones(flags.shape, np.bool_)
    for name, bit in _FLAGS.items():
        here = ((flags & bit) != 0) & left
        left &= ~here
        if here.any():
            found[name] = here
    return found


def _mark_blocks(marks: Marks, name: str, here: npt.NDArray[np.bool_], place: Place) -> None:
    """Mark squares of cells that are too small to be marked each."""
    rows, cols = here.shape
    x, y = place[:2]
    wide, tall = place[2] / cols, place[3] / rows
    down = -(-rows // max(1, round(place[3] / _BLOCK)))
    across = -(-cols // max(1, round(place[2] / _BLOCK)))
    rings: list[tuple[float, float]] = []
    for top, left in itertools.product(range(0, rows, down), range(0, cols, across)):
        part = here[top : top + down, left : left + across]
        if part.mean() >= 0.5:
            size = (part.shape[1] * wide, part.shape[0] * tall)
            draw_sign(marks, name, (x + left * wide, y + top * tall, *size))
        elif part.any():
            at = np.argwhere(part).mean(0).tolist()
            ring = (x + (left + at[1] + 0.5) * wide, y + (top + at[0] + 0.5) * tall)
            if all(math.dist(ring, other) > _BLOCK for other in rings):
                rings.append(ring)
    for ring in rings if len(rings) <= _RINGS else []:
        _ring(marks, name, *ring)


def _ring(marks: Marks, name: str, x: float, y: float) -> None:
    data = f"M{number(x - 7)} {number(y)}a7 7 0 1 0 14 0a7 7 0 1 0-14 0"
    marks.path(data, z=_Z, stroke="#ffffff", stroke_width=4, fill="none")
    marks.path(data, z=_Z + 1, stroke=SPECIAL[name], stroke_width=2, fill="none")


def _runs(here: npt.NDArray[np.bool_], *, joined: bool) -> Iterator[tuple[int, int, int]]:
    """Row, first column and the one past the last of cells, one each or those side by side."""
    if not joined:
        for row, col in np.argwhere(here).tolist():
            yield row, col, col + 1
        return
    padded = np.pad(here, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(padded, axis=1)
    starts, ends = np.argwhere(steps == 1).tolist(), np.argwhere(steps == -1).tolist()
    for (row, first), (_, past) in zip(starts, ends, strict=True):
        yield row, first, past


def _hatched(place: Place, stripe: int) -> str:
    """Lines upwards to the right that go on from one box to the next."""
    x, y, wide, tall = place
    found = []
    total = int((x + y) // stripe + 1) * stripe
    while total < x + y + wide + tall:
        left = max(x, total - y - tall)
        right = min(x + wide, total - y)
        if right - left >= 0.5:
            long = number(right - left)
            found.append(f"M{number(left)} {number(total - left)}l{long}-{long}")
        total += stripe
    return "".join(found)
