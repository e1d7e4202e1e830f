"""Where across the flow every item stands."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.figures.layout.blocks import Blocks
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.spacing import Spacing
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_PASSES = 4


def gap_of(graph: Expanded, u: int, v: int, spacing: Spacing) -> float:
    """Return the free space between two items of a row."""
    lines = sum(item >= graph.nodes or graph.port[item] != 0 for item in (u, v))
    return (spacing.node_gap, spacing.line_gap, spacing.track_gap)[lines]


class _Placer:
    """Moves blocks between their neighbors."""

    def __init__(
        self, graph: Expanded, order: Order, blocks: Blocks, width: list[float], spacing: Spacing
    ) -> None:
        nodes = graph.nodes
        self.x = [0.0] * len(blocks.members)
        self.lefts: list[list[tuple[int, int]]] = [[] for _ in blocks.members]
        self.rights: list[list[tuple[int, int]]] = [[] for _ in blocks.members]
        of_item = blocks.of_item
        for row in order.rows:
            for u, v in itertools.pairwise(row):
                gap = gap_of(graph, u, v, spacing)
                half = (width[u] / 2 if u < nodes else 0) + (width[v] / 2 if v < nodes else 0)
                apart = math.ceil(half + gap)
                self.lefts[of_item[v]].append((of_item[u], apart))
                self.rights[of_item[u]].append((of_item[v], apart))
        self.near = [
            [of_item[w] for v in block for w in graph.up[v] + graph.down[v] if of_item[w] != b]
            for b, block in enumerate(blocks.members)
        ]

    def least(self, b: int) -> float:
        """Return the leftmost place the blocks to the left allow."""
        x = self.x
        return max([x[u] + apart for u, apart in self.lefts[b]], default=-math.inf)

    def most(self, b: int) -> float:
        """Return the rightmost place the blocks to the right allow."""
        x = self.x
        return min([x[v] - apart for v, apart in self.rights[b]], default=math.inf)

    def wanted(self, b: int) -> float:
        """Return the mean place of the neighbors above and below."""
        near = self.near[b]
        if not near:
            return self.x[b]
        x = self.x
        return math.floor(sum([x[c] for c in near]) / len(near) + 0.5)

    def left_to_right(self) -> list[int]:
        """Sort the blocks so that each comes after all that stand left of it."""
        missing = [len(lefts) for lefts in self.lefts]
        sequence = [b for b, count in enumerate(missing) if count == 0]
        for b in sequence:
            for v, _ in self.rights[b]:
                missing[v] -= 1
                if missing[v] == 0:
                    sequence.append(v)
        return sequence


def place_blocks(
    graph: Expanded, order: Order, blocks: Blocks, width: list[float], spacing: Spacing
) -> list[float]:
    """Return the x of every item, whole pixels: each component's main line stands at 0.

    Everything else stands as close to it as the boxes allow, then blocks move outwards towards
    their neighbors where there is room.
    """
    placer = _Placer(graph, order, blocks, width, spacing)
    x, position = placer.x, order.position
    side = [
        position[block[0]] - position[blocks.main[graph.row[block[0]]]] for block in blocks.members
    ]
    sequence = placer.left_to_right()
    rights = [b for b in sequence if side[b] > 0]
    lefts = [b for b in reversed(sequence) if side[b] < 0]
    for b in rights:
        x[b] = placer.least(b)
    for b in lefts:
        x[b] = placer.most(b)
    movable = [b for b in sequence if side[b] != 0]
    for _ in range(_PASSES):
        _move(placer, movable[::-1], lambda goal, b: min(goal, placer.most(b)), 1)
        _move(placer, movable, lambda goal, b: max(goal, placer.least(b)), -1)
    return [x[b] for b in blocks.of_item]


def _move(
    placer: _Placer, blocks: list[int], limit: Callable[[float, int], float], sign: int
) -> None:
    for b in blocks:
        goal = placer.wanted(b)
        if (goal - placer.x[b]) * sign > 0:
            placer.x[b] = limit(goal, b)
