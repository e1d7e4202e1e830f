"""Statistics of one array in bounded memory, exact where arithmetic allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.statistics.histograms import histogram
from tvmdbg_widgets.model.statistics.moments import Moments
from tvmdbg_widgets.model.statistics.result import Statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def statistics(
    chunks: Callable[[], Iterable[np.ndarray[Any, Any]]], *, bins: int = 64, exact: bool = True
) -> Statistics:
    """Compute statistics in one pass, and the histogram in a second, over 1-D chunks.

    Sums of floats are made in float64 around each chunk's own mean and merged by rounding once;
    sums of integers are exact.

    Parameters
    ----------
    chunks
        Called for each pass; yields the array as consecutive 1-D pieces of one dtype.
    bins
        Bins of the histogram, at least 1.
    exact
        Whether the chunks are the whole array.
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    counter = _Counter()
    with np.errstate(invalid="ignore"):
        for chunk in chunks():
            if chunk.dtype.kind == "c":
                size = counter.size + sum(len(piece) for piece in chunks())
                return Statistics.not_applicable(size, f"{chunk.dtype} has no order")
            counter.add(chunk)
        counts = None
        if counter.low is not None and counter.high is not None:
            finite = counter.moments.count == counter.size
            values = (comparable(chunk) for chunk in chunks())
            counts = histogram(values, counter.low, counter.high, bins, finite=finite)
    mean, std = counter.moments.mean_and_std()
    return Statistics(
        size=counter.size,
        finite=counter.moments.count,
        nan=counter.nan,
        pos_inf=counter.pos_inf,
        neg_inf=counter.neg_inf,
        zero=counter.zero,
        negative=counter.negative,
        minimum=counter.bound(counter.low),
        maximum=counter.bound(counter.high),
        argmin=counter.argmin,
        argmax=counter.argmax,
        mean=mean,
        std=std,
        histogram=counts,
        exact=exact,
    )


def comparable(chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the same values in a type numpy computes with: integers, float32 or float64."""
    if chunk.dtype == np.bool_:
        return chunk.view(np.uint8)
    if chunk.dtype.kind in "iu" or chunk.dtype in (np.float32, np.float64):
        return chunk
    name = chunk.dtype.name
    if name.startswith(("int", "uint")):
        return chunk.astype(np.int8 if name.startswith("int") else np.uint8)
    return chunk.astype(np.float32)


class _Counter:
    """The running state of the first pass."""

    def __init__(self) -> None:
        self.size = self.nan = self.pos_inf = self.neg_inf = self.zero = self.negative = 0
        self.low: int | float | None = None
        self.high: int | float | None = None
        self.argmin: int | None = None
        self.argmax: int | None = None
        self.moments = Moments()
        self.dtype = np.dtype(np.float64)

    def bound(self, value: float | None) -> Any:
        """Return a bound as a scalar of the array's own type: it prints as its values do."""
        return None if value is None else self.dtype.type(value)

    def add(self, chunk: np.ndarray[Any, Any]) -> None:
        """Count one chunk."""
        self.dtype = chunk.dtype
        values = comparable(chunk)
        if len(values) == 0:
            return
        self.zero += len(values) - int(np.count_nonzero(values))
        if values.dtype.kind != "u":
            self.negative += int(np.count_nonzero(values < 0))
        if values.dtype.kind == "f":
            self._add_floats(values)
        else:
            low = int(values.min())
            self._bounds(values, low, int(values.max()), None)
            self.moments.add_integers(values, low)
        self.size += len(values)

    def _add_floats(self, values: np.ndarray[Any, Any]) -> None:
        low, high = float(values.min()), float(values.max())
        where = None
        if not (math.isfinite(low) and math.isfinite(high)):
            self.nan += int(np.count_nonzero(np.isnan(values)))
            self.pos_inf += int(np.count_nonzero(values == np.inf))
            self.neg_inf += int(np.count_nonzero(values == -np.inf))
            where = np.flatnonzero(np.isfinite(values))
            values = values[where]
            if len(values) == 0:
                return
            low, high = float(values.min()), float(values.max())
        self._bounds(values, low, high, where)
        self.moments.add_floats(values, max(abs(low), abs(high)))

    def _bounds(
        self,
        values: np.ndarray[Any, Any],
        low: float,
        high: float,
        where: np.ndarray[Any, np.dtype[np.intp]] | None,
    ) -> None:
        """Take over new bounds; ``where`` maps positions in ``values`` to those in the chunk."""
        if self.low is None or low < self.low:
            position = int(values.argmin())
            self.argmin = self.size + int(position if where is None else where[position])
            self.low = low
        if self.high is None or high > self.high:
            position = int(values.argmax())
            self.argmax = self.size + int(position if where is None else where[position])
            self.high = high
