"""Two axes of an N-D array as a plane."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.dtypes import INT, UINT, DataType
from tvmdbg_widgets.model.tensors.values import Selection, read_window
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource
from tvmdbg_widgets.sources.strided import Repeats, StridedSource

#: Longest side of a convolution's window.
_TINY = 7


@dataclass(frozen=True)
class Plane:
    """Axis ``axes[0]`` down and ``axes[1]`` across, at fixed indices of all others."""

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

    @property
    def is_turned(self) -> bool:
        """Whether the axis down comes after the one across in the array."""
        down, across = self.axes
        return down is not None and across is not None and down > across

    def selection(self, rows: slice, cols: slice) -> tuple[int | slice, ...]:
        """Return the index of a part of the plane in the array."""
        taken: list[int | slice] = list(self.index)
        for axis, part in zip(self.axes, (rows, cols), strict=True):
            if axis is not None:
                taken[axis] = part
        return tuple(taken)

    def oriented(self, window: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return an array read by :meth:`selection` as rows by columns."""
        down, across = self.axes
        if across is None:
            return window.reshape(1, 1)
        if down is None:
            return window.reshape(1, -1)
        return window.T if self.is_turned else window


def axes_along(shape: Sequence[int], names: Sequence[str] = ()) -> list[int]:
    """Return the axes for a profile, best first: C, without names the second, then by length."""
    usual = names.index("C") if "C" in names else 1 if len(shape) > 2 else -1
    return sorted(
        range(len(shape)), key=lambda axis: (shape[axis] < 2, axis != usual, -shape[axis])
    )


