"""Values that are stored otherwise than they are read: strided, or as halves of float32."""

from __future__ import annotations

import math
import threading
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from tvmdbg_widgets.sources.byte_source import ByteSource

Whole: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

#: An array is asked how its elements repeat where it takes so many bytes, and so many times those
#: that it lies in; where it lies in too many, they cost as much as the array.
_LARGE = 1 << 16
_OFTEN = 4
_MOST_PLACES = 1 << 22
#: Stretches of one storage that are kept.
_KEPT = 4


class Repeats(NamedTuple):
    """The different elements of an array, in the order in which C order first comes to each."""

    places: Whole
    first: Whole
    often: Whole


class StridedSource(ByteSource):
    """The bytes of a strided array in C order, made as they are read.

    Kept is the stretch of the storage that the array lies in, however many arrays share it.
    """

    def __init__(
        self,
        stored: ByteSource,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        itemsize: int,
    ) -> None:
        self.stored = stored
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.itemsize = itemsize
        self.size = math.prod(shape) * itemsize
        self.name = stored.name
        self.far = stored.far

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.stored.trouble()

    @cached_property
    def repeats(self) -> Repeats | None:
        """How elements repeat; None where reading them all costs no more than their bytes."""
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

    def elements(self, places: Whole) -> bytes:
        """Read single elements, so many elements behind the array's first each."""
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
            found = kept.pop(where, None)
            if found is None:
                found = self.stored.read(*where)
            kept[where] = found
            while len(kept) > _KEPT:
                del kept[next(iter(kept))]
        return found


#: By storage, the stretches read last, by offset and length.
_STRETCHES: WeakKeyDictionary[ByteSource, dict[tuple[int, int], bytes]] = WeakKeyDictionary()
_LOCK = threading.Lock()


def byte_steps(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> list[int]:
    """Return strides in bytes; 0 where nothing is stepped over, whatever a file says there."""
    if 0 in shape:
        return [0] * len(shape)
    return [step * itemsize if n > 1 else 0 for n, step in zip(shape, strides, strict=True)]


def _copy(array: np.ndarray[Any, Any], begin: int, out: np.ndarray[Any, Any]) -> None:
    """Copy as many elements of an array as ``out`` has, from one in C order on."""
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
    head, whole = first * row - begin, (last - first) * row
    if head:
        _copy(array[first - 1], row - head, out[:head])
    out[head : head + whole].reshape(last - first, *array.shape[1:])[...] = array[first:last]
    if head + whole < len(out):
        _copy(array[last], 0, out[head + whole :])


def _along(often: Whole, first: Whole, size: int, stride: int, behind: int) -> tuple[Whole, Whole]:
    """Add an axis before those whose places are counted: how often each place is reached now.

    Places lie in rows as long as the stride, so that the axis leads from one row to the next.
    A place is first reached by the least step along the axis that leads there.
    """
    places = len(often) + (size - 1) * stride
    rows = -(-places // stride)
    before = np.zeros((2, rows * stride), np.int64)
    before[0, : len(often)], before[1, : len(often)] = often, first
    counts, firsts = before.reshape(2, rows, stride)
    sums = np.cumsum(counts, axis=0)
    found = sums.copy()
    found[size:] -= sums[:-size]
    row = np.arange(rows)[:, None]
    last = np.maximum.accumulate(np.where(counts > 0, row, -1), axis=0)
    earliest = np.take_along_axis(firsts, np.maximum(last, 0), axis=0) + (row - last) * behind
    return found.reshape(-1)[:places], earliest.reshape(-1)[:places]


_BLOCK = 1 << 18


class WidenedSource(ByteSource):
    """The float32 bytes of values stored as bfloat16, made as they are read.

    ``f32-to-bf16`` stores the upper 16 bits of each float32; the value is ``u16 << 16``
    (src/runtime/relax_vm/ndarray_cache_support.cc @ v0.16.0).
    """

    def __init__(self, stored: ByteSource, offset: int, count: int) -> None:
        self.stored = stored
        self.offset = offset
        self.size = 4 * count
        self.name = stored.name
        self.far = stored.far

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.stored.trouble()

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
