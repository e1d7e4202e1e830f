"""Statistics of one array, each computed once for everyone who asks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.statistics.compute import ArrayPasses
from tvmdbg_widgets.model.statistics.contrast import Contrast, contrast
from tvmdbg_widgets.model.statistics.distribution import NumberBounds
from tvmdbg_widgets.model.statistics.histograms import Histogram, Scale
from tvmdbg_widgets.model.statistics.passes import Watched
from tvmdbg_widgets.model.statistics.percentiles import EXACT_BELOW, PERCENTS
from tvmdbg_widgets.model.statistics.pieces import Sample
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.slices import TimedPasses
from tvmdbg_widgets.model.tensors.array_values import ArrayValues

#: Bins of a histogram where nobody says how many.
BINS = 64
_POLL = 0.05


class Kept:
    """Passes over one array and what they found; any number of threads may ask."""

    def __init__(self, values: ArrayValues, known: Statistics | None = None) -> None:
        self._values = values
        self._lock = threading.Lock()
        self._tallied: dict[int | None, Statistics] = {}
        self._found: dict[tuple[int, int | None], Statistics] = {}
        if known is not None:
            self._tallied[None] = self._found[BINS, None] = known
        self._running: dict[int | None, _Running] = {}
        self._slices: TimedPasses | None = None
        self._percentiles: tuple[NumberBounds, ...] | None = None
        self._contrast: dict[int | None, Contrast | None] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, (self._values,)

    def statistics(
        self,
        bins: int = BINS,
        sample: int | None = None,
        *,
        watch: Callable[[], None] | None = None,
        progress: Callable[[int], None] | None = None,
        executor: Executor | None = None,
    ) -> Statistics:
        """Return statistics; see :meth:`~tvmdbg_widgets.model.tensors.tensor.Tensor.statistics`."""
        if bins < 1:
            raise ValueError(f"bins must be at least 1, not {bins}")
        if sample is not None and sample < 1:
            raise ValueError(f"a sample has at least 1 value, not {sample}")
        if sample is not None and Sample(self._values, sample).whole:
            sample = None
        found = self._found.get((bins, sample))
        if found is None:
            tallied = self._tally(sample, watch, progress, executor)
            passes = ArrayPasses.over(self._values, sample)
            watched = Watched(watch)
            counted = passes.equal_bins(tallied, bins, watched, executor)
            with self._lock:
                found = self._found.setdefault((bins, sample), replace(tallied, histogram=counted))
        return found

    def known(self, bins: int = BINS) -> Statistics | None:
        """Return statistics of all values where that needs no pass."""
        if not self._values.is_ordered:
            return self._not_applicable()
        return self._found.get((bins, None))

    def go_on(self, seconds: float) -> int:
        """Count for so long where nobody else does; return the values looked at so far.

        The last call of many leaves all that :meth:`statistics` needs. They must be made by one
        thread.
        """
        if not self._values.is_ordered or None in self._tallied:
            return self._values.count
        if self._slices is None:
            self._slices = TimedPasses(self._values)
        try:
            found = self._slices.go_on(seconds)
        except BaseException:
            self._slices = None  # a piece is missing: the next call begins anew
            raise
        if found is None:
            return self._slices.done
        with self._lock:
            self._tallied[None] = found
        self._slices = None
        return self._values.count

    def percentiles(
        self, percents: Sequence[float], watch: Callable[[], None] | None = None
    ) -> list[float]:
        """Return exact percentiles of the finite values."""
        found = self._tally(None, watch)
        return ArrayPasses.over(self._values).percentiles(found, percents, Watched(watch))

    def known_percentiles(
        self, watch: Callable[[], None] | None = None
    ) -> tuple[NumberBounds, ...]:
        """Return ``PERCENTS``: exact of less than ``EXACT_BELOW`` values, else bounds."""
        if self._percentiles is None:
            spread = self._tally(None, watch).distribution
            bounds = [] if spread is None else spread.percentiles(PERCENTS)
            if self._values.count < EXACT_BELOW and not all(each.exact for each in bounds):
                try:
                    exact = self.percentiles(PERCENTS, watch)
                except (FormatError, OSError):  # what the distribution tells stays
                    return tuple(bounds)
                bounds = [NumberBounds(each, each) for each in exact]
            self._percentiles = tuple(bounds)
        return self._percentiles

    def contrast(
        self, sample: int | None = None, watch: Callable[[], None] | None = None
    ) -> Contrast | None:
        """Return how colors and histograms are to span the values."""
        if sample not in self._contrast:
            passes = ArrayPasses.over(self._values)
            self._contrast[sample] = contrast(self._tally(sample, watch), passes, Watched(watch))
        return self._contrast[sample]

    def histogram(
        self,
        bins: int,
        bounds: tuple[float, float] | None,
        scale: Scale,
        watch: Callable[[], None] | None = None,
    ) -> Histogram:
        """Return exact counts in bins at equal distances on a scale."""
        found = self._tally(None, watch)
        return ArrayPasses.over(self._values).histogram(found, bins, bounds, scale, Watched(watch))

    def _tally(
        self,
        sample: int | None,
        watch: Callable[[], None] | None = None,
        progress: Callable[[int], None] | None = None,
        executor: Executor | None = None,
    ) -> Statistics:
        """Make the pass, or wait for the thread that makes it and go on where that gave up."""
        if not self._values.is_ordered:
            return self._not_applicable()
        while True:
            with self._lock:
                found = self._tallied.get(sample)
                if found is not None:
                    return found
                running = self._running.get(sample)
                mine = running is None
                if running is None:
                    running = self._running[sample] = _Running()
            if mine:
                try:
                    watched = Watched(watch, running.telling(progress))
                    found = ArrayPasses.over(self._values, sample).tallied(watched, executor)
                    with self._lock:
                        self._tallied[sample] = found
                    return found
                finally:
                    with self._lock:
                        del self._running[sample]
                    running.ended.set()
            while not running.ended.wait(_POLL):
                if watch is not None:
                    watch()
                if progress is not None:
                    progress(running.done)

    def _not_applicable(self) -> Statistics:
        values = self._values
        lacks = "have no numpy type" if values.is_raw else "have no order"
        return Statistics.not_applicable(values.count, f"{values.dtype} values {lacks}")


class _Running:
    """A pass that one thread makes and others wait for."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.done = 0

    def telling(self, progress: Callable[[int], None] | None) -> Callable[[int], None]:
        """Return a function that notes how far the pass is, and tells it on."""

        def tell(done: int) -> None:
            self.done = done
            if progress is not None:
                progress(done)

        return tell
