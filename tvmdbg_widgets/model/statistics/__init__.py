"""Statistics of one array: counts, bounds, moments and distribution from one pass over it."""

from __future__ import annotations

from tvmdbg_widgets.model.statistics.batch import comparable, statistics
from tvmdbg_widgets.model.statistics.distribution import Distribution, Histogram, Interval
from tvmdbg_widgets.model.statistics.result import Statistics

__all__ = ["Distribution", "Histogram", "Interval", "Statistics", "comparable", "statistics"]
