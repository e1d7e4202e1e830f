"""Cells that are kept, to make larger ones of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.pictures.stack import Sums

if TYPE_CHECKING:
    from tvmdbg_widgets.model.pictures.cells import Array
    from tvmdbg_widgets.model.pictures.grid import Span
    from tvmdbg_widgets.model.pictures.stack import Stack

#: Bytes of a cell of which all values are finite.
CELL_BYTES = 16
#: Least factor between the values and the cells that are kept of them.
_FACTOR = 8


@dataclass(frozen=True)
class Level:
    """The cells of a part of a plane.

    Attributes
    ----------
    lower, higher
        Where they lie.
    sums
        As :class:`Sums`; ``count`` and ``flags`` are empty where all values are finite.
    """

    lower: Span
    higher: Span
    sums: Sums

    @classmethod
    def of(cls, lower: Span, higher: Span, sums: Sums) -> Level:
        """Leave out the counts where they say nothing."""
        if not sums.flags.any():
            nothing = np.empty(0, np.int64), np.empty(0, np.uint8)
            sums = Sums(sums.low, sums.high, sums.total, *nothing)
        return cls(lower, higher, sums)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        found = self.sums
        kept = (found.low, found.high, found.total, found.count, found.flags)
        return sum(each.nbytes for each in kept)

    def can_make(self, lower: Span, higher: Span) -> bool:
        """Return whether those cells are whole cells of this."""
        return self.lower.can_make(lower) and self.higher.can_make(higher)

    def made(self, lower: Span, higher: Span) -> Sums:
        """Return larger cells; bounds and flags are exact, sums but for the order of summation."""
        rows, cols = _places(self.lower, lower), _places(self.higher, higher)
        factors = lower.step // self.lower.step, higher.step // self.higher.step

        def larger(cells: Array, ufunc: np.ufunc) -> Array:
            cells = cells[:, rows, cols]
            for axis, factor in enumerate(factors, 1):
                if factor > 1:
                    starts = np.arange(0, cells.shape[axis], factor)
                    cells = ufunc.reduceat(cells, starts, axis=axis)
            return cells

        found = self.sums
        with np.errstate(invalid="ignore", over="ignore"):
            low, high = larger(found.low, np.minimum), larger(found.high, np.maximum)
            total = larger(found.total, np.add)
        if found.flags.size:
            count, flags = larger(found.count, np.add), larger(found.flags, np.bitwise_or)
        else:
            count = np.multiply.outer(lower.lengths, higher.lengths)[None]
            flags = np.zeros(count.shape, np.uint8)
        return Sums(low, high, total, count, flags)


def finest(stack: Stack, limit: int) -> tuple[Span, Span]:
    """Return the smallest cells that the stack's are made of and that fit into ``limit`` bytes."""
    found = [stack.lower, stack.higher]
    steps = [_divisors(each.step) for each in found]
    while True:
        spans = [each.finer(own[0]) for each, own in zip(found, steps, strict=True)]
        if spans[0].cells * spans[1].cells * CELL_BYTES <= limit:
            return spans[0], spans[1]
        rest = [own for own in steps if len(own) > 1]
        if not rest:
            return stack.lower, stack.higher
        min(rest, key=lambda own: own[0]).pop(0)


def _divisors(step: int) -> list[int]:
    """Return the steps that divide this one, ascending, none below the factor but itself."""
    small = [each for each in range(1, int(step**0.5) + 1) if step % each == 0]
    every = sorted({*small, *(step // each for each in small)})
    return [each for each in every if each >= _FACTOR] or [step]


def _places(level: Span, wanted: Span) -> slice:
    first = (wanted.start - level.start) // level.step
    return slice(first, first + -(-(wanted.stop - wanted.start) // level.step))
