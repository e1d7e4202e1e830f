"""Sizes of entries in memory, as the graph executor allocates them, and columns of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.lifetimes import (
    Credibility,
    Ints,
    Loss,
    Ranges,
    credibility,
    read_repeatedly,
)
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds
from tvmdbg_widgets.model.graph.nodes import Entry
from tvmdbg_widgets.model.tensors.dtypes import DataType

UNKNOWN = -1
_MOST = 2.0**43  # more than any memory, and small enough for an exact sum of a million entries


def entry_sizes(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the bytes by entry (int64 [E]), :data:`UNKNOWN` where the graph lacks them."""
    # Types below a byte take one per element (``GraphExecutor::SetupStorage`` @ v0.19.0, which
    # refuses widths other than 1, 4 and multiples of 8 bits); the pitch of textures is the
    # device's.
    widths = np.array([_dtype_bytes(text) for text in graph.dtypes.unique] or [UNKNOWN], np.float64)
    each = widths[graph.dtypes.codes] if graph.num_entries else np.zeros(0)
    sizes = _element_counts(graph) * each
    known = graph.shape_known & (each >= 0) & (sizes >= 0) & (sizes < _MOST)
    if graph.storage_scopes is not None:
        scopes = graph.storage_scopes
        known &= ~np.array(["texture" in text for text in scopes.unique] or [False])[scopes.codes]
    return np.where(known, sizes, UNKNOWN).astype(np.int64)


def known_sizes(graph: Graph) -> npt.NDArray[np.float64]:
    """Return the sizes as float64 [E], NaN where unknown."""
    sizes = entry_sizes(graph)
    return np.where(sizes == UNKNOWN, np.nan, sizes)


def _element_counts(graph: Graph) -> npt.NDArray[np.float64]:
    starts, ends = graph.shape_offsets[:-1], graph.shape_offsets[1:]
    dims = graph.shape_dims.astype(np.float64)
    dims[dims < 0] = np.nan
    counts = np.ones(graph.num_entries)
    some = np.flatnonzero(ends > starts)
    if len(some):
        with np.errstate(over="ignore", invalid="ignore"):
            counts[some] = np.multiply.reduceat(dims, starts[some])
    return counts


def _dtype_bytes(text: str) -> int:
    dtype = DataType.known(text)
    if dtype is None:
        return UNKNOWN
    bits = (1 if dtype.is_bool else dtype.bits) * dtype.lanes
    if not text or bits <= 0 or (bits % 8 and bits not in (1, 4)):
        return UNKNOWN
    return (bits + 7) // 8


