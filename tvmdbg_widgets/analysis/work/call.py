"""What a node calls: the operators in its function, the shapes it reads and writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Shape: TypeAlias = tuple[int, ...]


class Operand(NamedTuple):
    """One input. ``constant`` where it is a parameter, which has one value in all runs."""

    shape: Shape | None
    dtype: str
    constant: bool


@dataclass(frozen=True)
class OperatorCall:
    """A function with its operands."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    outputs: tuple[Shape | None, ...]
    attrs: Mapping[str, str]


class Bounds(NamedTuple):
    """Operations of a function: equal numbers where they are known; NaN, and why, where not."""

    least: float
    most: float
    why: str = ""

    @classmethod
    def unknown(cls, why: str) -> Bounds:
        """Return what stands for an unknown number."""
        return cls(math.nan, math.nan, why)


def bare(part: str) -> str:
    """Return the name of an operator without its name space: ``"relu"``."""
    return part.rpartition(".")[2]
