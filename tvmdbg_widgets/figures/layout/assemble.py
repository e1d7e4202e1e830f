"""The strokes of all levels joined to one an edge of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.levels import ENTRY
from tvmdbg_widgets.figures.layout.routing import straightened

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.acyclic import Acyclic
    from tvmdbg_widgets.figures.layout.levels import Levels
    from tvmdbg_widgets.figures.layout.place import Geometry, Placer
    from tvmdbg_widgets.figures.layout.routing import Point

_STUB = 0.35
_LOOP = 6


@dataclass(slots=True)
class Drawn:
    """The strokes, the edge whose stroke each leaves, and the stubs."""

    routes: list[list[Point]]
    owners: list[int]
    stubs: list[int]


def origins_of(levels: Levels, g: Geometry) -> list[Point]:
    """Return where each level's main line and first layer are in the whole picture."""
    origins = [(0.0, 0.0)]
    for level, item in enumerate(levels.item_of_frame, 1):
        x, y = origins[levels.level_of[item]]
        origins.append((x + g.x[item], y + g.y[item] - g.height[item] / 2 + g.above[level]))
    return origins


class _Joiner:
    def __init__(self, placer: Placer, origins: list[Point]) -> None:
        self.levels = placer.levels
        self.geometry = placer.geometry
        self.placer = placer
        self.strokes = placer.strokes.strokes
        self.leaves = placer.strokes.leaves
        self.origins = origins
        levels = self.levels
        self.onward: dict[int, int] = {}
        for e, u in enumerate(levels.source):
            if placer.graph.last[e] < 0 or self.leaves[e] >= 0:
                continue
            at = levels.out_port[e] if levels.out_port[e] >= 0 else u
            if levels.out_port[e] >= 0 or levels.port[at] == ENTRY:
                self.onward.setdefault(at, e)
        self.edge_of = {chain[-1]: e for e, chain in enumerate(levels.chains) if chain}

    def holder(self, link: int) -> int:
        """Return the edge of the input that has a whole line's stroke."""
        levels = self.levels
        while link not in self.edge_of:
            port = levels.in_port[link]
            link = self.onward[port if port >= 0 else levels.target[link]]
        return self.edge_of[link]

    def loop(self, v: int) -> list[Point]:
        """Draw a self loop on the right border."""
        g, (x, y) = self.geometry, self.origins[self.levels.level_of[v]]
        right = x + g.x[v] + g.right[v]
        upper, lower = y + g.y[v] - g.height[v] / 4, y + g.y[v] + g.height[v] / 4
        return [(right, upper), (right + _LOOP, upper), (right + _LOOP, lower), (right, lower)]

    def stub(self, first: int, last: int) -> list[Point]:
        """Draw the two ends of an edge that is too long to be drawn."""
        g, levels, ports = self.geometry, self.levels, self.placer.ports
        u, v = levels.source[first], levels.target[last]
        (ux, uy), (vx, vy) = (self.origins[levels.level_of[each]] for each in (u, v))
        lu, lv = g.layer[u], g.layer[v]
        out = ux + ports.out_x[ports.trunks.of_edge[first]]
        into = vx + ports.in_x[last]
        below = g.layer_top[lu + 1] - g.layer_bottom[lu]
        above = g.layer_top[lv] - g.layer_bottom[lv - 1]
        return [
            (out, uy + g.y[u] + g.height[u] / 2),
            (out, uy + g.layer_bottom[lu] + _STUB * below),
            (into, vy + g.layer_top[lv] - _STUB * above),
            (into, vy + g.y[v] - g.height[v] / 2),
        ]

    def line(self, e: int) -> tuple[list[Point], int]:
        """Draw what an edge has of its line, and return the edge it leaves."""
        chain, levels = self.levels.chains[e], self.levels
        i = len(chain) - 1
        while i > 0 and self.leaves[chain[i]] < 0 and self.holder(chain[i - 1]) == e:
            i -= 1
        owner = -1
        if self.leaves[chain[i]] >= 0:
            owner = self.holder(self.leaves[chain[i]])
        elif i > 0:
            owner = self.holder(chain[i - 1])
        points: list[Point] = []
        for link in chain[i:]:
            x, y = self.origins[levels.level_of[levels.target[link]]]
            points += [(x + px, y + py) for px, py in self.strokes[link]]
        return straightened(points), owner


def join_strokes(
    placer: Placer,
    acyclic: Acyclic,
    item_of_box: list[int],
    origins: list[Point],
    stub: list[bool],
) -> Drawn:
    """Join the strokes of all levels, and draw stubs and self loops."""
    joiner = _Joiner(placer, origins)
    drawn = Drawn([], [], [])
    for e, chain in enumerate(placer.levels.chains):
        owner = -1
        if e in acyclic.loop:
            points = joiner.loop(item_of_box[acyclic.loop[e]])
        elif stub[e]:
            points = joiner.stub(chain[0], chain[-1])
            drawn.stubs.append(e)
        else:
            points, owner = joiner.line(e)
        if acyclic.flipped[e]:
            points.reverse()
        drawn.routes.append(points)
        drawn.owners.append(owner)
    return drawn
