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


@dataclass(slots=True)
class Moments:
    """Number, sum and sum of squares of the values added.

    A chunk is summed in float64 around its own mean; its sums are then kept exactly, so that the
    order in which chunks are merged does not matter. All rounding is within a chunk.
    """

    count: int = 0
    total: int = 0
    squares: int = 0

    def merge(self, other: Moments) -> None:
        """Add what another has added."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    def add_floats(self, values: np.ndarray[Any, Any], peak: float) -> None:
        """Add finite floats, at least one, of which ``peak`` is the largest magnitude."""
        count, exponent = len(values), _exponent(peak)
        scaled = values.astype(np.float64)
        if exponent:
            np.ldexp(scaled, -exponent, out=scaled)
        mean = float(scaled.sum()) / count
        scaled -= mean
        self._add_sums(count, mean, float(scaled.sum()), _squares(scaled), exponent)

    def add_sums(
        self, count: int, centre: float, rest: float, squares: float, *, peak: float
    ) -> bool:
        """Add finite floats by sums made elsewhere; False where ``peak`` makes those worthless.

        Parameters
        ----------
        count
            How many.
        centre, rest, squares
            ``rest`` is the sum of ``value - centre``, ``squares`` that of its square.
        peak
            Their largest magnitude.
        """
        if _exponent(peak):
            return False
        self._add_sums(count, centre, rest, squares, 0)
        return True

    def _add_sums(
        self, count: int, centre: float, rest: float, squares: float, exponent: int
    ) -> None:
        """Add sums of values that were multiplied by ``2**-exponent``."""
        self._add(
            count,
            _fixed(centre, _UNIT + exponent),
            _fixed(rest, _UNIT + exponent),
            _fixed(squares, 2 * (_UNIT + exponent)),
        )

    def add_integers(self, values: np.ndarray[Any, Any], low: int, high: int) -> None:
        """Add integers of 32 or 64 bits, at least one, that lie between ``low`` and ``high``."""
        count = len(values)
        above = above_low(values, low)
        total = _whole_sum(above, high - low)
        mean = total / count
        distance = above.astype(np.float64)
        distance -= mean
        centre = (low << _UNIT) + _fixed(mean, _UNIT)
        rest = ((low * count + total) << _UNIT) - count * centre
        self._add(count, centre, rest, _fixed(_squares(distance), 2 * _UNIT))

    def _add(self, count: int, centre: int, rest: int, squares: int) -> None:
        self.count += count
        self.total += count * centre + rest
        self.squares += squares + centre * (2 * rest + count * centre)

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
