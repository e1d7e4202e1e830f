"""Profiles: one axis of an array, all others reduced."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import cast

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.pictures.cells import (
    Array,
    Cells,
    across,
    cell_dtype,
    down,
    real,
    rounded,
)
from tvmdbg_widgets.model.pictures.single import finished
from tvmdbg_widgets.model.pictures.stack import BLOCK, LARGE, Watch, for_each
from tvmdbg_widgets.model.tensors.values import ArrayView


@dataclass(frozen=True)
class Profile:
    """``step`` indices at a time of one axis, over all others."""

    axis: int
    length: int
    step: int
    minimum: npt.NDArray[np.floating]
    maximum: npt.NDArray[np.floating]
    mean: npt.NDArray[np.floating]
    flags: npt.NDArray[np.uint8]


def profile(values: ArrayView, axis: int, points: int, watch: Watch | None = None) -> Profile:
    """Reduce an array to at most ``points`` cells along one axis, in one pass over its values."""
    shape = values.view_shape
    if not 0 <= axis < len(shape) or not prod(shape) or points < 1:
        raise ValueError(
            f"no profile of {counted(points, 'point')} along axis {axis} of shape {shape}"
        )
    length = shape[axis]
    step = -(-length // points)
    cells = _reduced(values, axis, step, watch)
    return Profile(axis, length, step, *finished(cells, cast("Array", cells.count)))


def _reduced(values: ArrayView, axis: int, step: int, watch: Watch | None) -> Cells:
    shape, length = values.view_shape, values.view_shape[axis]
    count = -(-length // step)
    dtype = cell_dtype(values.numpy_dtype)
    reduced = Cells(
        np.full(count, np.inf, dtype),
        np.full(count, -np.inf, dtype),
        np.zeros(count),
        np.zeros(count, np.int64),
        np.zeros(count, np.uint8),
    )
    lock = threading.Lock()

    def work(selection: tuple[int | slice, ...]) -> None:
        block = real(values.window(selection))
        where = selection[axis]
        along = range(where, where + 1) if isinstance(where, int) else range(length)[where]
        behind = prod(
            len(range(size)[part])
            for part, size in zip(selection[axis + 1 :], shape[axis + 1 :], strict=True)
            if isinstance(part, slice)
        )
        rows = block.reshape(-1, len(along) * behind)
        cells = across(down(rows, 0, len(rows)), behind)
        cells = cells.map(lambda array: array.reshape(-1))
        starts = [max(along[0], at) for at in range(along[0] // step * step, along[-1] + 1, step)]
        values_each = np.diff([*starts, along[-1] + 1]) * (block.size // len(along))
        with lock:
            _add(reduced, starts[0] // step, cells, np.array(starts) - along[0], values_each)

    for_each(_blocks(shape), work, watch, prod(shape) >= LARGE)
    return reduced


def _add(reduced: Cells, first: int, cells: Cells, starts: Array, values: Array) -> None:
    """Add the cells of single indices; ``starts`` holds the first index of each point."""
    here = slice(first, first + len(starts))
    low, high = rounded(cells.low), rounded(cells.high)
    reduced.low[here] = np.minimum(reduced.low[here], np.minimum.reduceat(low, starts))
    reduced.high[here] = np.maximum(reduced.high[here], np.maximum.reduceat(high, starts))
    with np.errstate(invalid="ignore", over="ignore"):
        reduced.total[here] += np.add.reduceat(cells.total, starts)
    count, flags = cast("Array", reduced.count), cast("Array", reduced.flags)
    if cells.count is None or cells.flags is None:
        count[here] += values
    else:
        count[here] += np.add.reduceat(cells.count, starts)
        flags[here] |= np.bitwise_or.reduceat(cells.flags, starts)


def _blocks(shape: tuple[int, ...]) -> Iterator[tuple[int | slice, ...]]:
    """Yield selections that cover an array in the order of storage, in small blocks."""
    split = next(axis for axis in range(len(shape)) if prod(shape[axis + 1 :]) <= BLOCK)
    height = max(1, BLOCK // prod(shape[split + 1 :]))
    rest = [slice(0, size) for size in shape[split + 1 :]]
    for index in product(*map(range, shape[:split])):
        for top in range(0, shape[split], height):
            yield (*index, slice(top, min(top + height, shape[split])), *rest)
