"""Order statistics of what is left of rows behind a cut, for many cuts at once.

The ranks of a row are sorted bit by bit, the highest first, and each step keeps how many zeros
stand before every place (a wavelet matrix). Then one answer costs a step a bit, however long the
rest is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_FEW: Final = 16
_AT_ONCE: Final = 1 << 20


def suffix_medians(rows: Floats, cuts: Places) -> Floats:
    """Return ``np.median(rows[:, cut:], axis=1)`` for every cut (float64 [M, C])."""
    if len(cuts) <= _FEW:
        each = [np.median(rows[:, cut:], axis=1) for cut in cuts]
        return np.array(each).reshape(len(cuts), len(rows)).T
    step = max(1, _AT_ONCE // rows.shape[1])
    parts = (rows[begin : begin + step] for begin in range(0, len(rows), step))
    return np.concatenate([Suffixes(part).medians(cuts) for part in parts])


class Suffixes:
    """Rows that tell of what is left behind any cut."""

    def __init__(self, rows: Floats) -> None:
        count, self._width = rows.shape
        self._row = np.arange(count)[:, None]
        order = np.argsort(rows, axis=1, kind="stable")
        self._ascending = np.take_along_axis(rows, order, axis=1)
        ranks = np.argsort(order, axis=1, kind="stable")
        self._zeros = []
        self._bits = tuple(reversed(range(self._width.bit_length())))
        for bit in self._bits:
            zero = (ranks >> bit) & 1 == 0
            before = np.zeros((count, self._width + 1), np.int32)
            np.cumsum(zero, axis=1, out=before[:, 1:])
            self._zeros.append(before)
            ranks = np.take_along_axis(ranks, np.argsort(~zero, axis=1, kind="stable"), axis=1)

    def medians(self, cuts: Places) -> Floats:
        """Return the median behind each cut."""
        return _middle(self._width - cuts, lambda at: self._smallest(cuts, at))

    def deviations(self, cuts: Places, medians: Floats) -> Floats:
        """Return the median absolute deviation from the median behind each cut."""
        sizes = self._width - cuts

        def nearest(at: Places) -> Floats:
            # The at + 1 values that are nearest to the median stand side by side.
            begin, end = np.broadcast_arrays(0 * self._row, sizes - at - 1)
            while (begin < end).any():
                place = (begin + end) // 2
                low, beyond = self._smallest(cuts, place), self._smallest(cuts, place + at + 1)
                held = (medians - low <= beyond - medians) | (begin == end)
                begin, end = np.where(held, begin, place + 1), np.where(held, place, end)
            last = self._smallest(cuts, begin + at)
            return np.maximum(medians - self._smallest(cuts, begin), last - medians)

        return _middle(sizes, nearest)

    def below(self, cuts: Places, limits: Floats) -> Places:
        """Count the values behind each cut that are not above its limit."""
        ranks = [
            np.searchsorted(row, each, "right")
            for row, each in zip(self._ascending, limits, strict=True)
        ]
        rank = np.array(ranks)
        begin, end = self._ends(cuts)
        count = np.zeros_like(begin)
        for bit, before in zip(self._bits, self._zeros, strict=True):
            one = (rank >> bit) & 1 == 1
            zeros = before[self._row, end] - before[self._row, begin]
            count += np.where(one, zeros, 0)
            begin, end = (self._next(before, at, one) for at in (begin, end))
        return count

    def _smallest(self, cuts: Places, places: Places) -> Floats:
        begin, end = self._ends(cuts)
        places = np.clip(places, 0, self._width - cuts - 1)
        rank = np.zeros_like(begin)
        for before in self._zeros:
            zeros = before[self._row, end] - before[self._row, begin]
            one = places >= zeros
            places = np.where(one, places - zeros, places)
            begin, end = (self._next(before, at, one) for at in (begin, end))
            rank = 2 * rank + one
        return self._ascending[self._row, rank]

    def _ends(self, cuts: Places) -> tuple[Places, Places]:
        begin = cuts + 0 * self._row
        return begin, np.full_like(begin, self._width)

    def _next(
        self, before: npt.NDArray[np.int32], at: Places, one: npt.NDArray[np.bool_]
    ) -> Places:
        zeros = before[self._row, at]
        return np.where(one, before[:, -1:] + at - zeros, zeros)


def _middle(sizes: Places, smallest: Callable[[Places], Floats]) -> Floats:
    half = sizes // 2
    upper = smallest(half)
    return np.where(sizes % 2, upper, (smallest(np.maximum(half - 1, 0)) + upper) / 2)
