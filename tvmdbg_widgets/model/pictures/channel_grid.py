"""One picture for each of some indices of an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.pictures.grid import spans
from tvmdbg_widgets.model.pictures.pieces import Watch
from tvmdbg_widgets.model.pictures.single import finished, is_turned
from tvmdbg_widgets.model.pictures.stack import Stack
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.values import ArrayView


@dataclass(frozen=True)
class ChannelPictures:
    """``count`` pictures of ``rows`` x ``cols`` cells of ``row_step`` x ``col_step`` values."""

    axis: int
    first: int
    count: int
    length: int
    rows: int
    cols: int
    row_step: int
    col_step: int
    minimum: npt.NDArray[np.floating]
    maximum: npt.NDArray[np.floating]
    mean: npt.NDArray[np.floating]
    flags: npt.NDArray[np.uint8]


def channels(  # noqa: PLR0917
    values: ArrayView,
    plane: Plane,
    axis: int,
    first: int,
    count: int,
    rows: int,
    cols: int,
    watch: Watch | None = None,
) -> ChannelPictures:
    """Reduce the same plane at several indices of one more axis, reading each block once.

    Each is, to the bit, what :func:`~tvmdbg_widgets.model.pictures.single.picture` gives.
    """
    shape = plane.shape
    if not 0 <= axis < len(shape) or axis in plane.axes:
        raise ValueError(f"axis {axis} of shape {shape} cannot tell planes of {plane.axes} apart")
    length = shape[axis]
    if not 0 <= first < length or count < 1:
        raise ValueError(f"{counted(count, 'index')} from {first} of an axis of {length}")
    count = min(count, length - first)
    down, across = spans(plane, rows, cols, None)
    turned = is_turned(plane)
    lower, higher = (across, down) if turned else (down, across)
    stack = Stack(values, plane, lower, higher, axis, range(first, first + count))
    cells = finished(stack.cells(watch), stack.lengths)
    if turned:
        cells = tuple(each.swapaxes(1, 2) for each in cells)
    return ChannelPictures(
        axis,
        first,
        count,
        length,
        down.cells,
        across.cells,
        down.step,
        across.step,
        *(np.ascontiguousarray(each).reshape(-1) for each in cells),
    )
