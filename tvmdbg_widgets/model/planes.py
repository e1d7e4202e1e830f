"""Two axes of an N-D array as a plane, and pictures of it with a bounded number of cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: Values read at a time while a picture is made.
_BLOCK = 1 << 20

NAN, POS_INF, NEG_INF = 1, 2, 4

Window = Callable[[tuple[int | slice, ...]], np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Plane:
    """Axis ``axes[0]`` down and ``axes[1]`` across, at fixed indices of all others.

    A vector has no axis down, a scalar neither; they are planes of one row.

    Attributes
    ----------
    shape : tuple of int
    axes : (int or None, int or None)
    index : tuple of int
        One a axis; those of the shown axes are not looked at.
    """

    shape: tuple[int, ...]
    axes: tuple[int | None, int | None]
    index: tuple[int, ...]

    @classmethod
    def of(
        cls, shape: tuple[int, ...], axes: tuple[int | None, int | None], index: list[int]
    ) -> Plane:
        """Check axes and index against the shape.

        Raises
        ------
        ValueError
            Axes that are equal or not there, or an index out of range.
        """
        down, across = axes
        for axis in axes:
            if axis is not None and not 0 <= axis < len(shape):
                raise ValueError(f"axis {axis} of an array with {len(shape)} axes")
        if down is not None and down == across:
            raise ValueError(f"axis {down} cannot be shown down and across")
        if across is None and down is not None:
            raise ValueError("a plane with an axis down needs one across")
        if len(index) != len(shape):
            raise ValueError(f"index must have {len(shape)} items, found {len(index)}")
        for axis, (at, size) in enumerate(zip(index, shape, strict=True)):
            if axis not in axes and at >= size:
                raise ValueError(f"index {at} on axis {axis}, which has {size}")
        return cls(shape, axes, tuple(index))

    @property
    def rows(self) -> int:
        """Length of the axis down."""
        return 1 if self.axes[0] is None else self.shape[self.axes[0]]

    @property
    def cols(self) -> int:
        """Length of the axis across."""
        return 1 if self.axes[1] is None else self.shape[self.axes[1]]

    def selection(self, rows: slice, cols: slice) -> tuple[int | slice, ...]:
        """Return the index of a part of the plane in the array."""
        taken: list[int | slice] = list(self.index)
        for axis, part in zip(self.axes, (rows, cols), strict=True):
            if axis is not None:
                taken[axis] = part
        return tuple(taken)

    def oriented(self, window: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return what was read by :meth:`selection` as rows by columns."""
        down, across = self.axes
        if across is None:
            return window.reshape(1, 1)
        if down is None:
            return window.reshape(1, -1)
        return window.T if down > across else window


@dataclass(frozen=True)
class Picture:
    """A plane in ``rows`` x ``cols`` cells of ``row_step`` x ``col_step`` values.

    Attributes
    ----------
    minimum, maximum, mean : float32[rows * cols]
        Of the finite values of a cell, NaN where it has none.
    flags : uint8[rows * cols]
        Bit 0: the cell holds a NaN, bit 1 a +Inf, bit 2 a -Inf.
    """

    rows: int
    cols: int
    row_step: int
    col_step: int
    minimum: npt.NDArray[np.float32]
    maximum: npt.NDArray[np.float32]
    mean: npt.NDArray[np.float32]
    flags: npt.NDArray[np.uint8]


def picture(window: Window, plane: Plane, rows: int, cols: int) -> Picture:
    """Reduce a plane to at most ``rows`` x ``cols`` cells, looking at every value.

    Parameters
    ----------
    window : callable
        Reads a part of the array, like ``Tensor.window``.
    plane : Plane
    rows, cols : int
    """
    row_step, col_step = -(-plane.rows // rows), -(-plane.cols // cols)
    shown = (-(-plane.rows // row_step), -(-plane.cols // col_step))
    minimum, maximum, mean = (np.empty(shown, np.float32) for _ in range(3))
    flags = np.empty(shown, np.uint8)
    across = max(1, min(shown[1], _BLOCK // (row_step * col_step)))
    down = max(1, _BLOCK // (across * row_step * col_step))
    for top in range(0, shown[0], down):
        for left in range(0, shown[1], across):
            here = np.s_[top : min(top + down, shown[0]), left : min(left + across, shown[1])]
            part = plane.selection(
                slice(top * row_step, min(here[0].stop * row_step, plane.rows)),
                slice(left * col_step, min(here[1].stop * col_step, plane.cols)),
            )
            block = plane.oriented(window(part)).astype(np.float64)
            cells = _reduce(block, row_step, col_step)
            minimum[here], maximum[here], mean[here], flags[here] = cells
    return Picture(
        *shown, row_step, col_step, minimum.ravel(), maximum.ravel(), mean.ravel(), flags.ravel()
    )


def _reduce(
    block: npt.NDArray[np.float64], row_step: int, col_step: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.uint8]]:
    """Minimum, maximum and mean of the finite values of each cell, and its flags."""
    row_starts = np.arange(0, block.shape[0], row_step)
    col_starts = np.arange(0, block.shape[1], col_step)

    def cells(values: npt.NDArray[Any], ufunc: np.ufunc) -> npt.NDArray[Any]:
        if row_step == col_step == 1:
            return values
        return ufunc.reduceat(ufunc.reduceat(values, row_starts, axis=0), col_starts, axis=1)

    finite = np.isfinite(block)
    counts = cells(finite.astype(np.float64), np.add)
    flags = np.zeros(counts.shape, np.uint8)
    if finite.all():
        low = high = total = block
    else:
        low, high = np.where(finite, block, np.inf), np.where(finite, block, -np.inf)
        total = np.where(finite, block, 0.0)
        special = ((NAN, np.isnan(block)), (POS_INF, block == np.inf), (NEG_INF, block == -np.inf))
        for bit, found in special:
            flags |= np.where(cells(found, np.logical_or), np.uint8(bit), np.uint8(0))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean = cells(total, np.add) / counts
        some = counts > 0
        minimum = np.where(some, cells(low, np.minimum), np.nan)
        maximum = np.where(some, cells(high, np.maximum), np.nan)
    return minimum, maximum, mean, flags
