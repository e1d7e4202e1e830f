"""Of orders with equally many crossings, the one with straight lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.runs import find_lines

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_ROUNDS = 2
_FARTHEST = 64
_WIDEST = 64
_MOST_DEBT = 2


def pair_gain(a: list[int], b: list[int]) -> int:
    """Count, over pairs of two sorted lists of places, those of b to the left less to the right."""
    gain = 0
    count = len(b)
    for p in a:
        gain += bisect_left(b, p) + bisect_right(b, p) - count
    return gain


class Polisher:
    """Swaps neighbors where that leaves main line and trunks straight."""

    def __init__(self, graph: Expanded, order: Order) -> None:
        self.graph = graph
        self.rows = order.rows
        self.position = order.position
        self.lines = find_lines(graph, order)

    def polish(self, first: int, end: int) -> None:
        """Straighten rows `first` to `end` - 1; lines may be followed beyond them."""
        lines = self.lines
        for _ in range(_ROUNDS):
            changed = [self._swap_neighbors(row) for row in range(first, end)]
            changed += [self._uncross(r, lines.down, lines.up, -1) for r in range(first, end)]
            rows = range(end - 1, first - 1, -1)
            changed += [self._uncross(r, lines.up, lines.down, 1) for r in rows]
            if not any(changed):
                return

    def _places(self, items: list[int]) -> list[int]:
        return sorted([self.position[v] for v in items])

    def _gains(self, u: int, v: int) -> tuple[int, int]:
        """Return how many crossings fewer there are with v left of u, of all and of lines."""
        position = self.position
        gain = line_gain = 0
        for lists, line in (
            (self.graph.up, self.lines.up),
            (self.graph.down, self.lines.down),
        ):
            a, b = self._places(lists[u]), self._places(lists[v])
            gain += pair_gain(a, b)
            if line[u] >= 0:
                line_gain += pair_gain([position[line[u]]], b)
            if line[v] >= 0:
                line_gain -= pair_gain([position[line[v]]], a)
        return gain, line_gain

    def _swap(self, u: int, v: int, row: int) -> None:
        position = self.position
        position[u], position[v] = position[v], position[u]
        self.rows[row][position[u]] = u
        self.rows[row][position[v]] = v

    def _swap_neighbors(self, row: int) -> bool:
        items = self.rows[row]
        swapped = False
        for i in range(len(items) - 1):
            u, v = items[i], items[i + 1]
            if self._gains(u, v) > (0, 0):
                self._swap(u, v, row)
                swapped = True
        return swapped

    def _uncross(self, row: int, ahead: list[int], back: list[int], step: int) -> bool:
        """Swap two lines that cross on one side of a row, against the other side."""
        items, position = self.rows[row], self.position
        if len(items) > _WIDEST:
            return False
        changed = False
        for i in range(len(items) - 1):
            u, v = items[i], items[i + 1]
            a, b = ahead[u], ahead[v]
            if a < 0 or b < 0 or position[a] < position[b]:
                continue
            if self._follow(u, v, row, back, step):
                changed = True
        return changed

    def _follow(self, left: int, right: int, row: int, back: list[int], step: int) -> bool:
        position = self.position
        u, v = left, right
        gain = line_gain = 0
        swapped: list[tuple[int, int, int]] = []
        while len(swapped) < _FARTHEST:
            if u < 0 or v < 0 or position[v] - position[u] != 1 or len(self.rows[row]) > _WIDEST:
                break
            gains = self._gains(u, v)
            gain += gains[0]
            if gain < -_MOST_DEBT:
                break
            line_gain += gains[1]
            self._swap(u, v, row)
            swapped.append((u, v, row))
            if (gain, line_gain) > (0, 0):
                return True
            u, v = back[u], back[v]
            row += step
        for u, v, at in swapped:
            self._swap(v, u, at)
        return False
