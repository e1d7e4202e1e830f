"""Arrays read in parts: stored or unfolded values, windows, and their reading plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any, Protocol, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.sources.byte_source import ByteSource


class ArrayView(Protocol):
    """An N-D array that is read in parts: as stored, or unfolded."""

    @property
    def view_shape(self) -> tuple[int, ...]:
        """The shape of selections."""

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of read values."""

    @property
    def codes(self) -> ArrayView:
        """The same scalars with their stored bits."""

    def window(self, selection: Selection) -> np.ndarray[Any, Any]:
        """Read a selection as numpy's basic indexing, with few extra bytes."""


#: Largest step at which skipping while copying beats reading each remainder on its own.
_SKIPPED = 4


@public_class
class Unfolded:
    """The logical array of a layout. Values are read from the file on demand.

    Parameters
    ----------
    values
        The stored values.
    layout
        The layout.
    sizes
        Logical sizes by letter that hide padding, ``{"C": 12}``; others show all of it.

    Attributes
    ----------
    values, layout
        As given.
    shape
        Logical shape. Also as ``view_shape``.
    axis_names
        The letters of the logical axes.

    Raises
    ------
    ValueError
        The stored shape does not fit the layout, or a size is of no axis or too large.
    """

    __slots__ = ("axis_names", "layout", "shape", "values")

    def __init__(
        self, values: ArrayView, layout: Layout, sizes: Mapping[str, int] | None = None
    ) -> None:
        self.values = values
        self.layout = layout
        self.shape = layout.named_sizes(values.view_shape, sizes or {})
        self.axis_names = layout.letters

    @property
    def view_shape(self) -> tuple[int, ...]:
        """Logical shape."""
        return self.shape

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of the arrays returned."""
        return self.values.numpy_dtype

    @property
    def codes(self) -> Unfolded:
        """The same scalars with their stored bits: bools as bytes."""
        return Unfolded(
            self.values.codes, self.layout, dict(zip(self.axis_names, self.shape, strict=True))
        )

    def physical(self, index: Sequence[int]) -> tuple[int, ...]:
        """Return where the value of a logical index is stored.

        Raises
        ------
        IndexError, ValueError
            The index is out of range, or has another rank.
        """
        stored = self.layout.to_physical(index)
        for letter, at, size in zip(self.axis_names, index, self.shape, strict=True):
            if at >= size:
                raise IndexError(f"index {at} on axis {letter}, which has {size}")
        return stored

    def logical(self, index: Sequence[int]) -> tuple[int, ...] | None:
        """Return what a stored index stands for, None where that is hidden padding.

        Raises
        ------
        IndexError, ValueError
            The index is out of range, or has another rank.
        """
        logical = self.layout.to_logical(index)
        for axis, (at, size) in enumerate(zip(index, self.values.view_shape, strict=True)):
            if at >= size:
                raise IndexError(f"index {at} on stored axis {axis}, which has {size}")
        inside = all(at < size for at, size in zip(logical, self.shape, strict=True))
        return logical if inside else None

    def window(self, selection: Selection) -> np.ndarray[Any, Any]:
        """Read a selection as numpy's basic indexing, with few extra bytes.

        Parameters
        ----------
        selection
            An int, a slice with a positive step, ``...``, or a tuple of them.

        Raises
        ------
        IndexError, TypeError, ValueError
            The selection does not fit ``shape``, is no int or slice, or steps backwards.
        """
        axes = resolved(selection, self.shape)
        lengths = [len(indices) for indices, _ in axes]
        kept = [len(indices) for indices, kept in axes if kept]
        if not math.prod(lengths):
            return np.empty(kept, self.numpy_dtype)
        pieces = [
            list(_pieces(indices, [self.layout.axes[axis][1] or 1 for axis in part[1:]]))
            for (indices, _), part in zip(axes, self.layout.parts, strict=True)
        ]
        if all(len(each) == 1 for each in pieces):
            return np.ascontiguousarray(self._read([each[0] for each in pieces])).reshape(kept)
        out = np.empty(lengths, self.numpy_dtype)
        for chosen in itertools.product(*pieces):
            out[tuple(piece.place for piece in chosen)] = self._read(chosen)
        return out.reshape(kept)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Read all values as a new array of ``shape``."""
        return self.window(...)

    def __array__(
        self, dtype: np.dtype[Any] | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("values are read from their file, so numpy cannot avoid a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __getitem__(self, selection: Selection) -> np.ndarray[Any, Any]:
        return self.window(selection)

    def __repr__(self) -> str:
        axes = ", ".join(
            f"{name} {size}" for name, size in zip(self.axis_names, self.shape, strict=True)
        )
        text = f"Unfolded({axes}; stored as {self.layout} {list(self.values.view_shape)}"
        hidden = [
            f"{full - size} of {full} {name}"
            for name, size, full in zip(
                self.axis_names,
                self.shape,
                self.layout.logical_shape(self.values.view_shape),
                strict=True,
            )
            if size < full
        ]
        return text + (f"; hides {', '.join(hidden)}" if hidden else "") + ")"

    def _read(self, chosen: Sequence[_Piece]) -> np.ndarray[Any, Any]:
        """Read one piece per logical axis, with joined stored axes."""
        taken: list[slice] = [slice(0, 1)] * self.layout.rank
        for piece, part in zip(chosen, self.layout.parts, strict=True):
            for axis, indices in zip(part, piece.stored, strict=True):
                taken[axis] = indices
        stored = self.values.window(tuple(taken))
        stored = stored.transpose([axis for part in self.layout.parts for axis in part])
        lengths = [
            math.prod(len(range(part.start, part.stop, part.step or 1)) for part in piece.stored)
            for piece in chosen
        ]
        return stored.reshape(lengths)[tuple(piece.kept for piece in chosen)]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Indices of one logical axis that are one slice of each of its stored axes."""

    place: slice
    stored: tuple[slice, ...]
    kept: slice


def _pieces(indices: range, sizes: list[int]) -> Iterator[_Piece]:
    """Cut indices of a logical axis, made of a stored axis and its splits of the sizes."""
    everything = slice(0, len(indices))
    if not sizes:
        yield _Piece(everything, (_slice(indices),), slice(None))
        return
    block = math.prod(sizes)
    first, last = indices[0] // block, indices[-1] // block
    if first == last:
        inner = range(indices[0] - first * block, indices[-1] - first * block + 1, indices.step)
        for piece in _pieces(inner, sizes[1:]):
            yield _Piece(piece.place, (slice(first, first + 1), *piece.stored), piece.kept)
    elif indices.step % block == 0:
        outer = range(first, last + 1, indices.step // block)
        digits = _digits(indices[0] - first * block, sizes)
        yield _Piece(everything, (_slice(outer), *digits), slice(None))
    elif indices.step > _SKIPPED:
        count = block // math.gcd(block, indices.step)
        for start in range(min(count, len(indices))):
            yield from _placed(_pieces(indices[start::count], sizes), start, count)
    else:
        yield from _through(indices, sizes, block)


def _through(indices: range, sizes: list[int], block: int) -> Iterator[_Piece]:
    """Cut dense indices at block borders: the start, the complete blocks, and the end."""
    begin = indices.index(_at_least(indices, -(-indices[0] // block) * block))
    end = len(indices)
    if indices[-1] % block + indices.step < block:
        end = indices.index(_at_least(indices, indices[-1] // block * block))
    if begin:
        yield from _placed(_pieces(indices[:begin], sizes), 0, 1)
    if begin < end:
        rest = indices[begin:end]
        first, last = rest[0] // block, rest[-1] // block
        stored = (slice(first, last + 1), *(slice(0, size) for size in sizes))
        kept = slice(rest[0] - first * block, rest[-1] - first * block + 1, rest.step)
        yield _Piece(slice(begin, end), stored, kept)
    if end < len(indices):
        yield from _placed(_pieces(indices[end:], sizes), end, 1)


def _at_least(indices: range, bound: int) -> int:
    """Return the first index from a bound on."""
    return indices[0] + max(0, -(-(bound - indices[0]) // indices.step)) * indices.step


def _placed(pieces: Iterator[_Piece], start: int, step: int) -> Iterator[_Piece]:
    """Move pieces of every ``step``-th index to their place."""
    for piece in pieces:
        place = piece.place
        moved = slice(
            start + place.start * step,
            start + (place.stop - 1) * step + 1,
            (place.step or 1) * step,
        )
        yield _Piece(moved, piece.stored, piece.kept)


def _slice(indices: range) -> slice:
    return slice(indices[0], indices[-1] + 1, indices.step)


def _digits(number: int, sizes: list[int]) -> list[slice]:
    """Return the index on every split of a remainder of a block."""
    digits = []
    for size in reversed(sizes):
        number, at = divmod(number, size)
        digits.append(slice(at, at + 1))
    return digits[::-1]


Index: TypeAlias = int | slice | EllipsisType
Selection: TypeAlias = Index | tuple[Index, ...]

#: Unwanted bytes that cost about as much as another read call.
_CALL_COST = 1 << 16
#: The same for round trips over a network.
_FAR_CALL_COST = 1 << 20
#: Largest read with unwanted bytes.
_SPAN_LIMIT = 4 << 20


class _StoredValues(Protocol):
    """The source of a window; see ``model/tensors/planes.py``."""

    @property
    def source(self) -> ByteSource: ...
    @property
    def numpy_dtype(self) -> np.dtype[Any]: ...
    @property
    def view_shape(self) -> tuple[int, ...]: ...
    def values(self, start: int, stop: int) -> np.ndarray[Any, Any]: ...


def read_window(values: _StoredValues, selection: Selection) -> np.ndarray[Any, Any]:
    """Return ``values.numpy()[selection]``."""
    shape = values.view_shape
    axes = resolved(selection, shape)
    ranges = [indices for indices, _ in axes]
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    out = np.empty([len(indices) for indices in ranges], values.numpy_dtype)
    if out.size:
        _BlockReader(values, ranges, strides).read(0, 0, out)
    return out.reshape([len(indices) for indices, kept in axes if kept])


def resolved(selection: Selection, shape: tuple[int, ...]) -> list[tuple[range, bool]]:
    """Return the selected indices per axis, and whether the axis stays."""
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
    parts = [item for item in items if not isinstance(item, EllipsisType)]
    return [_axis(item, length) for item, length in zip(parts, shape, strict=True)]


def _axis(item: int | slice, length: int) -> tuple[range, bool]:
    """Return the selected indices of one axis, and whether the axis stays."""
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
    """Chooses per block between one read of its span and reads of its parts."""

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
        """Return wanted indices and stride, in scalars, of ``axis`` and later axes."""
        ranges = [indices, *self.ranges[axis + 1 :]]
        return list(zip(ranges, self.strides[axis:], strict=True))

    def _ends(self, axis: int, indices: range, base: int) -> tuple[int, int]:
        """First scalar wanted and the one after the last."""
        axes = self._axes(axis, indices)
        first = base + sum(r[0] * stride for r, stride in axes)
        return first, base + sum(r[-1] * stride for r, stride in axes) + 1

    def _cost_of_parts(self, axis: int, count: int) -> int:
        """Return the bytes and calls to read every index of ``axis`` on its own."""
        if axis + 1 == len(self.ranges):
            return count * (self.itemsize + self.call_cost)
        inner = self.ranges[axis + 1]
        first, last = self._ends(axis + 1, inner, 0)
        single = (last - first) * self.itemsize + self.call_cost
        return count * min(single, self._cost_of_parts(axis + 1, len(inner)))
