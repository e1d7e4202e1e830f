"""The strokes of the edges of level graphs, each in the coordinates of its level."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.bus import find_buses

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.bus import Branch
    from tvmdbg_widgets.figures.layout.place import Geometry
    from tvmdbg_widgets.figures.layout.ports import PortPlacer

Point = tuple[float, float]


class StrokeDrawer:
    """Draws the edges of a level once it has its ports and layers.

    Attributes
    ----------
    strokes
        Points of each edge; none for an edge that is hidden.
    leaves
        Per edge: the one whose stroke it leaves; -1 where its own is whole.
    """

    def __init__(self, ports: PortPlacer, geometry: Geometry) -> None:
        self.ports = ports
        self.geometry = geometry
        edges = len(ports.levels.target)
        self.strokes: list[list[Point]] = [[] for _ in range(edges)]
        self.leaves = [-1] * edges

    def draw(self, edges: range) -> None:
        """Draw some edges."""
        branches = find_buses(self.ports, self.geometry, edges)
        for e, branch in branches.items():
            self.leaves[e] = branch.leaves
        owner = self._owners(edges)
        for e in edges:
            if self.ports.graph.last[e] >= 0:
                points = self._before(e, owner)
                self.strokes[e] = straightened(points + self._after(e, branches.get(e)))

    def _owners(self, edges: range) -> dict[int, int]:
        """Return the edge to the farthest reader of each trunk that has points."""
        graph, layer, target = self.ports.graph, self.geometry.layer, self.ports.levels.target
        owner: dict[int, int] = {}
        for e in edges:
            k = self.ports.trunks.of_edge[e]
            if k < 0 or graph.last[e] < graph.nodes or self.leaves[e] >= 0:
                continue
            if k not in owner or layer[target[e]] > layer[target[owner[k]]]:
                owner[k] = e
        return owner

    def _before(self, e: int, owner: dict[int, int]) -> list[Point]:
        """Draw an edge as far as the layer above its target."""
        graph, g = self.ports.graph, self.geometry
        if self.leaves[e] >= 0:
            return []
        above, k = graph.last[e], self.ports.trunks.of_edge[e]
        if above >= graph.nodes and owner[k] != e:
            self.leaves[e] = owner[k]
            return [(g.x[above], g.layer_bottom[g.layer[above]])]
        u, out = self.ports.levels.source[e], self.ports.out_x[k]
        points = [(out, g.y[u] + g.height[u] / 2), (out, g.layer_bottom[g.layer[u]])]
        passed = range(graph.first_point[k], above + 1)
        for point in passed if above >= graph.nodes else ():
            points.append((g.x[point], g.layer_top[g.layer[point]]))
            points.append((g.x[point], g.layer_bottom[g.layer[point]]))
        return points

    def _after(self, e: int, on: Branch | None) -> list[Point]:
        """Draw what of an edge is between its target and the layer above."""
        g, v, into = self.geometry, self.ports.levels.target[e], self.ports.in_x[e]
        points = [(into, g.layer_top[g.layer[v]]), (into, g.y[v] - g.height[v] / 2)]
        if on is None:
            return points
        stem = [(on.stem, on.at)] if on.leaves < 0 or on.outer else []
        return [*stem, (into, on.at), *points]


def straightened(points: list[Point]) -> list[Point]:
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
