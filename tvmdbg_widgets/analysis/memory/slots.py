"""Light views of a memory plan: a slot, the life of an entry, the peak."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.columns import PlanColumns
from tvmdbg_widgets.model.base.numbers import bytes_text, counted
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.graph.nodes import Entry

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Life:
    """One entry in a memory plan.

    Attributes
    ----------
    entry : Entry
        ``(node, output)``.
    bytes : int or None
        None where the graph does not tell.
    slot : int or None
        Position in ``plan.slots``; None where the entry has no usable storage id.
    first, last : int or None
        Nodes while which it is live first and last; ``first`` is None for what is there before
        the run, inputs and parameters.
    shares : tuple of Entry
        The other entries of its slot; in planned buffers those with bytes in common.
    """

    entry: Entry
    bytes: int | None
    slot: int | None
    first: int | None
    last: int | None
    shares: tuple[Entry, ...]

    @property
    def node(self) -> int:
        """Node id."""
        return self.entry.node

    def __repr__(self) -> str:
        size = "of unknown size" if self.bytes is None else bytes_text(self.bytes)
        slot = "in no slot" if self.slot is None else f"in slot {self.slot}"
        first = "before the run" if self.first is None else f"#{self.first}"
        live = "" if self.last is None else f", live from {first} to #{self.last}"
        others = counted(len(self.shares), "other")
        shares = f", shared in turn with {others}" if self.shares else ""
        return f"<Life of {self.node}:{self.entry.output}: {size} {slot}{live}{shares}>"


@dataclass(frozen=True, slots=True)
class Peak:
    """The most of the workspace that is live at a time.

    Attributes
    ----------
    bytes : int
    nodes : tuple of int
        The nodes while which so much is live, in the order of execution.
    entries : sequence of Life
        What is live while the first of them runs, the largest first.
    """

    bytes: int
    nodes: tuple[int, ...]
    entries: Sequence[Life]

    def __repr__(self) -> str:
        nodes = ", ".join(f"#{node}" for node in self.nodes[:_SHOWN])
        more = len(self.nodes) - _SHOWN
        nodes += f" and {more:,} more" if more > 0 else ""
        live = f"{counted(len(self.entries), 'entry')} live"
        return f"<Peak {bytes_text(self.bytes)} while {nodes} run: {live}>"


@dataclass(frozen=True, slots=True)
class Slot:
    """One piece of memory that entries take in turn.

    Attributes
    ----------
    index : int
    storage_id : int
    device : int
        ``DLDeviceType`` number, -1 where the graph does not tell.
    bytes : int
        Of its largest entry of a known size.
    is_parameter : bool
        Whether it holds a parameter.
    entries : tuple of Entry
        By entry id.
    buffer, offset : int
        The planned buffer it lies in and where, in bytes; -1 and 0 for memory of its own.
    """

    index: int
    storage_id: int
    device: int
    bytes: int
    is_parameter: bool
    entries: tuple[Entry, ...]
    buffer: int
    offset: int

    @property
    def place(self) -> str:
        """``"storage_id 3 on cpu"``, ``"bytes 0 … 1,023 of buffer 1 on cpu"``."""
        where = "" if self.device < 0 else f" on {device_name(self.device)}"
        if self.buffer < 0:
            return f"storage_id {self.storage_id}{where}"
        end = self.offset + self.bytes - 1
        bytes_of = f"bytes {self.offset:,} … {end:,}" if self.bytes else f"offset {self.offset:,}"
        return f"{bytes_of} of buffer {self.buffer}{where}"

    def __repr__(self) -> str:
        what = " (parameters)" if self.is_parameter else ""
        listed = ", ".join(
            f"#{node}" if not output else f"#{node}:{output}"
            for node, output in self.entries[:_SHOWN]
        )
        more = len(self.entries) - _SHOWN
        listed += f" and {more:,} more" if more > 0 else ""
        return (
            f"<Slot {self.index}: {self.place}{what}, {bytes_text(self.bytes)}, held by {listed}>"
        )


class LiveEntries(Sequence[Life]):
    """Entries of a plan by their ids, each told when it is asked for."""

    __slots__ = ("_ids", "_life")

    def __init__(self, ids: npt.NDArray[np.intp], life: Callable[[int], Life]) -> None:
        self._ids, self._life = ids, life

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> Life: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Life, ...]: ...
    def __getitem__(self, index: int | slice) -> Life | tuple[Life, ...]:
        if isinstance(index, slice):
            return tuple(self._life(each) for each in self._ids[index].tolist())
        return self._life(int(self._ids[operator.index(index)]))

    def __repr__(self) -> str:
        shown = [f"  {life!r}" for life in self[:_SHOWN]]
        more = [f"  … {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        return "\n".join([counted(len(self), "entry"), *shown, *more])


class Slots(Sequence[Slot]):
    """The slots of a plan, by storage id, then device."""

    __slots__ = ("_ends", "_entries", "_plan")

    def __init__(self, plan: PlanColumns) -> None:
        self._plan = plan
        placed = np.argsort(plan.entry_slot, kind="stable")
        self._entries = placed[int((plan.entry_slot < 0).sum()) :]
        self._ends = np.searchsorted(plan.entry_slot[self._entries], np.arange(len(self) + 1))

    def __len__(self) -> int:
        return len(self._plan.slot_bytes)

    @overload
    def __getitem__(self, index: int) -> Slot: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Slot, ...]: ...
    def __getitem__(self, index: int | slice) -> Slot | tuple[Slot, ...]:
        count = len(self)
        if isinstance(index, slice):
            return tuple(self[each] for each in range(count)[index])
        slot = operator.index(index)
        if not -count <= slot < count:
            raise IndexError(f"slot {slot} of a plan with {counted(count, 'slot')}")
        slot %= count
        plan = self._plan
        own = self._entries[self._ends[slot] : self._ends[slot + 1]]
        owner = np.searchsorted(plan.graph.entry_offsets, own, side="right") - 1
        output = own - plan.graph.entry_offsets[owner]
        pairs = zip(owner.tolist(), output.tolist(), strict=True)
        return Slot(
            slot,
            int(plan.slot_storage_ids[slot]),
            int(plan.slot_devices[slot]),
            int(plan.slot_bytes[slot]),
            bool(plan.slot_is_parameter[slot]),
            tuple(Entry(*pair) for pair in pairs),
            int(plan.slot_buffers[slot]),
            int(plan.slot_offsets[slot]),
        )

    def __iter__(self) -> Iterator[Slot]:
        return (self[slot] for slot in range(len(self)))

    def __repr__(self) -> str:
        shown = [f"  {slot!r}" for slot in self[:_SHOWN]]
        more = [f"  … {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "\n".join([counted(len(self), "slot"), *shown, *more])
