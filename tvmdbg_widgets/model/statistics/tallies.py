"""Tallies of the values of all types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics.bins import MOST, CodeBins, IntegerBins, Moments, code_table
from tvmdbg_widgets.model.statistics.distribution import Distribution, Extremes, Where
from tvmdbg_widgets.model.statistics.result import FloatTally, Statistics

#: Number of squares of 16-bit mantissas whose sum fits an int64.
_FIT = 1 << 30
_BYTE = 256


class CodeTally:
    """Counts of codes; values are read only for the positions of new codes."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.counts = np.zeros(1 << 8 * dtype.itemsize, np.int64)
        self.extremes = Extremes()

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Count one chunk, at least one value."""
        table = code_table(self.dtype)
        codes = table.codes(chunk)
        size = len(self.counts)
        counts = _byte_counts(codes) if size == _BYTE else np.bincount(codes, minlength=size)
        new = np.flatnonzero((counts != 0) & (self.counts == 0))
        self.counts += counts
        if len(new):
            self._positions(chunk, codes, table.values[new], where)

    def _positions(
        self,
        chunk: np.ndarray[Any, Any],
        codes: np.ndarray[Any, Any],
        new: np.ndarray[Any, np.dtype[np.float64]],
        where: Where,
    ) -> None:
        """Find the first positions of new values."""
        values, ends = code_table(self.dtype).values, self.extremes

        def index(matches: Callable[[Any], Any]) -> int:
            return int(matches(values)[codes].argmax())

        finite = new[np.isfinite(new)]
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            ends.take(low, high, chunk, where, lambda value: index(lambda v: v == value))
        if len(finite) == len(new):
            return
        if ends.first_nan is None and np.isnan(new).any():
            ends.first_nan = where(index(np.isnan))
        if ends.first_pos_inf is None and (new == np.inf).any():
            ends.first_pos_inf = where(index(np.isposinf))
        if ends.first_neg_inf is None and (new == -np.inf).any():
            ends.first_neg_inf = where(index(np.isneginf))

    def merge(self, other: CodeTally) -> None:
        """Add the counts of other values of the same array."""
        self.counts += other.counts
        self.extremes.merge(other.extremes)

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self.counts *= count

    def finish(self) -> Statistics:
        """Return everything but the histogram."""
        table = code_table(self.dtype)
        present = np.flatnonzero(self.counts)
        counts = self.counts[present]
        values = table.values[present]

        def those(mask: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
            return int(counts[mask].sum())

        places = table.places[present]
        finite = places < len(table.levels)
        keys, at = np.unique(places[finite], return_inverse=True)
        levels = np.zeros(len(keys), np.int64)
        np.add.at(levels, at, counts[finite])
        moments = self._moments(keys, levels)
        mean, std = moments.mean_and_std()
        magnitudes = np.abs(values)
        distribution = None
        if len(keys):
            low, high = table.levels[keys[0]].item(), table.levels[keys[-1]].item()
            distribution = Distribution(CodeBins(self.dtype), keys, levels, low, high)
        truth = self.dtype == np.bool_
        return Statistics(
            size=int(counts.sum()),
            finite=moments.count,
            nan=those(np.isnan(values)),
            pos_inf=those(values == np.inf),
            neg_inf=those(values == -np.inf),
            zero=those(values == 0),
            negative=those(values < 0),
            mean=mean,
            std=std,
            denormal=those((magnitudes > 0) & (magnitudes < table.smallest_normal)),
            at_lowest=None if truth else int(levels[keys == 0].sum()),
            at_highest=None if truth else int(levels[keys == len(table.levels) - 1].sum()),
            distribution=distribution,
            **self.extremes.facts(),
        )

    def _moments(
        self, keys: np.ndarray[Any, Any], counts: np.ndarray[Any, np.dtype[np.int64]]
    ) -> Moments:
        """Sum exactly: integer mantissas, one exponent after the other."""
        table, moments = code_table(self.dtype), Moments()
        mantissas, exponents = table.mantissas[keys], table.exponents[keys]
        if counts.sum() >= _FIT:
            counts, mantissas = counts.astype(object), mantissas.astype(object)
        order = np.argsort(exponents, kind="stable")
        counts, mantissas, exponents = counts[order], mantissas[order], exponents[order]
        starts = np.flatnonzero(np.diff(exponents, prepend=1 << 20))
        if not len(starts):
            return moments
        sums = [
            np.add.reduceat(terms, starts)
            for terms in (counts, counts * mantissas, counts * mantissas * mantissas)
        ]
        for count, total, squares, exponent in zip(*sums, exponents[starts], strict=True):
            moments.add_exactly(int(count), int(total), int(squares), int(exponent))
        return moments


def _byte_counts(codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Count bytes, two at a time if there are many."""
    if len(codes) < 8 * _BYTE * _BYTE:
        return np.bincount(codes, minlength=_BYTE)
    pairs = np.bincount(codes[: len(codes) & ~1].view("<u2"), minlength=_BYTE * _BYTE)
    square = pairs.reshape(_BYTE, _BYTE)
    counts: np.ndarray[Any, Any] = square.sum(0) + square.sum(1)
    if len(codes) & 1:
        counts[codes[-1]] += 1
    return counts


