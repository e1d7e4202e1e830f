"""Numbers that count what is done with them: the ground truth of counted operations."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


class Tally:
    """How many scalar operations were done, and which places were read and written."""

    def __init__(self) -> None:
        self.operations = 0

    def number(self) -> Number:
        return Number(self)


@dataclass(frozen=True)
class Number:
    """A scalar; every operation on it counts one."""

    tally: Tally

    def _count(self, *_others: Any) -> Number:
        self.tally.operations += 1
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _count
    __truediv__ = __rtruediv__ = __pow__ = __neg__ = __rshift__ = _count
    call = larger = smaller = below = _count


def arrays(shape: Iterable[int]) -> list[tuple[int, ...]]:
    """Every index of an array."""
    return list(itertools.product(*map(range, shape)))


def each_element(shape: Iterable[int], compute: Callable[[Number], Any]) -> int:
    """Operations of a computation done for every element."""
    tally = Tally()
    for _ in arrays(shape):
        compute(tally.number())
    return tally.operations