@dataclass(frozen=True, eq=False, repr=False)
class PlanColumns:
    """Columns of a memory plan: entries, slots, lifetimes, and memory in use.

    A slot is one ``storage_id`` on one device. Slots that hold a parameter are counted as
    parameters, all others (inputs, intermediate values, outputs) as workspace. N nodes, of which R
    run, E entries, S slots; all arrays are read-only.

    An ExecuTorch program plans entire buffers: a slot is then one offset in a buffer, bytes of
    slots overlap, and the workspace is the buffers, whatever lies in them.

    Attributes
    ----------
    graph : Graph
    order : int32 [R]
        The nodes that run, in the order of execution; a step is a place in it.
    live : int64 [R]
        Bytes of the workspace that are live while a node runs: operands, outputs, and entries that
        later nodes read; in planned buffers bytes count once.
    entry_bytes : int64 [E]
        -1 where the graph does not tell; see :mod:`tvmdbg_widgets.analysis.memory.sizes`.
    entry_slot : int32 [E]
        -1 where the entry has no usable storage id.
    first, last : int32 [E]
        Steps of the entry's writing and last reading; inputs and parameters live throughout.
    slot_storage_ids, slot_devices : int32 [S]
        ``storage_id``, and ``DLDeviceType`` number or -1 where the graph does not tell.
    slot_bytes : int64 [S]
        Of the largest entry of a known size. Releases up to v0.13 round it up to four bytes.
    slot_is_parameter : bool [S]
    slot_buffers : int32 [S]
        The planned buffer, counted from 1 as ``memory_id`` is; -1 for memory of its own.
    slot_offsets : int64 [S]
        Where the slot starts in its buffer, in bytes.
    ranges : Ranges or None
        Bytes covered by entries; None without planned buffers.
    least : int
        Sum of the devices' peaks, bytes: the minimum for this order without in-place writes.
    losses : tuple of Loss
        Entries that are overwritten while they are still needed.
    in_place, aliases : int32 arrays
        Entries written over an input of their node, and reshapes that share their input.
    """

    graph: Graph
    order: npt.NDArray[np.int32]
    live: Ints
    entry_bytes: Ints
    entry_slot: npt.NDArray[np.int32]
    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    slot_storage_ids: npt.NDArray[np.int32]
    slot_devices: npt.NDArray[np.int32]
    slot_bytes: Ints
    slot_is_parameter: npt.NDArray[np.bool_]
    slot_buffers: npt.NDArray[np.int32]
    slot_offsets: Ints
    ranges: Ranges | None
    least: int
    losses: tuple[Loss, ...]
    in_place: npt.NDArray[np.int32]
    aliases: npt.NDArray[np.int32]

    @cached_property
    def credibility(self) -> Credibility:
        """Whether the storage ids look like a planner's."""
        if self.ranges is not None:
            return Credibility.PLANNED
        kinds = self.graph.kinds[self.owner]
        made = len(self.losses), len(self.in_place), self.spoilt
        return credibility(kinds, self.entry_slot, *made)

    @cached_property
    def spoilt(self) -> int:
        """Number of entries written over an input that their node still reads."""
        if self.ranges is not None or not len(self.in_place):
            return 0
        reads = read_repeatedly(node_op_kinds(self.graph))
        return int(np.count_nonzero(reads[self.owner[self.in_place]]))

    def largest_slots(self, most: int) -> list[int]:
        """Return the largest slots of the workspace, by size."""
        own = np.flatnonzero(~self.slot_is_parameter)
        order = np.lexsort((own, -self.slot_bytes[own]))
        return [int(slot) for slot in own[order][:most]]

    @property
    def allocated(self) -> int:
        """Bytes of all slots of the workspace, and of planned buffers."""
        own = ~self.slot_is_parameter & (self.slot_buffers < 0)
        planned = self.graph.planned_memory
        return int(self.slot_bytes[own].sum()) + (0 if planned is None else planned.total)

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all slots that hold parameters."""
        return int(self.slot_bytes[self.slot_is_parameter].sum())

    @property
    def waste(self) -> int:
        """Bytes of the workspace allocated beyond :attr:`least`."""
        return self.allocated - self.least

    @property
    def unshared(self) -> int:
        """Bytes of the workspace if every entry had its own slot."""
        own = self._in_workspace & ~np.isin(np.arange(len(self.entry_slot)), self.aliases)
        return int(self.entry_bytes[own].sum())

    @property
    def unknown_sizes(self) -> int:
        """Number of entries without a known size; they count as nothing in every sum."""
        return int((self.entry_bytes == UNKNOWN).sum())

    @property
    def unplaced(self) -> int:
        """Number of entries without a usable storage id; they are in no slot and no sum."""
        return int((self.entry_slot < 0).sum())

    @cached_property
    def _in_workspace(self) -> npt.NDArray[np.bool_]:
        return in_workspace(self.entry_slot, self.entry_bytes, self.slot_is_parameter)

    @cached_property
    def owner(self) -> npt.NDArray[np.int32]:
        """Node by entry (int32 [E])."""
        counts = np.diff(self.graph.entry_offsets)
        return np.repeat(np.arange(self.graph.num_nodes, dtype=np.int32), counts)

    def entry_of(self, entry: int) -> Entry:
        """Return node and output of an entry by its id, a place in the entry columns."""
        node = int(self.owner[entry])
        return Entry(node, entry - int(self.graph.entry_offsets[node]))


def in_workspace(
    slot: npt.NDArray[np.int32], sizes: Ints, fixed: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return which entries of a known size are in a slot of the workspace (bool [E])."""
    inside: npt.NDArray[np.bool_] = (slot >= 0) & (sizes != UNKNOWN)
    inside[inside] = ~fixed[slot[inside]]
    return inside
