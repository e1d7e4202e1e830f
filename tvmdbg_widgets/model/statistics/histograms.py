"""Counts in equal bins between two bounds, chunk by chunk."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable


_D = TypeVar("_D", bound="np.dtype[Any]")

_BLOCK = 1 << 14


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
    exact
        Whether each value was compared with the edges; otherwise values near an edge may be
        counted beside it.
    """

    counts: np.ndarray[Any, np.dtype[np.int64]]
    edges: np.ndarray[Any, np.dtype[np.float64]]
    exact: bool = True


def histogram(
    chunks: Iterable[np.ndarray[Any, Any]],
    low: float,
    high: float,
    bins: int,
    *,
    finite: bool = False,
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
    finite
        Whether the chunks are known to hold finite values only.
    """
    first, last = float(low), float(high)
    if first == last:
        half = max(0.5, bins * math.ulp(first))
        limit = sys.float_info.max
        first, last = max(first - half, -limit), min(last + half, limit)
    # Halving keeps the width finite where the bounds are near the ends of float64.
    scale = 1.0 if math.isfinite(last - first) else 0.25
    edges = np.linspace(first * scale, last * scale, bins + 1)
    counter = _BinCounter(edges)
    with np.errstate(invalid="ignore"):
        for chunk in chunks:
            values = chunk
            if chunk.dtype.kind == "f" and not finite:
                values = chunk[np.isfinite(chunk)]
            for start in range(0, len(values), _BLOCK):
                counter.add(values[start : start + _BLOCK], scale)
    return Histogram(_read_only(counter.counts), _read_only(edges / scale))


def _read_only(array: np.ndarray[Any, _D]) -> np.ndarray[Any, _D]:
    array.setflags(write=False)
    return array


class _BinCounter:
    """Counts blocks of finite values; its buffers fit the processor's cache."""

    def __init__(self, edges: np.ndarray[Any, np.dtype[np.float64]]) -> None:
        self.edges = edges
        self.bins = len(edges) - 1
        self.counts = np.zeros(self.bins, np.int64)
        width = float(edges[-1] - edges[0])
        self.factor = self.bins / width
        # Distance from an edge, in bins, that rounding may have crossed; 1 reaches everything.
        step = math.ulp(max(abs(float(edges[0])), abs(float(edges[-1]))))
        self.reach = min(1.0, 8 * self.bins * (step / width + math.ulp(1.0)))
        self._values = np.empty(_BLOCK)
        self._places = np.empty(_BLOCK)
        self._work = np.empty(_BLOCK)
        self._indices = np.empty(_BLOCK, np.intp)

    def add(self, block: np.ndarray[Any, Any], scale: float) -> None:
        """Count at most ``_BLOCK`` values, which ``scale`` brings to the unit of the edges."""
        size = len(block)
        values, places, work = self._values[:size], self._places[:size], self._work[:size]
        indices = self._indices[:size]
        np.multiply(block, scale, out=values)
        np.subtract(values, self.edges[0], out=places)
        if math.isfinite(self.factor):
            np.multiply(places, self.factor, out=places)
        else:
            np.divide(places, self.edges[-1] - self.edges[0], out=places)
            np.multiply(places, self.bins, out=places)
        np.copyto(indices, places, casting="unsafe")
        np.rint(places, out=work)
        np.subtract(places, work, out=work)
        np.abs(work, out=work)
        near = work < self.reach
        if near.any():
            found = np.searchsorted(self.edges, values[near], side="right")
            indices[near] = np.clip(found - 1, 0, self.bins - 1)
        self.counts += np.bincount(indices, minlength=self.bins)
