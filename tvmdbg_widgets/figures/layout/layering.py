"""Which layer each node stands in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.adjacency import Rows, group_by
from tvmdbg_widgets.figures.layout.levels import ENTRY, EXIT

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.levels import Levels


@dataclass(slots=True)
class Layering:
    """Rows: a row is one layer of one component, so that components never meet."""

    row: list[int]
    rows: int
    components: int
    component: list[int]
    row_start: list[int]


def _connected(levels: Levels) -> tuple[list[int], int]:
    """Find the components; the inside of a frame is always one."""
    count, level_of = levels.count, levels.level_of
    root = list(range(count))

    def find(v: int) -> int:
        while root[v] != v:
            root[v] = root[root[v]]
            v = root[v]
        return v

    joined = [(s, t) for s, t in zip(levels.source, levels.target, strict=True) if s >= 0]
    inside = [(v - 1, v) for v in range(1, count) if 0 < level_of[v] == level_of[v - 1]]
    for s, t in joined + inside:
        a, b = find(s), find(t)
        if a < b:
            root[b] = a
        else:
            root[a] = b
    component = [0] * count
    components = 0
    for v in range(count):
        r = find(v)
        if r == v:
            component[v] = components
            components += 1
        else:
            component[v] = component[r]
    return component, components


def assign_layers(levels: Levels, outgoing: Rows) -> Layering:
    """Assign the longest path from the sources, then move nodes towards their readers.

    A node moves where that makes no more lines longer than shorter; a chain of sole inputs moves
    along for free. Ports stand in the first and in the last row of their frame.
    """
    count, source, target, port = levels.count, levels.source, levels.target, levels.port
    deepest_of = [-1] * (len(levels.item_start) - 1)
    incoming = group_by(count, target)
    start, item = outgoing.start, outgoing.item
    layer = [0] * count
    cost = [0] * count
    for v in range(count):
        deepest = total = 0
        for k in range(incoming.start[v], incoming.start[v + 1]):
            u = source[incoming.item[k]]
            deepest = max(deepest, layer[u] + 1)
            total += min(1, cost[u]) if start[u + 1] - start[u] == 1 else 1
        layer[v] = deepest
        cost[v] = 1 if port[v] == ENTRY else total
        if port[v] != EXIT:
            level = levels.level_of[v]
            deepest_of[level] = max(deepest_of[level], deepest)
    for v in range(count - 1, -1, -1):
        if port[v] == EXIT:
            layer[v] = deepest_of[levels.level_of[v]] + 1
        if start[v] == start[v + 1] or cost[v] > 1 or port[v] != 0:
            continue
        layer[v] = min(layer[target[item[k]]] for k in range(start[v], start[v + 1])) - 1
    of_node, components = _connected(levels)
    row_start = [0] * (components + 1)
    for v in range(count):
        row_start[of_node[v] + 1] = max(row_start[of_node[v] + 1], layer[v] + 1)
    component: list[int] = []
    for c in range(components):
        component += [c] * row_start[c + 1]
        row_start[c + 1] += row_start[c]
    row = [layer[v] + row_start[of_node[v]] for v in range(count)]
    return Layering(row, row_start[components], components, component, row_start)
