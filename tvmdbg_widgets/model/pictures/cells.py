"""Values reduced to cells: minimum, maximum, sum, count of the finite ones, and flags."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

NAN, POS_INF, NEG_INF = 1, 2, 4

#: Columns of a run, summed pairwise; sums of runs are added one after the other.
RUN = 1 << 16

#: Neighbors so few that numpy is faster across them than along them.
_FEW = 24

#: Values of a batch that is reduced again; small, as allocating more is slow.
_MENDED = 1 << 14


@dataclass(slots=True)
class Cells:
    """Reduced values, all arrays of one shape."""

    low: Array
    high: Array
    total: Array
    count: Array | None = None
    flags: Array | None = None

    def map(self, change: Callable[[Array], Array]) -> Cells:
        """Apply a function to every array."""
        return Cells(
            change(self.low),
            change(self.high),
            change(self.total),
            None if self.count is None else change(self.count),
            None if self.flags is None else change(self.flags),
        )

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The existing arrays."""
        all_arrays = (self.low, self.high, self.total, self.count, self.flags)
        return tuple(array for array in all_arrays if array is not None)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    def part(self, at: int) -> Cells:
        """Return the cells at one place of the last axis, which stays."""
        return self.map(lambda array: array[..., at : at + 1])

    def added(
        self, other: Cells, own: int | Array, others: int | Array, *, sums: bool = True
    ) -> Cells:
        """Return the union with the cells of other values."""
        union = Cells(
            np.minimum(self.low, other.low), np.maximum(self.high, other.high), other.total
        )
        if sums:
            with np.errstate(invalid="ignore", over="ignore"):
                union.total = self.total + other.total
        if self.count is not None or other.count is not None:
            union.count = self._counts(own) + other._counts(others)
            union.flags = self._marks() | other._marks()
        return union

    def _counts(self, values: int | Array) -> Array:
        return np.full(self.low.shape, values, np.int64) if self.count is None else self.count

    def _marks(self) -> Array:
        return np.zeros(self.low.shape, np.uint8) if self.flags is None else self.flags


def down(block: Array, axis: int, step: int, before: Array | None = None) -> Cells:
    """Reduce ``step`` values at a time along one axis that is not the last."""
    low, high = _reduce(np.minimum, block, axis, step), _reduce(np.maximum, block, axis, step)
    cells = Cells(low, high, _total(block, axis, step, before))
    if block.dtype.kind == "f":
        bad = ~(np.isfinite(low) & np.isfinite(high))
        if bad.any():
            _mend(cells, bad, block, (axis, step), before)
    return cells


