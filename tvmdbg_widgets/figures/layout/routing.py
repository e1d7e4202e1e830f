"""The strokes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.acyclic import Acyclic
    from tvmdbg_widgets.figures.layout.trunks import Expanded, Trunks

_STUB = 0.35

Point = tuple[float, float]


@dataclass(slots=True)
class Placed:
    """Where items and layers are."""

    x: list[float]
    layer: list[int]
    y: list[float]
    width: list[float]
    height: list[float]
    layer_top: list[float]
    layer_bottom: list[float]


class _Router:
    """Draws one edge at a time."""

    def __init__(
        self,
        graph: Expanded,
        trunks: Trunks,
        acyclic: Acyclic,
        ports: tuple[list[float], list[float]],
        placed: Placed,
    ) -> None:
        self.graph = graph
        self.trunks = trunks
        self.acyclic = acyclic
        self.out_x, self.in_x = ports
        self.placed = placed
        self.owner = self._owners()

    def _owners(self) -> list[int]:
        """Return the edge to the farthest reader of each trunk that has points."""
        owner = [-1] * self.trunks.count
        layer, target = self.placed.layer, self.acyclic.target
        for e, k in enumerate(self.trunks.of_edge):
            if k < 0 or self.graph.last[e] < self.graph.nodes:
                continue
            if owner[k] < 0 or layer[target[e]] > layer[target[owner[k]]]:
                owner[k] = e
        return owner

    def loop(self, e: int) -> list[Point]:
        """Draw a self loop on the right border."""
        p, v = self.placed, self.acyclic.loop[e]
        right = p.x[v] + p.width[v] / 2
        upper, lower = p.y[v] - p.height[v] / 4, p.y[v] + p.height[v] / 4
        return [(right, upper), (right + 6, upper), (right + 6, lower), (right, lower)]

    def stub(self, e: int) -> list[Point]:
        """Draw the two ends of an edge that is too long to be drawn."""
        p, u, v = self.placed, self.acyclic.source[e], self.acyclic.target[e]
        out, into = self.out_x[self.trunks.of_edge[e]], self.in_x[e]
        first, last = p.layer[u], p.layer[v]
        below = p.layer_top[first + 1] - p.layer_bottom[first]
        above = p.layer_top[last] - p.layer_bottom[last - 1]
        return [
            (out, p.y[u] + p.height[u] / 2),
            (out, p.layer_bottom[first] + _STUB * below),
            (into, p.layer_top[last] - _STUB * above),
            (into, p.y[v] - p.height[v] / 2),
        ]

    def line(self, e: int) -> tuple[list[Point], int]:
        """Draw an edge, or its branch of a trunk; also return the edge that owns the trunk."""
        p, graph, k = self.placed, self.graph, self.trunks.of_edge[e]
        u, v, last = self.acyclic.source[e], self.acyclic.target[e], graph.last[e]
        points: list[Point] = []
        owner = -1
        if last >= graph.nodes and self.owner[k] != e:
            owner = self.owner[k]
            points.append((p.x[last], p.layer_bottom[p.layer[last]]))
        else:
            points.append((self.out_x[k], p.y[u] + p.height[u] / 2))
            points.append((self.out_x[k], p.layer_bottom[p.layer[u]]))
            if last >= graph.nodes:
                for point in range(graph.first_point[k], last + 1):
                    points.append((p.x[point], p.layer_top[p.layer[point]]))
                    points.append((p.x[point], p.layer_bottom[p.layer[point]]))
        points.append((self.in_x[e], p.layer_top[p.layer[v]]))
        points.append((self.in_x[e], p.y[v] - p.height[v] / 2))
        return _straightened(points), owner


def _straightened(points: list[Point]) -> list[Point]:
    """Drop the points on straight verticals."""
    kept: list[Point] = []
    for x, y in points:
        if kept and kept[-1] == (x, y):
            continue
        if len(kept) > 1 and kept[-1][0] == x and kept[-2][0] == x:
            kept[-1] = (x, y)
        else:
            kept.append((x, y))
    return kept


def route_edges(
    graph: Expanded,
    trunks: Trunks,
    acyclic: Acyclic,
    ports: tuple[list[float], list[float]],
    placed: Placed,
) -> tuple[list[list[Point]], list[int], list[int]]:
    """Return the points of every edge, the edge whose trunk each leaves, and the stubs."""
    router = _Router(graph, trunks, acyclic, ports, placed)
    routes: list[list[Point]] = []
    owners: list[int] = []
    stubs: list[int] = []
    for e, k in enumerate(trunks.of_edge):
        owner = -1
        if k < 0:
            points = router.loop(e)
        elif graph.last[e] < 0:
            points = router.stub(e)
            stubs.append(e)
        else:
            points, owner = router.line(e)
        if acyclic.flipped[e]:
            points.reverse()
        routes.append(points)
        owners.append(owner)
    return routes, owners, stubs
