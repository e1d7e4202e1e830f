"""Statistics of one array: counts, bounds, moments and distribution from one pass over it."""

from __future__ import annotations

from tvmdbg_widgets.model.statistics.comparable import comparable
from tvmdbg_widgets.model.statistics.compute import statistics
from tvmdbg_widgets.model.statistics.distribution import Distribution, NumberBounds
from tvmdbg_widgets.model.statistics.histograms import Histogram
from tvmdbg_widgets.model.statistics.result import Statistics

__all__ = ["Distribution", "Histogram", "NumberBounds", "Statistics", "comparable", "statistics"]
