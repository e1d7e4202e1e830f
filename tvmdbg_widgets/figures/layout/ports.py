"""Where lines meet the boxes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.adjacency import group_by

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.levels import Levels
    from tvmdbg_widgets.figures.layout.trunks import Expanded, Trunks

_PORT_GAP = 10
_CORNER = 8


def _spread(wish: list[float], middle: float, width: float) -> list[float]:
    """Spread sorted ports along a border.

    The one nearest to the middle of the box keeps its place, the others give way to the sides.
    """
    half = width / 2 - min(_CORNER, width / 4)
    count = len(wish)
    kept = min(range(count), key=lambda i: abs(wish[i] - middle))
    wish = [max(middle - half, min(middle + half, w)) for w in wish]
    right = count - 1 - kept
    if right > 0:
        gap = min(_PORT_GAP, (middle + half - wish[kept]) / right)
        for i in range(kept + 1, count):
            wish[i] = max(wish[i], wish[i - 1] + gap)
        wish[-1] = min(wish[-1], middle + half)
        for i in range(count - 2, kept, -1):
            wish[i] = min(wish[i], wish[i + 1] - gap)
    if kept > 0:
        gap = min(_PORT_GAP, (wish[kept] - (middle - half)) / kept)
        for i in range(kept - 1, -1, -1):
            wish[i] = min(wish[i], wish[i + 1] - gap)
        wish[0] = max(wish[0], middle - half)
        for i in range(1, kept):
            wish[i] = max(wish[i], wish[i - 1] + gap)
    return wish


class PortPlacer:
    """Places the ports of a level's items once the level has its final x.

    Attributes
    ----------
    out_x
        Per trunk, on the source's lower border.
    in_x
        Per edge, on the target's upper border.
    """

    def __init__(
        self,
        graph: Expanded,
        trunks: Trunks,
        levels: Levels,
        *,
        x: list[float],
        width: list[float],
    ) -> None:
        self.graph = graph
        self.trunks = trunks
        self.levels = levels
        self.x = x
        self.width = width
        self.out_x = [0.0] * trunks.count
        self.in_x = [0.0] * len(levels.target)
        self.leaving = group_by(graph.nodes, trunks.source)
        self.entering = group_by(graph.nodes, levels.target)

    def place(self, items: range) -> None:
        """Place the ports of some items."""
        for v in items:
            self._place_out(v)
        for v in items:
            self._place_in(v)

    def _read_at(self, e: int) -> float:
        port = self.levels.in_port[e]
        return self.x[self.levels.target[e]] + (self.x[port] if port >= 0 else 0)

    def _edges(self, k: int) -> list[int]:
        start, item = self.trunks.edges.start, self.trunks.edges.item
        return item[start[k] : start[k + 1]]

    def _mean_below(self, k: int) -> float:
        """Return where a trunk's next items are; the source's own x if one is right below it."""
        graph, x, v = self.graph, self.x, self.trunks.source[k]
        below = [x[graph.first_point[k]]] if graph.points[k] > 0 else []
        below += [self._read_at(e) for e in self._edges(k) if graph.last[e] == v]
        if x[v] in below:
            return x[v]
        total = 0.0
        for at in below:
            total += at
        return total / len(below) if below else math.inf

    def _place_out(self, v: int) -> None:
        leaving = self.leaving.item[self.leaving.start[v] : self.leaving.start[v + 1]]
        if self.levels.frame[v] >= 0:
            for k in leaving:
                self.out_x[k] = self.x[v] + self.x[self.levels.out_port[self._edges(k)[0]]]
        elif len(leaving) == 1:
            self.out_x[leaving[0]] = self.x[v]
        elif leaving:
            wish = {k: self._mean_below(k) for k in leaving}
            _place(self.out_x, wish, self.x[v], self.width[v])

    def _comes_from(self, e: int) -> float:
        u = self.graph.last[e]
        if u < 0:
            return math.inf
        return self.out_x[self.trunks.of_edge[e]] if u < self.graph.nodes else self.x[u]

    def _place_in(self, v: int) -> None:
        entering = self.entering.item[self.entering.start[v] : self.entering.start[v + 1]]
        if self.levels.frame[v] >= 0:
            for e in entering:
                self.in_x[e] = self._read_at(e)
        elif entering:
            wish = {e: self._comes_from(e) for e in entering}
            _place(self.in_x, wish, self.x[v], self.width[v])


def _place(port: list[float], wish: dict[int, float], middle: float, width: float) -> None:
    members = sorted(wish, key=wish.__getitem__)
    spread = _spread([wish[member] for member in members], middle, width)
    for member, at in zip(members, spread, strict=True):
        port[member] = at
