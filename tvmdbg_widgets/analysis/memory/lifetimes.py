"""Lifetimes of entries, bytes held over time, and checks that the slots are a plan."""

from __future__ import annotations

import enum
import heapq
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.graph.columns import PlannedMemory
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind

Slots = npt.NDArray[np.int32]
Kinds = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

#: Least number and share of slots taken over wrongly that discredit the list; a smaller share
#: leaves it credible.
_WRONG: Final = 3
_SHARE: Final = 1 / 4
_SURE: Final = 10
_REREAD: Final = frozenset({"convolution", "matmul"})  # op kinds that read a value repeatedly


class Loss(NamedTuple):
    """An entry overwritten before its last use.

    ``writer`` is the first node to write to its slot, ``reader`` the last node to read the entry,
    -1 for an output of the graph or a parameter.
    """

    entry: Entry
    writer: int
    reader: int


def losses(graph: Graph, life: Lives, slot: Slots, sizes: Ints) -> tuple[Loss, ...]:
    """Return every entry overwritten before its last read, except by its node's own output."""
    kinds = graph.kinds[life.owner]
    some = (slot >= 0) & (sizes > 0)
    step = np.where(kinds < NodeKind.OPERATOR, -1, life.first)
    span = len(life.order) + 2
    key = slot.astype(np.int64) * span + step + 1
    writes = some & ((kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY))
    writers = np.flatnonzero(writes)
    writers = writers[np.argsort(key[writers], kind="stable")]
    kept = np.flatnonzero(some & (life.needed > step))
    low = np.searchsorted(key[writers], key[kept])
    until = slot[kept].astype(np.int64) * span + life.needed[kept] + 1
    high = np.searchsorted(key[writers], until)
    lost = high - low > writes[kept]
    kept, low = kept[lost], low[lost]
    first = writers[low]
    own = first == kept
    first[own] = writers[low[own] + 1]
    outputs = kept - graph.entry_offsets[life.owner[kept]]
    order = np.r_[life.order, -1]
    return tuple(
        Loss(Entry(node, output), writer, reader)
        for node, output, writer, reader in zip(
            life.owner[kept].tolist(),
            outputs.tolist(),
            life.owner[first].tolist(),
            order[life.needed[kept]].tolist(),
            strict=True,
        )
    )


def written_over(graph: Graph, life: Lives, slot: Slots) -> tuple[Slots, Slots]:
    """Return the entries stored over their node's inputs: by operators, and by reshapes."""
    known = np.flatnonzero(graph.edge_source >= 0)
    read = _entries_read(graph, known)
    span = int(slot.max(initial=0)) + 2
    inputs = graph.edge_target[known].astype(np.int64) * span + slot[read] + 1
    outputs = life.owner * span + slot + 1
    same = (slot >= 0) & np.isin(outputs, inputs)
    is_nop = graph.kinds[life.owner] == NodeKind.NOP
    return (
        np.flatnonzero(same & ~is_nop).astype(np.int32),
        np.flatnonzero(same & is_nop).astype(np.int32),
    )


class Credibility(enum.Enum):
    """Credibility of a list of storage ids."""

    PLANNED = "planned"
    UNCONFIRMED = "unconfirmed"
    MEANINGLESS = "meaningless"


def read_repeatedly(op_kinds: StringColumn) -> npt.NDArray[np.bool_]:
    """Return whether nodes read inputs again after writing, so that none runs in place."""
    names = np.array([kind in _REREAD for kind in op_kinds.unique] or [False])
    rereads: npt.NDArray[np.bool_] = names[op_kinds.codes]
    return rereads


def credibility(
    kinds: Kinds, slot: Slots, losses: int, in_place: int, spoilt: int = 0
) -> Credibility:
    """Judge whether a planner can have made the slots of a graph."""
    # It gives no slot of an input and overwrites nothing that is read later, or by the same node
    # (``StorageAllocator``, ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0).
    writes = (slot >= 0) & ((kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY))
    given = np.unique(slot[(slot >= 0) & (kinds <= NodeKind.PARAMETER)])
    own = slot[writes]
    fed = int(np.isin(own, given).sum())
    taken = len(own) - len(np.unique(own)) + fed
    wrong = losses + in_place + fed
    if (losses or spoilt) and wrong >= max(_WRONG, taken * _SHARE):
        return Credibility.MEANINGLESS
    return Credibility.PLANNED if wrong * _SURE <= taken else Credibility.UNCONFIRMED


class Ranges(NamedTuple):
    """Buffers cut into segments wherever an entry starts or ends."""

    low: Ints
    high: Ints
    sizes: Ints

    def sharing(self, entry: int) -> npt.NDArray[np.bool_]:
        """Return which entries share a byte with one (bool [E])."""
        shares: npt.NDArray[np.bool_] = np.maximum(self.low, self.low[entry]) < np.minimum(
            self.high, self.high[entry]
        )
        return shares


