"""Sequences made on demand, numbered rows and their sums, and joined byte ranges."""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.slips import public, row_of

Number = TypeVar("Number", bound=np.generic)
Item = TypeVar("Item", covariant=True)  # noqa: PLC0105 (named as what it stands for)
#: Values that span at most this many times their count are numbered by a table instead of sorting.
_SPARSE = 4


class MadeSequence(Sequence[Item]):
    """A sequence that makes its items on access; subclasses have ``__len__`` and ``_item``."""

    __slots__ = ()

    @abstractmethod
    def _item(self, at: int) -> Item:
        """Return the item at a place from 0 on."""

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    @public
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        places = range(len(self))
        if isinstance(index, slice):
            return tuple(map(self._item, places[index]))
        return self._item(row_of("row", index, len(places)))

    def __iter__(self) -> Iterator[Item]:
        return map(self._item, range(len(self)))


def frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Return an array after making it read-only."""
    array.flags.writeable = False
    return array


def numbered(*columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number the distinct rows of some integer columns from 0, in ascending order."""
    numbers, _ = _codes(columns[0])
    for column in columns[1:]:
        codes, count = _codes(column)
        numbers, _ = _codes(numbers * count + codes)
    return numbers


def flat_ranges(
    first: npt.NDArray[np.integer[Any]], sizes: npt.NDArray[np.integer[Any]]
) -> npt.NDArray[np.int64]:
    """Return ``first[i]``, ``first[i] + 1``, … up to ``sizes[i]`` numbers, for every i."""
    before = np.cumsum(sizes) - sizes
    numbers: npt.NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(first - before, sizes)
    return numbers


def first_rows(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the first rows of the numbers of :func:`numbered`."""
    rows = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    rows[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return rows


def _codes(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Number the distinct values of a column; also return their count, at least 1."""
    if not len(values):
        return np.zeros(0, np.int64), 1
    low, high = int(values.min()), int(values.max())
    if high - low >= _SPARSE * len(values):
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64, copy=False), len(distinct)
    places = values.astype(np.int64, copy=False) - low
    there = np.zeros(high - low + 1, np.bool_)
    there[places] = True
    if there.all():
        return places, len(there)
    codes = np.cumsum(there) - 1
    return codes[places], int(codes[-1]) + 1


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_EXACT: Final = 2.0**53
_KEYS: Final = 2.0**62
_NARROW: Final = 2**32


@dataclass(frozen=True, eq=False)
class Spread:
    """Order statistics of G groups, interpolated linearly; NaN for an empty group."""

    count: Ints
    minimum: Floats
    mean: Floats
    p50: Floats
    p90: Floats
    maximum: Floats

    def at(self, order: Ints) -> Spread:
        """Return the groups in an order."""
        names = ("count", "minimum", "mean", "p50", "p90", "maximum")
        return Spread(*(getattr(self, name)[order] for name in names))


def group_sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of values per group, rounded once."""
    if whole_numbers(values):
        return np.bincount(codes, weights=values, minlength=size).astype(np.float64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=size)).tolist()
    sorted_ = values[order].tolist()
    starts = [0, *ends[:-1]]
    return np.array([_rounded_sum(sorted_[a:b]) for a, b in zip(starts, ends, strict=True)])


def total(values: Floats) -> float:
    """Return the sum of values, rounded once."""
    return float(values.sum()) if whole_numbers(values) else _rounded_sum(values.tolist())


def _rounded_sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def group_spread(codes: Ints, values: Floats, size: int) -> Spread:
    """Return order statistics of values per group; arguments as of :func:`group_sums`."""
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
    return np.where(share < 0.5, a + (b - a) * share, b - (b - a) * (1 - share))


def _sorted_by_group(codes: Ints, values: Floats, size: int) -> Floats:
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
    """Return whether all values are integers with a sum that a double holds exactly."""
    if not len(values):
        return True
    with np.errstate(over="ignore"):
        if float(values.sum()) >= _EXACT / 2:
            return False
    return bool((values == np.floor(values)).all())


#: Largest gap that costs less than another request, and longest joined request.
GAP, LONGEST = 16 << 10, 1 << 20


def coalesced(
    ranges: Sequence[tuple[int, int]], gap: int = GAP, longest: int = LONGEST
) -> list[tuple[int, int]]:
    """Return spans ``(offset, length)``, ascending, that cover all ranges."""
    spans: list[tuple[int, int]] = []
    for offset, length in sorted(ranges):
        if spans:
            start, reached = spans[-1]
            end = max(start + reached, offset + length)
            near = offset <= start + reached + gap and end - start <= longest
            if near or offset + length <= start + reached:
                spans[-1] = (start, end - start)
                continue
        spans.append((offset, length))
    return spans


def cut(
    ranges: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]], parts: Sequence[bytes]
) -> list[bytes]:
    """Return the bytes of ranges from those of the spans that cover them."""
    starts = [start for start, _ in spans]
    pieces = []
    for offset, length in ranges:
        at = bisect_right(starts, offset) - 1
        begin = offset - starts[at]
        pieces.append(parts[at][begin : begin + length])
    return pieces


Range = tuple[float, float]


def checked_range(within: object) -> Range:
    """Return a range of nanoseconds as floats."""
    try:
        start, end = map(float, within)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        start = end = math.nan
    if not (math.isfinite(start) and math.isfinite(end) and start < end):
        raise ValueError(
            f"a range is (start, end) in nanoseconds with start before end, found {within!r:.80}"
        )
    return start, end
