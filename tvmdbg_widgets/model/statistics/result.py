"""The statistics of one array from one pass over it."""

from __future__ import annotations

import importlib.util
import logging
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.number_text import computed_text, is_integer, number_text
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.statistics.bins import MOST, FloatBins, Moments
from tvmdbg_widgets.model.statistics.distribution import (
    Distribution,
    Extremes,
    Histogram,
    Interval,
    Where,
)
from tvmdbg_widgets.model.statistics.percentiles import from_key


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statistics:
    """Counts over all values; bounds, moments and distribution over the finite ones.

    Positions are flat indices in C order of the stored values.

    Attributes
    ----------
    size
        Number of counted scalars.
    finite, nan, pos_inf, neg_inf, zero, negative
        How many are finite, NaN, +Inf, -Inf, zero (either sign), below zero (-Inf included).
    minimum, maximum
        Of the finite values, scalars of the array's own type; None without finite values.
    argmin, argmax
        Position of their first occurrence among the counted values.
    mean, std
        Of the finite values, ``std`` dividing by their number; NaN without finite values.
    histogram
        Counts in equal bins from minimum to maximum; None without finite values.
    exact
        Whether all values were counted.
    reason
        Why nothing was computed (complex and raw types); empty otherwise.
    denormal
        How many lie between zero and the type's smallest normal number; 0 for integers.
    first_nan, first_pos_inf, first_neg_inf
        Position of the first; None where there is none.
    at_lowest, at_highest
        How many equal the type's lowest and highest finite value; None for bool.
    distribution
        All finite values in at most 65,536 bins; None without finite values.
    """

    size: int
    finite: int
    nan: int
    pos_inf: int
    neg_inf: int
    zero: int
    negative: int
    minimum: Any
    maximum: Any
    argmin: int | None
    argmax: int | None
    mean: float
    std: float
    histogram: Histogram | None = None
    exact: bool = True
    reason: str = ""
    denormal: int = 0
    first_nan: int | None = None
    first_pos_inf: int | None = None
    first_neg_inf: int | None = None
    at_lowest: int | None = None
    at_highest: int | None = None
    distribution: Distribution | None = None

    def __repr__(self) -> str:
        if self.reason:
            return f"Statistics: none, {self.reason}"
        bounds = "no bounds"
        if self.finite:
            bounds = (
                f"{number_text(self.minimum)} … {number_text(self.maximum)}, "
                f"mean {computed_text(self.mean)}, std {computed_text(self.std)}"
            )
        specials = f"{self.nan:,} NaN, {self.pos_inf:,} +Inf, {self.neg_inf:,} -Inf, "
        dtype = np.asarray(self.minimum).dtype
        holds_none = dtype.kind == "b" or is_integer(dtype)
        return (
            f"Statistics: {counted(self.size, 'value')}, {self.finite:,} finite, "
            f"{'' if holds_none else specials}{self.zero:,} zero; {bounds}"
            + ("" if self.exact else "; of a sample")
        )

    @property
    def applicable(self) -> bool:
        """Whether the type has an order and hence statistics."""
        return not self.reason

    def percentile(self, percent: float) -> Interval:
        """Return bounds of a percentile of the finite values, as the distribution tells them.

        The percentile is that of ``np.percentile`` (method ``"linear"``) on the values as float64.

        Parameters
        ----------
        percent
            0 to 100.

        Returns
        -------
        Interval
            Equal bounds where it is exact; NaN and NaN without finite values.
        """
        if self.distribution is None:
            return Interval(math.nan, math.nan)
        return self.distribution.percentile(percent)

    def redacted(self, *, counts_only: bool) -> Statistics:
        """Return the statistics without distribution, percentiles and positions.

        With ``counts_only``, also without bounds, moments and histogram.
        """
        redacted = replace(
            self, distribution=None, first_nan=None, first_pos_inf=None, first_neg_inf=None
        )
        if not counts_only:
            return redacted
        return replace(
            redacted,
            minimum=None,
            maximum=None,
            argmin=None,
            argmax=None,
            mean=math.nan,
            std=math.nan,
            histogram=None,
            at_lowest=None,
            at_highest=None,
        )

    @classmethod
    def not_applicable(cls, size: int, reason: str) -> Statistics:
        """Return the statistics of an array that has none, with the reason."""
        nothing = (None, None, None, None, math.nan, math.nan, None)
        return cls(size, 0, 0, 0, 0, 0, 0, *nothing, exact=True, reason=reason)


_SIGN = 0x8000
#: Values that are counted one by one faster than the table of all prefixes is added.
_FEW = 4096


