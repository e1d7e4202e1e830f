"""Pictures of a part of a plane, and a cache of their cells."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.pictures.cells import (
    NAN,
    NEG_INF,
    POS_INF,
    Array,
    Cells,
    cell_dtype,
    larger,
    real,
    rounded,
)
from tvmdbg_widgets.model.pictures.stack import CellSpan, Part, Stack, Watch
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.values import ArrayView

#: Share of the quick number of values that counts as cheap.
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
    stack = Stack.of(values, plane, rows, cols, part)
    if not sample:
        return picture_of(stack, stack.cells(watch))
    stack = thinned(stack)
    return picture_of(stack, sampled(stack), exact=False)


def is_cheap(values: ArrayView, plane: Plane) -> bool:
    """Return whether all values of a plane are reduced within about two milliseconds."""
    return is_quick(Stack.of(values, plane, 1, 1), _CHEAP)


def finished(cells: Cells, lengths: Array) -> tuple[Array, ...]:
    """Return minimum, maximum, mean and flags for views."""
    count = lengths if cells.count is None else cells.count
    flags = np.zeros(cells.low.shape, np.uint8) if cells.flags is None else cells.flags
    some = count > 0
    nan, zero = np.float32(np.nan), np.float32(0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        mean: Array = np.where(np.isfinite(cells.total), cells.total / count, np.nan)
        if cells.low.dtype == np.float64:
            mean = np.clip(mean, cells.low, cells.high)
        mean = mean.astype(cells.low.dtype, copy=False)
    low, high, mean = (np.where(some, part, nan) + zero for part in (cells.low, cells.high, mean))
    return low, high, mean, flags


def picture_of(stack: Stack, cells: Cells, *, exact: bool = True) -> Picture:
    """Return the picture with these cells of one plane."""
    arrays, down, across = finished(cells, stack.lengths), stack.lower, stack.higher
    if stack.plane.is_turned:
        down, across = across, down
        arrays = tuple(array.swapaxes(1, 2) for array in arrays)
    return Picture(
        down.start,
        across.start,
        down.cells,
        across.cells,
        down.step,
        across.step,
        exact,
        *(np.ascontiguousarray(array).reshape(-1) for array in arrays),
    )


@dataclass(frozen=True)
class ChannelPictures(Picture):
    """``count`` consecutive pictures of indices of one axis from ``first`` on."""

    axis: int
    first: int
    count: int
    length: int


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
    """Reduce a plane at several indices of another axis, reading each block once."""
    shape = plane.shape
    if not 0 <= axis < len(shape) or axis in plane.axes:
        raise ValueError(f"axis {axis} of shape {shape} cannot tell planes of {plane.axes} apart")
    length = shape[axis]
    if not 0 <= first < length or count < 1:
        raise ValueError(f"{counted(count, 'index')} from {first} of an axis of {length}")
    count = min(count, length - first)
    one = Stack.of(values, plane, rows, cols)
    stack = replace(one, axis=axis, channels=range(first, first + count))
    shown = picture_of(stack, stack.cells(watch))
    return ChannelPictures(**vars(shown), axis=axis, first=first, count=count, length=length)


_Plane: TypeAlias = tuple[Hashable, ...]
_Place: TypeAlias = tuple[_Plane, CellSpan, CellSpan]

#: Share of all bytes for one level.
_SHARE = 8


class Pictures:
    """Makes pictures, and caches their cells; thread-safe."""

    def __init__(self, limit_bytes: int = 256 << 20) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Place, Cells] = OrderedDict()
        self._places: dict[_Plane, list[_Place]] = {}
        self._nbytes = 0

    @property
    def nbytes(self) -> int:
        """Size of the cached cells in bytes."""
        return self._nbytes

    def get(  # noqa: PLR0917
        self,
        key: Hashable,
        values: ArrayView,
        plane: Plane,
        rows: int,
        cols: int,
        part: Part | None = None,
        exact: bool = True,
        watch: Watch | None = None,
    ) -> Picture:
        """Return a picture as :func:`picture` does, at once if its cells are cached."""
        stack = Stack.of(values, plane, rows, cols, part)
        quick = is_quick(stack)
        if not quick:
            stack = Stack.of(values, plane, rows, cols, part, divisible=True)
        index = tuple(0 if i in plane.axes else at for i, at in enumerate(plane.index))
        name: _Plane = (key, plane.shape, frozenset(plane.axes), index)
        cells = self._find(name, stack, same_step=quick)
        if cells is None and not quick and not exact:
            stack = thinned(stack)
            return picture_of(stack, sampled(stack), exact=False)
        if cells is None:
            cells = self._make(name, stack, watch, quick=quick)
        return picture_of(stack, cells)

    def clear(self) -> None:
        """Forget all cells."""
        with self._lock:
            self._kept.clear()
            self._places.clear()
            self._nbytes = 0

    def _find(self, name: _Plane, stack: Stack, *, same_step: bool) -> Cells | None:
        """Return the stack's cells, made of the largest cached ones that can make them."""
        steps = stack.lower.step, stack.higher.step
        with self._lock:
            able = [
                place
                for place in self._places.get(name, ())
                if place[1].can_make(stack.lower)
                and place[2].can_make(stack.higher)
                and (not same_step or (place[1].step, place[2].step) == steps)
            ]
            if not able:
                return None
            best = max(able, key=lambda place: place[1].step * place[2].step)
            self._kept.move_to_end(best)
            cells = self._kept[best]
        return _combined(cells, best, stack)

    def _make(self, name: _Plane, stack: Stack, watch: Watch | None, *, quick: bool) -> Cells:
        """Reduce all values; cache the cells, and smaller ones of a large part."""
        fine = stack
        if not quick:
            lower, higher = finest(stack, self._limit // _SHARE)
            fine = replace(stack, lower=lower, higher=higher)
        cells, place = fine.cells(watch), (name, fine.lower, fine.higher)
        self._keep(place, cells)
        if fine is not stack:
            cells = _combined(cells, place, stack)
            self._keep((name, stack.lower, stack.higher), cells)
        return cells

    def _keep(self, place: _Place, cells: Cells) -> None:
        if cells.nbytes > self._limit // 2:
            return
        with self._lock:
            if place in self._kept:
                return
            self._kept[place] = cells
            self._places.setdefault(place[0], []).append(place)
            self._nbytes += cells.nbytes
            while self._nbytes > self._limit:
                oldest, gone = self._kept.popitem(last=False)
                self._nbytes -= gone.nbytes
                self._places[oldest[0]].remove(oldest)
                if not self._places[oldest[0]]:
                    del self._places[oldest[0]]


#: Least factor between values and cached cells.
_FACTOR = 8


def _combined(cells: Cells, place: _Place, stack: Stack) -> Cells:
    """Return the stack's cells; bounds and flags are exact, sums but for the order of summation."""
    _, lower, higher = place
    rows, cols = _places(lower, stack.lower), _places(higher, stack.higher)
    part = cells.map(lambda array: array[:, rows, cols])
    return larger(part, stack.lower.step // lower.step, stack.higher.step // higher.step)


def finest(stack: Stack, limit: int) -> tuple[CellSpan, CellSpan]:
    """Return the smallest cells that make up the stack's and fit into ``limit`` bytes."""
    axes = [stack.lower, stack.higher]
    # Both bounds, and the sum.
    cell = 2 * cell_dtype(stack.values.numpy_dtype).itemsize + 8
    steps = [_divisors(axis.step) for axis in axes]
    while True:
        spans = [replace(axis, step=own[0]) for axis, own in zip(axes, steps, strict=True)]
        if spans[0].cells * spans[1].cells * cell <= limit:
            return spans[0], spans[1]
        rest = [own for own in steps if len(own) > 1]
        if not rest:
            return stack.lower, stack.higher
        min(rest, key=lambda own: own[0]).pop(0)


def _divisors(step: int) -> list[int]:
    """Return the divisors of a step from the least factor on, ascending."""
    small = [divisor for divisor in range(1, int(step**0.5) + 1) if step % divisor == 0]
    every = sorted({*small, *(step // divisor for divisor in small)})
    return [divisor for divisor in every if divisor >= _FACTOR] or [step]


def _places(level: CellSpan, wanted: CellSpan) -> slice:
    first = (wanted.start - level.start) // level.step
    return slice(first, first + -(-(wanted.stop - wanted.start) // level.step))


#: Bytes that a first picture may read.
_BUDGET = 48 << 20
#: Values that are reduced in a few milliseconds.
_QUICK = 1 << 22
#: Unwanted bytes that cost about as much as another read.
_CALL = 1 << 14


def is_quick(stack: Stack, share: int = 1) -> bool:
    """Return whether reducing all values, or a share, takes a few milliseconds."""
    rows = stack.lower.stop - stack.lower.start
    full = replace(stack, higher=replace(stack.higher, step=1))
    cost = min(rows * _row_cost(full), _spread(full))
    return stack.size * share <= _QUICK and cost * share <= _BUDGET


def thinned(stack: Stack) -> Stack:
    """Return the stack with larger cells, until one value per cell is read quickly."""
    while min(stack.lower.cells * _row_cost(stack), _spread(stack)) > _BUDGET:
        rows, cols = stack.lower.cells, stack.higher.cells
        if rows >= cols or _row_cost(stack) <= _BUDGET >> 6:
            stack = replace(stack, lower=stack.lower.doubled(stack.sizes[0]))
        else:
            stack = replace(stack, higher=stack.higher.doubled(stack.sizes[1]))
    return stack


def sampled(stack: Stack) -> Cells:
    """Read one value per cell, near its middle."""
    block = stack.read(_middles(stack.lower), _middles(stack.higher), range(1))
    values = real(block).reshape(1, stack.lower.cells, stack.higher.cells)
    flags = np.zeros(values.shape, np.uint8)
    finite = np.isfinite(values)
    if not finite.all():
        for bit, mask in (
            (NAN, np.isnan(values)),
            (POS_INF, values == np.inf),
            (NEG_INF, values == -np.inf),
        ):
            flags[mask] = bit
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaN
        low, total = rounded(values), values.astype(np.float64)
    return Cells(low, low, total, finite.astype(np.int64), flags)


def _middles(span: CellSpan) -> slice:
    last = (span.stop - span.start - 1) % span.step
    return slice(span.start + min(span.step // 2, last), span.stop, span.step)


def _row_cost(stack: Stack) -> float:
    """Return bytes to read, or the worth of calls, for one value per cell of a row."""
    spread = stack.strides[1] * stack.values.numpy_dtype.itemsize
    span = (stack.higher.stop - stack.higher.start) * spread
    return float(min(span, stack.higher.cells * _CALL)) + _CALL


def _spread(stack: Stack) -> float:
    """Bytes from the first to the last row."""
    row = stack.strides[0] * stack.values.numpy_dtype.itemsize
    return float((stack.lower.stop - stack.lower.start) * row)