def default_axes(shape: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the initial axes of views: the last two or longest (``js/src/tensor/plane.ts``)."""
    if len(shape) < 2:
        return None, 0 if shape else None
    down, across = len(shape) - 2, len(shape) - 1
    rows, cols = shape[down], shape[across]
    if rows > 0 and cols > 0 and (max(rows, cols) <= _TINY or min(rows, cols) == 1):
        longest = sorted(range(len(shape)), key=lambda axis: (-shape[axis], axis))
        down, across = sorted(longest[:2])
    return (across, down) if shape[across] == 1 and shape[down] > 1 else (down, across)


_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class ArrayValues:
    """The scalars of one stored array under one reading."""

    source: ByteSource
    offset: int
    nbytes: int
    dtype: DataType
    shape: tuple[int, ...]
    reading: Reading

    @property
    def is_raw(self) -> bool:
        """Whether no numpy type fits, so that scalars are bytes (``uint8``)."""
        return self.dtype.numpy_dtype is None

    @property
    def is_packed(self) -> bool:
        """Whether several scalars share a byte."""
        return self.reading == "packed" and self.dtype.bits < 8 and not self.is_raw

    @property
    def is_ordered(self) -> bool:
        """Whether scalars are neither complex nor raw."""
        return not self.is_raw and self.numpy_dtype.kind != "c"

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays returned."""
        if self.dtype.is_bool and self.is_packed:
            return np.dtype(getattr(ml_dtypes, "uint1", np.uint8))
        stored = self.dtype.numpy_dtype or np.dtype(np.uint8)
        if stored.kind == "c" and self.reading in COMPLEX_PARTS:
            return np.dtype(f"<f{stored.itemsize // 2}")
        return stored

    @property
    def codes(self) -> ArrayValues:
        """The same scalars with their stored bits: bools as bytes, complex numbers as such."""
        if self.dtype.is_bool and not self.is_packed:
            return replace(self, dtype=DataType(UINT, 8, self.dtype.lanes))
        if self.reading in COMPLEX_PARTS:
            return replace(self, reading="complex")
        return self

    @property
    def count(self) -> int:
        """Scalars the bytes hold; fewer than declared where the writer left some out."""
        if self.is_raw:
            return self.nbytes
        declared = math.prod(self.shape) * abs(self.dtype.lanes)
        stored = self.nbytes // self.dtype.itemsize
        if self.is_packed:
            stored = self.nbytes * 8 // self.dtype.bits
        return min(declared, stored)

    @property
    def view_shape(self) -> tuple[int, ...]:
        """Shape of the arrays returned.

        The declared shape, with a last axis for the lanes of a vector, and one for the bytes of
        a raw element; ``(count,)`` where the bytes do not fill that.
        """
        shape = self.shape
        if self.dtype.lanes > 1:
            shape = (*shape, self.dtype.lanes)
        if self.is_raw:
            shape = (*shape, self.dtype.itemsize)
        if self.dtype.lanes >= 1 and math.prod(shape) == self.count:
            return shape
        return (self.count,)

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Names of the axes of ``view_shape`` for a vector type, whose last axis is its lanes.

        Empty for all other types. Missing lanes leave one axis of stored lane values.
        """
        if self.dtype.lanes <= 1:
            return ()
        if len(self.view_shape) <= len(self.shape) or self.is_missing_lanes:
            return ("stored lane value",)
        names = [f"axis {axis}" for axis in range(len(self.shape))] + ["lane"]
        return (*names, "byte") if self.is_raw else tuple(names)

    @property
    def is_missing_lanes(self) -> bool:
        """Whether the bytes hold fewer lane values than a vector type declares."""
        values = self.count // (self.dtype.itemsize if self.is_raw else 1)
        return self.dtype.lanes > 1 and values < math.prod(self.shape) * self.dtype.lanes

    def values(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        """Read the scalars ``start`` to ``stop`` (of ``count``, in C order) as a new 1-D array."""
        if not 0 <= start <= stop <= self.count:
            raise IndexError(f"range {start} to {stop} of {counted(self.count, 'scalar')}")
        if self.is_packed:
            return self._unpack(start, stop)
        stored = self.dtype.numpy_dtype or np.dtype(np.uint8)
        data = self._bytes(start * stored.itemsize, (stop - start) * stored.itemsize)
        if self.dtype.is_bool:
            truth: np.ndarray[Any, Any] = data != 0
            return truth
        if self.dtype.bits < 8 and not self.is_raw:
            return self._small(data & np.uint8((1 << self.dtype.bits) - 1))
        scalars: np.ndarray[Any, Any] = data.view(stored)
        part = COMPLEX_PARTS.get(self.reading) if stored.kind == "c" else None
        if part is None:
            return scalars
        with np.errstate(over="ignore", invalid="ignore"):  # infinities and NaN tell of it
            return np.ascontiguousarray(part(scalars))

    def window(self, selection: Selection) -> np.ndarray[Any, Any]:
        """Read ``numpy()[selection]`` with few extra bytes."""
        return read_window(self, selection)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Read all scalars as a new array of ``view_shape``."""
        count = self.count
        if self.numpy_dtype == self.dtype.numpy_dtype and not self.is_packed:
            return self.values(0, count).reshape(self.view_shape)
        array = np.empty(count, self.numpy_dtype)
        for start in range(0, count, _BLOCK):
            stop = min(start + _BLOCK, count)
            array[start:stop] = self.values(start, stop)
        return array.reshape(self.view_shape)

    def chunks(self, nbytes: int = 1 << 19) -> Iterator[np.ndarray[Any, Any]]:
        """Yield all scalars in order as 1-D arrays of at most ``nbytes`` bytes (or one scalar)."""
        step = max(1, nbytes // self.numpy_dtype.itemsize)
        count = self.count
        for start in range(0, count, step):
            yield self.values(start, min(start + step, count))

    @property
    def repeats(self) -> Repeats | None:
        """Repeated scalars; None if reading all is as fast."""
        source = self.source
        if not isinstance(source, StridedSource) or source.itemsize != self.dtype.itemsize:
            return None
        if self.offset or self.is_raw or self.is_packed or self.dtype.lanes != 1:
            return None
        return source.repeats

    def distinct(self) -> Iterator[tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """Yield scalars that stand for the array, if it :attr:`repeats` them."""
        source, repeats = self.source, self.repeats
        assert isinstance(source, StridedSource)  # noqa: S101 (of others nothing is known)
        assert repeats is not None  # noqa: S101
        data, size = source.elements(repeats.places), len(repeats.places)
        own = replace(self, source=BytesSource(data), nbytes=len(data), shape=(size,))
        scalars = own.values(0, size)
        common = int(np.gcd.reduce(repeats.often))
        often = repeats.often // common
        for bit in range(int(often.max()).bit_length()):
            some = (often >> bit & 1).astype(np.bool_)
            yield common << bit, scalars[some], repeats.first[some]

    def alike(self, stored: Sequence[bytes]) -> np.ndarray[Any, Any]:
        """Decode arrays of this type, reading and size, in rows of ``count``."""
        group_bytes, per_group = self._group
        groups = -(-self.count // per_group)
        rows = np.frombuffer(b"".join(stored), np.uint8).reshape(len(stored), self.nbytes)
        used = np.zeros((len(stored), groups * group_bytes), np.uint8)
        width = min(self.nbytes, groups * group_bytes)
        used[:, :width] = rows[:, :width]
        total = len(stored) * groups * per_group
        together = replace(
            self, source=BytesSource(used.tobytes()), offset=0, nbytes=used.size, shape=(total,)
        )
        scalars = together.values(0, total).reshape(len(stored), groups * per_group)
        return np.ascontiguousarray(scalars[:, : self.count])

    def _bytes(self, start: int, length: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        data = np.empty(length, np.uint8)
        if length:
            self.source.read_into(self.offset + start, data.data)
        return data

    @property
    def _group(self) -> tuple[int, int]:
        """Least number of bytes with complete scalars, and the number of these."""
        if not self.is_packed:
            return (self.dtype.numpy_dtype or np.dtype(np.uint8)).itemsize, 1
        nbytes = math.lcm(self.dtype.bits, 8) // 8
        return nbytes, nbytes * 8 // self.dtype.bits

    def _unpack(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        bits = self.dtype.bits
        group_bytes, per_group = self._group
        first_group, last_group = start // per_group, -(-stop // per_group)
        begin = first_group * group_bytes
        end = min(last_group * group_bytes, self.nbytes)
        groups = np.zeros((last_group - first_group, group_bytes), np.uint8)
        groups.reshape(-1)[: end - begin] = self._bytes(begin, end - begin)
        wide = np.dtype(np.uint32 if group_bytes <= 4 else np.uint64)
        word = groups[:, 0].astype(wide)
        for index in range(1, group_bytes):
            word |= groups[:, index].astype(wide) << wide.type(8 * index)
        out = np.empty((len(groups), per_group), np.uint8)
        for index in range(per_group):
            out[:, index] = (word >> wide.type(bits * index)) & wide.type((1 << bits) - 1)
        skipped = start - first_group * per_group
        return self._small(out.reshape(-1)[skipped : skipped + stop - start])

    def _small(self, low_bits: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, Any]:
        dtype = self.numpy_dtype
        if dtype == np.int8 and self.dtype.code == INT:
            sign = np.int8(1 << (self.dtype.bits - 1))
            return (low_bits.view(np.int8) ^ sign) - sign
        scalars: np.ndarray[Any, Any] = low_bits.view(dtype)
        return scalars


#: One of those below, or ``"as <dtype>"`` for a meaning of an ambiguous type code.
Reading: TypeAlias = str

#: Elements of fewer than 8 bits: several a byte (low bits first), or one.
READINGS: tuple[Reading, ...] = ("packed", "bytes")
COMPLEX_READINGS: tuple[Reading, ...] = ("magnitude", "phase", "real", "imag", "complex")
#: Start of readings that choose a meaning of an ambiguous type code.
AS = "as "

#: numpy's own functions, so that readings equal their results.
COMPLEX_PARTS: dict[Reading, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "magnitude": np.abs,
    "phase": np.angle,
    "real": np.real,
    "imag": np.imag,
}


def is_complex(dtype: DataType) -> bool:
    """Whether scalars of the type are complex numbers of numpy."""
    return dtype.numpy_dtype is not None and dtype.numpy_dtype.kind == "c"


def default_reading(dtype: DataType) -> Reading:
    """Return how ``numpy()`` reads a type: packed, but bool one a byte, and complex as such."""
    if is_complex(dtype):
        return "complex"
    return "packed" if dtype.is_packed else "bytes"


def readings(dtype: DataType, alternatives: tuple[DataType, ...] = ()) -> tuple[Reading, ...]:
    """Return the readings that views offer, default first; empty if there is only one."""
    if alternatives:
        return tuple(f"{AS}{meaning}" for meaning in (dtype, *alternatives))
    if is_complex(dtype):
        return COMPLEX_READINGS
    if dtype.bits >= 8 or dtype.numpy_dtype is None:
        return ()
    return ("packed", "bytes") if dtype.is_packed else ("bytes", "packed")