class FloatTally:
    """Counts by the upper 16 bits; values are read if these leave their class open."""

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
        counted = kernel(self.bins.dtype) if self._compiled else None
        if counted is not None:
            self._add_compiled(counted, chunk, where)
            return
        if len(chunk) <= _FEW:
            np.add.at(self.prefixes, self.bins.prefixes(chunk), 1)
            apart = self._set_apart(chunk, np.ones(6))
            special = not np.isfinite(chunk).all()
        else:
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
        self.extremes.take(low, high, chunk, where)
        if not self.moments.add_sums(len(chunk), *sums, peak=max(abs(low), abs(high))):
            self.moments.add_floats(chunk, max(abs(low), abs(high)))

    def _set_apart(self, chunk: np.ndarray[Any, Any], there: np.ndarray[Any, Any]) -> list[int]:
        """Classify the values whose upper bits leave their class open."""
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
            self.extremes.take(low, high, chunk, where)
            self.moments.add_floats(finite, max(abs(low), abs(high)))

    def _specials(
        self, chunk: np.ndarray[Any, Any], apart: list[int], where: Where
    ) -> np.ndarray[Any, Any]:
        """Note the first positions of NaN and infinities; return the finite values."""
        extremes = self.extremes
        if extremes.first_nan is None and (is_nan := np.isnan(chunk)).any():
            extremes.first_nan = where(int(is_nan.argmax()))
        if extremes.first_pos_inf is None and apart[2]:
            extremes.first_pos_inf = where(int((chunk == np.inf).argmax()))
        if extremes.first_neg_inf is None and apart[3]:
            extremes.first_neg_inf = where(int((chunk == -np.inf).argmax()))
        finite: np.ndarray[Any, Any] = chunk[np.isfinite(chunk)]
        return finite

    def merge(self, other: FloatTally) -> None:
        """Add the counts of other values of the same array."""
        self.prefixes += other.prefixes
        self.apart += other.apart
        self.extremes.merge(other.extremes)
        self.moments.merge(other.moments)

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self.prefixes *= count
        self.apart *= count
        self.moments.times(count)

    def finish(self) -> Statistics:
        """Return everything but the histogram."""
        zeros, negative_zeros, pos_inf, neg_inf, highest, lowest = self.apart.tolist()
        codes = np.flatnonzero(self.prefixes != 0)  # of booleans: five times as fast
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
        extremes = self.extremes
        distribution = None
        if extremes.low is not None and extremes.high is not None:
            # Those below zero from far to near, zero, those above it from near to far.
            zero, below = self.bins.infinite, slice(positive, None)
            middle = np.full(int(zeros + negative_zeros > 0), zero, np.int64)
            keys = [zero - 1 - magnitudes[below][::-1], middle, zero + 1 + magnitudes[:positive]]
            some_zeros = np.full(len(middle), zeros + negative_zeros)
            inside = np.concatenate([counts[below][::-1], some_zeros, counts[:positive]])
            distribution = Distribution(
                self.bins, np.concatenate(keys), inside, extremes.low, extremes.high
            )
        return Statistics(
            size=size,
            finite=finite,
            nan=size - finite - pos_inf - neg_inf,
            pos_inf=pos_inf,
            neg_inf=neg_inf,
            zero=zeros + negative_zeros,
            negative=int(counts[positive:].sum()) + neg_inf,
            mean=mean,
            std=std,
            denormal=int(counts[magnitudes < self.bins.normal].sum()),
            at_lowest=lowest,
            at_highest=highest,
            distribution=distribution,
            **extremes.facts(),
        )


Array: TypeAlias = np.ndarray[Any, Any]
Kernel: TypeAlias = Callable[[Array, Array, Array], tuple[int, int, float, float, float]]

_LOG = logging.getLogger(__name__)
#: Values that the first-level cache holds beside the counts.
_BLOCK = 4096
_TYPES = ("float32", "float64")

_lock = threading.Lock()
_kernels: dict[str, Kernel] = {}
_compiling: threading.Thread | None = None


def kernel(dtype: np.dtype[Any], *, wait: bool = False) -> Kernel | None:
    """Return the compiled pass over pieces of a type, or None (yet)."""
    global _compiling  # noqa: PLW0603 (one a process)
    with _lock:
        if _compiling is None and importlib.util.find_spec("numba") is not None:
            _compiling = threading.Thread(target=_compile, name="tvmdbg-compile", daemon=True)
            _compiling.start()
    if wait and _compiling is not None:
        _compiling.join()
    return _kernels.get(dtype.name)


def _compile() -> None:
    try:
        for name in _TYPES:
            made = _jitted(name)
            values = np.ones(1, name)
            made(values, values.view(f"i{values.itemsize}"), np.zeros(1 << 16, np.int64))
            _kernels[name] = made
    except Exception:  # noqa: BLE001 (whatever is wrong with numba, numpy does the same)
        _LOG.info("numba cannot compile the pass over floats", exc_info=True)


def _jitted(name: str) -> Kernel:
    import numba

    wide = name == "float64"
    shift, positive = (48, (1 << 63) - 1) if wide else (16, (1 << 31) - 1)
    bits = 63 if wide else 31
    integer: Any = np.int64 if wide else np.int32
    lowest, highest, magnitude = integer(-positive - 1), integer(positive), integer(positive)
    top, sign = integer(shift), integer(bits)

    # Sums may be added up in any order, which lets them use all lanes of the processor; NaN and
    # infinities keep their meaning.
    def counted(
        values: Array, words: Array, prefixes: Array
    ) -> tuple[int, int, float, float, float]:
        size = values.size
        step = max(1, size // _BLOCK)
        center = 0.0
        for i in range(0, size, step):
            center += np.float64(values[i])
        center /= (size + step - 1) // step
        low, high = highest, lowest
        rest = squares = 0.0
        for begin in range(0, size, _BLOCK):
            end = min(size, begin + _BLOCK)
            for i in range(begin, end):
                prefixes[(words[i] >> top) & 0xFFFF] += 1
            for i in range(begin, end):
                key = words[i] ^ ((words[i] >> sign) & magnitude)
                low = min(low, key)
                high = max(high, key)
            block_rest = block_squares = 0.0
            for i in range(begin, end):
                distance = np.float64(values[i]) - center
                block_rest += distance
                block_squares += distance * distance
            rest += block_rest
            squares += block_squares
        return low, high, center, rest, squares

    compiler: Any = numba.njit
    options = {"nogil": True, "fastmath": {"reassoc", "contract"}}
    try:
        made: Kernel = compiler(cache=True, **options)(counted)
    except RuntimeError:  # there is no folder to keep it in
        made = compiler(**options)(counted)
    return made
