"""The memory plan of a graph: slots, what lies in them when, the peak and who makes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.sizes import UNKNOWN
from tvmdbg_widgets.analysis.memory.slots import Life, LiveEntries, Peak, Slots
from tvmdbg_widgets.analysis.memory.words import sentences
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind

if TYPE_CHECKING:
    import pandas as pd

    from tvmdbg_widgets.analysis.memory.lives import Ints
    from tvmdbg_widgets.analysis.memory.losses import Loss
    from tvmdbg_widgets.analysis.memory.ranges import Ranges
    from tvmdbg_widgets.model.graph.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class MemoryPlan:
    """Which entries of a graph share memory, and how much is in use while each node runs.

    A slot is one ``storage_id`` on one device. Slots that hold a parameter are counted as
    parameters, all others (inputs, intermediate values, outputs) as workspace. N nodes, of which
    R run, E entries, S slots; all arrays are read-only.

    An ExecuTorch program plans buffers as a whole: a slot is then one offset in one of them, the
    bytes of slots overlap, and the workspace is the buffers, whatever lies in them.

    Attributes
    ----------
    graph : Graph
    order : int32 [R]
        The nodes that run, in the order of execution; a step is a place in it.
    live : int64 [R]
        Bytes of the workspace that are live while each node runs: what it reads, what it writes,
        and what later nodes still read. Of entries live in one slot together the largest counts;
        in planned buffers each byte counts once.
    entry_bytes : int64 [E]
        -1 where the graph does not tell; see :mod:`tvmdbg_widgets.analysis.memory.sizes`.
    entry_slot : int32 [E]
        -1 where the entry has no usable storage id.
    first, last : int32 [E]
        Steps that write the entry and read it last. Inputs and parameters are live throughout,
        outputs of the graph from their writing to the end.
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
        Which bytes each entry covers; None without planned buffers.
    least : int
        The peaks of all devices together, in bytes: no plan for this order can do with less,
        unless it writes over an input in place where this one does not.
    losses : tuple of Loss
        Entries that are overwritten while they are still needed.
    in_place, aliases : int32 arrays
        Entries (ids) that their node writes over one of its own inputs, and those that a reshape
        without copy shares with its input.
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
    def slots(self) -> Slots:
        """The slots, by storage id; ``plan.slots[0].entries``."""
        return Slots(self)

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

    @cached_property
    def peak(self) -> Peak:
        """The most that is live at a time: how much, while which nodes run, and the entries."""
        if not len(self.order):
            return Peak(self.least, (), self._live_at(0))
        most = int(self.live.max())
        steps = np.flatnonzero(self.live == most)
        nodes = tuple(self.order[steps].tolist())
        return Peak(most, nodes, self._live_at(int(steps[0])))

    @property
    def waste(self) -> int:
        """Bytes of the workspace allocated beyond :attr:`least`."""
        return self.allocated - self.least

    @property
    def unshared(self) -> int:
        """Bytes that the entries of the workspace would take with a slot each."""
        own = self._in_workspace & ~np.isin(np.arange(len(self.entry_slot)), self.aliases)
        return int(self.entry_bytes[own].sum())

    @property
    def unknown_sizes(self) -> int:
        """How many entries have no known size; they count as nothing in every sum."""
        return int((self.entry_bytes == UNKNOWN).sum())

    @property
    def unplaced(self) -> int:
        """How many entries have no usable storage id; they are in no slot and no sum."""
        return int((self.entry_slot < 0).sum())

    def entry(self, node: int | str, output: int = 0) -> Life:
        """Return where an entry lies, when it is live, and who shares its slot.

        Raises
        ------
        KeyError, IndexError
            The graph has no such node, or the node no such output.
        """
        own = self.graph.node(node).id if isinstance(node, str) else node
        return self._life(self.graph.entry_id(own, output))

    def live_at(self, node: int | str) -> LiveEntries:
        """Return what is live in the workspace while a node runs, the largest first.

        Raises
        ------
        KeyError, IndexError
            The graph has no such node; ids are 0 and above.
        ValueError
            The node is an input or a parameter, which does not run.
        """
        own = self.graph.node(node).id if isinstance(node, str) else node
        self.graph.entry_range(own)
        steps = np.flatnonzero(self.order == own)
        if not len(steps):
            kind = NodeKind(self.graph.kinds[own]).name
            raise ValueError(f"node {own} does not run: it is of kind {kind}")
        return self._live_at(int(steps[0]))

    @cached_property
    def _in_workspace(self) -> npt.NDArray[np.bool_]:
        return in_workspace(self.entry_slot, self.entry_bytes, self.slot_is_parameter)

    @cached_property
    def owner(self) -> npt.NDArray[np.int32]:
        """The node of each entry (int32 [E])."""
        counts = np.diff(self.graph.entry_offsets)
        return np.repeat(np.arange(self.graph.num_nodes, dtype=np.int32), counts)

    def _live_at(self, step: int) -> LiveEntries:
        there = self._in_workspace & (self.first <= step) & (step <= self.last)
        there &= self.entry_bytes > 0
        found = np.flatnonzero(there)
        found = found[np.lexsort((found, -self.entry_bytes[found]))]
        _, largest = np.unique(self.entry_slot[found], return_index=True)
        return LiveEntries(found[np.sort(largest)], self._life)

    def entry_of(self, entry: int) -> Entry:
        """Return node and output of an entry by its id, a place in the entry columns."""
        node = int(self.owner[entry])
        return Entry(node, entry - int(self.graph.entry_offsets[node]))

    def _life(self, entry: int) -> Life:
        slot = int(self.entry_slot[entry])
        own = self.entry_of(entry)
        known = int(self.entry_bytes[entry])
        ran = len(self.order) > 0
        given = self.graph.kinds[own.node] < NodeKind.OPERATOR
        sharing = () if slot < 0 else self._sharing(entry)
        return Life(
            own,
            None if known == UNKNOWN else known,
            None if slot < 0 else slot,
            None if given or not ran else int(self.order[self.first[entry]]),
            None if not ran else int(self.order[self.last[entry]]),
            tuple(each for each in sharing if each != own),
        )

    def _sharing(self, entry: int) -> tuple[Entry, ...]:
        """Return the entries in the slot of an entry, or with bytes of a buffer in common."""
        slot = self.entry_slot[entry]
        if self.ranges is None or self.slot_buffers[slot] < 0:
            return self.slots[int(slot)].entries
        return tuple(map(self.entry_of, np.flatnonzero(self.ranges.sharing(entry)).tolist()))

    @property
    def text(self) -> str:
        """The plan in some sentences, a line each."""
        return "\n".join(sentences(self))

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


def in_workspace(
    slot: npt.NDArray[np.int32], sizes: Ints, fixed: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return which entries of a known size lie in a slot of the workspace (bool [E])."""
    found: npt.NDArray[np.bool_] = (slot >= 0) & (sizes != UNKNOWN)
    found[found] = ~fixed[slot[found]]
    return found
