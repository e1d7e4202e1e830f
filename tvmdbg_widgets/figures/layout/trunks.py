"""One line per tensor, with a point for every row it passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.adjacency import Rows, neighbors

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.layering import Layering
    from tvmdbg_widgets.figures.layout.levels import Levels

#: Readers of a tensor from which on those that are far from the others are stubs.
_FAN_OUT = 4
#: Rows, several screens of them, without a reader of the tensor.
_FAR = 40


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
    port: list[int]
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


def find_stubs(layering: Layering, trunks: Trunks, levels: Levels, budget: float) -> list[bool]:
    """Find the edges that are drawn as two ends: what a trunk does not reach.

    It ends where a tensor with several readers has none for many rows, or where all trunks together
    would have too many points.
    """
    span = _spans(layering, trunks, levels)
    start, item = trunks.edges.start, trunks.edges.item
    groups = [item[start[k] : start[k + 1]] for k in range(trunks.count)]
    affordable = _affordable_reach([max(span[e] for e in group) for group in groups], budget)
    stub = [False] * len(span)
    for group in groups:
        reach = affordable
        if len(group) >= _FAN_OUT:
            last = 0
            for each in sorted(span[e] for e in group):
                if each - last > _FAR:
                    break
                last = each
            reach = min(reach, max(1, last))
        for e in group:
            stub[e] = span[e] > reach
    return stub


def spread_stubs(levels: Levels, far: list[bool]) -> tuple[list[bool], list[bool]]:
    """Return which edges of the input are stubs, and which of the level graphs only they need.

    What closes a cycle of frames, without closing one of boxes, is a stub too.
    """
    hidden = [True] * len(far)
    stub: list[bool] = []
    for chain in levels.chains:
        stub.append(any(far[each] or levels.flipped[each] for each in chain))
        if not stub[-1]:
            for each in chain:
                hidden[each] = False
    return stub, hidden


def _spans(layering: Layering, trunks: Trunks, levels: Levels) -> list[int]:
    row = layering.row
    return [
        row[t] - row[s] if k >= 0 else 0
        for s, t, k in zip(levels.source, levels.target, trunks.of_edge, strict=True)
    ]


def expand(layering: Layering, trunks: Trunks, levels: Levels, hidden: list[bool]) -> Expanded:
    """Put a point into every row a trunk passes; hidden edges stay without."""
    row = list(layering.row)
    nodes = len(row)
    span = _spans(layering, trunks, levels)
    start, item = trunks.edges.start, trunks.edges.item
    first_point: list[int] = []
    points: list[int] = []
    above: list[int] = []
    below: list[int] = []
    for k in range(trunks.count):
        within = [span[e] for e in item[start[k] : start[k + 1]] if not hidden[e]]
        first_point.append(len(row))
        points.append(max(within, default=1) - 1)
        upper = trunks.source[k]
        for _ in range(points[k]):
            above.append(upper)
            below.append(len(row))
            row.append(row[upper] + 1)
            upper = len(row) - 1
    last = [-1] * len(span)
    for e, k in enumerate(trunks.of_edge):
        if k < 0 or hidden[e]:
            continue
        last[e] = levels.source[e] if span[e] == 1 else first_point[k] + span[e] - 2
        above.append(last[e])
        below.append(levels.target[e])
    count = len(row)
    return Expanded(
        nodes=nodes,
        count=count,
        row=row,
        rows=layering.rows,
        first_point=first_point,
        points=points,
        port=levels.port,
        last=last,
        down=neighbors(count, above, below),
        up=neighbors(count, below, above),
    )
