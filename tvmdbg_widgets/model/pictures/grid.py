"""Where the cells of a picture lie on its plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.planes import Plane

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
        """Return the whole cells that hold the values."""
        step = self.step
        stop = min(size, -(-self.stop // step) * step)
        return CellSpan(self.start // step * step, stop, step)

    def finer(self, step: int) -> CellSpan:
        """Return smaller cells over the same values; ``step`` divides this one's."""
        return CellSpan(self.start, self.stop, step)

    def doubled(self, size: int) -> CellSpan:
        """Return cells of twice as many values."""
        return CellSpan(self.start, self.stop, self.step * 2).aligned(size)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return -(-(self.stop - self.start) // self.step)

    def can_make(self, other: CellSpan) -> bool:
        """Return whether the other's cells are whole cells of this."""
        inside = self.start <= other.start and other.stop <= self.stop
        return inside and other.step % self.step == 0

    @property
    def lengths(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """How many values each cell has."""
        edges = np.arange(self.start, self.stop + self.step, self.step, dtype=np.int64)
        return np.diff(np.minimum(edges, self.stop))

    def piece(self, first: int, last: int) -> CellSpan:
        """Return the cells ``first`` to ``last``."""
        start = self.start + first * self.step
        return CellSpan(start, min(self.start + last * self.step, self.stop), self.step)


def spans(
    plane: Plane, rows: int, cols: int, part: Part | None, *, divisible: bool = False
) -> tuple[CellSpan, CellSpan]:
    """Return the cells of a picture of at most ``rows`` x ``cols`` cells, down and across."""
    row, col, height, width = (0, 0, plane.rows, plane.cols) if part is None else part
    return (
        CellSpan.of(row, height, plane.rows, rows, divisible=divisible),
        CellSpan.of(col, width, plane.cols, cols, divisible=divisible),
    )
