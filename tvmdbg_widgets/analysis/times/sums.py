"""Exact sums and order statistics of columns, by group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_EXACT: Final = 2.0**53
_KEYS: Final = 2.0**62
_NARROW: Final = 2**32


@dataclass(frozen=True, eq=False)
class Spread:
    """Order statistics of the values of G groups; NaN for a group without any.

    Percentiles interpolate linearly between neighbors, as ``numpy.percentile`` does by default.
    """

    count: Ints
    minimum: Floats
    mean: Floats
    p50: Floats
    p90: Floats
    maximum: Floats


def group_sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of each group's values, rounded once."""
    if whole_numbers(values):
        return np.bincount(codes, weights=values, minlength=size).astype(np.float64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=size)).tolist()
    sorted_ = values[order].tolist()
    starts = [0, *ends[:-1]]
    return np.array([math.fsum(sorted_[a:b]) for a, b in zip(starts, ends, strict=True)])


def total(values: Floats) -> float:
    """Return the sum of values, rounded once."""
    return float(values.sum()) if whole_numbers(values) else math.fsum(values.tolist())


def group_spread(codes: Ints, values: Floats, size: int) -> Spread:
    """Return order statistics of each group's values; arguments as of :func:`group_sums`."""
    count = np.bincount(codes, minlength=size)
    ordered = _sorted_by_group(codes, values, size)
    first = np.cumsum(count) - count
    some = count > 0
    start, last = first[some], (first + count)[some] - 1
    columns = {name: np.full(size, np.nan) for name in ("minimum", "p50", "p90", "maximum")}
    columns["minimum"][some], columns["maximum"][some] = ordered[start], ordered[last]
    for name, share in (("p50", 0.5), ("p90", 0.9)):
        columns[name][some] = _between(
            ordered, start, np.asarray((count[some] - 1) * share, np.float64)
        )
    with np.errstate(invalid="ignore"):
        mean = np.where(some, group_sums(codes, values, size) / count, np.nan)
    return Spread(count=count, mean=mean, **columns)


def _between(ordered: Floats, first: Ints, place: Floats) -> Floats:
    low = np.floor(place)
    share = place - low
    a = ordered[first + low.astype(np.int64)]
    b = ordered[first + np.ceil(place).astype(np.int64)]
    near: Floats = np.where(share < 0.5, a + (b - a) * share, b - (b - a) * (1 - share))
    return near


def _sorted_by_group(codes: Ints, values: Floats, size: int) -> Floats:
    """Values in ascending order, group after group.

    Whole numbers are sorted with their group as one 64-bit key, which takes a tenth of the time of
    an indirect sort.
    """
    largest = float(values.max(initial=0.0))
    if size * (largest + 1) < _KEYS and whole_numbers(values):
        step = int(largest) + 1
        keys = codes * step + values.astype(np.int64)
        if size * step <= _NARROW:
            keys = keys.astype(np.uint32)
        keys.sort()
        return (keys % step).astype(np.float64)
    return values[np.lexsort((values, codes))]


def whole_numbers(values: Floats) -> bool:
    """Whether all values are whole numbers whose sum a double holds exactly."""
    if not len(values):
        return True
    if float(values.sum()) >= _EXACT / 2:
        return False
    return bool((values == np.floor(values)).all())
