"""Bytes that entries take of buffers planned as a whole, whose places may overlap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.lives import Ints, Lives
from tvmdbg_widgets.analysis.memory.losses import Loss
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind
from tvmdbg_widgets.model.graph.planned_memory import PlannedMemory


class Ranges(NamedTuple):
    """Buffers cut into segments wherever an entry starts or ends."""

    low: Ints
    high: Ints
    sizes: Ints

    def sharing(self, entry: int) -> npt.NDArray[np.bool_]:
        """Tell which entries have a byte in common with one (bool [E])."""
        found: npt.NDArray[np.bool_] = np.maximum(self.low, self.low[entry]) < np.minimum(
            self.high, self.high[entry]
        )
        return found


def ranges_of(planned: PlannedMemory, slot: npt.NDArray[np.int32], sizes: Ints) -> Ranges:
    """Return what each entry covers; a slot outside of planned buffers is a buffer of its own.

    No entry covers more than its buffer.
    """
    inside = planned.buffers >= 0
    count = len(planned.buffer_sizes)
    buffer = np.where(inside, planned.buffers, count + slot.astype(np.int64))
    room = np.full(len(slot), np.iinfo(np.int64).max)
    room[inside] = np.array([*planned.buffer_sizes, 0], np.int64)[planned.buffers[inside]]
    start = np.where(inside, np.minimum(planned.offsets, room), 0)
    # Summed from the room that is left, for a hostile offset leaves none to add to.
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
    """Return the bytes that some entries cover together at each step (int64 [steps])."""
    change = np.zeros(life.steps + 1, np.int64)
    holders = np.zeros(len(ranges.sizes), np.int64)
    steps = np.concatenate([life.first[own], life.last[own] + 1])
    entries, count = np.tile(own, 2), len(own)
    # What ends at a step does so before others begin: no segment is held by fewer than none.
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
    """Return every entry of which another one takes a byte before it was read last.

    As :func:`~tvmdbg_widgets.analysis.memory.losses.losses` does for slots: what a node writes
    over its own input is no loss, and a move writes nothing. Of bytes that one node writes twice,
    the last output's stay. Scratch memory holds no value before its reader runs, so none is lost.
    """
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
    found = []
    for rank in range(never - 1, -1, -1):
        entry = int(written[rank])
        part = slice(ranges.low[entry], ranges.high[entry])
        following = int(upcoming[part].min())
        if following < never and step[written[following]] < life.needed[entry]:
            node = int(life.owner[entry])
            lost = Entry(node, entry - int(graph.entry_offsets[node]))
            writer = int(life.owner[written[following]])
            found.append(Loss(lost, writer, int(ran[life.needed[entry]])))
        if writes[entry]:
            upcoming[part] = rank
    return tuple(sorted(found))
