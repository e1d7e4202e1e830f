"""Sentences on a memory plan for views and figures; its slots, lifetimes and peak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.lifetimes import Credibility, Loss
from tvmdbg_widgets.analysis.memory.sizes import PlanColumns
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, percent
from tvmdbg_widgets.model.base.ranges import MadeSequence
from tvmdbg_widgets.model.base.text import cut, listed, one_line
from tvmdbg_widgets.model.graph.graph import device_name, node_label, node_title
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind, roles_text

_MAKERS = 3
_LOSSES = 3
_SHORT = 60
_LONGEST = 200

ELSEWHERE = "bytes held from another offset"  # label for bytes held by a value at another offset


def node_text(plan: PlanColumns, node: int) -> str:
    """``"conv2d + add #12"``."""
    return node_title(cut(one_line(node_label(plan.graph, node)[:_LONGEST]), _SHORT), node)


def entry_text(entry: Entry) -> str:
    """``"#12"``, ``"#12:1"`` for a second output."""
    return f"#{entry.node}" + (f":{entry.output}" if entry.output else "")


def sentences(plan: PlanColumns, top: Peak) -> list[str]:
    """Return sentences on a plan, the most important first."""
    wrong = loss_sentences(plan)
    lines = [workspace(plan), peak(plan, top), *wrong, parameters(plan)]
    if plan.credibility is Credibility.MEANINGLESS:
        lines = [*wrong, *(line for line in lines if line not in wrong)]
    return [*lines, *sharing(plan), *unknown(plan)]


def workspace(plan: PlanColumns) -> str:
    """Describe the allocation for all but parameters."""
    slots = int((~plan.slot_is_parameter).sum())
    planned = plan.graph.planned_memory
    where = counted(slots, "slot")
    if planned is not None:
        buffers = counted(planned.num_buffers, "planned buffer")
        where = f"{buffers}, used at {counted(slots, 'offset')}"
    sentence = f"workspace {bytes_text(plan.allocated)} in {where}"
    if plan.unshared > plan.allocated:
        sentence += f", {bytes_text(plan.unshared)} without sharing"
    return sentence


def peak(plan: PlanColumns, top: Peak) -> str:
    """Describe the peak: bytes, nodes, entries, and allocation beyond it."""
    if not top.bytes:
        return "no live entry has a known size"
    when = "before anything runs"
    if top.nodes:
        when = f"while {node_text(plan, top.nodes[0])} runs"
        more = len(top.nodes) - 1
        when += f" (and at {counted(more, 'other node')})" if more else ""
    sentence = f"peak {bytes_text(top.bytes)} live {when}"
    if top.entries:
        sentence += f": {makers(top.entries)}"
    what = "it" if plan.least == top.bytes else f"the devices' own peaks, {bytes_text(plan.least)}"
    if plan.waste > 0:
        share = percent(plan.waste / plan.allocated)
        return f"{sentence}; {bytes_text(plan.waste)} ({share}) allocated beyond {what}"
    return f"{sentence}; nothing allocated beyond {what}"


def makers(entries: Sequence[Life]) -> str:
    """``"#12 64.0 KiB (65,536), #9 …, and 3 more"``."""
    shown = [
        f"{entry_text(entry.entry)} {bytes_text(entry.bytes or 0)}" for entry in entries[:_MAKERS]
    ]
    more = len(entries) - _MAKERS
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)


def parameters(plan: PlanColumns) -> str:
    """Describe the parameters' memory."""
    slots = int(plan.slot_is_parameter.sum())
    sentence = "no parameters"
    if slots:
        size = bytes_text(plan.parameter_bytes)
        sentence = f"parameters {size} in {counted(slots, 'slot')}, allocated throughout"
    basis = roles_text(plan.graph)
    if basis and not slots:
        sentence = "no parameters known"
    return f"{sentence}; {basis}" if basis else sentence


def sharing(plan: PlanColumns) -> list[str]:
    """Describe entries that share one slot on purpose."""
    sentences = []
    if len(plan.aliases):
        what = "reshape" if plan.ranges is None else "move"
        number = counted(len(plan.aliases), what)
        sentences.append(f"{number} zero-copy: input and output share memory")
    if len(plan.in_place):
        sentences.append(
            f"{counted(len(plan.in_place), 'entry')} written in place over an input of the node"
        )
    return sentences


def unknown(plan: PlanColumns) -> list[str]:
    """Describe entries that are in no sum."""
    sentences = []
    if plan.unknown_sizes:
        sentences.append(f"{counted(plan.unknown_sizes, 'entry')} of unknown size, not counted")
    if plan.unplaced:
        what = "a usable storage_id" if plan.ranges is None else "memory in the program"
        sentences.append(f"{counted(plan.unplaced, 'entry')} without {what}, not counted")
    return [*sentences, *_program_limits(plan)] if plan.ranges is not None else sentences


