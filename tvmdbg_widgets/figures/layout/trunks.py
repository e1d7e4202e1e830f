"""One line per tensor, with a point for every row it passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.adjacency import Rows, neighbours

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.layering import Layering


@dataclass(slots=True)
class Trunks:
    """Edges of one tensor, (source, slot), share a trunk, sorted by source, then slot."""

    count: int
    source: list[int]
    of_edge: list[int]
    edges: Rows


@dataclass(slots=True)
class Expanded:
    """Items: first the nodes, then a point for every row a trunk passes."""

    nodes: int
    count: int
    row: list[int]
    rows: int
    first_point: list[int]
    points: list[int]
    last: list[int]
    down: list[list[int]]
    up: list[list[int]]


def find_trunks(
    source: list[int], outgoing: Rows, slot: list[int] | None, flipped: list[bool]
) -> Trunks:
    """Group the edges by (source, slot); an edge that was turned round stands alone."""
    keys = [2**32 + e if flip else slot[e] if slot else 0 for e, flip in enumerate(flipped)]
    of_edge = [-1] * len(source)
    trunk_source: list[int] = []
    start: list[int] = []
    item: list[int] = []
    for v in range(len(outgoing.start) - 1):
        edges = outgoing.item[outgoing.start[v] : outgoing.start[v + 1]]
        edges.sort(key=lambda e: (keys[e], e))
        for i, e in enumerate(edges):
            if i == 0 or keys[edges[i - 1]] != keys[e]:
                trunk_source.append(v)
                start.append(len(item) + i)
            of_edge[e] = len(trunk_source) - 1
        item += edges
    start.append(len(item))
    return Trunks(len(trunk_source), trunk_source, of_edge, Rows(start, item))


def _affordable_reach(spans: list[int], budget: float) -> int:
    """Return the most rows a line may pass so that all points stay within the budget."""
    longest = max(spans, default=1)
    ending = [0] * (longest + 1)
    for span in spans:
        ending[span] += 1
    alive = len(spans)
    used = 0
    for span in range(1, longest):
        alive -= ending[span]
        if used + alive > budget:
            return span
        used += alive
    return longest


def expand(
    layering: Layering, trunks: Trunks, source: list[int], target: list[int], budget: float
) -> Expanded:
    """Put a point into every row a trunk passes; edges beyond the budget stay without."""
    row = list(layering.row)
    nodes = len(row)
    span = [
        row[t] - row[s] if k >= 0 else 0
        for s, t, k in zip(source, target, trunks.of_edge, strict=True)
    ]
    start, item = trunks.edges.start, trunks.edges.item
    spans = [max(span[e] for e in item[start[k] : start[k + 1]]) for k in range(trunks.count)]
    reach = _affordable_reach(spans, budget)
    first_point: list[int] = []
    points: list[int] = []
    above: list[int] = []
    below: list[int] = []
    for k in range(trunks.count):
        within = [span[e] for e in item[start[k] : start[k + 1]] if span[e] <= reach]
        first_point.append(len(row))
        points.append(max(within, default=1) - 1)
        upper = trunks.source[k]
        for _ in range(points[k]):
            above.append(upper)
            below.append(len(row))
            row.append(row[upper] + 1)
            upper = len(row) - 1
    last = [-1] * len(source)
    for e, k in enumerate(trunks.of_edge):
        if k < 0 or span[e] > reach:
            continue
        last[e] = source[e] if span[e] == 1 else first_point[k] + span[e] - 2
        above.append(last[e])
        below.append(target[e])
    count = len(row)
    down = neighbours(count, above, below)
    up = neighbours(count, below, above)
    return Expanded(nodes, count, row, layering.rows, first_point, points, last, down, up)
