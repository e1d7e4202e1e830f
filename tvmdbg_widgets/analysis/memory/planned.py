"""The memory plan that a graph carries in its ``storage_id`` list or its planned buffers."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.columns import in_workspace
from tvmdbg_widgets.analysis.memory.lives import Ints, Lives, lives, occupied
from tvmdbg_widgets.analysis.memory.losses import losses, written_over
from tvmdbg_widgets.analysis.memory.plan import MemoryPlan
from tvmdbg_widgets.analysis.memory.ranges import Ranges, covered, losses_in, ranges_of
from tvmdbg_widgets.analysis.memory.sizes import entry_sizes
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts

Number = TypeVar("Number", bound=np.generic)

_MOST_DEVICES = 64

#: What to say of a graph without storage ids.
NO_STORAGE = (
    "This graph has no storage_id list, so its memory plan is unknown: it was not compiled, "
    "or the list was removed. A compiled graph has one: open(…, graph=lib.get_graph_json())."
)

#: What to say of the graph of an ETRecord.
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
    live = _live(life, slot, sizes, own, ranges)
    by_device = _by_device(own, devices)
    peaks = [int(live.max())]
    if len(by_device) > 1:
        peaks = [int(_live(life, slot, sizes, each, ranges).max()) for each in by_device]
    return MemoryPlan(
        graph=graph,
        order=life.order,
        live=_frozen(live[: len(life.order)]),
        entry_bytes=_frozen(sizes),
        entry_slot=_frozen(slot),
        first=_frozen(life.first.astype(np.int32)),
        last=_frozen(life.last.astype(np.int32)),
        slot_storage_ids=_frozen((keys >> 32).astype(np.int32)),
        slot_devices=_frozen(np.full_like(known_device, -1) if devices is None else known_device),
        slot_bytes=_frozen(slot_bytes),
        slot_is_parameter=_frozen(fixed),
        slot_buffers=_frozen(slot_buffers),
        slot_offsets=_frozen(slot_offsets),
        ranges=ranges,
        least=sum(peaks),
        losses=(
            losses(graph, life, slot, sizes) if ranges is None else losses_in(graph, life, ranges)
        ),
        in_place=_frozen(in_place),
        aliases=_frozen(aliases),
    )


def _live(
    life: Lives, slot: npt.NDArray[np.int32], sizes: Ints, own: Ints, ranges: Ranges | None
) -> Ints:
    """Return the bytes that some entries hold at each step."""
    if ranges is not None:
        return covered(ranges, own, life)
    at = slot[own].astype(np.int64)
    return occupied(at, life.first[own], life.last[own], sizes[own], life.steps)


def _by_device(own: Ints, devices: npt.NDArray[np.int32] | None) -> list[Ints]:
    """Return the entries of each device; all together where there are too many devices."""
    if devices is None:
        return [own]
    found = np.unique(devices[own])
    return [own] if len(found) > _MOST_DEVICES else [own[devices[own] == each] for each in found]


def _frozen(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    array.flags.writeable = False
    return array