def _program_limits(plan: PlanColumns) -> list[str]:
    sentences = []
    attrs = plan.graph.attrs
    delegates = sum("backend" in attr for attr in attrs)
    if delegates:
        number = counted(delegates, "delegate call")
        sentences.append(f"what {number} may allocate beside it is not in the program, not counted")
    if any(int(attr.get("destination", -1)) > int(attr.get("instruction", 0)) for attr in attrs):
        sentences.append("values of all branches count as live; one path alone may need less")
    return sentences


def loss_sentences(plan: PlanColumns) -> list[str]:
    """Describe entries that are overwritten too early."""
    if plan.credibility is Credibility.MEANINGLESS:
        return [meaningless(plan)]
    if not plan.losses:
        return []
    shown = [loss_text(plan, loss) for loss in plan.losses[:_LOSSES]]
    more = len(plan.losses) - _LOSSES
    shown += [f"{more:,} more"] if more > 0 else []
    number = counted(len(plan.losses), "entry")
    return [f"{number} overwritten while still needed: {'; '.join(shown)}"]


def meaningless(plan: PlanColumns) -> str:
    """Return that the storage ids are no plan."""
    kinds = plan.graph.kinds[plan.owner]
    outputs = int((kinds >= NodeKind.OPERATOR).sum())
    wrong = []
    if plan.losses:
        many = f"{len(plan.losses):,} of {counted(outputs, 'output')}"
        wrong.append(f"{many} would be overwritten before the last read")
    if plan.spoilt:
        number = counted(plan.spoilt, "convolution or matmul")
        wrong.append(f"{number} would write over the input being read")
    reasons = " and ".join(wrong)
    return f"storage_id says nothing about memory here: by it {reasons}, which no planner does"


def loss_text(plan: PlanColumns, loss: Loss) -> str:
    """``"#4 by #6, read again by #9"``."""
    again = "needed at the end of the run"
    if loss.reader >= 0:
        again = f"read again by {node_text(plan, loss.reader)}"
    return f"{entry_text(loss.entry)} by {node_text(plan, loss.writer)}, {again}"


_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Life:
    """Lifetime of an entry in a memory plan.

    Attributes
    ----------
    entry : Entry
        ``(node, output)``.
    bytes : int or None
        None where the graph does not tell.
    slot : int or None
        Position in ``plan.slots``; None where the entry has no usable storage id.
    first, last : int or None
        First and last node while which it is live; ``first`` is None for inputs and parameters.
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
    """The largest amount of workspace live at once.

    Attributes
    ----------
    bytes : int
    nodes : tuple of int
        The nodes while which so much is live, in the order of execution.
    entries : sequence of Life
        Entries live while the first of them runs, the largest first.
    """

    bytes: int
    nodes: tuple[int, ...]
    entries: Sequence[Life]

    def __repr__(self) -> str:
        nodes = listed([f"#{node}" for node in self.nodes], most=_SHOWN)
        live = f"{counted(len(self.entries), 'entry')} live"
        return f"<Peak {bytes_text(self.bytes)} while {nodes} run: {live}>"


@dataclass(frozen=True, slots=True)
class Slot:
    """One piece of memory that entries use in turn.

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
        held = listed([entry_text(entry) for entry in self.entries], most=_SHOWN)
        size = bytes_text(self.bytes)
        return f"<Slot {self.index}: {self.place}{what}, {size}, held by {held}>"


class LiveEntries(MadeSequence[Life]):
    """Entries of a plan by their ids."""

    __slots__ = ("_ids", "_life")

    def __init__(self, ids: npt.NDArray[np.intp], life: Callable[[int], Life]) -> None:
        self._ids, self._life = ids, life

    def __len__(self) -> int:
        return len(self._ids)

    def _item(self, at: int) -> Life:
        return self._life(int(self._ids[at]))

    def __repr__(self) -> str:
        return _first_lines(self, "entry")


class Slots(MadeSequence[Slot]):
    """The slots of a plan, by storage id, then device."""

    __slots__ = ("_ends", "_entries", "_plan")

    def __init__(self, plan: PlanColumns) -> None:
        self._plan = plan
        placed = np.argsort(plan.entry_slot, kind="stable")
        self._entries = placed[int((plan.entry_slot < 0).sum()) :]
        self._ends = np.searchsorted(plan.entry_slot[self._entries], np.arange(len(self) + 1))

    def __len__(self) -> int:
        return len(self._plan.slot_bytes)

    def _item(self, at: int) -> Slot:
        slot, plan = at, self._plan
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

    def __repr__(self) -> str:
        return _first_lines(self, "slot")


def _first_lines(some: Sequence[object], noun: str) -> str:
    shown = [f"  {item!r}" for item in some[:_SHOWN]]
    more = [f"  … {len(some) - _SHOWN:,} more"] if len(some) > _SHOWN else []
    return "\n".join([counted(len(some), noun), *shown, *more])
