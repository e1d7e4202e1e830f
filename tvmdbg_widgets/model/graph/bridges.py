"""What nodes that are not drawn connect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.graph import Graph

#: Edges that are followed at most.
MOST_FOLLOWED = 1_000_000


class Bridge(NamedTuple):
    """Two shown nodes with nothing but hidden ones between them, and how many those are."""

    source: int
    target: int
    through: int


def bridges(graph: Graph, hidden: npt.NDArray[np.bool_]) -> list[Bridge]:
    """Return what hidden nodes connect; ``js/src/graph/data/bridges.ts`` finds the same.

    ``through`` counts the hidden nodes on any path from source to target that has hidden nodes
    alone between its ends. Sources come ascending, and targets of each. Where more than
    ``MOST_FOLLOWED`` edges would be followed, the rest is left out.
    """
    return list(_Walker(graph, hidden).all())


class _Walker:
    def __init__(self, graph: Graph, hidden: npt.NDArray[np.bool_]) -> None:
        self._graph = graph
        self._hidden = hidden
        self._followed = 0

    def all(self) -> Iterator[Bridge]:
        graph, hidden = self._graph, self._hidden
        known = graph.edge_source >= 0
        source, target = graph.edge_source[known], graph.edge_target[known]
        for start in np.unique(source[hidden[target] & ~hidden[source]]).tolist():
            behind, ends = self._behind(start)
            for end in ends:
                through = self._through(end, behind)
                if self._followed > MOST_FOLLOWED:
                    return
                yield Bridge(start, end, through)

    def _behind(self, start: int) -> tuple[set[int], list[int]]:
        """Return the hidden nodes behind a node, and the shown ones behind those."""
        behind: set[int] = set()
        ends: set[int] = set()
        work = [start]
        while work and self._followed <= MOST_FOLLOWED:
            node = work.pop()
            edges = self._graph.out_edges(node)
            self._followed += len(edges) * (node != start)
            for other in self._graph.edge_target[edges].tolist():
                if not self._hidden[other]:
                    ends.update([other] * (node != start))
                elif other not in behind:
                    behind.add(other)
                    work.append(other)
        return behind, sorted(ends - {start})

    def _through(self, end: int, behind: set[int]) -> int:
        """Return how many of the hidden nodes lead to a node."""
        through: set[int] = set()
        work = [end]
        while work and self._followed <= MOST_FOLLOWED:
            edges = self._graph.in_edges(work.pop())
            self._followed += len(edges)
            ahead = behind.intersection(self._graph.edge_source[edges].tolist()) - through
            through |= ahead
            work += ahead
        return len(through)
