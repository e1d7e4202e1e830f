"""Percentiles, exact after further passes inside their bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tvmdbg_widgets.model.statistics.bins import ValueBins
from tvmdbg_widgets.model.statistics.distribution import Distribution, Where, positions

#: Percentiles of every tensor in views, figures and pages.
PERCENTS = (1, 5, 25, 50, 75, 95, 99)
#: Below this number of values they are exact: the pass is not noticed.
EXACT_BELOW = 10_000_000
#: Values that are kept and sorted over all bins; more are counted, 16 bits at a time.
_KEPT = 1 << 20
_BITS = 16


@dataclass(slots=True)
class PercentileRange:
    """Values between two bounds; ``before`` others are smaller."""

    low: int
    high: int
    before: int
    count: int


def percentiles(
    distribution: Distribution,
    dtype: np.dtype[Any],
    percents: Sequence[float],
    look: Callable[[Callable[[], Narrower]], Narrower],
) -> list[float]:
    """Return percentiles as ``np.percentile`` does for the finite values as float64."""
    counts = distribution.counts
    wanted = positions(int(counts.sum()), percents)
    ranks = np.unique([[span.rank, span.next_rank] for span in wanted]) if wanted else np.zeros(0)
    ends = np.cumsum(counts)
    low, high = distribution.bounds()
    known: dict[int, Any] = {0: low[0].item(), int(ends[-1]) - 1: high[-1].item()}
    ranges: dict[int, PercentileRange] = {}
    at = np.searchsorted(ends, ranks, side="right")
    for rank, bin_ in zip(ranks.tolist(), at.tolist(), strict=True):
        if rank in known:
            continue
        if low[bin_] == high[bin_]:
            known[rank] = low[bin_].item()
        else:
            first, last = ordinal(low[bin_], dtype), ordinal(high[bin_], dtype)
            count = int(counts[bin_])
            ranges[rank] = PercentileRange(first, last, int(ends[bin_]) - count, count)
    keys = distribution.keys[np.unique(at)]
    while ranges:
        spans = sorted({(span.low, span.high) for span in ranges.values()})
        sizes = {(span.low, span.high): span.count for span in ranges.values()}
        keep = sum(sizes.values()) <= _KEPT
        inner = look(partial(Narrower, distribution.bins, keys, dtype, spans, keep))
        for rank, span in list(ranges.items()):
            narrower = inner.within(span, rank)
            if narrower.low == narrower.high:
                known[rank] = from_ordinal(narrower.low, dtype)
                del ranges[rank]
            else:
                ranges[rank] = narrower
    return [span.between(known[span.rank], known[span.next_rank]) for span in wanted]


class Narrower:
    """Collects the values of some ranges, or their counts by 65,536th part."""

    def __init__(
        self,
        bins: ValueBins,
        keys: np.ndarray[Any, Any],
        dtype: np.dtype[Any],
        spans: Sequence[tuple[int, int]],
        keep: bool,
    ) -> None:
        self._bins, self._keys, self._dtype, self._spans = bins, keys, dtype, spans
        self._kept: list[list[np.ndarray[Any, Any]]] | None = [[] for _ in spans] if keep else None
        self._shifts = [max(0, (high - low).bit_length() - _BITS) for low, high in spans]
        self._counts = [
            np.zeros(0 if keep else (high - low >> shift) + 1, np.int64)
            for (low, high), shift in zip(spans, self._shifts, strict=True)
        ]

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:  # noqa: ARG002 (a pass tells)
        """Collect from a piece."""
        values = ordinals(self._bins.inside(chunk, self._keys))
        for index, (low, high) in enumerate(self._spans):
            lower, upper = values.dtype.type(low), values.dtype.type(high)
            inside = values[(values >= lower) & (values <= upper)] - lower
            if self._kept is not None:
                self._kept[index].append(inside)
            else:
                places = (inside >> values.dtype.type(self._shifts[index])).astype(np.intp)
                self._counts[index] += np.bincount(places, minlength=len(self._counts[index]))

    def merge(self, other: Narrower) -> None:
        """Add the values of another."""
        self._counts = [a + b for a, b in zip(self._counts, other._counts, strict=True)]
        if self._kept is not None and other._kept is not None:
            self._kept = [a + b for a, b in zip(self._kept, other._kept, strict=True)]

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self._counts = [counts * count for counts in self._counts]
        if self._kept is not None:
            self._kept = [[np.repeat(counts, count) for counts in some] for some in self._kept]

    def within(self, each: PercentileRange, rank: int) -> PercentileRange:
        """Return the narrower range of a rank; a single value if all were kept."""
        index = self._spans.index((each.low, each.high))
        left = rank - each.before
        if self._kept is not None:
            values = np.concatenate(self._kept[index])
            value = each.low + int(np.partition(values, left)[left])
            return PercentileRange(value, value, rank, 1)
        ends = np.cumsum(self._counts[index])
        at = int(np.searchsorted(ends, left, side="right"))
        count = int(self._counts[index][at])
        shift = self._shifts[index]
        low = each.low + (at << shift)
        high = min(each.high, low + (1 << shift) - 1)
        return PercentileRange(low, high, each.before + int(ends[at]) - count, count)


def ordinals(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return unsigned integers of the same width in the order of the values; no NaN."""
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    words = values.view(unsigned)
    if values.dtype.kind == "u":
        return words
    top = unsigned.type(1 << 8 * unsigned.itemsize - 1)
    if values.dtype.kind == "i":
        flipped: np.ndarray[Any, Any] = words ^ top
        return flipped
    return np.where(words & top, ~words, words | top)


def ordinal(value: Any, dtype: np.dtype[Any]) -> int:
    """Return the ordinal of one value of a type."""
    return int(ordinals(np.array([value]).astype(dtype))[0])


def from_ordinal(number: int, dtype: np.dtype[Any]) -> Any:
    """Return the value of an ordinal as a Python number."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    word = np.array([number], unsigned)
    if dtype.kind == "u":
        return int(word[0])
    top = unsigned.type(1 << 8 * unsigned.itemsize - 1)
    if dtype.kind == "i":
        return int((word ^ top).view(dtype)[0])
    return float(np.where(word & top, word & ~top, ~word).view(dtype)[0])


def from_key(key: int, dtype: np.dtype[Any]) -> float:
    """Return the float of a signed key: its word, negative ones counting down."""
    word = key if key >= 0 else key ^ (1 << 8 * dtype.itemsize - 1) - 1
    return float(np.array([word], f"i{dtype.itemsize}").view(dtype)[0])
