"""Where lines meet the boxes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.adjacency import group_by

if TYPE_CHECKING:
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


def _mean_below(
    graph: Expanded, trunks: Trunks, target: list[int], x: list[float], k: int
) -> float:
    """Return where a trunk's next items are; the source's own x if one stands right below it."""
    v = trunks.source[k]
    below = [x[graph.first_point[k]]] if graph.points[k] > 0 else []
    start, item = trunks.edges.start, trunks.edges.item
    below += [x[target[e]] for e in item[start[k] : start[k + 1]] if graph.last[e] == v]
    if x[v] in below:
        return x[v]
    total = 0.0
    for at in below:
        total += at
    return total / len(below) if below else math.inf


def _place(port: list[float], wish: dict[int, float], middle: float, width: float) -> None:
    members = sorted(wish, key=wish.__getitem__)
    spread = _spread([wish[member] for member in members], middle, width)
    for member, at in zip(members, spread, strict=True):
        port[member] = at


def place_ports(
    graph: Expanded, trunks: Trunks, target: list[int], centre: list[float], width: list[float]
) -> tuple[list[float], list[float]]:
    """Return x of each trunk on its source's lower border, and of each edge on its target's."""
    nodes = graph.nodes
    out_x = [centre[v] for v in trunks.source]
    of_source = group_by(nodes, trunks.source)
    for v in range(nodes):
        leaving = of_source.item[of_source.start[v] : of_source.start[v + 1]]
        if len(leaving) > 1:
            wish = {k: _mean_below(graph, trunks, target, centre, k) for k in leaving}
            _place(out_x, wish, centre[v], width[v])

    def comes_from(e: int) -> float:
        u = graph.last[e]
        if u < 0:
            return math.inf
        return out_x[trunks.of_edge[e]] if u < nodes else centre[u]

    in_x = [0.0] * len(target)
    incoming = group_by(nodes, target)
    for v in range(nodes):
        entering = incoming.item[incoming.start[v] : incoming.start[v + 1]]
        if entering:
            _place(in_x, {e: comes_from(e) for e in entering}, centre[v], width[v])
    return out_x, in_x
