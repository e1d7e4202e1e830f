"""The memory plan of a graph: slots, what lies in them when, the peak and who makes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.columns import PlanColumns
from tvmdbg_widgets.analysis.memory.sentences import sentences
from tvmdbg_widgets.analysis.memory.sizes import UNKNOWN
from tvmdbg_widgets.analysis.memory.slots import Life, LiveEntries, Peak, Slots
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MemoryPlan(PlanColumns):
    """Which entries of a graph share memory, and how much is in use while each node runs.

    Its columns are those of :class:`PlanColumns`.
    """

    @cached_property
    def slots(self) -> Slots:
        """The slots, by storage id; ``plan.slots[0].entries``."""
        return Slots(self)

    @cached_property
    def peak(self) -> Peak:
        """The most that is live at a time: how much, while which nodes run, and the entries."""
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

    def _live_at(self, step: int) -> LiveEntries:
        there = self._in_workspace & (self.first <= step) & (step <= self.last)
        there &= self.entry_bytes > 0
        found = np.flatnonzero(there)
        found = found[np.lexsort((found, -self.entry_bytes[found]))]
        _, largest = np.unique(self.entry_slot[found], return_index=True)
        return LiveEntries(found[np.sort(largest)], self._life)

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

    @cached_property
    def said(self) -> tuple[str, ...]:
        """The plan in some sentences, the most telling first."""
        return tuple(sentences(self, self.peak))

    @property
    def text(self) -> str:
        """The plan in some sentences, a line each."""
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
