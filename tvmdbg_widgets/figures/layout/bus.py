"""Horizontal lines from which the branches of a tensor lead down to many readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.place import Geometry
    from tvmdbg_widgets.figures.layout.ports import PortPlacer

#: Readers in the next layer from which on a tensor's branches leave one horizontal line.
_BRANCHES = 3
#: Horizontal lines between two layers; branches beyond that fan out from their trunk.
_TRACKS = 4


@dataclass(frozen=True, slots=True)
class Branch:
    """An edge on such a line.

    Attributes
    ----------
    at, stem
        y of the line, and x where the tensor comes down to it.
    leaves
        The edge whose stroke it leaves; -1 for the one that has the line from the stem on.
    outer
        Whether it goes on along the line to the other side.
    """

    at: float
    stem: float
    leaves: int
    outer: bool


@dataclass(slots=True)
class _Bus:
    links: list[int]
    stem: float
    low: float
    high: float


def _crossings(a: _Bus, b: _Bus, in_x: list[float]) -> int:
    """Count the crossings of two lines where `a` runs above `b`."""
    drops = sum(b.low < in_x[link] < b.high for link in a.links)
    return drops + (a.low < b.stem < a.high)


def _settle(found: list[_Bus], top: float, room: float, in_x: list[float]) -> dict[int, Branch]:
    lines = sorted(found, key=lambda bus: -len(bus.links))[:_TRACKS]
    lines.sort(key=lambda bus: bus.stem)
    for _ in range(1, len(lines)):
        for i in range(len(lines) - 1):
            a, b = lines[i], lines[i + 1]
            if _crossings(b, a, in_x) < _crossings(a, b, in_x):
                lines[i], lines[i + 1] = b, a
    branches: dict[int, Branch] = {}
    for i, bus in enumerate(lines):
        at = top + (room * (i + 1)) / (len(lines) + 1)
        links = sorted(bus.links, key=lambda e: (in_x[e], e))
        left, right = links[0], links[-1]
        bearer = right if in_x[right] > bus.stem else left
        for link in links:
            side = right if in_x[link] >= bus.stem else left
            leaves = -1 if link == bearer else bearer if link == side else side
            branches[link] = Branch(at, bus.stem, leaves, leaves >= 0 and link == side)
    return branches


def find_buses(ports: PortPlacer, g: Geometry, edges: range) -> dict[int, Branch]:
    """Find the horizontal lines of a level's edges; the level must have its ports and layers."""
    graph, trunks, target = ports.graph, ports.trunks, ports.levels.target
    start, item = trunks.edges.start, trunks.edges.item
    channels: dict[int, list[_Bus]] = {}
    for e in edges:
        k = trunks.of_edge[e]
        if k < 0 or item[start[k]] != e or start[k + 1] - start[k] < _BRANCHES:
            continue
        by_above: dict[int, list[int]] = {}
        for link in item[start[k] : start[k + 1]]:
            if graph.last[link] >= 0:
                by_above.setdefault(graph.last[link], []).append(link)
        for above, links in by_above.items():
            if len(links) < _BRANCHES:
                continue
            stem = ports.out_x[k] if above < graph.nodes else g.x[above]
            reached = [stem, *(ports.in_x[link] for link in links)]
            bus = _Bus(links, stem, min(reached), max(reached))
            channels.setdefault(g.layer[target[links[0]]], []).append(bus)
    branches: dict[int, Branch] = {}
    for below, found in channels.items():
        top = g.layer_bottom[below - 1]
        branches |= _settle(found, top, g.layer_top[below] - top, ports.in_x)
    return branches
