"""How colors and histograms are to span the values, so that they can be from_distribution apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.bits import is_integer
from tvmdbg_widgets.model.statistics.compute import ArrayPasses
from tvmdbg_widgets.model.statistics.distribution import Distribution
from tvmdbg_widgets.model.statistics.histograms import Scale, from_distribution
from tvmdbg_widgets.model.statistics.passes import Watched, run_pass
from tvmdbg_widgets.model.statistics.percentiles import EXACT_BELOW
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.robust import (
    Robust,
    narrowed,
    rank_at,
    robust_edges,
    robust_range,
    without_zeros,
)

#: The share of magnitudes within which a symlog scale is linear, and its most decades.
_LINEAR, _LARGE, _DECADES = 0.1, 0.99, 6
#: Bars in which a histogram counts, and the share of the values from which on one bar is too full.
_BARS, _CROWDED = 64, 0.8
#: Values that must be there: of fewer, a full bar says nothing.
_LEAST_COUNT = 100


@dataclass(frozen=True, slots=True)
class Contrast:
    """What adapts to the values of one array."""

    distribution: Distribution
    robust: Robust | None
    linear: float | None
    scale: Scale
    crowd: float


def contrast(found: Statistics, passes: ArrayPasses, watched: Watched) -> Contrast | None:
    """Return how to show values, None where none is finite; small arrays are looked at again."""
    spread, zeros = found.distribution, found.zero
    if spread is None:
        return None
    again = found.exact and found.size < EXACT_BELOW
    if again:
        look = lambda make: run_pass(passes.source, make, watched)  # noqa: E731
        spread = narrowed(spread, zeros, passes.dtype, look)
    inner, robust = robust_range(spread, zeros), None
    if inner is not None:
        edges = robust_edges(*inner[:2], whole=is_integer(passes.dtype))
        counts = (
            passes.counted(replace(found, distribution=spread), edges, watched)
            if again
            else from_distribution(spread, edges)
        )
        robust = Robust(*inner, counts)
    zone = linear_zone(spread, zeros)
    ends = (float(spread.minimum), float(spread.maximum)) if inner is None else inner[:2]
    scale, crowd = _scale(spread, zeros, ends, zone)
    return Contrast(spread, robust, zone, scale, crowd)


def linear_zone(found: Distribution, zeros: int) -> float | None:
    """Return the magnitude below which a symlog scale is linear; None where all values are zero."""
    low, high, counts = without_zeros(found, zeros)
    sizes = np.maximum(np.abs(low), np.abs(high))
    order = np.argsort(sizes, kind="stable")
    counts = counts[order]
    if not counts.sum():
        return None
    small, large = (
        float(sizes[order][rank_at(counts, each, np.floor)]) for each in (_LINEAR, _LARGE)
    )
    return float(max(small, large / 10**_DECADES))


def _scale(
    found: Distribution, zeros: int, ends: tuple[float, float], zone: float | None
) -> tuple[Scale, float]:
    """Return the scale that tells values apart, and how full a linear histogram's fullest bar is.

    ``ends`` are those of the linear histogram.
    """
    low, high, counts = without_zeros(found, zeros)
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
