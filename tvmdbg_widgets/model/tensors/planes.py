"""Two axes of an N-D array as a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    import numpy as np

#: Longest side of a convolution's window.
_TINY = 7


@dataclass(frozen=True)
class Plane:
    """Axis ``axes[0]`` down and ``axes[1]`` across, at fixed indices of all others.

    A vector has no axis down, a scalar neither; they are planes of one row.
    """

    shape: tuple[int, ...]
    axes: tuple[int | None, int | None]
    index: tuple[int, ...]

    @classmethod
    def of(
        cls, shape: tuple[int, ...], axes: tuple[int | None, int | None], index: list[int]
    ) -> Plane:
        """Check axes and index against the shape."""
        down, across = axes
        for axis in axes:
            if axis is not None and not 0 <= axis < len(shape):
                raise ValueError(f"axis {axis} of an array with {counted(len(shape), 'axis')}")
        if down is not None and down == across:
            raise ValueError(f"axis {down} cannot be shown down and across")
        if across is None and down is not None:
            raise ValueError("a plane with an axis down needs one across")
        if len(index) != len(shape):
            raise ValueError(f"index must have {counted(len(shape), 'item')}, found {len(index)}")
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


def axis_along(
    shape: Sequence[int],
    names: Sequence[str] = (),
    shown: Sequence[int | None] = (),
    wanted: int | None = None,
) -> int | None:
    """Return the axis gone along by a profile, or by channels beside the axes of their pictures.

    The one that is wanted; else the channels: the axis named C or, where none is, the second of
    three axes and more; else the longest. ``js/src/tensor/plane.ts`` has the same.
    """
    free = [axis for axis in range(len(shape)) if axis not in shown]
    usable = [axis for axis in free if shape[axis] > 1] or ([] if shown else free)
    if wanted in (usable if shown else free):
        return wanted
    usual = list(names).index("C") if "C" in names else 1
    if usual in usable and ("C" in names or len(shape) > 2):
        return usual
    return max(usable, key=lambda axis: shape[axis], default=None)


def default_axes(shape: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the axes that views open with, as ``js/src/tensor/plane.ts`` has them.

    The last two, unless they are a convolution's window or hold a single line while other axes
    are longer; then the two longest.
    """
    if len(shape) < 2:
        return None, 0 if shape else None
    down, across = len(shape) - 2, len(shape) - 1
    rows, cols = shape[down], shape[across]
    if rows > 0 and cols > 0 and (max(rows, cols) <= _TINY or min(rows, cols) == 1):
        longest = sorted(range(len(shape)), key=lambda axis: (-shape[axis], axis))
        down, across = sorted(longest[:2])
    return (across, down) if shape[across] == 1 and shape[down] > 1 else (down, across)