class IntegerTally:
    """Counts in equal bins of ``2**k``, merged into wider ones as the range of values grows."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.bins = IntegerBins(dtype, 0, 0)
        self.counts = np.zeros(0, np.int64)
        self.extremes = Extremes()
        self.moments = Moments()
        #: Values by class: zero, negative, the lowest and the highest of the type.
        self.apart = np.zeros(4, np.int64)

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Count one chunk, at least one value."""
        low, high = int(chunk.min()), int(chunk.max())
        info = np.iinfo(self.dtype)
        self.extremes.take(low, high, chunk, where)
        if low <= 0 <= high:
            self.apart[0] += len(chunk) - np.count_nonzero(chunk)
        if low < 0:
            self.apart[1] += np.count_nonzero(chunk < 0) if high >= 0 else len(chunk)
        if low == info.min:
            self.apart[2] += np.count_nonzero(chunk == info.min)
        if high == info.max:
            self.apart[3] += np.count_nonzero(chunk == info.max)
        self._widen()
        keys = self.bins.keys(chunk).view(f"i{self.dtype.itemsize}")
        self.counts += np.bincount(keys, minlength=len(self.counts))
        self.moments.add_integers(chunk, low, high)

    def _widen(self) -> None:
        """Make the bins fit the bounds."""
        low, high = self.extremes.low, self.extremes.high
        assert isinstance(low, int)  # noqa: S101 (integers have integer bounds)
        assert isinstance(high, int)  # noqa: S101
        shift = max(0, (high - low).bit_length() - MOST.bit_length() + 1)
        while (high >> shift) - (low >> shift) >= MOST:
            shift += 1
        wider = IntegerBins(self.dtype, low >> shift, shift)
        size = (high >> shift) - wider.first + 1
        if wider != self.bins or size != len(self.counts):
            self.counts = _regrouped(self.counts, self.bins, wider, size)
            self.bins = wider

    def merge(self, other: IntegerTally) -> None:
        """Add the counts of other values of the same array."""
        if other.extremes.low is None:
            return
        self.extremes.merge(other.extremes)
        self.moments.merge(other.moments)
        self.apart += other.apart
        self._widen()
        self.counts += _regrouped(other.counts, other.bins, self.bins, len(self.counts))

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self.moments.times(count)
        self.counts *= count
        self.apart *= count

    def finish(self) -> Statistics:
        """Return everything but the histogram."""
        size, ends = self.moments.count, self.extremes
        mean, std = self.moments.mean_and_std()
        zero, negative, lowest, highest = self.apart.tolist()
        distribution = None
        if ends.low is not None and ends.high is not None:
            keys = np.flatnonzero(self.counts)
            distribution = Distribution(self.bins, keys, self.counts[keys], ends.low, ends.high)
        return Statistics(
            size=size,
            finite=size,
            nan=0,
            pos_inf=0,
            neg_inf=0,
            zero=zero,
            negative=negative,
            mean=mean,
            std=std,
            at_lowest=lowest,
            at_highest=highest,
            distribution=distribution,
            **ends.facts(),
        )


def _regrouped(
    counts: np.ndarray[Any, np.dtype[np.int64]], bins: IntegerBins, wider: IntegerBins, size: int
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return counts in wider bins that cover the present ones."""
    wide = np.zeros(size, np.int64)
    if len(counts):
        # Numbered from a border of the wider bins: from the first of these int64 overflows.
        steps = wider.shift - bins.shift
        border, ahead = divmod(bins.first, 1 << steps)
        places = ((np.arange(len(counts)) + ahead) >> steps) + (border - wider.first)
        np.add.at(wide, places, counts)
    return wide


Tally: TypeAlias = CodeTally | FloatTally | IntegerTally


def tally(dtype: np.dtype[Any], *, fast: bool = False) -> Tally:
    """Return an empty tally for values of a type that has an order."""
    if dtype.itemsize <= 2:
        return CodeTally(dtype)
    return FloatTally(dtype, fast=fast) if dtype.kind == "f" else IntegerTally(dtype)
