"""Lines that shall be straight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.trunks import Expanded

#: The line between two ports of a frame goes before all others.
_PORT = 2**20


@dataclass(slots=True)
class Lines:
    """The item straight above and below each; -1 without."""

    up: list[int]
    down: list[int]


def runs(graph: Expanded, lists: list[list[int]], items: list[int]) -> list[int]:
    """Count the boxes on the longest unbroken run of single-row edges that ends at each item."""
    run = [0] * graph.count
    for v in items:
        if v < graph.nodes:
            longest = max([run[w] for w in lists[v]], default=0)
            run[v] = longest + (1 if graph.port[v] == 0 else _PORT)
    return run


def best_neighbors(lists: list[list[int]], run: list[int]) -> list[int]:
    """Of the neighbors with the longest run take the middle one; -1 without neighbors."""
    best: list[int] = []
    for near in lists:
        if len(near) < 2:
            best.append(near[0] if near else -1)
            continue
        longest = max([run[w] for w in near])
        ties = [w for w in near if run[w] == longest]
        best.append(ties[(len(ties) - 1) >> 1])
    return best


def find_lines(graph: Expanded, order: Order) -> Lines:
    """Find the lines along trunks, and between boxes that are each other's best neighbor."""
    items = [v for row in order.rows for v in row]
    best_up = best_neighbors(graph.up, runs(graph, graph.up, items))
    best_down = best_neighbors(graph.down, runs(graph, graph.down, items[::-1]))
    lines = Lines([-1] * graph.count, [-1] * graph.count)
    for u in range(graph.nodes):
        v = best_down[u]
        if 0 <= v < graph.nodes and best_up[v] == u:
            lines.down[u], lines.up[v] = v, u
    for first, points in zip(graph.first_point, graph.points, strict=True):
        for u in range(first, first + points - 1):
            lines.down[u], lines.up[u + 1] = u + 1, u
    return lines
