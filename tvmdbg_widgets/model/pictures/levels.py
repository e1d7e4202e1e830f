"""Cells that are kept, to make larger ones of them."""

from __future__ import annotations

from dataclasses import dataclass

from tvmdbg_widgets.model.pictures.cells import Cells, larger
from tvmdbg_widgets.model.pictures.grid import CellSpan
from tvmdbg_widgets.model.pictures.real import cell_dtype
from tvmdbg_widgets.model.pictures.stack import Stack

#: Least factor between the values and the cells that are kept of them.
_FACTOR = 8


@dataclass(frozen=True)
class PictureLevel:
    """The cells of a part of a plane, and where they lie."""

    lower: CellSpan
    higher: CellSpan
    cells: Cells

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return sum(each.nbytes for each in self.cells.arrays)

    def can_make(self, lower: CellSpan, higher: CellSpan) -> bool:
        """Return whether those cells are whole cells of this."""
        return self.lower.can_make(lower) and self.higher.can_make(higher)

    def made(self, lower: CellSpan, higher: CellSpan) -> Cells:
        """Return larger cells; bounds and flags are exact, sums but for the order of summation."""
        rows, cols = _places(self.lower, lower), _places(self.higher, higher)
        part = self.cells.map(lambda each: each[:, rows, cols])
        return larger(part, lower.step // self.lower.step, higher.step // self.higher.step)


def finest(stack: Stack, limit: int) -> tuple[CellSpan, CellSpan]:
    """Return the smallest cells that the stack's are made of and that fit into ``limit`` bytes."""
    found = [stack.lower, stack.higher]
    # Both bounds, and the sum.
    cell = 2 * cell_dtype(stack.values.numpy_dtype).itemsize + 8
    steps = [_divisors(each.step) for each in found]
    while True:
        spans = [each.finer(own[0]) for each, own in zip(found, steps, strict=True)]
        if spans[0].cells * spans[1].cells * cell <= limit:
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


def _places(level: CellSpan, wanted: CellSpan) -> slice:
    first = (wanted.start - level.start) // level.step
    return slice(first, first + -(-(wanted.stop - wanted.start) // level.step))
