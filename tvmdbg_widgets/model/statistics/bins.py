"""Bins of values, at most 65,536: by the upper bits of floats, by 2**k of integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

MOST = 1 << 16


class ValueBins(Protocol):
    """Numbers bins in ascending order of their values."""

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest possible value of bins."""

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk in these bins."""


@dataclass(frozen=True, slots=True)
class FloatBins:
    """Bins of float32 or float64 values that share sign and upper 15 bits; zero has its own."""

    dtype: np.dtype[Any]

    @property
    def infinite(self) -> int:
        """Upper 16 bits of +Inf."""
        return 0x7F80 if self.dtype.itemsize == 4 else 0x7FF0

    @property
    def normal(self) -> int:
        """Upper 16 bits of the smallest normal number."""
        return 0x0080 if self.dtype.itemsize == 4 else 0x0010

    def prefixes(self, chunk: Array) -> Array:
        """Return the upper 16 bits of the values, a view."""
        lanes = self.dtype.itemsize // 2
        return chunk.view("<u2")[lanes - 1 :: lanes]

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest value of bins as float64."""
        steps = np.asarray(keys, np.int64) - self.infinite
        prefix = np.maximum(np.abs(steps) - 1, 0).astype(f"u{self.dtype.itemsize}")
        low_bits = 8 * self.dtype.itemsize - 16
        near = prefix << prefix.dtype.type(low_bits)
        far = near | prefix.dtype.type((1 << low_bits) - 1)
        near[prefix == 0] = 1  # zero has a bin of its own
        sign = np.sign(steps)
        near, far = (bound.view(self.dtype).astype(np.float64) * sign for bound in (near, far))
        return np.where(sign < 0, far, near), np.where(sign < 0, near, far)

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk in these bins, without zeros."""
        steps = np.asarray(keys, np.int64) - self.infinite
        wanted = np.zeros(MOST, np.bool_)
        wanted[np.where(steps < 0, 0x7FFF - steps, steps - 1)[steps != 0]] = True
        values: Array = chunk[wanted[self.prefixes(chunk)]]
        some: Array = values[values != 0]
        return some


@dataclass(frozen=True, slots=True)
class IntegerBins:
    """Equal bins of ``2**shift`` integers; bin 0 begins at ``first * 2**shift``."""

    dtype: np.dtype[Any]
    first: int
    shift: int

    def keys(self, chunk: Array) -> Array:
        """Return the bins of values, which must not lie below the first bin."""
        above = above_low(chunk, self.first << self.shift)
        above >>= above.dtype.type(self.shift)
        return above

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest value of bins as int64, or uint64 for uint64."""
        wide = np.dtype(np.uint64 if self.dtype == np.uint64 else np.int64)
        start = np.uint64((self.first << self.shift) % (1 << 64))
        low = start + (np.asarray(keys, np.uint64) << np.uint64(self.shift))
        high = low + np.uint64((1 << self.shift) - 1)
        return low.view(wide), high.view(wide)

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk in these bins."""
        wanted = np.zeros(MOST, np.bool_)
        wanted[keys] = True
        values: Array = chunk[wanted[np.minimum(self.keys(chunk), MOST - 1)]]
        return values


@dataclass(frozen=True, slots=True)
class CodeBins:
    """One bin a value of a type of 8 or 16 bits; keys are ranks of its values."""

    dtype: np.dtype[Any]

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the values of bins twice, float64 or int64."""
        values = code_table(self.dtype).levels[keys]
        return values, values.copy()

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk in these bins."""
        table = code_table(self.dtype)
        wanted = np.zeros(len(table.levels) + 1, np.bool_)
        wanted[keys] = True
        values: Array = chunk[wanted[table.places][table.codes(chunk)]]
        return values


@dataclass(frozen=True, slots=True, eq=False)
class GivenBins:
    """Bins with given, ascending bounds; none overlap."""

    low: Array
    high: Array

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest possible value of bins."""
        return self.low[keys], self.high[keys]

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk in these bins."""
        at = np.minimum(np.searchsorted(self.high, chunk), len(self.high) - 1)
        wanted = np.zeros(len(self.high), np.bool_)
        wanted[keys] = True
        values: Array = chunk[wanted[at] & (chunk >= self.low[at])]
        return values


_MANTISSA_BITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class CodeTable:
    """The values of all codes of a type."""

    dtype: np.dtype[Any]
    values: np.ndarray[Any, np.dtype[np.float64]]
    levels: np.ndarray[Any, Any]
    places: np.ndarray[Any, np.dtype[np.intp]]
    mantissas: np.ndarray[Any, np.dtype[np.int64]]
    exponents: np.ndarray[Any, np.dtype[np.int64]]
    smallest_normal: float

    def codes(self, chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the codes of values of this type, a view."""
        return chunk.view(f"<u{self.dtype.itemsize}")


