"""Sums of values and of their squares that merge without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_SAFE_EXPONENT = 300
# Sums are integers in units of 2**-_UNIT, sums of squares in units of its square: every float64,
# also one that was scaled by the exponent of another, is a whole number of them.
_UNIT = 2200
_ROOT_BITS = 64
#: Where so small a part of the values is left of their sum, float64 has lost digits that matter.
_CANCELLED = 2.0**-12
#: Binary digits to which the sum of a block is right.
_DIGITS = 44
_MANTISSA = 53
#: Values summed at a time: their copies stay in a core's own cache.
_BLOCK = 1 << 16
#: Larger values are summed apart, so that none overflows and none is lost beside them.
_LARGE_EXPONENT = 900
_LARGE_SHIFT = 600


@dataclass(slots=True)
class Moments:
    """Number, sum and sum of squares of the values added.

    Sums of blocks are kept exactly, so that the order in which they are merged does not matter.
    The sum of a block is good to 1e-13 of itself, also where nearly all of it cancels; squares are
    summed in float64 around its mean.
    """

    count: int = 0
    total: int = 0
    squares: int = 0

    def merge(self, other: Moments) -> None:
        """Add what another has added."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    def times(self, count: int) -> None:
        """Count all values so many times."""
        self.count *= count
        self.total *= count
        self.squares *= count

    def add_floats(self, values: np.ndarray[Any, Any], peak: float) -> None:
        """Add finite floats, at least one, of which ``peak`` is the largest magnitude."""
        for begin in range(0, len(values), _BLOCK):
            self._add_block(values[begin : begin + _BLOCK], peak)

    def _add_block(self, values: np.ndarray[Any, Any], peak: float) -> None:
        count, exponent = len(values), _exponent(peak)
        scaled = values.astype(np.float64)
        total = _sum(scaled, peak)
        if exponent:
            np.ldexp(scaled, -exponent, out=scaled)
        mean = (total << max(0, -exponent)) / (count << _UNIT + max(0, exponent))
        scaled -= mean
        center = _fixed(mean, _UNIT + exponent)
        squares = _fixed(_squares(scaled), 2 * (_UNIT + exponent))
        self._add(count, center, total - count * center, squares)

    def add_sums(
        self, count: int, center: float, rest: float, squares: float, *, peak: float
    ) -> bool:
        """Add finite floats by sums made elsewhere; False where those are worthless.

        They are where ``peak`` is too large or too small, or where nearly all of the sum cancels.
        """
        mean = center + rest / count
        if _exponent(peak) or abs(mean) < _CANCELLED * math.hypot(
            center, math.sqrt(squares / count)
        ):
            return False
        self._add(count, _fixed(center, _UNIT), _fixed(rest, _UNIT), _fixed(squares, 2 * _UNIT))
        return True

    def add_integers(self, values: np.ndarray[Any, Any], low: int, high: int) -> None:
        """Add integers of 32 or 64 bits, at least one, that lie between ``low`` and ``high``."""
        count = len(values)
        above = above_low(values, low)
        total = _whole_sum(above, high - low)
        mean = total / count
        distance = above.astype(np.float64)
        distance -= mean
        center = (low << _UNIT) + _fixed(mean, _UNIT)
        rest = ((low * count + total) << _UNIT) - count * center
        self._add(count, center, rest, _fixed(_squares(distance), 2 * _UNIT))

    def _add(self, count: int, center: int, rest: int, squares: int) -> None:
        self.count += count
        self.total += count * center + rest
        self.squares += squares + center * (2 * rest + count * center)

    def add_exactly(self, count: int, total: int, squares: int, exponent: int) -> None:
        """Add values by the exact sums of ``value * 2**-exponent`` and of its square."""
        self.count += count
        self.total += total << (_UNIT + exponent)
        self.squares += squares << (2 * (_UNIT + exponent))

    def mean_and_std(self) -> tuple[float, float]:
        """Mean and population standard deviation; NaN and NaN if nothing was added."""
        if not self.count:
            return math.nan, math.nan
        spread = max(0, self.count * self.squares - self.total * self.total)
        return self.total / (self.count << _UNIT), _root(spread) / (
            self.count << _UNIT + _ROOT_BITS
        )


def _exponent(peak: float) -> int:
    """Return the power of two to divide by so that squares neither overflow nor vanish."""
    exponent = math.frexp(peak)[1]
    return 0 if abs(exponent) <= _SAFE_EXPONENT else exponent


def _sum(values: np.ndarray[Any, np.dtype[np.float64]], peak: float) -> int:
    """Return the sum of finite floats in units of ``2**-_UNIT``, right to ``_DIGITS`` digits.

    Upper digits that all values have in common places are split off and add up without rounding;
    again with the rest, until what that may round is too little to matter (S. M. Rump, T. Ogita,
    S. Oishi, Accurate floating-point summation I, SIAM J. Sci. Comput. 31, 2008).
    """
    top = math.frexp(peak)[1]
    if top > _LARGE_EXPONENT:
        large = np.abs(values) > math.ldexp(1.0, _LARGE_EXPONENT - 1)
        moved = np.ldexp(values[large], -_LARGE_SHIFT)
        least = math.ldexp(1.0, _LARGE_EXPONENT - 1)
        return (_sum(moved, math.ldexp(peak, -_LARGE_SHIFT)) << _LARGE_SHIFT) + _sum(
            values[~large], least
        )
    bits = len(values).bit_length() + 1
    total = 0
    while True:
        first = math.ldexp(1.0, top + bits)
        upper = values + first
        upper -= first
        total += _fixed(float(upper.sum()), _UNIT)
        values = np.subtract(values, upper, out=upper)
        top += bits - _MANTISSA + 1
        rest = float(values.sum())
        rounding = top + 2 * bits - _MANTISSA
        if total.bit_length() > _UNIT + rounding + _DIGITS or not (rest or values.any()):
            return total + _fixed(rest, _UNIT)


def above_low(values: np.ndarray[Any, Any], low: int) -> np.ndarray[Any, Any]:
    """Return how far integers lie above their lower bound, unsigned and of the same width."""
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    wrapped = unsigned.type(low % (1 << 8 * unsigned.itemsize))
    above: np.ndarray[Any, Any] = values.view(unsigned) - wrapped
    return above


def _whole_sum(above: np.ndarray[Any, Any], most: int) -> int:
    """Return the exact sum of unsigned integers that are at most ``most``."""
    if most * len(above) < 1 << 64:
        return int(above.sum(dtype=np.uint64))
    high_half = int((above >> np.uint64(32)).sum(dtype=np.uint64))
    low_half = int((above & np.uint64(0xFFFFFFFF)).sum(dtype=np.uint64))
    return (high_half << 32) + low_half


def _squares(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Sum of squares, made in place.

    A dot product would go to several threads that wait for each other by spinning: nine times the
    processor time where others use it too.
    """
    np.multiply(values, values, out=values)
    return float(values.sum())


def _fixed(value: float, unit: int) -> int:
    """Return a float as an integer in units of ``2**-unit``."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (unit + 1 - denominator.bit_length())


def _root(square: int) -> int:
    """Return the square root in units of ``2**-_ROOT_BITS``."""
    return math.isqrt(square << 2 * _ROOT_BITS)
