"""Which nodes of two graphs are compared with which: a fused function with its parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.matching import Certainty, Matching
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.node_sets import NodeSets

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Stands for the certainty of a row that has nodes on one side only.
NO_MATCH = 255


@dataclass(frozen=True, eq=False)
class Aligned:
    """Rows of nodes that do the same work, R of them; each timed node is in exactly one."""

    offsets_a: Ints
    nodes_a: Ints
    offsets_b: Ints
    nodes_b: Ints
    certainty: npt.NDArray[np.uint8]
    reason: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.certainty)

    def a(self, row: int) -> tuple[int, ...]:
        """Return the nodes of `a` in a row."""
        return tuple(self.nodes_a[self.offsets_a[row] : self.offsets_a[row + 1]].tolist())

    def b(self, row: int) -> tuple[int, ...]:
        """Return the nodes of `b` in a row."""
        return tuple(self.nodes_b[self.offsets_b[row] : self.offsets_b[row + 1]].tolist())


def align(
    matching: Matching,
    times_a: Floats,
    times_b: Floats,
    calls: tuple[NodeSets | None, NodeSets | None] = (None, None),
) -> Aligned:
    """Return the rows to be compared, in the order of the nodes of `a`, then of `b`.

    Nodes that are matched with each other, also by way of others, are in one row, and so are the
    nodes of a call, of which the time is known together. Inputs and parameters without a time are
    left out.
    """
    count_a, count_b = matching.graph_a.num_nodes, matching.graph_b.num_nodes
    ones, others = matching.pairs[:, 0].astype(np.int64), matching.pairs[:, 1] + np.int64(count_a)
    for sets, first in zip(calls, (0, count_a), strict=True):
        if sets is not None:
            sizes = np.diff(sets.offsets)
            leading = np.repeat(sets.offsets[:-1], sizes)
            # The time of sets apart is of none of their nodes.
            own = ~np.repeat(sets.apart, sizes)
            ones = np.concatenate((ones, sets.nodes[leading[own]] + np.int64(first)))
            others = np.concatenate((others, sets.nodes[own] + np.int64(first)))
    group = _groups(ones, others, count_a + count_b)
    timed = np.concatenate(
        (_is_compared(matching.graph_a, times_a), _is_compared(matching.graph_b, times_b))
    )
    kept = np.unique(group[timed])
    place = np.full(count_a + count_b, -1, np.int64)
    place[kept] = np.arange(len(kept))
    rows = place[group]
    worst = np.full(len(kept), -1, np.int64)
    of_pair = rows[matching.pairs[:, 0]]
    known = of_pair >= 0
    coded = matching.certainty[known].astype(np.int64) * 256 + matching.reason[known]
    np.maximum.at(worst, of_pair[known], coded)
    alone = worst < 0
    return Aligned(
        *_side(rows[:count_a], len(kept)),
        *_side(rows[count_a:], len(kept)),
        np.where(alone, NO_MATCH, worst // 256).astype(np.uint8),
        np.where(alone, 0, worst % 256).astype(np.uint8),
    )


def _is_compared(graph: Graph, times: Floats) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        found: npt.NDArray[np.bool_] = (graph.kinds >= NodeKind.OPERATOR) | (times > 0)
    return found


def _groups(ones: Ints, others: Ints, count: int) -> Ints:
    """Return for each node of `a`, then of `b`, the least number of a node it is linked with."""
    found = np.arange(count, dtype=np.int64)
    while True:
        least = np.minimum(found[ones], found[others])
        before = found.copy()
        np.minimum.at(found, ones, least)
        np.minimum.at(found, others, least)
        if np.array_equal(before, found):
            return found


def _side(rows: Ints, count: int) -> tuple[Ints, Ints]:
    nodes = np.flatnonzero(rows >= 0)
    nodes = nodes[np.argsort(rows[nodes], kind="stable")].astype(np.int64)
    return np.searchsorted(rows[nodes], np.arange(count + 1)).astype(np.int64), nodes


def sure_nodes(matching: Matching, order: Ints) -> npt.NDArray[np.int32]:
    """Return for each node of `b` the node of `a` it surely or likely stands for; -1 for none.

    Where it stands for several, the last of them as `a` runs, which gives the same value.
    """
    sure = matching.certainty <= Certainty.LIKELY
    pairs = matching.pairs[sure]
    places = np.empty(matching.graph_a.num_nodes, np.int64)
    places[order] = np.arange(len(places))
    found = np.full(matching.graph_b.num_nodes, -1, np.int32)
    late = np.argsort(places[pairs[:, 0]], kind="stable")
    found[pairs[late, 1]] = pairs[late, 0]  # of equal indices the last stays
    return found
