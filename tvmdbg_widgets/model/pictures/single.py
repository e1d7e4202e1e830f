"""Pictures of a part of a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.pictures.cells import Array, Cells
from tvmdbg_widgets.model.pictures.grid import CellSpan, Part, spans
from tvmdbg_widgets.model.pictures.pieces import Watch
from tvmdbg_widgets.model.pictures.sampled import is_quick, sampled, thinned
from tvmdbg_widgets.model.pictures.stack import Stack
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.values import ArrayView

#: Part of the values that are looked at quickly which count as cheap.
_CHEAP = 4


@dataclass(frozen=True)
class Picture:
    """``rows`` x ``cols`` cells of ``row_step`` x ``col_step`` values of a plane."""

    row: int
    col: int
    rows: int
    cols: int
    row_step: int
    col_step: int
    exact: bool
    minimum: npt.NDArray[np.floating]
    maximum: npt.NDArray[np.floating]
    mean: npt.NDArray[np.floating]
    flags: npt.NDArray[np.uint8]


def picture(
    values: ArrayView,
    plane: Plane,
    rows: int,
    cols: int,
    *,
    part: Part | None = None,
    sample: bool = False,
    watch: Watch | None = None,
) -> Picture:
    """Reduce a part of a plane to at most ``rows`` x ``cols`` cells.

    The step of an axis is the least with which no more cells than that touch the part; cells
    begin at multiples of it, so that those of neighboring parts are the same.

    The mean of a cell is the float64 sum of its finite values (0 for each other one) over their
    count: first along the axis with the lower number, one value after the other, then along the
    other axis, in runs of 65,536 each summed as ``numpy.add.reduce`` does (pairwise), the runs
    one after the other. So a transposed plane gives the transposed picture to the bit. Where
    float64 cannot hold the sum, the mean is unknown (NaN).
    """
    down, across = spans(plane, rows, cols, part)
    stack = stack_of(values, plane, down, across)
    if not sample:
        return picture_of(stack, stack.cells(watch))
    stack = thinned(stack)
    return picture_of(stack, sampled(stack), exact=False)


def is_turned(plane: Plane) -> bool:
    """Return whether the axis down comes after the one across in the array."""
    down, across = plane.axes
    return down is not None and across is not None and down > across


def stack_of(values: ArrayView, plane: Plane, down: CellSpan, across: CellSpan) -> Stack:
    """Return what a picture of these cells is made of."""
    lower, higher = (across, down) if is_turned(plane) else (down, across)
    return Stack(values, plane, lower, higher)


def is_cheap(values: ArrayView, plane: Plane) -> bool:
    """Return whether every value of a plane is looked at within about two milliseconds."""
    return is_quick(stack_of(values, plane, *spans(plane, 1, 1, None)), _CHEAP)


def finished(cells: Cells, lengths: Array) -> tuple[Array, ...]:
    """Return minimum, maximum, mean and flags as views get them."""
    count = lengths if cells.count is None else cells.count
    flags = np.zeros(cells.low.shape, np.uint8) if cells.flags is None else cells.flags
    some = count > 0
    nan, zero = np.float32(np.nan), np.float32(0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean: Array = np.where(np.isfinite(cells.total), cells.total / count, np.nan)
        if cells.low.dtype == np.float64:
            mean = np.clip(mean, cells.low, cells.high)
        mean = mean.astype(cells.low.dtype, copy=False)
    low, high, mean = (np.where(some, each, nan) + zero for each in (cells.low, cells.high, mean))
    return low, high, mean, flags


def picture_of(stack: Stack, cells: Cells, *, exact: bool = True) -> Picture:
    """Return the picture with these cells of one plane."""
    arrays, down, across = finished(cells, stack.lengths), stack.lower, stack.higher
    if is_turned(stack.plane):
        down, across = across, down
        arrays = tuple(each.swapaxes(1, 2) for each in arrays)
    return Picture(
        down.start,
        across.start,
        down.cells,
        across.cells,
        down.step,
        across.step,
        exact,
        *(np.ascontiguousarray(each).reshape(-1) for each in arrays),
    )
