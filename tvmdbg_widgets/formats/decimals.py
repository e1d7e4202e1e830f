"""Decimal microseconds from files, converted exactly to integer nanoseconds.

A double of 16 digits before the point holds a microsecond to 250 ns; traces count from 1970.
"""

from __future__ import annotations

import decimal
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

#: Larger times are refused, so that differences of two fit 64 bits.
LARGEST_NS = 1 << 62
_PLACES = 3  # of a microsecond in nanoseconds
_MOST_DIGITS = 18  # of 64 bits, whatever they are
_EXACT = decimal.Context(
    prec=80, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation]
)
_FURTHEST = 40  # powers of ten

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class DecimalText(str):
    """A JSON number with a fraction or an exponent, as the file writes it."""

    __slots__ = ()


class Wrong(IntEnum):
    """Reasons for a value not to be a time."""

    NO = 0
    NO_NUMBER = 1
    NOT_FINITE = 2


@dataclass(frozen=True, eq=False)
class Nanoseconds:
    """N times."""

    whole: Ints
    rest: Floats | None
    wrong: npt.NDArray[np.uint8]


def nanoseconds(values: Sequence[Any]) -> Nanoseconds:
    """Read microseconds."""
    kinds = set(map(type, values))
    if kinds == {int}:
        integers = _integers(values)
        if integers is not None:
            return integers
    if kinds <= {str, DecimalText}:
        return _texts(values)
    numbers = {int, float, str, DecimalText}
    return _texts([str(value) if type(value) in numbers else "" for value in values])


def _integers(values: Sequence[int]) -> Nanoseconds | None:
    most = LARGEST_NS // 10**_PLACES - 1
    try:
        ns = np.array(values, np.int64)
    except OverflowError:
        return None
    if len(ns) and not -most <= int(ns.min()) <= int(ns.max()) <= most:
        return None
    return Nanoseconds(ns * 10**_PLACES, None, np.zeros(len(ns), np.uint8))


def nanoseconds_of_json(values: Sequence[bytes]) -> Nanoseconds:
    """Read microseconds from raw JSON values; empty ones are no numbers."""
    joined = b"\n".join(values) + b"\n"
    if b'"' in joined or joined.count(b"\n") != len(values):
        texts = [bytes(value).decode() for value in values]
        return _texts([json.loads(text) if text.startswith('"') else text for text in texts])
    return _lines(joined, len(values))


def _texts(texts: Sequence[str]) -> Nanoseconds:
    joined = ("\n".join(texts) + "\n").encode("utf-8", "replace")
    if joined.count(b"\n") != len(texts):
        return _one_by_one(texts, np.arange(len(texts)))
    return _lines(joined, len(texts))


def _lines(joined: bytes, count: int) -> Nanoseconds:
    """Read the lines of digits with a point, nearly all of them, in one go."""
    data = np.frombuffer(joined, np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    digits = data - np.uint8(ord("0")) < np.uint8(10)
    signed = data[starts] == ord("-")
    width = ends - starts
    if width.min() > _PLACES and width.max() <= _MOST_DIGITS + 1:
        others = len(data) - np.count_nonzero(digits) - np.count_nonzero(signed)
        if others == 2 * count and (data[ends - _PLACES - 1] == ord(".")).all():
            return Nanoseconds(_digits(joined), None, np.zeros(count, np.uint8))
    points = np.flatnonzero(data == ord("."))
    of_point = np.searchsorted(ends, points)
    number_of = np.bincount(of_point, minlength=count)
    digit_count = np.add.reduceat(digits, starts, dtype=np.int64)
    known = digit_count + number_of + signed == width
    known &= (digit_count > 0) & (number_of <= 1)
    places = np.zeros(count, np.int64)
    places[of_point] = ends[of_point] - points - 1
    most = _MOST_DIGITS + (data[starts + signed] <= ord("4"))
    known &= digit_count + np.maximum(0, _PLACES - places) <= most
    plain = np.flatnonzero(known)
    texts: list[str] = []
    if len(plain) < count:
        texts = joined.decode().split("\n")
        joined = "".join(f"{texts[i]}\n" for i in plain.tolist()).encode()
    mantissa = _digits(joined) if len(plain) else plain
    ns, rest = _scaled(mantissa, places[plain])
    wrong = np.where(np.abs(ns) < LARGEST_NS, Wrong.NO, Wrong.NOT_FINITE).astype(np.uint8)
    ns[wrong != Wrong.NO] = 0
    if len(plain) == count:
        return Nanoseconds(ns, rest, wrong)
    times = _one_by_one(texts[:count], np.flatnonzero(~known))
    times.whole[plain], times.wrong[plain] = ns, wrong
    if times.rest is not None and rest is not None:
        times.rest[plain] = rest
    return times


def _digits(lines: bytes) -> Ints:
    return np.fromstring(lines.replace(b".", b"").decode("ascii"), np.int64, sep="\n")


def _scaled(mantissa: Ints, places: Ints) -> tuple[Ints, Floats | None]:
    """Return digits with decimal places as nanoseconds, and the remainders."""
    least, most = (int(places.min()), int(places.max())) if len(places) else (_PLACES, _PLACES)
    if least == most == _PLACES:
        return mantissa, None
    ns = mantissa * 10 ** np.maximum(0, _PLACES - places)
    if most <= _PLACES:
        return ns, None
    divisor = 10 ** np.maximum(0, places - _PLACES)
    ns, left = np.divmod(ns, divisor)
    return ns, left / divisor if left.any() else None


def _one_by_one(texts: Sequence[str], chosen: Ints) -> Nanoseconds:
    """Read texts with exponents, of many digits, or that are no numbers."""
    ns, rest = np.zeros(len(texts), np.int64), np.zeros(len(texts))
    wrong = np.zeros(len(texts), np.uint8)
    for at in chosen.tolist():
        try:
            value = _EXACT.create_decimal(texts[at].strip())
        except decimal.InvalidOperation:
            wrong[at] = Wrong.NO_NUMBER
            continue
        if not value.is_finite() or (value and value.adjusted() > _FURTHEST):
            wrong[at] = Wrong.NOT_FINITE
            continue
        if value.adjusted() < -_FURTHEST:  # no double tells it from 0 beside a nanosecond
            continue
        scaled = _EXACT.scaleb(value, _PLACES)
        floor = int(scaled.to_integral_value(decimal.ROUND_FLOOR))
        if abs(floor) >= LARGEST_NS:
            wrong[at] = Wrong.NOT_FINITE
            continue
        ns[at], rest[at] = floor, float(_EXACT.subtract(scaled, floor))
    return Nanoseconds(ns, rest, wrong)
