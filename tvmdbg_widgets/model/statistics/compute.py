"""The statistics of one array: a pass, and for small ones a second over what the edges cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics.histograms import (
    EdgeCounter,
    Histogram,
    Scale,
    bent_edges,
    equal_edges,
    from_distribution,
)
from tvmdbg_widgets.model.statistics.passes import Source, Watched, run_pass
from tvmdbg_widgets.model.statistics.percentiles import percentiles
from tvmdbg_widgets.model.statistics.pieces import (
    ArrayStream,
    Distinct,
    ReadableValues,
    Sample,
    WholeArray,
    every,
)
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.tallies import tally

Chunks: TypeAlias = Callable[[], Iterable[np.ndarray[Any, Any]]]

#: Up to so many bytes the equal bins are counted by a second pass: what the page cache holds, so
#: that a file is not fetched twice, and takes less than 0.1 s.
EXACT_BYTES = 64 << 20
#: From so many values on the pass is compiled where numba is installed: loading it takes as long
#: as numpy takes to count them.
_FAST = 1 << 26


def statistics(
    values: ReadableValues | Chunks,
    *,
    bins: int = 64,
    sample: int | None = None,
    exact: bool = True,
    watch: Callable[[], None] | None = None,
    progress: Callable[[int], None] | None = None,
    executor: Executor | None = None,
) -> Statistics:
    """Compute all statistics in one pass and bounded memory."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    if sample is not None and sample < 1:
        raise ValueError(f"a sample has at least 1 value, not {sample}")
    passes = ArrayPasses.over(values, sample)
    if passes.dtype.kind == "c":
        return Statistics.not_applicable(passes.size(), f"{passes.dtype} values have no order")
    found = passes.tallied(Watched(watch, progress), executor)
    counted = passes.equal_bins(found, bins, Watched(watch), executor)
    return replace(found, histogram=counted, exact=found.exact and exact)


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
        if sample is not None and not (some := Sample(values, sample)).whole:
            return cls(some, values.numpy_dtype, exact=False)
        return cls(every(values), values.numpy_dtype)

    def size(self) -> int:
        """Return how many values the source gives."""
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
        self, found: Statistics, bins: int, watched: Watched, executor: Executor | None = None
    ) -> Histogram | None:
        """Return the histogram of statistics: by a second pass where a small array is counted."""
        if found.distribution is None:
            return None
        low, high = found.distribution.minimum, found.distribution.maximum
        edges = equal_edges(low, high, bins)
        if not self.exact or found.size * self.dtype.itemsize > EXACT_BYTES:
            return from_distribution(found.distribution, edges)
        return self.counted(found, edges, watched, executor)

    def counted(
        self,
        found: Statistics,
        edges: np.ndarray[Any, np.dtype[np.float64]],
        watched: Watched,
        executor: Executor | None = None,
    ) -> Histogram:
        """Count between edges exactly; only bins of the distribution that an edge cuts are read."""
        assert found.distribution is not None  # noqa: S101 (callers have finite values)
        make = partial(EdgeCounter, found.distribution, edges)
        counter = make()
        if len(counter.keys):
            counter = run_pass(self.source, make, watched, executor)
        return counter.finish(found.distribution)

    def histogram(
        self,
        found: Statistics,
        bins: int,
        bounds: tuple[float, float] | None,
        scale: Scale,
        watched: Watched,
    ) -> Histogram:
        """Count in bins at equal distances on a scale; see :meth:`Tensor.histogram`."""
        if found.distribution is None:
            raise ValueError("there are no finite values to count")
        if bounds is None:
            bounds = found.distribution.span(scale)
        return self.counted(found, bent_edges(*bounds, bins, scale), watched)

    def percentiles(
        self, found: Statistics, percents: Sequence[float], watched: Watched
    ) -> list[float]:
        """Return exact percentiles of the finite values, by as many passes as it takes."""
        if found.distribution is None:
            return [float("nan")] * len(percents)
        return percentiles(
            found.distribution,
            self.dtype,
            percents,
            lambda make: run_pass(self.source, make, watched),
        )
