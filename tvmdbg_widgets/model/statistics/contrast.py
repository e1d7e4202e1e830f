"""Scales and ranges of colors and histograms that separate most of the values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.number_text import is_integer
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.statistics.batch import ArrayPasses, check_counts
from tvmdbg_widgets.model.statistics.distribution import (
    Distribution,
    Histogram,
    Interval,
    Scale,
    bent_edges,
    from_distribution,
)
from tvmdbg_widgets.model.statistics.passes import Sample, TimedPasses, Watched, run_pass
from tvmdbg_widgets.model.statistics.percentiles import EXACT_BELOW, PERCENTS
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.robust import (
    Robust,
    narrowed,
    rank_at,
    robust_edges,
    robust_range,
    without_zeros,
)
from tvmdbg_widgets.model.tensors.planes import ArrayValues

#: Share of magnitudes in the linear part of a symlog scale, and its limit of decades.
_LINEAR, _LARGE, _DECADES = 0.1, 0.99, 6
#: Bars of a histogram, and the share of the values above which a bar is too full.
_BARS, _CROWDED = 64, 0.8
#: Required values; with fewer, a full bar means nothing.
_LEAST_COUNT = 100


@dataclass(frozen=True, slots=True)
class Contrast:
    """The scale and the range for the values of one array."""

    distribution: Distribution
    robust: Robust | None
    linear: float | None
    scale: Scale
    crowd: float


def contrast(known: Statistics, passes: ArrayPasses, watched: Watched) -> Contrast | None:
    """Return the scale and range for finite values, or None; small arrays are counted again."""
    spread, zeros = known.distribution, known.zero
    if spread is None:
        return None
    again = known.exact and known.size < EXACT_BELOW
    if again:
        look = lambda make: run_pass(passes.source, make, watched)  # noqa: E731
        spread = narrowed(spread, zeros, passes.dtype, look)
    inner, robust = robust_range(spread, zeros), None
    if inner is not None:
        edges = robust_edges(*inner[:2], whole=is_integer(passes.dtype))
        counts = (
            passes.counted(replace(known, distribution=spread), edges, watched)
            if again
            else from_distribution(spread, edges)
        )
        robust = Robust(float(inner[0]), float(inner[1]), inner[2], counts)
    zone = linear_zone(spread, zeros)
    ends = (float(spread.minimum), float(spread.maximum)) if inner is None else inner[:2]
    scale, crowd = _scale(spread, zeros, ends, zone)
    return Contrast(spread, robust, zone, scale, crowd)


def linear_zone(spread: Distribution, zeros: int) -> float | None:
    """Return the largest magnitude that a symlog scale shows linearly; None if all are zero."""
    low, high, counts = without_zeros(spread, zeros)
    sizes = np.maximum(np.abs(low), np.abs(high))
    order = np.argsort(sizes, kind="stable")
    counts = counts[order]
    if not counts.sum():
        return None
    small, large = (
        float(sizes[order][rank_at(counts, share, np.floor)]) for share in (_LINEAR, _LARGE)
    )
    return float(max(small, large / 10**_DECADES))


def _scale(
    spread: Distribution, zeros: int, ends: tuple[float, float], zone: float | None
) -> tuple[Scale, float]:
    """Return the scale that separates values, and the share in a linear histogram's fullest bar."""
    low, high, counts = without_zeros(spread, zeros)
    middle, counts = (low / 2 + high / 2)[counts > 0], counts[counts > 0]
    if counts.sum() < _LEAST_COUNT or zone is None:
        return "linear", 0.0
    crowd = _fullest(middle, counts, *ends)
    if crowd < _CROWDED:
        return "linear", crowd
    if zeros or middle.min() <= 0:
        scale: Scale = "symlog"
        bent = np.sign(middle) * np.log1p(np.abs(middle) / zone)
    else:
        scale, bent = "log", np.log(middle)
    apart = _fullest(bent, counts, float(bent.min()), float(bent.max())) < crowd / 2
    return (scale if apart else "linear"), crowd


def _fullest(values: np.ndarray[Any, Any], counts: Any, low: float, high: float) -> float:
    """Return the largest share of the counts in one of equal bars between two values."""
    if not high > low:
        return 1.0
    inside = (values >= low) & (values <= high)
    share = (values[inside] / 2 - low / 2) / (high / 2 - low / 2)
    bars = np.minimum((share * _BARS).astype(np.intp), _BARS - 1)
    return float(np.bincount(bars, counts[inside]).max(initial=0) / counts.sum())


