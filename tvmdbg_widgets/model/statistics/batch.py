"""Statistics of many small arrays of one type and length, counted together in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.statistics.bins import code_table, is_integral
from tvmdbg_widgets.model.statistics.distribution import (
    EdgeCounter,
    Histogram,
    equal_edges,
    from_distribution,
)
from tvmdbg_widgets.model.statistics.passes import (
    ArrayStream,
    Distinct,
    ReadableValues,
    Sample,
    Source,
    Watched,
    WholeArray,
    every,
    run_pass,
)
from tvmdbg_widgets.model.statistics.percentiles import percentiles
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.tallies import tally

Array: TypeAlias = np.ndarray[Any, Any]
Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

#: Facts that need a pass over a row alone.
_ALONE = ("mean", "std", "histogram", "distribution")
#: Magnitudes whose squares neither overflow nor vanish.
_LEAST, _MOST = 2.0**-300, 2.0**300
#: Sums or spreads below this part of the values have lost digits.
_CANCELLED, _NARROW = 2.0**-12, 2.0**-40


class Batch:
    """Statistics of arrays of one type and length, a row each."""

    def __init__(self, values: Array, codes: Array | None = None) -> None:
        self.values = values
        self.codes = codes
        self.size = values.shape[1]
        numbers, lowest, highest, normal = _comparable(values)
        finite = np.isfinite(numbers)
        bounded: dict[str, Any] = {} if self.size and finite.all() else {"where": finite}
        low = numbers.min(1, initial=highest, **bounded)
        high = numbers.max(1, initial=lowest, **bounded)
        nan = above = below = small = np.zeros((len(values), 0), np.bool_)
        if numbers.dtype.kind == "f":
            small = (numbers != 0) & (np.abs(numbers) < normal)
            if bounded:
                nan, above, below = np.isnan(numbers), numbers == np.inf, numbers == -np.inf
        self.finite, self.denormal = _count(finite), _count(small)
        self.nan, self.pos_inf, self.neg_inf = _count(nan), _count(above), _count(below)
        self.first_nan, self.first_pos_inf, self.first_neg_inf = map(_first, (nan, above, below))
        self.zero, self.negative = _count(numbers == 0), _count(numbers < 0)
        self.at_lowest, self.at_highest = _count(numbers == lowest), _count(numbers == highest)
        none = self.finite == 0
        self.argmin = np.where(none, -1, _first(numbers == low[:, None]))
        self.argmax = np.where(none, -1, _first(numbers == high[:, None]))
        self.low = np.where(none, np.nan, low.astype(np.float64))
        self.high = np.where(none, np.nan, high.astype(np.float64))

    def __len__(self) -> int:
        return len(self.values)

    def rows(self) -> list[Statistics]:
        """Return the statistics of every array; facts are computed at their first use."""
        return [_BatchRow.of(self, row) for row in range(len(self))]

    def chunks(self, row: int) -> Iterator[Array]:
        """Yield the values of one array."""
        yield self.values[row]

    def facts(self, name: str, row: int) -> dict[str, Any]:
        """Return a field of :class:`Statistics` for one array, with others computed along."""
        if name in _ALONE:
            if name in ("mean", "std") and self._moments.known[row]:
                return {key: getattr(self._moments, key)[row].item() for key in ("mean", "std")}
            alone = statistics(partial(self.chunks, row))
            return {key: getattr(alone, key) for key in _ALONE}
        if name in ("minimum", "maximum"):
            at = (self.argmin if name == "minimum" else self.argmax)[row]
            return {name: None if at < 0 else self.values[row, at]}
        if name in ("size", "exact", "reason"):
            return {"size": self.size, "exact": True, "reason": ""}
        if name.startswith("at_") and self.values.dtype == np.bool_:
            return {name: None}
        fact = getattr(self, name)[row].item()
        return {name: None if fact < 0 else fact}

    @cached_property
    def _moments(self) -> Means:
        """Moments of the finite values, computed together for rows with as many of them."""
        nothing = np.full(len(self), np.nan)
        means = Means(nothing, nothing.copy(), self.finite == 0)
        for count in np.unique(self.finite[self.finite > 0]).tolist():
            rows = np.flatnonzero(self.finite == count)
            numbers = _comparable(self.values[rows]).numbers
            numbers = numbers[np.isfinite(numbers)].reshape(len(rows), count)
            for column, known in zip(means, _means(numbers, self.values.dtype), strict=True):
                column[rows] = known
        return means


class Means(NamedTuple):
    """Mean and standard deviation by row, and whether they are known."""

    mean: Floats
    std: Floats
    known: npt.NDArray[np.bool_]


def _means(numbers: Array, dtype: np.dtype[Any]) -> Means:
    """Return means of rows of finite values in float64, good to 1e-12."""
    values = numbers.astype(np.float64)
    with np.errstate(all="ignore"):  # what overflows is not known
        peak, constant = np.abs(values).max(1), (numbers == numbers[:, :1]).all(1)
        mean = values.mean(1)
        apart = values - mean[:, None]
        std = np.sqrt(np.maximum(0, (apart * apart).mean(1) - apart.mean(1) ** 2))
        known = (peak > _LEAST) & (peak < _MOST) & (std > _NARROW * peak)
        if is_integral(dtype):
            known &= peak * values.shape[1] < 2.0**53
        else:
            known &= np.abs(mean) > _CANCELLED * peak
    mean, std = np.where(constant, values[:, 0] + 0.0, mean), np.where(constant, 0.0, std)
    return Means(mean, std, known | constant)


class _BatchRow(Statistics):
    """A view of one row of a batch."""

    __slots__ = ("_batch", "_row")

    _batch: Batch
    _row: int

    @classmethod
    def of(cls, batch: Batch, row: int) -> _BatchRow:
        row_view = cls.__new__(cls)
        for name, value in (("_batch", batch), ("_row", row), ("reason", "")):
            _set(row_view, name, value)
        return row_view

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(name)
        facts = self._batch.facts(name, self._row)
        for fact_name, fact in facts.items():
            _set(self, fact_name, fact)
        return facts[name]


_set = object.__setattr__  # these are frozen once they are known
_FIELDS = frozenset(field.name for field in fields(Statistics))


class _Comparable(NamedTuple):
    """Values as numpy compares them, and the type's finite ends and smallest normal number."""

    numbers: Array
    lowest: Any
    highest: Any
    normal: Any


