"""Memory plan of a graph, from its ``storage_id`` list or its planned buffers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.lifetimes import (
    Ints,
    Lives,
    Ranges,
    covered,
    lives,
    losses,
    losses_in,
    occupied,
    ranges_of,
    written_over,
)
from tvmdbg_widgets.analysis.memory.sentences import Life, LiveEntries, Peak, Slots, sentences
from tvmdbg_widgets.analysis.memory.sizes import UNKNOWN, PlanColumns, entry_sizes, in_workspace
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.model.base.ranges import frozen
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind
from tvmdbg_widgets.model.parts import RunParts

if TYPE_CHECKING:
    import pandas as pd


_MOST_DEVICES = 64

#: Message for a graph without storage ids.
NO_STORAGE = (
    "This graph has no storage_id list, so its memory plan is unknown: it was not compiled, "
    "or the list was removed. A compiled graph has one: open(…, graph=lib.get_graph_json())."
)

#: Message for the graph of an ETRecord.
NO_PLAN = (
    "This graph is the edge program of an ETRecord, which is not planned yet: its memory plan is "
    "unknown. A program has one: open('model.pte')."
)


def why_not(parts: RunParts) -> str:
    """Return why a run has no memory plan and how to get one; empty where it has one."""
    if parts.graph is None:
        return how_to_get("graph", parts)
    if parts.graph.storage_ids is None:
        return NO_PLAN if parts.graph.form == "edge" else NO_STORAGE
    return ""


def plan_of(parts: RunParts) -> MemoryPlan:
    """Return the memory plan of a run."""
    if parts.graph is None or parts.graph.storage_ids is None:
        raise ValueError(why_not(parts))
    return memory_plan(parts.graph)


def memory_plan(graph: Graph) -> MemoryPlan:
    """Return the memory plan that a graph carries."""
    if graph.storage_ids is None:
        raise ValueError(NO_STORAGE)
    sizes, life = entry_sizes(graph), lives(graph)
    devices = graph.device_types
    key = graph.storage_ids.astype(np.int64) << 32
    if devices is not None:
        key |= devices.astype(np.int64) & 0xFFFFFFFF
    placed = np.flatnonzero(graph.storage_ids >= 0)
    keys, index = np.unique(key[placed], return_inverse=True)
    slot = np.full(graph.num_entries, -1, np.int32)
    slot[placed] = index
    slot_bytes = np.zeros(len(keys), np.int64)
    np.maximum.at(slot_bytes, index, np.maximum(sizes[placed], 0))
    fixed = np.zeros(len(keys), np.bool_)
    fixed[slot[placed][graph.kinds[life.owner[placed]] == NodeKind.PARAMETER]] = True
    known_device = (keys & 0xFFFFFFFF).astype(np.uint32).astype(np.int32)
    in_place, aliases = written_over(graph, life, slot)
    own = np.flatnonzero(in_workspace(slot, sizes, fixed) & (sizes > 0))
    planned = graph.planned_memory
    ranges = None if planned is None else ranges_of(planned, slot, sizes)
    slot_buffers, slot_offsets = np.full(len(keys), -1, np.int32), np.zeros(len(keys), np.int64)
    if planned is not None:
        slot_buffers[index] = planned.buffers[placed]
        slot_offsets[index] = planned.offsets[placed]
    live = _live_bytes(life, slot, sizes, own, ranges)
    peaks = [int(live.max())]
    kinds = [] if devices is None else np.unique(devices[own]).tolist()
    if devices is not None and 1 < len(kinds) <= _MOST_DEVICES:
        by_device = (own[devices[own] == each] for each in kinds)
        peaks = [
            int(_live_bytes(life, slot, sizes, entries, ranges).max()) for entries in by_device
        ]
    return MemoryPlan(
        graph=graph,
        order=life.order,
        live=frozen(live[: len(life.order)]),
        entry_bytes=frozen(sizes),
        entry_slot=frozen(slot),
        first=frozen(life.first.astype(np.int32)),
        last=frozen(life.last.astype(np.int32)),
        slot_storage_ids=frozen((keys >> 32).astype(np.int32)),
        slot_devices=frozen(np.full_like(known_device, -1) if devices is None else known_device),
        slot_bytes=frozen(slot_bytes),
        slot_is_parameter=frozen(fixed),
        slot_buffers=frozen(slot_buffers),
        slot_offsets=frozen(slot_offsets),
        ranges=ranges,
        least=sum(peaks),
        losses=losses_in(graph, life, ranges) if ranges else losses(graph, life, slot, sizes),
        in_place=frozen(in_place),
        aliases=frozen(aliases),
    )


def _live_bytes(
    life: Lives, slot: npt.NDArray[np.int32], sizes: Ints, own: Ints, ranges: Ranges | None
) -> Ints:
    if ranges is not None:
        return covered(ranges, own, life)
    at = slot[own].astype(np.int64)
    return occupied(at, life.first[own], life.last[own], sizes[own], life.steps)


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class MemoryPlan(PlanColumns):
    """Memory plan of a graph, with the columns of :class:`PlanColumns`."""

    @cached_property
    def slots(self) -> Slots:
        """The slots, by storage id; ``plan.slots[0].entries``."""
        return Slots(self)

    @cached_property
    def peak(self) -> Peak:
        """The peak: bytes live, the nodes that run then, and the entries."""
        if not len(self.order):
            return Peak(self.least, (), self._live_at(0))
        most = int(self.live.max())
        steps = np.flatnonzero(self.live == most)
        nodes = tuple(self.order[steps].tolist())
        return Peak(most, nodes, self._live_at(int(steps[0])))

    def entry(self, node: int | str, output: int = 0) -> Life:
        """Return where an entry lies, when it is live, and who shares its slot.

        Raises
        ------
        KeyError, IndexError
            The graph has no such node, or the node no such output.
        """
        return self._life(self.graph.entry_id(self._id(node), output))

    def live_at(self, node: int | str) -> LiveEntries:
        """Return the entries live in the workspace while a node runs, the largest first.

        Raises
        ------
        KeyError, IndexError
            The graph has no such node; ids are 0 and above.
        ValueError
            The node is an input or a parameter, which does not run.
        """
        own = self._id(node)
        self.graph.entry_range(own)
        steps = np.flatnonzero(self.order == own)
        if not len(steps):
            kind = NodeKind(self.graph.kinds[own]).name
            raise ValueError(f"node {own} does not run: it is of kind {kind}")
        return self._live_at(int(steps[0]))

    def _id(self, node: int | str) -> int:
        return self.graph.node(node).id if isinstance(node, str) else node

    def _live_at(self, step: int) -> LiveEntries:
        there = self._in_workspace & (self.first <= step) & (step <= self.last)
        live = np.flatnonzero(there & (self.entry_bytes > 0))
        live = live[np.lexsort((live, -self.entry_bytes[live]))]
        _, largest = np.unique(self.entry_slot[live], return_index=True)
        return LiveEntries(live[np.sort(largest)], self._life)

    def _life(self, entry: int) -> Life:
        slot = int(self.entry_slot[entry])
        own = self.entry_of(entry)
        known = int(self.entry_bytes[entry])
        ran = len(self.order) > 0
        given = self.graph.kinds[own.node] < NodeKind.OPERATOR
        sharing = () if slot < 0 else self._sharing_entries(entry)
        return Life(
            own,
            None if known == UNKNOWN else known,
            None if slot < 0 else slot,
            None if given or not ran else int(self.order[self.first[entry]]),
            None if not ran else int(self.order[self.last[entry]]),
            tuple(entry for entry in sharing if entry != own),
        )

    def _sharing_entries(self, entry: int) -> tuple[Entry, ...]:
        slot = self.entry_slot[entry]
        if self.ranges is None or self.slot_buffers[slot] < 0:
            return self.slots[int(slot)].entries
        return tuple(map(self.entry_of, np.flatnonzero(self.ranges.sharing(entry)).tolist()))

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The plan in some sentences, the most important first."""
        return tuple(sentences(self, self.peak))

    @property
    def text(self) -> str:
        """The plan in some sentences, one per line."""
        return "\n".join(self.said)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per entry (needs pandas); -1 stands for unknown.

        ``first`` and ``last`` are steps, ``last_node`` is the node that runs then. With planned
        buffers there are ``buffer`` and ``offset`` too.
        """
        slot, ran = self.entry_slot, len(self.order) > 0
        placed = slot >= 0
        nothing = np.full(len(slot), -1, np.int64)

        def of_slot(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.where(placed, column[slot], -1) if len(column) else nothing

        columns = {
            "node": self.owner,
            "output": np.arange(len(slot)) - self.graph.entry_offsets[self.owner],
            "name": [self.graph.names[node] for node in self.owner.tolist()],
            "bytes": self.entry_bytes,
            "storage_id": of_slot(self.slot_storage_ids),
            "device": of_slot(self.slot_devices),
            "slot": slot,
            "slot_bytes": of_slot(self.slot_bytes),
            "is_parameter": of_slot(self.slot_is_parameter) == 1,
            "first": self.first,
            "last": self.last,
            "last_node": self.order[self.last] if ran else nothing,
        }
        if self.ranges is not None:
            columns |= {"buffer": of_slot(self.slot_buffers), "offset": of_slot(self.slot_offsets)}
        return data_frame(columns)

    def __repr__(self) -> str:
        return "MemoryPlan: " + self.text.replace("\n", "\n  ")
