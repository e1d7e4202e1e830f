"""A memory plan in sentences; views and figures say the same."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.analysis.memory.columns import PlanColumns
from tvmdbg_widgets.analysis.memory.losses import Credibility, Loss
from tvmdbg_widgets.analysis.memory.slots import Life, Peak
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.node_words import node_label, node_title
from tvmdbg_widgets.model.graph.nodes import Entry, NodeKind, roles_text

_MAKERS = 3
_LOSSES = 3
_SHORT = 60
_LONGEST = 200

#: What bytes are that a value at another offset holds.
ELSEWHERE = "bytes held from another offset"


def node_text(plan: PlanColumns, node: int) -> str:
    """``"conv2d + add #12"``."""
    graph = plan.graph
    said = one_line(node_label(graph, node)[:_LONGEST])
    return node_title(said if len(said) <= _SHORT else said[: _SHORT - 1] + "…", node)


def entry_text(entry: Entry) -> str:
    """``"#12"``, ``"#12:1"`` for a second output."""
    return f"#{entry.node}" + (f":{entry.output}" if entry.output else "")


def sentences(plan: PlanColumns, top: Peak) -> list[str]:
    """Return what is worth saying of a plan, the most telling first."""
    wrong = loss_sentences(plan)
    said = [workspace(plan), peak(plan, top), *wrong, parameters(plan)]
    if plan.credibility is Credibility.MEANINGLESS:
        said = [*wrong, *(each for each in said if each not in wrong)]
    return [*said, *sharing(plan), *unknown(plan)]


def workspace(plan: PlanColumns) -> str:
    """Say what is allocated for all but parameters."""
    slots = int((~plan.slot_is_parameter).sum())
    planned = plan.graph.planned_memory
    where = counted(slots, "slot")
    if planned is not None:
        buffers = counted(planned.num_buffers, "planned buffer")
        where = f"{buffers}, used at {counted(slots, 'offset')}"
    said = f"workspace {bytes_text(plan.allocated)} in {where}"
    if plan.unshared > plan.allocated:
        said += f", {bytes_text(plan.unshared)} without sharing"
    return said


def peak(plan: PlanColumns, top: Peak) -> str:
    """Say how much is live at most, when, what makes it, and what is allocated beyond."""
    if not top.bytes:
        return "no live entry has a known size"
    when = "before anything runs"
    if top.nodes:
        when = f"while {node_text(plan, top.nodes[0])} runs"
        more = len(top.nodes) - 1
        when += f" (and at {counted(more, 'other node')})" if more else ""
    said = f"peak {bytes_text(top.bytes)} live {when}"
    if top.entries:
        said += f": {makers(top.entries)}"
    what = "it" if plan.least == top.bytes else f"the devices' own peaks, {bytes_text(plan.least)}"
    if plan.waste > 0:
        share = percent(plan.waste / plan.allocated)
        return f"{said}; {bytes_text(plan.waste)} ({share}) allocated beyond {what}"
    return f"{said}; nothing allocated beyond {what}"


def makers(entries: Sequence[Life]) -> str:
    """``"#12 64.0 KiB (65,536), #9 …, and 3 more"``."""
    shown = [
        f"{entry_text(each.entry)} {bytes_text(each.bytes or 0)}" for each in entries[:_MAKERS]
    ]
    more = len(entries) - _MAKERS
    return ", ".join([*shown, f"and {more:,} more"] if more > 0 else shown)


def parameters(plan: PlanColumns) -> str:
    """Say what the parameters take."""
    slots = int(plan.slot_is_parameter.sum())
    said = "no parameters"
    if slots:
        size = bytes_text(plan.parameter_bytes)
        said = f"parameters {size} in {counted(slots, 'slot')}, allocated throughout"
    basis = roles_text(plan.graph)
    if basis and not slots:
        said = "no parameters known"
    return f"{said}; {basis}" if basis else said


def sharing(plan: PlanColumns) -> list[str]:
    """Say which entries are in one slot together by intention."""
    said = []
    if len(plan.aliases):
        what = "reshape" if plan.ranges is None else "move"
        number = counted(len(plan.aliases), what)
        said.append(f"{number} zero-copy: input and output share memory")
    if len(plan.in_place):
        said.append(
            f"{counted(len(plan.in_place), 'entry')} written in place over an input of the node"
        )
    return said


def unknown(plan: PlanColumns) -> list[str]:
    """Say which entries are in no sum."""
    said = []
    if plan.unknown_sizes:
        said.append(f"{counted(plan.unknown_sizes, 'entry')} of unknown size, not counted")
    if plan.unplaced:
        what = "a usable storage_id" if plan.ranges is None else "memory in the program"
        said.append(f"{counted(plan.unplaced, 'entry')} without {what}, not counted")
    return [*said, *_of_program(plan)] if plan.ranges is not None else said


def _of_program(plan: PlanColumns) -> list[str]:
    """Say what the plan of a program cannot tell."""
    said = []
    attrs = plan.graph.attrs
    delegates = sum("backend" in each for each in attrs)
    if delegates:
        number = counted(delegates, "delegate call")
        said.append(f"what {number} may allocate beside it is not in the program, not counted")
    if any(int(each.get("destination", -1)) > int(each.get("instruction", 0)) for each in attrs):
        said.append("values of all branches count as live; one path alone may need less")
    return said


def loss_sentences(plan: PlanColumns) -> list[str]:
    """Say which entries are overwritten too early."""
    if plan.credibility is Credibility.MEANINGLESS:
        return [meaningless(plan)]
    if not plan.losses:
        return []
    shown = [loss_text(plan, each) for each in plan.losses[:_LOSSES]]
    more = len(plan.losses) - _LOSSES
    shown += [f"{more:,} more"] if more > 0 else []
    number = counted(len(plan.losses), "entry")
    return [f"{number} overwritten while still needed: {'; '.join(shown)}"]


def meaningless(plan: PlanColumns) -> str:
    """Say that the storage ids are none of a plan."""
    kinds = plan.graph.kinds[plan.owner]
    outputs = int((kinds >= NodeKind.OPERATOR).sum())
    wrong = []
    if plan.losses:
        many = f"{len(plan.losses):,} of {counted(outputs, 'output')}"
        wrong.append(f"{many} would be overwritten before the last read")
    if plan.spoilt:
        number = counted(plan.spoilt, "convolution or matmul")
        wrong.append(f"{number} would write over the input being read")
    told = " and ".join(wrong)
    return f"storage_id says nothing about memory here: by it {told}, which no planner does"


def loss_text(plan: PlanColumns, loss: Loss) -> str:
    """``"#4 by #6, read again by #9"``."""
    again = "needed at the end of the run"
    if loss.reader >= 0:
        again = f"read again by {node_text(plan, loss.reader)}"
    return f"{entry_text(loss.entry)} by {node_text(plan, loss.writer)}, {again}"
