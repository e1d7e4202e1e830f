"""Which items stand exactly below each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.runs import best_neighbors, runs

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.layering import Layering
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_MAIN = 2**30
_BOTH_BEST = 12
_TRUNK = 8
_ONE_BEST = 4


@dataclass(slots=True)
class Blocks:
    """Members of every block from top to bottom, and the main line's item in every row."""

    of_item: list[int]
    members: list[list[int]]
    main: list[int]


def _main_line(
    order: Order, layering: Layering, up_run: list[int], best_up: list[int]
) -> tuple[list[int], list[bool]]:
    """One longest path per component, the middle one where several are equally long.

    Inside a frame it may have breaks, where nothing leads on upwards; the rows above them are
    marked.
    """

    def longest(row: int) -> int:
        most = max(up_run[v] for v in order.rows[row])
        ends = [v for v in order.rows[row] if up_run[v] == most]
        return ends[(len(ends) - 1) >> 1]

    main = [0] * layering.rows
    broken = [False] * layering.rows
    for top, end in zip(layering.row_start, layering.row_start[1:], strict=False):
        v = longest(end - 1)
        for row in range(end - 1, top - 1, -1):
            main[row] = v
            v = best_up[v]
            if v < 0 and row > top:
                v = longest(row - 1)
                broken[row - 1] = True
    return main, broken


class _Heaviest:
    """The heaviest link that ends before a place, the first of several: a tree of maxima."""

    def __init__(self, width: int) -> None:
        self._best = [(0, 1)] * (width + 1)

    def add(self, end: int, total: int, link: int) -> None:
        own, at = (total, -link), end + 1
        while at < len(self._best):
            self._best[at] = max(self._best[at], own)
            at += at & -at

    def before(self, end: int) -> tuple[int, int]:
        """Return its weight and number; 0 and -1 where there is none."""
        found, at = (0, 1), end
        while at > 0:
            found = max(found, self._best[at])
            at -= at & -at
        return found[0], -found[1]


def _choose(links: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """Of links (from, to, end, weight) choose the heaviest set that neither cross nor meet."""
    if len(links) < 2:
        return [link[:2] for link in links]
    heaviest = _Heaviest(1 + max(end for _, _, end, _ in links))
    total: list[int] = []
    before: list[int] = []
    last = begun = 0
    for i, (u, _, end, weight) in enumerate(links):
        while links[begun][0] != u:
            heaviest.add(links[begun][2], total[begun], begun)
            begun += 1
        most, best = heaviest.before(end)
        before.append(best)
        total.append(weight + most)
        if total[i] > total[last]:
            last = i
    chosen: list[tuple[int, int]] = []
    while last >= 0:
        chosen.append(links[last][:2])
        last = before[last]
    return chosen


def align_blocks(graph: Expanded, order: Order, layering: Layering) -> Blocks:
    """Join the items that shall stand below each other.

    The main line comes first, then trunks and the longest runs.
    """
    items = [v for row in order.rows for v in row]
    up_run = runs(graph, graph.up, items)
    best_up = best_neighbors(graph.up, up_run)
    best_down = best_neighbors(graph.down, runs(graph, graph.down, items[::-1]))
    main, broken = _main_line(order, layering, up_run, best_up)

    def weigh(u: int, v: int) -> int:
        if main[graph.row[u]] == u and main[graph.row[v]] == v:
            return _MAIN
        if u >= graph.nodes and v >= graph.nodes:
            return _TRUNK
        return (0, _ONE_BEST, _BOTH_BEST)[(best_up[v] == u) + (best_down[u] == v)]

    def besides(u: int, v: int) -> bool:
        """Whether both are on one side of the main line."""
        a = order.position[u] - order.position[main[graph.row[u]]]
        b = order.position[v] - order.position[main[graph.row[v]]]
        return a * b > 0

    above = [-1] * graph.count
    for r, row in enumerate(order.rows):
        links = [(u, v, order.position[v], weigh(u, v)) for u in row for v in graph.down[u]]
        if broken[r]:
            links = [link for link in links if besides(link[0], link[1])]
        for u, v in _choose([link for link in links if link[3] > 0]):
            above[v] = u
    of_item = [0] * graph.count
    members: list[list[int]] = []
    for v in items:
        if above[v] < 0:
            of_item[v] = len(members)
            members.append([v])
        else:
            of_item[v] = of_item[above[v]]
            members[of_item[v]].append(v)
    return Blocks(of_item, members, main)
