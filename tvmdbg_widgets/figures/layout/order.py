"""Fewer crossings: sweeps by mean position, and swaps of neighbors."""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.polish import Polisher, pair_gain

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_WINDOW = 6
_TRANSPOSE_ROUNDS = 3
_STALE = 3


class _Sweeper:
    """Changes the order of rows in place."""

    def __init__(self, graph: Expanded, order: Order) -> None:
        self.graph = graph
        self.rows = order.rows
        self.position = order.position

    def sort_lists(self, row: int, lists: list[list[int]]) -> None:
        """Sort the neighbor lists of a row by position."""
        where = self.position.__getitem__
        for v in self.rows[row]:
            if len(lists[v]) > 1:
                lists[v].sort(key=where)

    def below(self, row: int) -> int:
        """Count the crossings between a row and the next."""
        rows = self.rows
        if row + 1 >= len(rows) or len(rows[row + 1]) < 2 or len(rows[row]) < 2:
            return 0
        position, down = self.position, self.graph.down
        seen: list[int] = []
        crossings = 0
        for v in rows[row]:
            for end in sorted([position[w] for w in down[v]]):
                crossings += len(seen) - bisect_right(seen, end)
                insort(seen, end)
        return crossings

    def barycenter(self, row: int, lists: list[list[int]]) -> None:
        """Sort a row by the mean position of its neighbors on one side."""
        items, position = self.rows[row], self.position
        keys: dict[int, float] = {}
        for v in items:
            near = lists[v]
            if near:
                keys[v] = sum([position[w] for w in near]) / len(near)
        placed = iter(sorted(keys, key=keys.__getitem__))
        items[:] = [next(placed) if v in keys else v for v in items]
        for i, v in enumerate(items):
            position[v] = i

    def transpose(self, row: int) -> None:
        """Swap neighbors of one row while that lowers the crossings."""
        items, position = self.rows[row], self.position
        ends = [
            [sorted([position[w] for w in lists[v]]) for lists in (self.graph.up, self.graph.down)]
            for v in items
        ]
        for _ in range(_TRANSPOSE_ROUNDS):
            swapped = False
            for i in range(len(items) - 1):
                (a, b), (c, d) = ends[i], ends[i + 1]
                if pair_gain(a, c) + pair_gain(b, d) <= 0:
                    continue
                items[i], items[i + 1] = items[i + 1], items[i]
                ends[i], ends[i + 1] = ends[i + 1], ends[i]
                swapped = True
            if not swapped:
                break
        for i, v in enumerate(items):
            position[v] = i

    def improve(self, first: int, end: int, sweeps: int) -> None:
        """Sweep rows `first` to `end` - 1, the rest fixed; leave the best order seen."""

        def total() -> int:
            return sum([self.below(row) for row in range(max(0, first - 1), end)])

        least = total()
        if least == 0:
            return
        best = [list(row) for row in self.rows[first:end]]
        stale = 0
        for s in range(sweeps):
            downwards = s % 2 == 1
            lists = self.graph.up if downwards else self.graph.down
            for row in range(first, end) if downwards else range(end - 1, first - 1, -1):
                self.barycenter(row, lists)
            for row in range(first, end):
                self.transpose(row)
            crossings = total()
            stale += 1
            if crossings < least:
                least = crossings
                best = [list(row) for row in self.rows[first:end]]
                stale = 0
            if least == 0 or stale == _STALE:
                break
        for row, items in enumerate(best, first):
            self.rows[row] = items
            for i, v in enumerate(items):
                self.position[v] = i


def _improve_stretch(
    sweeper: _Sweeper, polisher: Polisher, first: int, end: int, sweeps: int
) -> None:
    """Sweep a stretch of rows, then again where crossings are left."""
    sweeper.improve(first, end, 2)
    busy: tuple[int, int] | None = None
    for row in range(first, end):
        if sweeper.below(row) == 0:
            continue
        if busy and row - _WINDOW > busy[1]:
            sweeper.improve(*busy, sweeps)
            polisher.polish(*busy)
            busy = None
        busy = (busy[0] if busy else max(first, row - _WINDOW), min(end, row + 2 + _WINDOW))
    if busy:
        sweeper.improve(*busy, sweeps)
        polisher.polish(*busy)


def improve_order(graph: Expanded, order: Order, row_start: list[int], sweeps: int) -> None:
    """Lower the crossings, then sort all neighbor lists by position.

    Rows of one item part the graph into stretches that do not depend on each other.
    """
    sweeper = _Sweeper(graph, order)
    polisher = Polisher(graph, order)
    for top, bottom in itertools.pairwise(row_start):
        first = top
        while first < bottom:
            end = first
            while end < bottom and len(order.rows[end]) > 1:
                end += 1
            if end > first:
                _improve_stretch(sweeper, polisher, first, end, sweeps)
            first = end + 1
    for row in range(graph.rows):
        sweeper.sort_lists(row, graph.up)
        sweeper.sort_lists(row, graph.down)
