"""What is counted of float32 and float64 values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvmdbg_widgets.model.statistics import compiled
from tvmdbg_widgets.model.statistics.bins import MOST, FloatBins
from tvmdbg_widgets.model.statistics.compiled import Kernel
from tvmdbg_widgets.model.statistics.distribution import Distribution
from tvmdbg_widgets.model.statistics.extremes import Extremes, Where
from tvmdbg_widgets.model.statistics.moments import Moments
from tvmdbg_widgets.model.statistics.ordinals import from_key
from tvmdbg_widgets.model.statistics.result import Statistics

_SIGN = 0x8000


class FloatTally:
    """Counts by the upper 16 bits; where those leave a class open, the values are looked at.

    Open are zeros among denormals (0x0000, 0x8000), infinities among NaNs (0x7F80, 0xFF80 of
    float32) and the largest finite magnitude.
    """

    def __init__(self, dtype: np.dtype[Any], *, fast: bool = False) -> None:
        self._compiled = fast
        self.bins = FloatBins(dtype)
        self.prefixes = np.zeros(MOST, np.int64)
        self.extremes = Extremes()
        self.moments = Moments()
        #: Values by class: 0, -0, +Inf, -Inf, largest finite, lowest finite.
        self.apart = np.zeros(6, np.int64)
        bits, infinite = 8 * dtype.itemsize - 16, self.bins.infinite
        self._apart_prefixes = [0, _SIGN, infinite, infinite | _SIGN, infinite - 1]
        self._apart_prefixes.append(infinite - 1 | _SIGN)
        words = [prefix << bits for prefix in self._apart_prefixes]
        words[4:] = [word | (1 << bits) - 1 for word in words[4:]]
        self._apart_words = np.array(words, f"u{dtype.itemsize}")

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Count one chunk, at least one value."""
        counted = compiled.kernel(self.bins.dtype) if self._compiled else None
        if counted is not None:
            self._add_compiled(counted, chunk, where)
            return
        prefixes = np.bincount(self.bins.prefixes(chunk), minlength=MOST)
        self.prefixes += prefixes
        apart = self._set_apart(chunk, prefixes[self._apart_prefixes])
        infinite = self.bins.infinite
        special = bool(prefixes[infinite:_SIGN].any() or prefixes[infinite | _SIGN :].any())
        self._add_finite(self._specials(chunk, apart, where) if special else chunk, chunk, where)

    def _add_compiled(self, counted: Kernel, chunk: np.ndarray[Any, Any], where: Where) -> None:
        table = self.prefixes
        before = table[self._apart_prefixes]
        words = chunk.view(f"i{chunk.dtype.itemsize}")
        lowest, highest, *sums = counted(chunk, words, table)
        apart = self._set_apart(chunk, table[self._apart_prefixes] - before)
        low, high = (from_key(key, chunk.dtype) for key in (lowest, highest))
        if not (math.isfinite(low) and math.isfinite(high)):
            self._add_finite(self._specials(chunk, apart, where), chunk, where)
            return
        self._bounds(chunk, low, high, where)
        if not self.moments.add_sums(len(chunk), *sums, peak=max(abs(low), abs(high))):
            self.moments.add_floats(chunk, max(abs(low), abs(high)))

    def _set_apart(self, chunk: np.ndarray[Any, Any], there: np.ndarray[Any, Any]) -> list[int]:
        """Look at the values where the upper bits leave their class open."""
        words = chunk.view(self._apart_words.dtype)
        apart = [
            int(np.count_nonzero(words == word)) if count else 0
            for count, word in zip(there, self._apart_words, strict=True)
        ]
        self.apart += apart
        return apart

    def _add_finite(
        self, finite: np.ndarray[Any, Any], chunk: np.ndarray[Any, Any], where: Where
    ) -> None:
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            self._bounds(chunk, low, high, where)
            self.moments.add_floats(finite, max(abs(low), abs(high)))

    def _specials(
        self, chunk: np.ndarray[Any, Any], apart: list[int], where: Where
    ) -> np.ndarray[Any, Any]:
        """Note where NaN and infinities lie first; return the finite values."""
        found = self.extremes
        if found.nan is None and (is_nan := np.isnan(chunk)).any():
            found.nan = where(int(is_nan.argmax()))
        if found.pos_inf is None and apart[2]:
            found.pos_inf = where(int((chunk == np.inf).argmax()))
        if found.neg_inf is None and apart[3]:
            found.neg_inf = where(int((chunk == -np.inf).argmax()))
        finite: np.ndarray[Any, Any] = chunk[np.isfinite(chunk)]
        return finite

    def _bounds(self, chunk: np.ndarray[Any, Any], low: float, high: float, where: Where) -> None:
        if self.extremes.is_lower(low):
            index = int((chunk == low).argmax())
            self.extremes.take_low(low, chunk[index], where(index))
        if self.extremes.is_higher(high):
            index = int((chunk == high).argmax())
            self.extremes.take_high(high, chunk[index], where(index))

    def merge(self, other: FloatTally) -> None:
        """Add what another has counted of other values of the same array."""
        self.prefixes += other.prefixes
        self.apart += other.apart
        self.extremes.merge(other.extremes)
        self.moments.merge(other.moments)

    def times(self, count: int) -> None:
        """Count all values so many times."""
        self.prefixes *= count
        self.apart *= count
        self.moments.times(count)

    def finish(self) -> Statistics:
        """Return everything but the histogram."""
        zeros, negative_zeros, pos_inf, neg_inf, highest, lowest = self.apart.tolist()
        codes = np.flatnonzero(self.prefixes)
        all_counts = self.prefixes[codes]
        size, finite = int(all_counts.sum()), self.moments.count
        counts = all_counts.copy()
        counts[codes == 0] -= zeros
        counts[codes == _SIGN] -= negative_zeros
        magnitudes = codes & (_SIGN - 1)
        some = (counts > 0) & (magnitudes < self.bins.infinite)
        codes, magnitudes, counts = codes[some], magnitudes[some], counts[some]
        positive = int(np.searchsorted(codes, _SIGN))
        mean, std = self.moments.mean_and_std()
        found = self.extremes
        distribution = None
        if found.low is not None and found.high is not None:
            keys, inside = self._keyed(magnitudes, counts, positive, zeros + negative_zeros)
            distribution = Distribution(self.bins, keys, inside, found.low, found.high)
        return Statistics(
            size=size,
            finite=finite,
            nan=size - finite - pos_inf - neg_inf,
            pos_inf=pos_inf,
            neg_inf=neg_inf,
            zero=zeros + negative_zeros,
            negative=int(counts[positive:].sum()) + neg_inf,
            minimum=found.minimum,
            maximum=found.maximum,
            argmin=found.argmin,
            argmax=found.argmax,
            mean=mean,
            std=std,
            histogram=None,
            denormal=int(counts[magnitudes < self.bins.normal].sum()),
            first_nan=found.nan,
            first_pos_inf=found.pos_inf,
            first_neg_inf=found.neg_inf,
            at_lowest=lowest,
            at_highest=highest,
            distribution=distribution,
        )

    def _keyed(
        self,
        magnitudes: np.ndarray[Any, Any],
        counts: np.ndarray[Any, Any],
        positive: int,
        zeros: int,
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return bins and counts of finite values, of which those above zero come first."""
        zero, below = self.bins.infinite, slice(positive, None)
        middle = np.full(int(zeros > 0), zero, np.int64)
        keys = [
            zero - 1 - magnitudes[below][::-1],
            middle,
            zero + 1 + magnitudes[:positive],
        ]
        inside = [counts[below][::-1], np.full(len(middle), zeros), counts[:positive]]
        return np.concatenate(keys), np.concatenate(inside)
