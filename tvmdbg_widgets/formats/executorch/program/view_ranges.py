"""Views that have no instruction: values that lie exactly where another one was written.

Memory planning leaves out the call of a static view; its readers name another value of the same
memory (``exir/passes/replace_view_copy_with_view_pass.py`` @ v1.4.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_values import TensorValue


class BufferRange(NamedTuple):
    """Bytes of a planned buffer."""

    memory_id: int
    start: int
    end: int


def range_of(plan: Plan, index: int) -> BufferRange | None:
    """Return the planned bytes of a value, None where it has none."""
    value = plan.values[index]
    if not isinstance(value, TensorValue) or value.allocation is None or not value.nbytes:
        return None
    place = value.allocation
    return BufferRange(place.memory_id, place.offset, place.offset + value.nbytes)


class ViewRanges:
    """The ranges of memory that views read, as locations behind those of the values."""

    def __init__(self, plan: Plan, views: Iterable[int]) -> None:
        self._plan = plan
        numbers: dict[BufferRange, int] = {}
        self._location_of: dict[int, int] = {}
        for index in views:
            found = range_of(plan, index)
            if found is not None:
                number = numbers.setdefault(found, len(plan.values) + len(numbers))
                self._location_of[index] = number
        self._numbers = numbers
        # Places lie within their buffers, whose sizes have 64 bits.
        columns = np.array([tuple(each) for each in numbers], np.int64).reshape(-1, 3)
        self._memory, self._starts, self._ends = columns.T
        self._touched: dict[BufferRange, list[int]] = {}

    def location(self, index: int) -> int | None:
        """Return the location that a value views, None where it is no view."""
        return self._location_of.get(index)

    def filled(self, index: int) -> int | None:
        """Return the location that writing a value fills exactly, None where there is none."""
        written = range_of(self._plan, index)
        return None if written is None else self._numbers.get(written)

    def touched(self, index: int) -> list[int]:
        """Return the locations of which writing a value changes any byte."""
        written = range_of(self._plan, index)
        if written is None:
            return []
        if written not in self._touched:
            memory, start, end = written
            hit = (self._memory == memory) & (self._starts < end) & (start < self._ends)
            self._touched[written] = (np.flatnonzero(hit) + len(self._plan.values)).tolist()
        return self._touched[written]
