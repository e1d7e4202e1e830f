"""Many values reduced to few: minimum, maximum, sum, count of the finite ones, and flags."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Array: TypeAlias = np.ndarray[Any, Any]

#: Bits of the flags of a cell: what other than finite values it holds.
NAN, POS_INF, NEG_INF = 1, 2, 4

#: Columns whose sums are added pairwise; the sums of such runs are added one after the other.
RUN = 1 << 16


@dataclass(slots=True)
class Cells:
    """Reduced values, all arrays of one shape.

    Attributes
    ----------
    low, high : array
        Of the finite values, in the dtype of the values; what it holds in a cell without any
        means nothing.
    total : float64 array
    count : int64 array or None
        Finite values behind each cell; None where all are finite.
    flags : uint8 array or None
        None where all are finite.
    """

    low: Array
    high: Array
    total: Array
    count: Array | None = None
    flags: Array | None = None

    def map(self, change: Callable[[Array], Array]) -> Cells:
        """Return the same with each array changed."""
        return Cells(
            change(self.low),
            change(self.high),
            change(self.total),
            None if self.count is None else change(self.count),
            None if self.flags is None else change(self.flags),
        )

    def part(self, at: int) -> Cells:
        """Return the cells at one place of the last axis, which stays."""
        return self.map(lambda each: each[..., at : at + 1])

    def added(
        self, other: Cells, own: int | Array, others: int | Array, *, sums: bool = True
    ) -> Cells:
        """Return this with the cells of other values.

        Parameters
        ----------
        other
        own, others
            Values behind each cell of this and of the other.
        sums
            Whether the other's sums go without this one's.
        """
        found = Cells(
            np.minimum(self.low, other.low), np.maximum(self.high, other.high), other.total
        )
        if sums:
            with np.errstate(invalid="ignore", over="ignore"):
                found.total = self.total + other.total
        if self.count is not None or other.count is not None:
            found.count = self._counts(own) + other._counts(others)
            found.flags = self._marks() | other._marks()
        return found

    def _counts(self, values: int | Array) -> Array:
        return np.full(self.low.shape, values, np.int64) if self.count is None else self.count

    def _marks(self) -> Array:
        return np.zeros(self.low.shape, np.uint8) if self.flags is None else self.flags


def down(block: Array, axis: int, step: int, before: Array | None = None) -> Cells:
    """Reduce ``step`` values at a time along one axis that is not the last.

    Parameters
    ----------
    block
        C order, of a dtype of :func:`~tvmdbg_widgets.model.pictures.real.real`.
    axis, step
        The last cell takes what is left.
    before
        Sums to which those of a single cell are added, value by value.
    """
    low, high = _reduce(np.minimum, block, axis, step), _reduce(np.maximum, block, axis, step)
    if block.dtype.kind != "f" or (np.isfinite(low).all() and np.isfinite(high).all()):
        return Cells(low, high, _total(block, axis, step, before))
    finite = np.isfinite(block)
    zero, infinity = block.dtype.type(0), block.dtype.type(np.inf)
    cells = Cells(
        _reduce(np.minimum, np.where(finite, block, infinity), axis, step),
        _reduce(np.maximum, np.where(finite, block, -infinity), axis, step),
        _total(np.where(finite, block, zero), axis, step, before),
    )
    cells.count = _reduce(np.add, finite.astype(np.int64), axis, step)
    cells.flags = np.zeros(cells.low.shape, np.uint8)
    special = ((NAN, np.isnan(block)), (POS_INF, block == np.inf), (NEG_INF, block == -np.inf))
    for bit, found in special:
        if found.any():
            cells.flags |= _reduce(np.bitwise_or, found.view(np.uint8) * np.uint8(bit), axis, step)
    return cells


def across(cells: Cells, step: int) -> Cells:
    """Reduce ``step`` cells at a time along the last axis; the last one takes what is left."""
    if step == 1:
        return cells
    starts = np.arange(0, cells.low.shape[-1], step)
    return Cells(
        np.minimum.reduceat(cells.low, starts, axis=-1),
        np.maximum.reduceat(cells.high, starts, axis=-1),
        _runs(cells.total, step),
        None if cells.count is None else np.add.reduceat(cells.count, starts, axis=-1),
        None if cells.flags is None else np.bitwise_or.reduceat(cells.flags, starts, axis=-1),
    )


def _runs(total: Array, step: int) -> Array:
    """Sum ``step`` neighbours pairwise, as ``numpy.add.reduce`` does along a contiguous axis."""
    lead, width = total.shape[:-1], total.shape[-1]
    whole = width // step
    found = np.empty((*lead, -(-width // step)))
    with np.errstate(invalid="ignore", over="ignore"):
        parts = total[..., : whole * step].reshape(*lead, whole, step)
        np.add.reduce(parts, axis=-1, out=found[..., :whole])
        if whole * step < width:
            np.add.reduce(total[..., whole * step :], axis=-1, out=found[..., whole])
    return found


def _total(block: Array, axis: int, step: int, before: Array | None) -> Array:
    """Sum along an axis in float64, one value after the other."""
    if before is not None:
        block = np.concatenate([before, block], axis=axis, dtype=np.float64)
        step = block.shape[axis]
    if step == 1:
        return block.astype(np.float64)
    if math.prod(block.shape[axis + 1 :]) == 1:
        # numpy would add a single column pairwise.
        block = np.concatenate([block, np.zeros_like(block)], axis=-1)
        return np.ascontiguousarray(_total(block, axis, step, None)[..., :1])
    with np.errstate(invalid="ignore", over="ignore"):
        return _reduce(np.add, block, axis, step, np.float64)


def _reduce(ufunc: np.ufunc, block: Array, axis: int, step: int, dtype: Any = None) -> Array:
    if step == 1:
        return block
    lead, length, rest = block.shape[:axis], block.shape[axis], block.shape[axis + 1 :]
    whole = length // step
    found = np.empty((*lead, -(-length // step), *rest), dtype or block.dtype)
    before = (slice(None),) * axis
    parts = block[(*before, slice(whole * step))].reshape(*lead, whole, step, *rest)
    ufunc.reduce(parts, axis=axis + 1, dtype=dtype, out=found[(*before, slice(whole))])
    if whole * step < length:
        left = block[(*before, slice(whole * step, None))]
        ufunc.reduce(left, axis=axis, dtype=dtype, out=found[(*before, whole)])
    return found