BINS = 64
_POLL = 0.05


class Kept:
    """Results of passes over one array, shared by threads."""

    def __init__(self, values: ArrayValues, known: Statistics | None = None) -> None:
        self._values = values
        self._lock = threading.Lock()
        self._tallied: dict[int | None, Statistics] = {}
        self._results: dict[tuple[int, int | None], Statistics] = {}
        if known is not None:
            self._tallied[None] = self._results[BINS, None] = known
        self._running: dict[int | None, _Running] = {}
        self._slices: TimedPasses | None = None
        self._percentiles: tuple[Interval, ...] | None = None
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
        """Return statistics; see :meth:`.Tensor.statistics`."""
        check_counts(bins, sample)
        if sample is not None and Sample(self._values, sample).is_complete:
            sample = None
        known = self._results.get((bins, sample))
        if known is None:
            tallied = self._tally(sample, watch, progress, executor)
            passes = ArrayPasses.over(self._values, sample)
            counted = passes.equal_bins(tallied, bins, Watched(watch), executor)
            with self._lock:
                known = self._results.setdefault(
                    (bins, sample), replace(tallied, histogram=counted)
                )
        return known

    def known(self, bins: int = BINS) -> Statistics | None:
        """Return statistics of all values if that needs no pass."""
        if not self._values.is_ordered:
            return self._not_applicable()
        return self._results.get((bins, None))

    def go_on(self, seconds: float) -> int:
        """Count for `seconds` unless another thread does; return the number of counted values."""
        if not self._values.is_ordered or None in self._tallied:
            return self._values.count
        if self._slices is None:
            self._slices = TimedPasses(self._values)
        try:
            known = self._slices.go_on(seconds)
        except BaseException:
            self._slices = None  # a piece is missing: the next call begins anew
            raise
        if known is None:
            return self._slices.done
        with self._lock:
            self._tallied[None] = known
        self._slices = None
        return self._values.count

    def percentiles(
        self, percents: Sequence[float], watch: Callable[[], None] | None = None
    ) -> list[float]:
        """Return exact percentiles of the finite values."""
        known = self._tally(None, watch)
        return ArrayPasses.over(self._values).percentiles(known, percents, Watched(watch))

    def known_percentiles(self, watch: Callable[[], None] | None = None) -> tuple[Interval, ...]:
        """Return ``PERCENTS``: exact below ``EXACT_BELOW`` values, else bounds."""
        if self._percentiles is None:
            spread = self._tally(None, watch).distribution
            bounds = [] if spread is None else spread.percentiles(PERCENTS)
            if self._values.count < EXACT_BELOW and not all(bound.exact for bound in bounds):
                try:
                    exact = self.percentiles(PERCENTS, watch)
                except (FormatError, OSError):  # what the distribution tells stays
                    return tuple(bounds)
                bounds = [Interval(bound, bound) for bound in exact]
            self._percentiles = tuple(bounds)
        return self._percentiles

    def contrast(
        self, sample: int | None = None, watch: Callable[[], None] | None = None
    ) -> Contrast | None:
        """Return the scale and range of colors and histograms."""
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
        known = self._tally(None, watch)
        if known.distribution is None:
            raise ValueError("there are no finite values to count")
        edges = bent_edges(*(bounds or known.distribution.span(scale)), bins, scale)
        return ArrayPasses.over(self._values).counted(known, edges, Watched(watch))

    def _tally(
        self,
        sample: int | None,
        watch: Callable[[], None] | None = None,
        progress: Callable[[int], None] | None = None,
        executor: Executor | None = None,
    ) -> Statistics:
        """Make the pass, or wait for the thread that makes it and resume it if that gave up."""
        if not self._values.is_ordered:
            return self._not_applicable()
        while True:
            with self._lock:
                known = self._tallied.get(sample)
                if known is not None:
                    return known
                running = self._running.get(sample)
                mine = running is None
                if running is None:
                    running = self._running[sample] = _Running()
            if mine:
                try:
                    watched = Watched(watch, partial(running.report, progress))
                    known = ArrayPasses.over(self._values, sample).tallied(watched, executor)
                    with self._lock:
                        self._tallied[sample] = known
                    return known
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

    def report(self, progress: Callable[[int], None] | None, done: int) -> None:
        """Note the progress of the pass, and pass it on."""
        self.done = done
        if progress is not None:
            progress(done)
