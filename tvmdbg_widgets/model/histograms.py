"""Counts in equal bins between two bounds, chunk by chunk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of finite values in equal bins.

    Attributes
    ----------
    counts
        int64[k], read-only.
    edges
        float64[k+1], read-only, in the unit of the values. Bin i holds
        ``edges[i] <= value < edges[i+1]``, the last one its right edge too.
    """

    counts: np.ndarray[Any, np.dtype[np.int64]]
    edges: np.ndarray[Any, np.dtype[np.float64]]


def histogram(
    chunks: Iterable[np.ndarray[Any, Any]], low: float, high: float, bins: int
) -> Histogram:
    """Count the finite values of ``chunks`` in ``bins`` equal bins from ``low`` to ``high``.

    Equal bounds are widened by one half on both sides, or by as many steps of float64 as there
    are bins. Integers beyond 2**53 are compared as float64.

    Parameters
    ----------
    chunks
        1-D arrays of floats or integers; NaN and infinities are passed over.
    low, high
        Smallest and largest finite value.
    """
    first, last = float(low), float(high)
    if first == last:
        half = max(0.5, bins * math.ulp(first))
        first, last = first - half, last + half
    # Halving keeps the width finite where the bounds are near the ends of float64.
    scale = 1.0 if math.isfinite(last - first) else 0.25
    edges = np.linspace(first * scale, last * scale, bins + 1)
    counts = np.zeros(bins, np.int64)
    for chunk in chunks:
        values = chunk.astype(np.float64)
        if chunk.dtype.kind == "f" and not np.isfinite(values.sum()):
            values = values[np.isfinite(values)]
        if scale != 1.0:
            values *= scale
        counts += np.bincount(_bin_indices(values, edges), minlength=bins)
    edges = edges / scale
    for array in (counts, edges):
        array.setflags(write=False)
    return Histogram(counts, edges)


def _bin_indices(
    values: np.ndarray[Any, np.dtype[np.float64]], edges: np.ndarray[Any, np.dtype[np.float64]]
) -> np.ndarray[Any, np.dtype[np.intp]]:
    bins = len(edges) - 1
    place = values - edges[0]
    width = float(edges[-1] - edges[0])
    if math.isfinite(bins / width):
        place *= bins / width
    else:
        place /= width
        place *= bins
    indices: np.ndarray[Any, np.dtype[np.intp]] = place.astype(np.intp)
    np.clip(indices, 0, bins - 1, out=indices)
    # Rounding may put a value next to its edge on the wrong side: the edges decide.
    indices -= values < edges[indices]
    indices += (values >= edges[1:][indices]) & (indices < bins - 1)
    return indices