@lru_cache(maxsize=64)
def code_table(dtype: np.dtype[Any]) -> CodeTable:
    """Return the table of a type of one or two bytes."""
    codes = np.arange(1 << 8 * dtype.itemsize, dtype=f"<u{dtype.itemsize}")
    is_integer = is_integral(dtype)
    with np.errstate(invalid="ignore"):
        values = (codes != 0 if dtype == np.bool_ else codes.view(dtype)).astype(np.float64)
    finite = np.isfinite(values)
    levels, inverse = np.unique(values[finite] + 0.0, return_inverse=True)
    places = np.full(len(codes), len(levels), np.intp)
    places[finite] = inverse
    if is_integer:
        mantissas, exponents = levels.astype(np.int64), np.zeros(len(levels), np.int64)
    else:
        fractions, powers = np.frexp(levels)
        mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
        exponents = powers.astype(np.int64) - _MANTISSA_BITS
    normal = 0.0 if is_integer else float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]
    shown = levels.astype(np.int64) if is_integer else levels
    for array in (values, shown, places, mantissas, exponents):
        array.setflags(write=False)
    return CodeTable(dtype, values, shown, places, mantissas, exponents, normal)


def is_integral(dtype: np.dtype[Any]) -> bool:
    """Return whether a type holds integers or truth values."""
    return dtype.kind in "biu" or dtype.name.startswith(("int", "uint"))


_SAFE_EXPONENT = 300
# Sums are integers in units of 2**-_UNIT, sums of squares in units of its square: every float64,
# also one that was scaled by the exponent of another, is a whole number of them.
_UNIT = 2200
_ROOT_BITS = 64
#: Sums below this part of their values have lost digits in float64.
_CANCELLED = 2.0**-12
#: Correct binary digits of the sum of a block.
_DIGITS = 44
_MANTISSA = 53
#: Values summed at a time: their copies stay in a core's own cache.
_BLOCK = 1 << 16
#: Larger values are summed apart, so that none overflows and none is lost beside them.
_LARGE_EXPONENT = 900
_LARGE_SHIFT = 600


@dataclass(slots=True)
class Moments:
    """Number, exact sum of block sums, and sum of squares of the added values."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def merge(self, other: Moments) -> None:
        """Add the values of another."""
        self.count += other.count
        self.total += other.total
        self.squares += other.squares

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self.count *= count
        self.total *= count
        self.squares *= count

    def add_floats(self, values: np.ndarray[Any, Any], peak: float) -> None:
        """Add finite floats, at least one; ``peak`` is their largest magnitude."""
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
        """Add finite floats by their sums; False if these have lost digits."""
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
        total = _integer_sum(above, high - low)
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
        return self.total / (self.count << _UNIT), math.isqrt(spread << 2 * _ROOT_BITS) / (
            self.count << _UNIT + _ROOT_BITS
        )


def _exponent(peak: float) -> int:
    """Return the power of two to divide by so that squares neither overflow nor vanish."""
    exponent = math.frexp(peak)[1]
    return 0 if abs(exponent) <= _SAFE_EXPONENT else exponent


def _sum(values: np.ndarray[Any, np.dtype[np.float64]], peak: float) -> int:
    """Return the sum of finite floats in units of ``2**-_UNIT``, right to ``_DIGITS`` digits.

    Common upper digits are split off and summed without rounding, again and again until the rest is
    negligible (S. M. Rump, T. Ogita, S. Oishi, Accurate floating-point summation I, SIAM J. Sci.
    Comput. 31, 2008).
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
    """Return integers minus their lower bound, unsigned and of the same width."""
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    wrapped = unsigned.type(low % (1 << 8 * unsigned.itemsize))
    above: np.ndarray[Any, Any] = values.view(unsigned) - wrapped
    return above


def _integer_sum(above: np.ndarray[Any, Any], most: int) -> int:
    """Return the exact sum of unsigned integers that are at most ``most``."""
    if most * len(above) < 1 << 64:
        return int(above.sum(dtype=np.uint64))
    high_half = int((above >> np.uint64(32)).sum(dtype=np.uint64))
    low_half = int((above & np.uint64(0xFFFFFFFF)).sum(dtype=np.uint64))
    return (high_half << 32) + low_half


def _squares(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the sum of squares, in place: the threads of a dot product spin, 9x the CPU time."""
    np.multiply(values, values, out=values)
    return float(values.sum())


def _fixed(value: float, unit: int) -> int:
    """Return a float as an integer in units of ``2**-unit``."""
    numerator, denominator = value.as_integer_ratio()
    return numerator << (unit + 1 - denominator.bit_length())