def _comparable(values: Array) -> _Comparable:
    dtype = values.dtype
    if dtype.itemsize <= 2:
        table = code_table(dtype)
        lowest, highest = float(table.levels[0]), float(table.levels[-1])
        return _Comparable(
            table.values[table.codes(values)], lowest, highest, table.smallest_normal
        )
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        return _Comparable(values, limits.min, limits.max, limits.smallest_normal)
    info = np.iinfo(dtype)
    return _Comparable(values, info.min, info.max, 0)


def _count(mask: Array) -> Counts:
    counts: Counts = np.count_nonzero(mask, axis=1)
    return counts


def _first(mask: Array) -> Counts:
    """Return the first true position by row, or -1."""
    if not mask.shape[1]:
        return np.full(len(mask), -1)
    at: Counts = mask.argmax(1)
    return np.where(mask[np.arange(len(mask)), at], at, -1)


def comparable(chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the same values in a type that numpy computes with: integers, float32 or float64."""
    if chunk.dtype == np.bool_:
        return chunk.view(np.uint8)
    if chunk.dtype.kind in "iu" or chunk.dtype in (np.float32, np.float64):
        return chunk
    name = chunk.dtype.name
    if name.startswith(("int", "uint")):
        return chunk.astype(np.int8 if name.startswith("int") else np.uint8)
    return chunk.astype(np.float32)


Chunks: TypeAlias = Callable[[], Iterable[np.ndarray[Any, Any]]]

#: Up to this size equal bins are counted by a second pass, from the page cache: it fetches
#: nothing twice, and takes less than 0.1 s.
EXACT_BYTES = 64 << 20
#: From this number of values on the pass is compiled by numba, if installed: loading it takes
#: as long as numpy takes to count them.
_FAST = 1 << 26


def check_counts(bins: int, sample: int | None) -> None:
    """Raise where there are no bins, or no values in a sample."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    if sample is not None and sample < 1:
        raise ValueError(f"a sample has at least 1 value, not {sample}")


def statistics(
    values: ReadableValues | Chunks,
    *,
    bins: int = 64,
    sample: int | None = None,
    watch: Callable[[], None] | None = None,
    progress: Callable[[int], None] | None = None,
    executor: Executor | None = None,
) -> Statistics:
    """Compute all statistics in one pass and bounded memory."""
    check_counts(bins, sample)
    passes = ArrayPasses.over(values, sample)
    if passes.dtype.kind == "c":
        return Statistics.not_applicable(passes.size(), f"{passes.dtype} values have no order")
    tallied = passes.tallied(Watched(watch, progress), executor)
    counted = passes.equal_bins(tallied, bins, Watched(watch), executor)
    return replace(tallied, histogram=counted)


@dataclass(frozen=True)
class ArrayPasses:
    """The passes that can be made over one array."""

    source: Source
    dtype: np.dtype[Any]
    exact: bool = True

    @classmethod
    def over(cls, values: ReadableValues | Chunks, sample: int | None = None) -> ArrayPasses:
        """Return the passes over values or chunks; see :func:`statistics`."""
        if callable(values):
            first = next(iter(values()), np.zeros(0, np.float32))
            return cls(ArrayStream(values), first.dtype)
        if sample is not None and not (some := Sample(values, sample)).is_complete:
            return cls(some, values.numpy_dtype, exact=False)
        return cls(every(values), values.numpy_dtype)

    def size(self) -> int:
        """Return the number of values of the source."""
        if isinstance(self.source, WholeArray | Distinct):
            return self.source.stop
        return sum(len(chunk) for chunk, _ in self.source)

    def tallied(self, watched: Watched, executor: Executor | None = None) -> Statistics:
        """Make the pass; return everything but the histogram."""
        fast = isinstance(self.source, WholeArray) and self.source.stop >= _FAST
        make = partial(tally, self.dtype, fast=fast)
        tallied = run_pass(self.source, make, watched, executor)
        return replace(tallied.finish(), exact=self.exact)

    def equal_bins(
        self, known: Statistics, bins: int, watched: Watched, executor: Executor | None = None
    ) -> Histogram | None:
        """Return the histogram of statistics, by a second pass over a small array."""
        if known.distribution is None:
            return None
        low, high = known.distribution.minimum, known.distribution.maximum
        edges = equal_edges(low, high, bins)
        if not self.exact or known.size * self.dtype.itemsize > EXACT_BYTES:
            return from_distribution(known.distribution, edges)
        return self.counted(known, edges, watched, executor)

    def counted(
        self,
        known: Statistics,
        edges: np.ndarray[Any, np.dtype[np.float64]],
        watched: Watched,
        executor: Executor | None = None,
    ) -> Histogram:
        """Count between edges exactly; only bins of the distribution that an edge cuts are read."""
        assert known.distribution is not None  # noqa: S101 (callers have finite values)
        make = partial(EdgeCounter, known.distribution, edges)
        counter = make()
        if len(counter.keys):
            counter = run_pass(self.source, make, watched, executor)
        return counter.finish(known.distribution)

    def percentiles(
        self, known: Statistics, percents: Sequence[float], watched: Watched
    ) -> list[float]:
        """Return exact percentiles of the finite values, by as many passes as it takes."""
        if known.distribution is None:
            return [float("nan")] * len(percents)
        source, spread = self.source, known.distribution
        return percentiles(
            spread, self.dtype, percents, lambda make: run_pass(source, make, watched)
        )
