"""Values that are converted as they are read: strided, or bfloat16 as float32."""

from __future__ import annotations

import math
import threading
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from tvmdbg_widgets.sources.byte_source import ByteSource, DerivedSource

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

#: Size from which on repeats of an array's elements are used, and how often its bytes must repeat;
#: in too many stored bytes, they cost as much as the array.
_LARGE = 1 << 16
_OFTEN = 4
_MOST_PLACES = 1 << 22
_KEPT = 4


class Repeats(NamedTuple):
    """The distinct elements of an array by first use in C order, and their counts."""

    places: Integers
    first: Integers
    often: Integers


class StridedSource(DerivedSource):
    """The bytes of a strided array in C order; the stored stretch is shared by arrays."""

    def __init__(
        self,
        stored: ByteSource,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        itemsize: int,
    ) -> None:
        super().__init__(stored, math.prod(shape) * itemsize)
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.itemsize = itemsize

    @cached_property
    def repeats(self) -> Repeats | None:
        """Return how elements repeat; None if reading them all is as fast."""
        span = self._span
        if self.size < max(_LARGE, _OFTEN * span * self.itemsize) or span > _MOST_PLACES:
            return None
        often, first = np.ones(1, np.int64), np.zeros(1, np.int64)
        behind = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if stride == 0:
                often = often * size
            elif size > 1:
                often, first = _along(often, first, size, stride, behind)
            behind *= size
        places = np.flatnonzero(often)
        places = places[np.argsort(first[places])]
        return Repeats(places, first[places], often[places])

    def elements(self, places: Integers) -> bytes:
        """Read elements at distances from the first."""
        return np.frombuffer(self._stretch(), f"V{self.itemsize}")[places].tobytes()

    @property
    def _span(self) -> int:
        """Elements of the storage from the array's first to its last."""
        if 0 in self.shape:
            return 0
        return 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))

    def _fill(self, offset: int, view: memoryview) -> None:
        begin = offset // self.itemsize
        end = -(-(offset + len(view)) // self.itemsize)
        kind = np.dtype(f"V{self.itemsize}")
        steps = byte_steps(self.shape, self.strides, self.itemsize)
        wanted = np.empty(end - begin, kind)
        _copy(np.ndarray(self.shape, kind, self._stretch(), strides=steps), begin, wanted)
        skipped = offset - begin * self.itemsize
        view[:] = wanted.view(np.uint8)[skipped : skipped + len(view)].data

    def _stretch(self) -> bytes:
        where = self.offset, self._span * self.itemsize
        with _LOCK:
            kept = _STRETCHES.setdefault(self.stored, {})
            stretch = kept.pop(where, None)
            if stretch is None:
                stretch = self.stored.read(*where)
            kept[where] = stretch
            while len(kept) > _KEPT:
                del kept[next(iter(kept))]
        return stretch


_STRETCHES: WeakKeyDictionary[ByteSource, dict[tuple[int, int], bytes]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def byte_steps(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> list[int]:
    """Return strides in bytes; 0 for axes of one element."""
    if 0 in shape:
        return [0] * len(shape)
    return [step * itemsize if n > 1 else 0 for n, step in zip(shape, strides, strict=True)]


def _copy(array: np.ndarray[Any, Any], begin: int, out: np.ndarray[Any, Any]) -> None:
    """Fill ``out`` with elements of an array from one in C order on."""
    if array.ndim == 0:
        out[:] = array
        return
    if array.ndim == 1:
        out[:] = array[begin : begin + len(out)]
        return
    row = math.prod(array.shape[1:])
    end = begin + len(out)
    first, last = -(-begin // row), end // row
    if first > last:
        _copy(array[last], begin - last * row, out)
        return
    head, middle = first * row - begin, (last - first) * row
    if head:
        _copy(array[first - 1], row - head, out[:head])
    out[head : head + middle].reshape(last - first, *array.shape[1:])[...] = array[first:last]
    if head + middle < len(out):
        _copy(array[last], 0, out[head + middle :])


def _along(
    often: Integers, first: Integers, size: int, stride: int, behind: int
) -> tuple[Integers, Integers]:
    """Add an axis to the counted places, in rows as long as its stride, and their first uses."""
    places = len(often) + (size - 1) * stride
    rows = -(-places // stride)
    before = np.zeros((2, rows * stride), np.int64)
    before[0, : len(often)], before[1, : len(often)] = often, first
    counts, firsts = before.reshape(2, rows, stride)
    sums = np.cumsum(counts, axis=0)
    counted_ = sums.copy()
    counted_[size:] -= sums[:-size]
    row = np.arange(rows)[:, None]
    last = np.maximum.accumulate(np.where(counts > 0, row, -1), axis=0)
    earliest = np.take_along_axis(firsts, np.maximum(last, 0), axis=0) + (row - last) * behind
    return counted_.reshape(-1)[:places], earliest.reshape(-1)[:places]


_BLOCK = 1 << 18


class WidenedSource(DerivedSource):
    """The float32 bytes of values stored as bfloat16 (``f32-to-bf16``): ``u16 << 16``."""

    def __init__(self, stored: ByteSource, offset: int, count: int) -> None:
        super().__init__(stored, 4 * count)
        self.offset = offset

    def _fill(self, offset: int, view: memoryview) -> None:
        done = 0
        while done < len(view):
            at = offset + done
            first = at // 4
            length = min(len(view) - done, _BLOCK)
            halves = np.empty(-(-(at + length) // 4) - first, "<u2")
            self.stored.read_into(self.offset + 2 * first, halves.data)
            wide = (halves.astype("<u4") << np.uint32(16)).view(np.uint8)
            view[done : done + length] = wide[at - 4 * first :][:length].data
            done += length
