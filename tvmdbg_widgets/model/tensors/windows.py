"""Part of an N-D array read from its bytes, touching little more than that part."""

from __future__ import annotations

import math
from types import EllipsisType
from typing import Any, Protocol, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.sources.byte_source import ByteSource

Index: TypeAlias = int | slice | EllipsisType
Selection: TypeAlias = Index | tuple[Index, ...]

#: Bytes read in vain that cost about as much as one more read call.
_CALL_COST = 1 << 16
#: The same where each call is a round trip over a network.
_FAR_CALL_COST = 1 << 20
#: Most bytes read in one go where not all of them are wanted.
_SPAN_LIMIT = 4 << 20


class _StoredValues(Protocol):
    """What a window is read from; see ``model/tensors/array_values.py``."""

    @property
    def source(self) -> ByteSource: ...
    @property
    def numpy_dtype(self) -> np.dtype[Any]: ...
    @property
    def view_shape(self) -> tuple[int, ...]: ...
    def values(self, start: int, stop: int) -> np.ndarray[Any, Any]: ...


def read_window(values: _StoredValues, selection: Selection) -> np.ndarray[Any, Any]:
    """Return what ``values.numpy()[selection]`` would.

    Each axis takes an int or a slice with a positive step; ``...`` and missing axes stand for
    whole ones.
    """
    shape = values.view_shape
    axes = resolved(selection, shape)
    ranges = [indices for indices, _ in axes]
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    out = np.empty([len(indices) for indices in ranges], values.numpy_dtype)
    if out.size:
        _BlockReader(values, ranges, strides).read(0, 0, out)
    return out.reshape([len(indices) for indices, kept in axes if kept])


def resolved(selection: Selection, shape: tuple[int, ...]) -> list[tuple[range, bool]]:
    """Return for each axis the indices selected, and whether the axis stays."""
    return [_axis(item, length) for item, length in zip(*_fill(selection, shape), strict=True)]


def _fill(
    selection: Selection, shape: tuple[int, ...]
) -> tuple[list[int | slice], tuple[int, ...]]:
    items = list(selection) if isinstance(selection, tuple) else [selection]
    dots = [position for position, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can hold only one '...'")
    given = len(items) - len(dots)
    if given > len(shape):
        raise IndexError(
            f"{counted(given, 'index')} for an array of {counted(len(shape), 'axis')}, shape "
            f"{shape}"
        )
    missing: list[Index] = [slice(None)] * (len(shape) - given)
    where = dots[0] if dots else len(items)
    items[where : where + len(dots)] = missing
    return [item for item in items if item is not Ellipsis], shape


def _axis(item: int | slice, length: int) -> tuple[range, bool]:
    """Return the indices on one axis, and whether the axis stays."""
    if isinstance(item, slice):
        indices = range(length)[item]
        if indices.step < 1:
            raise ValueError("a window cannot step backwards; reverse it after reading")
        return indices, True
    if isinstance(item, bool) or not hasattr(item, "__index__"):
        raise TypeError(f"a window takes ints and slices, not {item!r}")
    index = item.__index__()
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range for an axis of {length}")
    return range(index % length, index % length + 1), False


class _BlockReader:
    """Chooses per block between one read of its whole span and a read for each of its parts."""

    def __init__(self, values: _StoredValues, ranges: list[range], strides: list[int]) -> None:
        self.values = values
        self.ranges = ranges
        self.strides = strides
        self.itemsize = values.numpy_dtype.itemsize
        self.call_cost = _FAR_CALL_COST if values.source.far else _CALL_COST

    def read(self, axis: int, base: int, out: np.ndarray[Any, Any]) -> None:
        """Fill ``out`` (axes from ``axis`` on) from the block whose origin is scalar ``base``."""
        self._read(axis, self.ranges[axis] if axis < len(self.ranges) else range(1), base, out)

    def _read(self, axis: int, indices: range, base: int, out: np.ndarray[Any, Any]) -> None:
        if axis == len(self.ranges):
            out[...] = self.values.values(base, base + 1)[0]
            return
        first, last = self._ends(axis, indices, base)
        span = (last - first) * self.itemsize
        if span == out.nbytes:
            out.reshape(-1)[:] = self.values.values(first, last)
        elif span > self._cost_of_parts(axis, len(indices)):
            for position, index in enumerate(indices):
                inner = base + index * self.strides[axis]
                self.read(axis + 1, inner, out[position, ...])
        elif span > _SPAN_LIMIT and len(indices) > 1:
            half = len(indices) // 2
            self._read(axis, indices[:half], base, out[:half])
            self._read(axis, indices[half:], base, out[half:])
        elif span > _SPAN_LIMIT:
            inner = base + indices[0] * self.strides[axis]
            self.read(axis + 1, inner, out[0, ...])
        else:
            block = self.values.values(first, last)
            steps = [r.step * stride * self.itemsize for r, stride in self._axes(axis, indices)]
            out[...] = np.ndarray(out.shape, block.dtype, block, strides=steps)

    def _axes(self, axis: int, indices: range) -> list[tuple[range, int]]:
        """Wanted indices and stride, in scalars, of ``axis`` and each later axis."""
        ranges = [indices, *self.ranges[axis + 1 :]]
        return list(zip(ranges, self.strides[axis:], strict=True))

    def _ends(self, axis: int, indices: range, base: int) -> tuple[int, int]:
        """First scalar wanted and the one after the last."""
        axes = self._axes(axis, indices)
        first = base + sum(r[0] * stride for r, stride in axes)
        return first, base + sum(r[-1] * stride for r, stride in axes) + 1

    def _cost_of_parts(self, axis: int, count: int) -> int:
        """Bytes and calls it would take to read each index of ``axis`` on its own."""
        if axis + 1 == len(self.ranges):
            return count * (self.itemsize + self.call_cost)
        inner = self.ranges[axis + 1]
        first, last = self._ends(axis + 1, inner, 0)
        whole = (last - first) * self.itemsize + self.call_cost
        return count * min(whole, self._cost_of_parts(axis + 1, len(inner)))
