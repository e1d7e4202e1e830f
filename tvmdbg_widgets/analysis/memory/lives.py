"""When each entry of a graph is live, and what its slot holds meanwhile."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.planned_memory import PlannedMemory

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lives:
    """The life of every entry, in steps: places in the order of the nodes that run."""

    order: npt.NDArray[np.int32]
    owner: Ints
    first: Ints
    last: Ints
    needed: Ints

    @property
    def steps(self) -> int:
        """How many steps there are, at least one."""
        return max(1, len(self.order))


def lives(graph: Graph) -> Lives:
    """Return when each entry is live.

    Inputs and parameters are live throughout and outputs of the graph from their writing to the
    end, for the planner never frees them (``StorageAllocator::CreateToken`` and
    ``StorageAllocaBaseVisitor::Run``, ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0).

    With planned buffers, nodes run by their ids; inputs are live until they are read last, mutable
    buffers throughout (``update_tensor_lifetime``, ``exir/memory_planning.py`` @ v1.4.1), and
    scratch memory while it is read.
    """
    planned = graph.planned_memory
    ordered = np.arange(graph.num_nodes, dtype=np.int32)
    if planned is None:
        ordered = graph.topological_order
    order = ordered[graph.kinds[ordered] >= NodeKind.OPERATOR]
    place = np.full(graph.num_nodes, -1, np.int64)
    place[order] = np.arange(len(order))
    owner = np.repeat(np.arange(graph.num_nodes, dtype=np.int64), np.diff(graph.entry_offsets))
    given = graph.kinds[owner] < NodeKind.OPERATOR
    first = np.where(given, 0, place[owner])

    known = graph.edge_source >= 0
    needed = _last_read(graph, known & (graph.edge_trust != Trust.AMBIGUOUS), place)
    heads = graph.entry_offsets[graph.heads[:, 0]] + graph.heads[:, 1]
    end = max(1, len(order)) - 1
    last = np.maximum(_last_read(graph, known, place), first)
    throughout = given
    if planned is not None:
        first, last = _with_loops(graph, planned, place, first, last)
        kept = np.isin(owner, planned.kept)
        throughout = (graph.kinds[owner] == NodeKind.PARAMETER) | kept
    last[throughout] = end
    last[heads] = end
    needed[heads] = len(order)
    needed[graph.kinds[owner] == NodeKind.PARAMETER] = len(order)
    return Lives(order, owner, first, last, needed)


def _with_loops(
    graph: Graph, planned: PlannedMemory, place: Ints, first: Ints, last: Ints
) -> tuple[Ints, Ints]:
    """Return first and last steps where scratch begins with its readers, and loops repeat."""
    known = np.flatnonzero(graph.edge_source >= 0)
    read = graph.entry_offsets[graph.edge_source[known]] + graph.edge_output[known]
    reader = place[graph.edge_target[known]]
    soonest = np.full(graph.num_entries, len(place), np.int64)
    np.minimum.at(soonest, read, reader)
    scratch = graph.entry_offsets[planned.scratch]
    first[scratch] = np.minimum(soonest[scratch], last[scratch])
    again = soonest < first
    loops = [(begin, end) for begin, end in place[planned.loops].tolist() if 0 <= begin <= end]
    for begin, end in sorted(loops, key=lambda loop: loop[1] - loop[0]):
        inside = (begin <= last) & (last <= end)
        round_again = again & inside & (begin <= first)
        last = np.where((inside & (first < begin)) | round_again, end, last)
        first = np.where(round_again, begin, first)
    return first, last


def _last_read(
    graph: Graph, edges: npt.NDArray[np.bool_], place: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the last step at which each entry is read over some edges, -1 for none."""
    found = np.full(graph.num_entries, -1, np.int64)
    read = graph.entry_offsets[graph.edge_source[edges]] + graph.edge_output[edges]
    np.maximum.at(found, read, place[graph.edge_target[edges]])
    return found


def occupied(slot: Ints, first: Ints, last: Ints, size: Ints, steps: int) -> Ints:
    """Return the bytes that some entries hold at each step (int64 [steps]).

    Of the entries that are live in one slot at a time, by reshapes without copy, in place or by
    mistake, the largest counts.
    """
    change = np.zeros(steps + 1, np.int64)
    if not len(slot):
        return change[:-1]
    by = np.lexsort((first, slot))
    slot, first, last, size = slot[by], first[by], last[by], size[by]
    reach = np.maximum.accumulate(slot * steps + last)
    apart = np.r_[True, slot[1:] * steps + first[1:] > reach[:-1]]
    starts = np.flatnonzero(apart)
    largest, least = np.maximum.reduceat(size, starts), np.minimum.reduceat(size, starts)
    until = np.maximum.reduceat(last, starts)
    even = largest == least
    np.add.at(change, first[starts[even]], largest[even])
    np.subtract.at(change, until[even] + 1, largest[even])
    ends = np.r_[starts[1:], len(slot)]
    for group in np.flatnonzero(~even).tolist():
        inside = slice(starts[group], ends[group])
        _envelope(change, first[inside].tolist(), last[inside].tolist(), size[inside].tolist())
    return np.cumsum(change)[:-1]


def _envelope(change: Ints, first: list[int], last: list[int], size: list[int]) -> None:
    """Add the largest of some overlapping entries, given by their first step, to the changes."""
    live: list[tuple[int, int]] = []
    held = begun = 0
    for at in sorted({*first, *(step + 1 for step in last)}):
        while begun < len(first) and first[begun] == at:
            heapq.heappush(live, (-size[begun], last[begun]))
            begun += 1
        while live and live[0][1] < at:
            heapq.heappop(live)
        now = -live[0][0] if live else 0
        change[at] += now - held
        held = now
