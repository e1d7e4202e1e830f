"""The order to start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.trunks import Expanded


@dataclass(slots=True)
class Order:
    """Items of every row from left to right, and each item's position in its row."""

    rows: list[list[int]]
    position: list[int]


def initial_order(graph: Expanded) -> Order:
    """Walk depth first from the sinks, first operand first: operands stand in their order."""
    up, down = graph.up, graph.down
    rows: list[list[int]] = [[] for _ in range(graph.rows)]
    position = [0] * graph.count
    seen = [False] * graph.count
    for sink in range(graph.count):
        if down[sink]:
            continue
        stack = [sink]
        while stack:
            v = stack.pop()
            if seen[v]:
                continue
            seen[v] = True
            row = rows[graph.row[v]]
            position[v] = len(row)
            row.append(v)
            stack += [u for u in reversed(up[v]) if not seen[u]]
    return Order(rows, position)
