"""Mean and standard deviation of many small arrays, where they come out as for each alone.

A pass over one array (:mod:`~tvmdbg_widgets.model.statistics.moments`) keeps sums as whole numbers
of any length and rounds once, at the end. Here float64 does the same where it can be shown to: sums
are exact where they fit its 53 bits, and a root or quotient is worked out to twice its digits and
taken where no possible error could round it to another number. Everything else is left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import ml_dtypes
import numpy as np

from tvmdbg_widgets.model.statistics.codes import is_whole

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, Any]
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Bools: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_EXACT = 2.0**53
_SPLIT = 2.0**27 + 1
#: Magnitudes between 2**-300 and 2**300: no square overflows, and none that matters vanishes.
_SAFE_EXPONENT = 300
#: What a root may be wrong by, in parts of it; its two halves hold 106 bits.
_UNSURE = 2.0**-90
#: What the sum of distances from a rounded mean takes from that of their squares; its own rounding
#: is then less than ``_UNSURE``.
_NEGLIGIBLE = 2.0**-45
#: As in ``moments.py``: digits to which a sum is right, and those of float64.
_DIGITS, _MANTISSA = 44, 53


class Means(NamedTuple):
    """Mean and standard deviation of each row, and whether they are known; others mean nothing."""

    mean: Floats
    std: Floats
    known: Bools


def moments(numbers: Array, dtype: np.dtype[Any]) -> Means:
    """Return what is known of rows of finite values, at least one each."""
    if numbers.shape[1] == 1:
        value = numbers[:, 0].astype(np.float64) + 0.0  # the mean of -0 is 0
        return Means(value, np.zeros(len(value)), np.ones(len(value), np.bool_))
    with np.errstate(all="ignore"):  # what overflows is not known
        if dtype.itemsize <= 2:
            return _of_codes(numbers, dtype)
        return _of_floats(numbers) if dtype.kind == "f" else _of_integers(numbers)


def _of_codes(numbers: Floats, dtype: np.dtype[Any]) -> Means:
    """All sums are exact: rows become integers, of which even the squares fit 63 bits."""
    count = numbers.shape[1]
    exponents = np.zeros(len(numbers), np.int64)
    if not is_whole(dtype):
        digits = int(ml_dtypes.finfo(dtype).nmant) + 1  # type: ignore[no-untyped-call]
        powers = np.where(numbers == 0, 1 << 20, np.frexp(numbers)[1]).min(1)
        exponents = np.where(powers < 1 << 20, powers - digits, 0)
    whole = np.ldexp(numbers, -exponents[:, None])
    known = np.abs(whole).max(1) * count < 2.0**31
    integers = np.where(known[:, None], whole, 0).astype(np.int64)
    total = integers.sum(1)
    spread = count * (integers * integers).sum(1) - total * total
    rounded = spread.astype(np.float64)
    rest = (spread - rounded.astype(np.int64)).astype(np.float64)
    std, sure = _root_of(rounded, rest, count)
    return Means(np.ldexp(total / count, exponents), np.ldexp(std, exponents), known & sure)


def _of_floats(values: Array) -> Means:
    """The first step of ``moments._sum``, whose two parts are the sum where no other follows."""
    count = values.shape[1]
    numbers = values.astype(np.float64)
    top = np.frexp(np.abs(numbers).max(1))[1]
    bits = count.bit_length() + 1
    first = np.ldexp(1.0, top + bits)[:, None]
    upper = numbers + first
    upper -= first
    lower = numbers - upper
    total = upper.sum(1)
    rounding = top + 3 * bits - 2 * _MANTISSA + 1
    enough = (total != 0) & (np.frexp(total)[1] > rounding + _DIGITS)
    known = (np.abs(top) <= _SAFE_EXPONENT) & (enough | (lower == 0).all(1))
    total, rest = _sum(total, lower.sum(1))
    mean, sure = _quotient(total, rest, count)
    return _around(numbers, mean, mean, (total, rest), known & sure)


def _of_integers(values: Array) -> Means:
    count = values.shape[1]
    low = values.min(1)
    above = _above(values, low)
    total = above.sum(1)
    low_total = low.astype(np.float64) * count
    known = (np.abs(low_total) + above.max(1) * count) < _EXACT
    nothing = np.zeros(len(total))
    return _around(above, total / count, (low_total + total) / count, (total, nothing), known)


def _above(values: Array, low: Array) -> Floats:
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    above: Floats = (values.view(unsigned) - low.view(unsigned)[:, None]).astype(np.float64)
    return above


def _around(
    numbers: Floats, center: Floats, mean: Floats, sums: tuple[Floats, Floats], known: Bools
) -> Means:
    """Add up squares around a center, the rounded mean of the numbers, as for one array."""
    count = numbers.shape[1]
    distances = numbers - center[:, None]
    squares = np.multiply(distances, distances, out=distances).sum(1)
    product, rest = _product(center, float(count))
    left = (sums[0] - product) - rest + sums[1]
    whole, whole_rest = _product(squares, float(count))
    taken, taken_rest = _product(left, left)
    known = known & ((squares == 0) | (taken < whole * _NEGLIGIBLE))
    high, low = _sum(whole, -taken)
    high, low = _sum(high, low + (whole_rest - taken_rest))
    std, sure = _root_of(np.where(squares == 0, 0.0, high), np.where(squares == 0, 0, low), count)
    return Means(mean, std, known & sure)


def _quotient(high: Floats, low: Floats, count: int) -> tuple[Floats, Bools]:
    """Return ``(high + low) / count``, and where that is the float64 next to it for sure."""
    found = high / count
    product, rest = _product(found, float(count))
    more = ((high - product) - rest + low) / count
    error = np.abs(found) * _UNSURE
    least = found + (more - error)
    return least, least == found + (more + error)


def _root_of(high: Floats, low: Floats, count: int) -> tuple[Floats, Bools]:
    """Return ``sqrt(high + low) / count``, and where that is the float64 next to it for sure."""
    root = np.sqrt(high)
    square, rest = _product(root, root)
    more = np.where(root > 0, ((high - square) - rest + low) / (2 * root), 0.0)
    return _quotient(root, more, count)


def _sum(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return a sum rounded, and what that leaves (D. E. Knuth)."""
    found = one + other
    part = found - one
    return found, (one - (found - part)) + (other - part)


def _product(one: Floats, other: Floats | float) -> tuple[Floats, Floats]:
    """Return a product rounded, and what that leaves (T. J. Dekker)."""
    found = one * other
    (high, low), (other_high, other_low) = _halves(one), _halves(other)
    rest = ((high * other_high - found) + high * other_low + low * other_high) + low * other_low
    return found, rest


def _halves(number: Any) -> tuple[Any, Any]:
    """Split the digits of a number in two."""
    high = number * _SPLIT
    high = high - (high - number)
    return high, number - high
