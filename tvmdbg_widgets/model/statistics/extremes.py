"""Where things lie first: bounds and special values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Where: TypeAlias = Callable[[int], int]


@dataclass(slots=True)
class Extremes:
    """Least and largest finite value seen, and the first of each kind of special value."""

    low: float | None = None
    high: float | None = None
    minimum: Any = None
    maximum: Any = None
    argmin: int | None = None
    argmax: int | None = None
    nan: int | None = None
    pos_inf: int | None = None
    neg_inf: int | None = None

    def is_lower(self, value: float) -> bool:
        """Whether a value lies below all seen."""
        return self.low is None or value < self.low

    def is_higher(self, value: float) -> bool:
        """Whether a value lies above all seen."""
        return self.high is None or value > self.high

    def take_low(self, value: float, scalar: Any, position: int) -> None:
        """Take over a new least value."""
        self.low, self.minimum, self.argmin = value, scalar, position

    def take_high(self, value: float, scalar: Any, position: int) -> None:
        """Take over a new largest value."""
        self.high, self.maximum, self.argmax = value, scalar, position

    def merge(self, other: Extremes) -> None:
        """Take over what lies further out, or as far out and earlier."""
        self.nan = _earlier(self.nan, other.nan)
        self.pos_inf = _earlier(self.pos_inf, other.pos_inf)
        self.neg_inf = _earlier(self.neg_inf, other.neg_inf)
        if other.low is None or other.high is None or other.argmin is None or other.argmax is None:
            return
        if self.is_lower(other.low) or (
            other.low == self.low and other.argmin == _earlier(self.argmin, other.argmin)
        ):
            self.take_low(other.low, other.minimum, other.argmin)
        if self.is_higher(other.high) or (
            other.high == self.high and other.argmax == _earlier(self.argmax, other.argmax)
        ):
            self.take_high(other.high, other.maximum, other.argmax)


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)
