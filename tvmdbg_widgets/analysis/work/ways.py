"""Every way to share out a function's operands among operators that go element by element."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.work.call import Shape, bare
from tvmdbg_widgets.analysis.work.elementwise import elementwise
from tvmdbg_widgets.analysis.work.reductions import REDUCTIONS, reduces_to

_MOST_STATES: Final = 4000


class OperandValue(NamedTuple):
    """A result or an operand within a function."""

    shape: Shape
    constant: bool


class TooManyError(Exception):
    """Raised where there are too many ways to try."""


class Ways:
    """Tries every way to evaluate operators in order."""

    def __init__(self, parts: tuple[str, ...], out: Shape, head: int | None, fold: bool) -> None:
        self._parts, self._out, self._head, self._fold = parts, out, head, fold
        self._known: dict[object, tuple[int, int] | None] = {}

    def of(
        self, at: int, waiting: tuple[OperandValue, ...], read: tuple[OperandValue, ...]
    ) -> tuple[int, int] | None:
        """Return least and most operations from one operator on; None where nothing fits."""
        key = (at, waiting, read)
        if key not in self._known:
            if len(self._known) >= _MOST_STATES:
                raise TooManyError
            self._known[key] = None
            self._known[key] = self._best(at, waiting, read)
        return self._known[key]

    def _best(
        self, at: int, waiting: tuple[OperandValue, ...], read: tuple[OperandValue, ...]
    ) -> tuple[int, int] | None:
        if at == len(self._parts):
            return (0, 0) if [each.shape for each in waiting] == [self._out] else None
        found: list[tuple[int, int]] = []
        for result, own, used in self._results(at, waiting, read):
            left = list(waiting)
            for each in used:
                if each in left:
                    left.remove(each)
            rest = self.of(at + 1, tuple(sorted([*left, result])), tuple(sorted({*read, *used})))
            if rest is not None:
                found.append((own + rest[0], own + rest[1]))
        if not found:
            return None
        return min(each[0] for each in found), max(each[1] for each in found)

    def _results(
        self, at: int, waiting: tuple[OperandValue, ...], read: tuple[OperandValue, ...]
    ) -> Iterator[tuple[OperandValue, int, tuple[OperandValue, ...]]]:
        """Yield what an operator can write, its operations, and what it reads."""
        part = self._parts[at]
        each = elementwise(part)
        if each is None and bare(part) not in REDUCTIONS:
            yield OperandValue(self._out, False), 0, ()
            return
        choices = sorted({*waiting, *read})
        if each is None:
            for value in choices:
                if reduces_to(value.shape, self._out):
                    whole = math.prod(self._out)
                    count = math.prod(value.shape) + REDUCTIONS[bare(part)] * whole
                    yield OperandValue(self._out, False), count, (value,)
            return
        for number in range(1, each.operands + 1):
            for used in combinations_with_replacement(choices, number):
                constant = all(value.constant for value in used)
                shape = _broadcast(tuple(value.shape for value in used))
                if shape is not None and not (constant and self._fold):
                    yield OperandValue(shape, constant), each.operations * math.prod(shape), used


@cache
def _broadcast(shapes: tuple[Shape, ...]) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None
