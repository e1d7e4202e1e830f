"""Planes of an array, one or several side by side, read and reduced block by block."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.pictures.cells import (
    RUN,
    Array,
    Cells,
    across,
    cell_dtype,
    down,
    real,
    rounded,
)
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded

#: Values reduced at a time; they and their sums fit into a core's cache.
BLOCK = 1 << 19
#: Values from the first to the last of a sparse block.
_SPREAD = 1 << 22
#: Rows or columns of a block that may need a read of their own each.
_CALLS = 512
#: Values from which on threads are worth their start.
LARGE = 1 << 22


@dataclass(frozen=True)
class Stack:
    """The parts of planes for one picture, or for one per channel."""

    values: ArrayView
    plane: Plane
    lower: CellSpan
    higher: CellSpan
    axis: int | None = None
    channels: range = range(1)

    @classmethod
    def of(
        cls,
        values: ArrayView,
        plane: Plane,
        rows: int,
        cols: int,
        part: Part | None = None,
        *,
        divisible: bool = False,
    ) -> Stack:
        """Return the stack of a picture of at most ``rows`` x ``cols`` cells."""
        row, col, height, width = part or (0, 0, plane.rows, plane.cols)
        down = CellSpan.of(row, height, plane.rows, rows, divisible=divisible)
        across = CellSpan.of(col, width, plane.cols, cols, divisible=divisible)
        return cls(values, plane, *((across, down) if plane.is_turned else (down, across)))

    @property
    def size(self) -> int:
        """Number of values in the cells."""
        plane = (self.lower.stop - self.lower.start) * (self.higher.stop - self.higher.start)
        return len(self.channels) * plane

    def cells(self, watch: Watch | None) -> Cells:
        """Reduce all values."""
        shape = (len(self.channels), self.lower.cells, self.higher.cells)
        dtype = cell_dtype(self.values.numpy_dtype)
        reduced = Cells(np.empty(shape, dtype), np.empty(shape, dtype), np.empty(shape))
        lock = threading.Lock()

        def work(piece: tuple[range, range, range]) -> None:
            channels, rows, cols = piece
            lower = self.lower.piece(rows[0], rows[-1] + 1)
            higher = self.higher.piece(cols[0], cols[-1] + 1)
            if higher.step > RUN:
                cells = self._wide(channels, lower, higher)
            else:
                columns = self._columns(channels, lower, higher.start, higher.stop)
                cells = across(columns, higher.step)
            here = tuple(slice(indices[0], indices[-1] + 1) for indices in piece)
            reduced.low[here], reduced.high[here] = rounded(cells.low), rounded(cells.high)
            reduced.total[here] = cells.total
            if cells.count is None or cells.flags is None:
                return
            with lock:
                if reduced.count is None or reduced.flags is None:
                    reduced.count = np.broadcast_to(self.lengths, shape).copy()
                    reduced.flags = np.zeros(shape, np.uint8)
            reduced.count[here], reduced.flags[here] = cells.count, cells.flags

        for_each(self._pieces(), work, watch, self.size >= LARGE)
        return reduced

    @property
    def lengths(self) -> Array:
        """Number of values by cell of a plane, int64."""
        counts: Array = np.multiply.outer(self.lower.lengths, self.higher.lengths)
        return counts

    def _pieces(self) -> Iterator[tuple[range, range, range]]:
        """Yield pieces: channels, cells along the lower and along the higher axis."""
        group, down_, across_ = self._sizes()
        every = range(0, len(self.channels), group)
        for first in every:
            channels = range(first, min(first + group, len(self.channels)))
            for top in range(0, self.lower.cells, down_):
                rows = range(top, min(top + down_, self.lower.cells))
                for left in range(0, self.higher.cells, across_):
                    yield channels, rows, range(left, min(left + across_, self.higher.cells))

    def _sizes(self) -> tuple[int, int, int]:
        """Return channels, cells along the lower and cells along the higher axis of a piece."""
        height, width = (span.stop - span.start for span in (self.lower, self.higher))
        least = min(self.higher.step, RUN, width)
        group = min(len(self.channels), max(1, _SPREAD // least))
        if self.axis is not None and self.axis < min(self._axes, default=0):
            group = max(1, min(group, BLOCK // (height * width)))
        wide = self._width(group)
        cols = 1 if self.higher.step > RUN else max(1, wide // self.higher.step)
        rows = self._height(group, min(wide, cols * self.higher.step)) // self.lower.step
        return group, max(1, rows), cols

    @property
    def _axes(self) -> list[int]:
        """Axes of the plane, the lower one first."""
        return sorted(axis for axis in self.plane.axes if axis is not None)

    @property
    def sizes(self) -> tuple[int, int]:
        """Lengths of the lower and of the higher axis; 1 where there is none."""
        lower, higher = ([1, 1, *(self.plane.shape[axis] for axis in self._axes)])[-2:]
        return lower, higher

    @cached_property
    def strides(self) -> tuple[float, float]:
        """Values stored between two indices of the lower and of the higher axis, on average."""
        lower, higher = ([1.0, 1.0, *map(self._stride, self._axes)])[-2:]
        return lower, higher

    def _stride(self, axis: int) -> float:
        values, length = self.values, self.plane.shape[axis]
        if not isinstance(values, Unfolded) or length < 2:
            return prod(self.plane.shape[axis + 1 :])
        first, last = [0] * len(self.plane.shape), [0] * len(self.plane.shape)
        last[axis] = length - 1
        shape = values.values.view_shape
        ends = [np.ravel_multi_index(values.physical(index), shape) for index in (first, last)]
        return max(1.0, float(ends[1] - ends[0]) / (length - 1))

    def _width(self, channels: int) -> int:
        """Values of the higher axis in one block."""
        spread = int(_SPREAD / self.strides[1])
        return max(1, min(BLOCK // channels, max(_CALLS, spread)))

    def _height(self, channels: int, width: int) -> int:
        """Values of the lower axis in one block."""
        spread = int(_SPREAD / self.strides[0])
        taken = min(width, self.higher.stop - self.higher.start)
        return max(1, min(BLOCK // (channels * taken), max(_CALLS, spread)))

    def _wide(self, channels: range, lower: CellSpan, cell: CellSpan) -> Cells:
        """Reduce one column of cells wider than a run."""
        width = max(RUN, self._width(len(channels)) // RUN * RUN)
        rows = np.multiply.outer(lower.lengths, np.ones(1, np.int64))
        total: Cells | None = None
        behind = 0
        for left in range(cell.start, cell.stop, width):
            right = min(left + width, cell.stop)
            runs = across(self._columns(channels, lower, left, right), RUN)
            for at in range(left, right, RUN):
                run = runs.part((at - left) // RUN)
                taken = min(RUN, right - at)
                if total is not None:
                    run = total.added(run, rows * behind, rows * taken)
                total, behind = run, behind + taken
        return cast("Cells", total)

    def _columns(self, channels: range, lower: CellSpan, left: int, right: int) -> Cells:
        """Reduce along the lower axis alone."""
        height = self._height(len(channels), right - left)
        if lower.cells > 1 or lower.stop - lower.start <= height:
            block = self._read(channels, lower.start, lower.stop, left, right)
            return down(block, 1, lower.step).map(_channels_first)
        reduced = down(
            self._read(channels, lower.start, lower.start + height, left, right), 1, height
        )
        for top in range(lower.start + height, lower.stop, height):
            bottom = min(top + height, lower.stop)
            block = self._read(channels, top, bottom, left, right)
            more = down(block, 1, bottom - top, reduced.total)
            reduced = reduced.added(more, top - lower.start, bottom - top, sums=False)
        return reduced.map(_channels_first)

    def _read(self, channels: range, top: int, bottom: int, left: int, right: int) -> Array:
        """Read a block as ``[channel, lower, channel, higher, channel]``, one channel axis long."""
        block = self.read(slice(top, bottom), slice(left, right), channels)
        shape = [1, bottom - top, 1, right - left, 1]
        if self.axis is not None:
            before = sum(axis < self.axis for axis in self._axes) + 2 - len(self._axes)
            shape[2 * before] = len(channels)
        return real(block).reshape(shape)

    def read(self, lower: slice, higher: slice, channels: range) -> Array:
        """Read a window of the plane, or of some of the channels, with the axes as stored."""
        index = list[int | slice](self.plane.index)
        parts = [lower, higher][2 - len(self._axes) :]
        for axis, part in zip(self._axes, parts, strict=True):
            index[axis] = part
        if self.axis is not None:
            first = self.channels[channels[0]]
            index[self.axis] = slice(first, first + len(channels))
        return self.values.window(tuple(index))


def _channels_first(block: Array) -> Array:
    moved = block.transpose(0, 2, 4, 1, 3)
    return np.ascontiguousarray(moved).reshape(prod(moved.shape[:3]), *moved.shape[3:])


#: Row, column, rows and columns of a part of a plane, in values.
Part: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True)
class CellSpan:
    """Cells of ``step`` values along one axis; they begin at multiples of the step."""

    start: int
    stop: int
    step: int

    @classmethod
    def of(
        cls, start: int, length: int, size: int, most: int, *, divisible: bool = False
    ) -> CellSpan:
        """Cover ``length`` values from ``start`` with the least step that takes ``most`` cells."""
        if most < 1:
            raise ValueError(f"a picture has at least one cell down and across, not {most}")
        if start < 0 or length < 1 or start + length > size:
            raise ValueError(f"{counted(length, 'value')} from {start} of an axis of {size}")
        step = -(-length // most)
        unit = 1
        while divisible and step > 16 * unit:
            unit *= 8
        step = -(-step // unit) * unit
        while -(-(start + length) // step) - start // step > most:
            # No step below this one is enough, as larger steps never begin at a later cell.
            least = -(-(start + length) // (start // step + most))
            step = max(step + unit, -(-least // unit) * unit)
        return cls(start, start + length, step).aligned(size)

    def aligned(self, size: int) -> CellSpan:
        """Return the complete cells that hold the values."""
        step = self.step
        stop = min(size, -(-self.stop // step) * step)
        return CellSpan(self.start // step * step, stop, step)

    def doubled(self, size: int) -> CellSpan:
        """Return cells of twice as many values."""
        return CellSpan(self.start, self.stop, self.step * 2).aligned(size)

    @property
    def cells(self) -> int:
        """Number of cells."""
        return -(-(self.stop - self.start) // self.step)

    def can_make(self, other: CellSpan) -> bool:
        """Return whether the other's cells are made of complete cells of this."""
        inside = self.start <= other.start and other.stop <= self.stop
        return inside and other.step % self.step == 0

    @property
    def lengths(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Number of values by cell."""
        edges = np.arange(self.start, self.stop + self.step, self.step, dtype=np.int64)
        return np.diff(np.minimum(edges, self.stop))

    def piece(self, first: int, last: int) -> CellSpan:
        """Return the cells ``first`` to ``last``."""
        start = self.start + first * self.step
        return CellSpan(start, min(self.start + last * self.step, self.stop), self.step)


_Piece = TypeVar("_Piece")

Watch = Callable[[], None]

_THREADS = min(4, os.cpu_count() or 1)


class _PieceQueue(Generic[_Piece]):
    """Pieces handed out one by one until the work is done or stopped."""

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        self._pieces = iter(pieces)
        self._lock = threading.Lock()
        self.stop = threading.Event()
        self.failed: list[BaseException] = []

    def __iter__(self) -> Iterator[_Piece]:
        while not self.stop.is_set():
            with self._lock:
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece

    def help_out(self, work: Callable[[_Piece], None]) -> None:
        """Work on pieces in another thread."""
        try:
            for piece in self:
                work(piece)
        except BaseException as error:  # noqa: BLE001 (raised again by the calling thread)
            self.failed.append(error)
            self.stop.set()


def for_each(
    pieces: Iterable[_Piece], work: Callable[[_Piece], None], watch: Watch | None, large: bool
) -> None:
    """Call ``work`` with every piece, and ``watch`` before those of the calling thread."""
    queue = _PieceQueue(pieces)
    count = _THREADS - 1 if large else 0
    threads = [
        threading.Thread(target=queue.help_out, args=(work,), daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        for piece in queue:
            if watch is not None:
                watch()
            work(piece)
    except BaseException:
        queue.stop.set()
        raise
    finally:
        for thread in threads:
            thread.join()
    if queue.failed:
        raise queue.failed[0]
