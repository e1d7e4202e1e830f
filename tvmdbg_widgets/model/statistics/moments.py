"""Mean and standard deviation merged from chunks."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

_SAFE_EXPONENT = 300


class Moments:
    """Collects number, mean and spread of chunks; merges them once, at the end.

    A chunk leaves three numbers: how many values, their sum (an exact int) or mean (a float64),
    and their root mean square distance from that mean. All values of one array are added by the
    same method.
    """

    def __init__(self) -> None:
        self.count = 0
        self._integers: list[tuple[int, int, float]] = []
        self._floats: list[tuple[int, float, float]] = []

    def add_floats(self, values: np.ndarray[Any, Any], peak: float) -> None:
        """Add finite floats of which ``peak`` is the largest magnitude."""
        count = len(values)
        exponent = math.frexp(peak)[1]
        if abs(exponent) <= _SAFE_EXPONENT:
            exponent = 0
        scaled = values.astype(np.float64)
        if exponent:
            np.ldexp(scaled, -exponent, out=scaled)
        mean = float(scaled.sum()) / count
        scaled -= mean
        rest = float(scaled.sum()) / count
        square = max(0.0, _squares(scaled) / count - rest * rest)
        self.count += count
        parts = math.ldexp(mean + rest, exponent), math.ldexp(math.sqrt(square), exponent)
        self._floats.append((count, *parts))

    def add_integers(self, values: np.ndarray[Any, Any], low: int) -> None:
        """Add integers of which ``low`` is the smallest."""
        count = len(values)
        if values.dtype.itemsize == 8:
            above = values.view(np.uint64) - np.uint64(low % (1 << 64))
            high_half = int((above >> np.uint64(32)).sum(dtype=np.uint64))
            low_half = int((above & np.uint64(0xFFFFFFFF)).sum(dtype=np.uint64))
            total = (high_half << 32) + low_half
        else:
            above = values.astype(np.int64)
            above -= low
            total = int(above.sum())
        distance = above.astype(np.float64)
        distance -= total / count
        self.count += count
        square = _squares(distance) / count
        self._integers.append((count, low * count + total, math.sqrt(square)))

    def mean_and_std(self) -> tuple[float, float]:
        """Mean and population standard deviation; NaN and NaN if nothing was added."""
        if self._integers:
            return self._merge_integers()
        if self._floats:
            return self._merge_floats()
        return math.nan, math.nan

    def _merge_integers(self) -> tuple[float, float]:
        total = sum(part for _, part, _ in self._integers)
        mean = Fraction(total, self.count)
        between = [(n, float(Fraction(part, n) - mean)) for n, part, _ in self._integers]
        square = math.fsum(n * rms * rms for n, _, rms in self._integers)
        square += math.fsum(n * distance * distance for n, distance in between)
        return total / self.count, math.sqrt(square / self.count)

    def _merge_floats(self) -> tuple[float, float]:
        peak = max(max(abs(mean), rms) for _, mean, rms in self._floats)
        exponent = math.frexp(peak)[1]
        parts = [
            (n, math.ldexp(mean, -exponent), math.ldexp(rms, -exponent))
            for n, mean, rms in self._floats
        ]
        mean = math.fsum(n * part for n, part, _ in parts) / self.count
        square = math.fsum(n * rms * rms for n, _, rms in parts)
        square += math.fsum(n * (part - mean) ** 2 for n, part, _ in parts)
        std = math.sqrt(square / self.count)
        return math.ldexp(mean, exponent), math.ldexp(std, exponent)


def _squares(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Sum of squares, made in place.

    A dot product would go to several threads that wait for each other by spinning: nine times the
    processor time where others use it too.
    """
    np.multiply(values, values, out=values)
    return float(values.sum())
