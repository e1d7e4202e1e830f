"""Statistics of many small arrays of one type and length, counted together in columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.statistics.codes import code_table, is_whole
from tvmdbg_widgets.model.statistics.compute import statistics
from tvmdbg_widgets.model.statistics.result import Statistics

Array: TypeAlias = np.ndarray[Any, Any]
Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

#: What the columns do not hold, or not for every row: a pass over that row alone tells.
_ALONE = ("mean", "std", "histogram", "distribution")


#: Magnitudes whose squares neither overflow nor vanish.
_LEAST, _MOST = 2.0**-300, 2.0**300
#: So small a part of the values, left of their sum or as their spread, has lost digits.
_CANCELLED, _NARROW = 2.0**-12, 2.0**-40


class Batch:
    """What is counted of arrays of one type and length, a row each."""

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
        """Return the statistics of each array; a fact is taken from here at its first use."""
        return [_BatchRow.of(self, row) for row in range(len(self))]

    def chunks(self, row: int) -> Iterator[Array]:
        """Yield the values of one array."""
        yield self.values[row]

    def facts(self, name: str, row: int) -> dict[str, Any]:
        """Return a field of :class:`Statistics` for one array, with others that come with it."""
        if name in _ALONE:
            if name in ("mean", "std") and self._moments.known[row]:
                return {each: getattr(self._moments, each)[row].item() for each in ("mean", "std")}
            alone = statistics(_Held(self.values[row]))
            return {each: getattr(alone, each) for each in _ALONE}
        if name in ("minimum", "maximum"):
            at = (self.argmin if name == "minimum" else self.argmax)[row]
            return {name: None if at < 0 else self.values[row, at]}
        if name in ("size", "exact", "reason"):
            return {"size": self.size, "exact": True, "reason": ""}
        if name.startswith("at_") and self.values.dtype == np.bool_:
            return {name: None}
        found = getattr(self, name)[row].item()
        return {name: None if found < 0 else found}

    @cached_property
    def _moments(self) -> Means:
        """Of the finite values, rows with as many of them together."""
        nothing = np.full(len(self), np.nan)
        found = Means(nothing, nothing.copy(), self.finite == 0)
        for count in np.unique(self.finite[self.finite > 0]).tolist():
            rows = np.flatnonzero(self.finite == count)
            numbers = _comparable(self.values[rows]).numbers
            numbers = numbers[np.isfinite(numbers)].reshape(len(rows), count)
            for column, known in zip(found, _means(numbers, self.values.dtype), strict=True):
                column[rows] = known
        return found


class Means(NamedTuple):
    """Mean and standard deviation of each row, and whether they are known; others mean nothing."""

    mean: Floats
    std: Floats
    known: npt.NDArray[np.bool_]


def _means(numbers: Array, dtype: np.dtype[Any]) -> Means:
    """Return what float64 tells of rows of finite values, at least one each, good to 1e-12."""
    values = numbers.astype(np.float64)
    with np.errstate(all="ignore"):  # what overflows is not known
        peak, alike = np.abs(values).max(1), (numbers == numbers[:, :1]).all(1)
        mean = values.mean(1)
        apart = values - mean[:, None]
        std = np.sqrt(np.maximum(0, (apart * apart).mean(1) - apart.mean(1) ** 2))
        exact = is_whole(dtype) & (peak * values.shape[1] < 2.0**53)
        known = (peak > _LEAST) & (peak < _MOST) & (std > _NARROW * peak)
        known &= exact | (np.abs(mean) > _CANCELLED * peak)
    mean, std = np.where(alike, values[:, 0] + 0.0, mean), np.where(alike, 0.0, std)
    return Means(mean, std, known | alike)


class _BatchRow(Statistics):
    """A view of one row of a batch."""

    __slots__ = ("_batch", "_row")

    _batch: Batch
    _row: int

    @classmethod
    def of(cls, batch: Batch, row: int) -> _BatchRow:
        found = cls.__new__(cls)
        _set(found, "_batch", batch)
        _set(found, "_row", row)
        _set(found, "reason", "")
        return found

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(name)
        found = self._batch.facts(name, self._row)
        for each, fact in found.items():
            _set(self, each, fact)
        return found[name]


_set = object.__setattr__  # these are frozen once they are known
_FIELDS = frozenset(field.name for field in fields(Statistics))


class _Held:
    """Values in memory, to be read in ranges."""

    def __init__(self, values: Array) -> None:
        self._values = values
        self.count = len(values)
        self.numpy_dtype = values.dtype

    def values(self, start: int, stop: int) -> Array:
        return self._values[start:stop]


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
    whole = np.iinfo(dtype)
    return _Comparable(values, whole.min, whole.max, 0)


def _count(mask: Array) -> Counts:
    found: Counts = np.count_nonzero(mask, axis=1)
    return found


def _first(mask: Array) -> Counts:
    """Return the place of the first true of each row, -1 where none is."""
    if not mask.shape[1]:
        return np.full(len(mask), -1)
    at: Counts = mask.argmax(1)
    return np.where(mask[np.arange(len(mask)), at], at, -1)