def ranges_of(planned: PlannedMemory, slot: npt.NDArray[np.int32], sizes: Ints) -> Ranges:
    """Return the segments by entry; a slot outside of planned buffers is its own buffer."""
    inside = planned.buffers >= 0
    count = len(planned.buffer_sizes)
    buffer = np.where(inside, planned.buffers, count + slot.astype(np.int64))
    room = np.full(len(slot), np.iinfo(np.int64).max)
    room[inside] = np.array([*planned.buffer_sizes, 0], np.int64)[planned.buffers[inside]]
    start = np.where(inside, np.minimum(planned.offsets, room), 0)
    # Summed from the room left, since a hostile offset leaves none to add to.
    end = start + np.minimum(np.where(slot < 0, 0, np.maximum(sizes, 0)), room - start)
    points = np.concatenate([start, end])
    owners = np.concatenate([buffer, buffer])
    by = np.lexsort((points, owners))
    points, owners = points[by], owners[by]
    fresh = np.r_[True, (np.diff(points) != 0) | (np.diff(owners) != 0)][: len(by)]
    number = np.empty(len(by), np.int64)
    number[by] = np.cumsum(fresh) - 1
    cuts = points[fresh]
    return Ranges(number[: len(slot)], number[len(slot) :], np.r_[np.diff(cuts), 0][: len(cuts)])


def covered(ranges: Ranges, own: Ints, life: Lives) -> Ints:
    """Return the bytes covered by some entries per step (int64 [steps])."""
    change = np.zeros(life.steps + 1, np.int64)
    holders = np.zeros(len(ranges.sizes), np.int64)
    steps = np.concatenate([life.first[own], life.last[own] + 1])
    entries, count = np.tile(own, 2), len(own)
    # At a step entries end before others begin, so that no count gets negative.
    for event in np.lexsort((np.arange(2 * count) < count, steps)).tolist():
        part = slice(ranges.low[entries[event]], ranges.high[entries[event]])
        if event < count:
            change[steps[event]] += ranges.sizes[part][holders[part] == 0].sum()
            holders[part] += 1
        else:
            holders[part] -= 1
            change[steps[event]] -= ranges.sizes[part][holders[part] == 0].sum()
    return np.cumsum(change)[:-1]


def losses_in(graph: Graph, life: Lives, ranges: Ranges) -> tuple[Loss, ...]:
    """Return every entry with a byte that another node overwrites before its last read."""
    place = np.full(graph.num_nodes, -1, np.int64)
    place[life.order] = np.arange(len(life.order))
    step, kinds = place[life.owner], graph.kinds[life.owner]
    writes = (kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY)
    holds = ranges.low < ranges.high
    if graph.planned_memory is not None:
        holds[graph.entry_offsets[graph.planned_memory.scratch]] = False
    written = np.flatnonzero(holds)
    written = written[np.argsort(step[written], kind="stable")]
    never = len(written)
    upcoming = np.full(len(ranges.sizes), never, np.int64)
    ran = np.r_[life.order, -1]
    losses = []
    for rank in range(never - 1, -1, -1):
        entry = int(written[rank])
        part = slice(ranges.low[entry], ranges.high[entry])
        following = int(upcoming[part].min())
        if following < never and step[written[following]] < life.needed[entry]:
            node = int(life.owner[entry])
            lost = Entry(node, entry - int(graph.entry_offsets[node]))
            writer = int(life.owner[written[following]])
            losses.append(Loss(lost, writer, int(ran[life.needed[entry]])))
        if writes[entry]:
            upcoming[part] = rank
    return tuple(sorted(losses))


@dataclass(frozen=True)
class Lives:
    """Lifetimes of entries in steps: places in the order of the nodes that run."""

    order: npt.NDArray[np.int32]
    owner: Ints
    first: Ints
    last: Ints
    needed: Ints

    @property
    def steps(self) -> int:
        """Number of steps, at least one."""
        return max(1, len(self.order))


def lives(graph: Graph) -> Lives:
    """Return the lifetimes of all entries."""
    # Inputs, parameters and graph outputs are never freed (``StorageAllocator::CreateToken``,
    # ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0); in planned buffers inputs live until
    # read, mutable buffers throughout (``exir/memory_planning.py`` @ v1.4.1).
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
    needed = _last_reads(graph, known & (graph.edge_trust != Trust.AMBIGUOUS), place)
    heads = graph.entry_offsets[graph.heads[:, 0]] + graph.heads[:, 1]
    end = max(1, len(order)) - 1
    last = np.maximum(_last_reads(graph, known, place), first)
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
    known = np.flatnonzero(graph.edge_source >= 0)
    read = _entries_read(graph, known)
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


def _last_reads(graph: Graph, edges: npt.NDArray[np.bool_], place: Ints) -> Ints:
    last = np.full(graph.num_entries, -1, np.int64)
    np.maximum.at(last, _entries_read(graph, edges), place[graph.edge_target[edges]])
    return last


def _entries_read(graph: Graph, edges: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Ints:
    return graph.entry_offsets[graph.edge_source[edges]] + graph.edge_output[edges]


def occupied(slot: Ints, first: Ints, last: Ints, size: Ints, steps: int) -> Ints:
    """Return the bytes held by some entries per step, of entries in one slot the largest."""
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
        _add_largest(change, first[inside].tolist(), last[inside].tolist(), size[inside].tolist())
    return np.cumsum(change)[:-1]


def _add_largest(change: Ints, first: list[int], last: list[int], size: list[int]) -> None:
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