def _mend(
    cells: Cells, bad: Array, block: Array, along: tuple[int, int], before: Array | None
) -> None:
    """Recompute the cells with non-finite values."""
    axis, step = along
    lead, length = math.prod(block.shape[:axis]), block.shape[axis]
    values = block.reshape(lead, length, -1)
    sums = None if before is None else before.reshape(lead, 1, -1)
    counts = np.full(length // step + 1, step, np.int64)
    counts[-1] = length % step
    shape = (lead, cells.low.shape[axis], values.shape[2])
    cells.low, cells.high = cells.low.copy(), cells.high.copy()
    cells.count = np.empty(cells.low.shape, np.int64)
    cells.count.reshape(shape)[:] = counts[: shape[1], None]
    cells.flags = np.zeros(cells.low.shape, np.uint8)
    targets = cells.map(lambda array: array.reshape(shape)).arrays
    for channel, group, columns in _batches(bad.reshape(shape), step, length % step > 0):
        if isinstance(group, int):
            part = values[channel, group * step : (group + 1) * step, columns]
        else:
            rows = group * step + np.arange(step)[:, None]
            part = values[channel, rows, columns]
        old = None if sums is None else sums[channel, 0, columns][None]
        for own, new in zip(targets, _finite_only(part, old).arrays, strict=True):
            own[channel, group, columns] = new[0]


def _batches(bad: Array, step: int, rest: bool) -> Iterator[tuple[Any, Any, Any]]:
    """Yield channel, group and columns of cells, in small batches."""
    width = max(1, _MENDED // step)
    if bad.shape[2] >= _FEW and np.count_nonzero(bad) > bad.size // 8:
        alone = np.ones(bad.shape[1], bool)
    else:
        alone = np.zeros(bad.shape[1], bool)
        alone[-1] = rest
        channels, groups, columns = np.nonzero(bad & ~alone[:, None])
        for first in range(0, len(channels), width):
            here = slice(first, first + width)
            yield channels[here], groups[here], columns[here]
    for channel, group in np.argwhere(bad.any(axis=2) & alone).tolist():
        for left in range(0, bad.shape[2], width):
            yield channel, group, slice(left, left + width)


def _finite_only(block: Array, before: Array | None) -> Cells:
    """Reduce the finite values of the first of two axes, without branches."""
    finite = np.isfinite(block)
    step, word = len(block), np.dtype(f"u{block.dtype.itemsize}")
    kept = np.negative(finite.astype(word))
    zeroed = block.view(word) & kept
    count = np.add.reduce(finite.view(np.uint8), axis=0, dtype=np.int64, keepdims=True)
    nan = np.isnan(block)
    # A signalling NaN makes fmin and fmax forget what came before it.
    quiet = nan.astype(word) << word.type(np.finfo(block.dtype).nmant - 1)
    quiet |= block.view(word)
    low = np.fmin.reduce(quiet.view(block.dtype), axis=0, keepdims=True)
    high = np.fmax.reduce(quiet.view(block.dtype), axis=0, keepdims=True)
    flags = np.bitwise_or.reduce(nan.view(np.uint8), axis=0, keepdims=True)
    flags *= np.uint8(NAN)
    flags |= (high == np.inf).view(np.uint8) * np.uint8(POS_INF)
    flags |= (low == -np.inf).view(np.uint8) * np.uint8(NEG_INF)
    infinity = block.dtype.type(np.inf)
    if (flags & (POS_INF | NEG_INF)).any():
        gone, sign = (np.array(limit, block.dtype).view(word) & ~kept for limit in (np.inf, -0.0))
        low = _reduce(np.minimum, (zeroed | gone).view(block.dtype), 0, step)
        high = _reduce(np.maximum, (zeroed | gone | sign).view(block.dtype), 0, step)
    low, high = np.where(count > 0, low, infinity), np.where(count > 0, high, -infinity)
    return Cells(low, high, _total(zeroed.view(block.dtype), 0, step, before), count, flags)


def across(cells: Cells, step: int) -> Cells:
    """Reduce ``step`` cells at a time along the last axis; the last cell takes the rest."""
    if step == 1:
        return cells
    return Cells(
        _bound(np.minimum, cells.low, step),
        _bound(np.maximum, cells.high, step),
        _runs(cells.total, step),
        None if cells.count is None else _bound(np.add, cells.count, step),
        None if cells.flags is None else _bound(np.bitwise_or, cells.flags, step),
    )


def larger(cells: Cells, rows: int, cols: int) -> Cells:
    """Combine ``rows`` x ``cols`` cells along the last two of three axes."""
    taller = Cells(
        _reduce(np.minimum, cells.low, 1, rows),
        _reduce(np.maximum, cells.high, 1, rows),
        _total(cells.total, 1, rows, None),
        None if cells.count is None else _reduce(np.add, cells.count, 1, rows, np.int64),
        None if cells.flags is None else _reduce(np.bitwise_or, cells.flags, 1, rows),
    )
    return across(taller, cols)


def _bound(ufunc: np.ufunc, cells: Array, step: int) -> Array:
    """Reduce neighbors along the last axis in any order."""
    complete = cells.shape[-1] // step * step
    if step > _FEW or not complete:
        reduced: Array = ufunc.reduceat(cells, np.arange(0, cells.shape[-1], step), axis=-1)
        return reduced
    parts = cells[..., :complete].reshape(*cells.shape[:-1], -1, step)
    reduced = ufunc.reduce(np.ascontiguousarray(np.moveaxis(parts, -1, 0)), axis=0)
    if complete == cells.shape[-1]:
        return reduced
    left = ufunc.reduce(cells[..., complete:], axis=-1, keepdims=True)
    return np.concatenate([reduced, left], axis=-1)


def _runs(total: Array, step: int) -> Array:
    """Sum ``step`` neighbors pairwise, like ``numpy.add.reduce`` along a contiguous axis."""
    lead, width = total.shape[:-1], total.shape[-1]
    complete = width // step
    sums = np.empty((*lead, -(-width // step)))
    with np.errstate(invalid="ignore", over="ignore"):
        parts = total[..., : complete * step].reshape(*lead, complete, step)
        np.add.reduce(parts, axis=-1, out=sums[..., :complete])
        if complete * step < width:
            np.add.reduce(total[..., complete * step :], axis=-1, out=sums[..., complete])
    return sums


def _total(block: Array, axis: int, step: int, before: Array | None) -> Array:
    """Sum along an axis in float64, one value after the other."""
    if before is not None:
        block = np.concatenate([before, block], axis=axis, dtype=np.float64)
        step = block.shape[axis]
    with np.errstate(invalid="ignore", over="ignore"):
        return _reduce(np.add, block, axis, step, np.float64)


def _reduce(ufunc: np.ufunc, block: Array, axis: int, step: int, dtype: Any = None) -> Array:
    if step == 1:
        return block if dtype is None else block.astype(dtype)
    lead, length, rest = block.shape[:axis], block.shape[axis], block.shape[axis + 1 :]
    reduced = np.empty((*lead, -(-length // step), *rest), dtype or block.dtype)
    complete = length // step
    before = (slice(None),) * axis
    narrow = math.prod(rest) < _FEW
    for part, into in (
        (slice(complete * step), slice(complete)),
        (slice(complete * step, None), slice(complete, None)),
    ):
        values, out = block[(*before, part)], reduced[(*before, into)]
        if not out.size:
            continue
        groups = values.reshape(*lead, out.shape[axis], -1, *rest)
        if narrow:
            _reduce_narrow(ufunc, np.moveaxis(groups, axis + 1, -1), out, dtype)
        else:
            ufunc.reduce(groups, axis=axis + 1, dtype=dtype, out=out)
    return reduced


def _reduce_narrow(ufunc: np.ufunc, groups: Array, out: Array, dtype: Any) -> None:
    """Reduce the last axis of few long columns; sums are added one after the other."""
    groups = np.ascontiguousarray(groups, dtype)
    if dtype is None:
        ufunc.reduce(groups, axis=-1, out=out)
    else:
        out[...] = ufunc.accumulate(groups, axis=-1)[..., -1]


_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def real(block: Array) -> Array:
    """Return values in C order as bool's bytes, an integer, float32 by tables, or float64."""
    block = np.ascontiguousarray(block).reshape(block.shape)
    dtype = block.dtype
    if dtype.kind == "b":
        return block.view(np.uint8)
    if dtype.kind in "iu" or dtype in (np.float32, np.float64):
        return block if dtype.isnative else block.astype(dtype.newbyteorder("="))
    if dtype == _BFLOAT16:
        return block.astype(np.float32)
    if dtype.kind == "c" or dtype.itemsize > 2:
        raise TypeError(f"{dtype} has no order; look at its magnitude or at one of its parts")
    if dtype.itemsize == 2:
        if not dtype.isnative:
            block = block.astype(dtype.newbyteorder("="))
        return _table(block.dtype).take(block.view(np.uint16), mode="clip")
    codes = block.view(np.uint8).reshape(-1)
    even = len(codes) & ~1
    floats = np.empty(len(codes), np.float32)
    pairs = floats[:even].view(np.complex64)
    _pairs(dtype).take(codes[:even].view(np.uint16), mode="clip", out=pairs)
    if even < len(codes):
        floats[even:] = _table(dtype)[codes[even:]]
    return floats.reshape(block.shape)


def rounded(cells: Array) -> Array:
    """Return reduced numbers in the views' dtype."""
    if cells.dtype == np.float64:
        return cells
    if cells.dtype.kind in "iu":
        cells = cells.astype(np.float64)
    with np.errstate(over="ignore"):
        return cells.astype(np.float32, copy=False)


def cell_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of cells: float64 for float64, else float32."""
    return np.dtype(np.float64 if dtype.kind == "f" and dtype.itemsize == 8 else np.float32)


@lru_cache(maxsize=32)
def _table(dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the values of all bit patterns of 8 or 16 bits."""
    codes = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        return codes.view(dtype).astype(np.float32)


@lru_cache(maxsize=8)
def _pairs(dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[np.complex64]]:
    """Return the values of all pairs of bytes, as one complex number."""
    codes = np.arange(1 << 16, dtype=np.uint16).view(np.uint8)
    return _table(dtype)[codes].view(np.complex64)
