"""Rules on constant values: outputs of one value, unset inputs and weights, dead channels.

For operators: outputs of two values or more of a numeric type. Bool and 64-bit integers are masks
and indices, often constant on purpose, as are the outputs of `zeros`, `full` and the like. An
operator whose operands are all constant only follows. Parameters count if a weight (rank 2 or more)
is all zero, as weights that were not set on the debugger's module. An all-zero debug buffer of
ExecuTorch has its own rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.analysis.findings.values.channels import OutputChannels as Axis
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.analysis.tensor_scan import Flags, Subject
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.statistics.batch import Batch, comparable

_MEANT = frozenset(
    {
        *("zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "one_hot", "eye"),
        *("arange", "tril", "triu", "trilu", "shape_of", "ndarray_size", "constant_pad"),
    }
)
_LEFT_OUT = frozenset({"bool", "int64", "uint64", "uint1", "handle"})
_WEIGHT_RANK = 2
_STEPS = {
    "input": "Set the inputs on the debugger's module before run().",
    "weight": "Set the parameters on the debugger's module: module.set_input(**params).",
}


class Constants(NamedTuple):
    """Constant entries by meaning, in execution order."""

    values: dict[Entry, object]
    own: list[Entry]
    following: list[Entry]
    inputs: list[Entry]
    weights: list[Entry]


def constants(evidence: RunEvidence) -> Constants:
    """Find entries that are constant although they should not be."""
    tensors = evidence.tensors
    columns = evidence.columns
    alike = (columns.size > 1) & (columns.finite == columns.size) & (columns.low == columns.high)
    likely = ((entry, evidence.statistics[entry]) for entry in columns.where(alike))
    constant: dict[Entry, object] = {
        entry: stats.minimum
        for entry, stats in likely
        if stats.minimum == stats.maximum and tensors[entry].dtype.name not in _LEFT_OUT
    }
    own: list[Entry] = []
    following: list[Entry] = []
    inputs: list[Entry] = []
    weights: list[Entry] = []
    for entry, value in constant.items():
        role = evidence.role(entry[0])
        if evidence.is_operator(entry[0]):
            computed = [
                read.entry
                for read in evidence.reads(entry[0])
                if read.sure and evidence.role(read.entry[0]) != "parameter"
            ]
            follows = computed and all(entry in constant for entry in computed)
            (following if follows else own).append(entry)
        elif role == "input":
            inputs.append(entry)
        elif role == "parameter" and value == 0 and len(tensors[entry].shape) >= _WEIGHT_RANK:
            weights.append(entry)
    own = [entry for entry in own if not _MEANT & set(evidence.operator_parts(entry[0]))]
    return Constants(constant, own, following, inputs, weights)


@rule("constant-values", Basis.TENSORS | Basis.EDGES | Basis.ROLES)
def find_constant(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield findings of operators, of inputs and of weights."""
    if evidence.blank:
        return
    constant, own, following, inputs, weights = constants(evidence)
    if own:
        yield _finding(evidence, constant, own, following)
    if inputs:
        yield _given(evidence, constant, inputs, "input")
    if weights:
        yield _given(evidence, constant, weights, "weight")


def _finding(
    evidence: RunEvidence,
    constant: dict[Entry, object],
    entries: list[Entry],
    following: list[Entry],
) -> Finding:
    first = entries[0]
    what = "only zeros" if constant[first] == 0 else f"a constant {_constant_text(constant[first])}"
    size = counted(evidence.statistics[first].size, "value")
    facts = [f"{evidence.entry_name(e)}: {_constant_text(constant[e])}" for e in entries]
    if following:
        facts.insert(0, f"{counted(len(following), 'more operator')} with constant inputs only")
    return evidence.of_entries(
        Severity.WARNING,
        f"{evidence.entry_name(first)} outputs {what} ({size}){and_more(len(entries) - 1)}",
        facts,
        entries,
        step="Check the inputs of the operator: is this intended?",
        weight=0.7,
    )


def _given(
    evidence: RunEvidence, constant: dict[Entry, object], entries: list[Entry], what: str
) -> Finding:
    first = entries[0]
    value = "all zero" if constant[first] == 0 else f"{_constant_text(constant[first])} everywhere"
    facts = [
        f"{evidence.entry_name(e)}: {_constant_text(constant[e])} in all "
        f"{counted(evidence.statistics[e].size, 'value')}"
        for e in entries
    ]
    step = "Check what the method was called with." if evidence.of_executorch else _STEPS[what]
    title = f"{what.capitalize()} {evidence.entry_name(first)} is {value}"
    title += and_more(len(entries) - 1, what)
    severity = Severity.WARNING
    return evidence.of_entries(severity, title, facts, entries, step=step, weight=0.75)


def _constant_text(value: object) -> str:
    return "0" if value == 0 else number_text(value)


_LEAST_VALUES = 16
MANY = 0.5  # least share of dead channels that is a doubt
_SHOWN = 8


class DeadChannels(NamedTuple):
    """Dead channels of one entry (possibly none), and the axis of its channels."""

    dead: tuple[int, ...]
    total: int
    axis: str
    assumed: bool


def probe_dead_channels(subject: Subject) -> DeadChannels | None:
    """Find the channels that are all zero, in a tensor with enough zeros."""
    stats = subject.statistics
    if stats.zero < _LEAST_VALUES:
        return None
    axis = Axis.of(subject.parts, subject.entry, subject.tensor)
    if axis is None or axis.each < _LEAST_VALUES:
        return None
    dead: tuple[int, ...] = ()
    if axis.each <= stats.zero < stats.size:
        dead = tuple(np.flatnonzero(~_nonzero_channels(subject, axis)[: axis.count]).tolist())
    text = f"{axis.known.layout} by {axis.known.source}"
    return DeadChannels(dead, axis.count, text, axis.known.certainty != "stated")


def _nonzero_channels(subject: Subject, axis: Axis) -> Flags:
    alive = np.zeros(axis.stored, np.bool_)
    start = 0
    for chunk in subject.chunks():
        at = np.flatnonzero(comparable(chunk)) + start
        alive |= np.bincount(axis.at(at), minlength=axis.stored) > 0
        if alive[: axis.count].all():
            break
        start += len(chunk)
    return alive


def screen_dead_channels(batch: Batch) -> Flags:
    """Return which rows have enough zeros."""
    return batch.zero >= _LEAST_VALUES


@rule("dead-channels", Basis.TENSORS, probe_dead_channels, screen_dead_channels)
def find_dead_channels(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all nodes with dead channels; a doubt where half are dead somewhere."""
    probed: dict[Entry, DeadChannels] = evidence.probed("dead-channels")
    dead = {entry: channels for entry, channels in probed.items() if channels.dead}
    if not dead:
        return
    entries = sorted(dead, key=lambda entry: (-_share(dead[entry]), entry))
    worst = dead[entries[0]]
    facts = [
        f"{evidence.entry_name(entry)}: {len(each.dead):,} of {counted(each.total, 'channel')} "
        f"({listed(each.dead, most=_SHOWN)}); {each.axis}"
        for entry, each in ((entry, dead[entry]) for entry in entries)
    ]
    confidence, why = evidence.joined(entries)
    if any(channels.assumed for channels in dead.values()) and confidence is Confidence.HIGH:
        confidence, why = Confidence.MEDIUM, f"{why}; the layout is inferred, not stated"
    yield evidence.of_entries(
        Severity.WARNING if _share(worst) >= MANY else Severity.INFO,
        f"{evidence.entry_name(entries[0])}: {len(worst.dead):,} of "
        f"{counted(worst.total, 'channel')} {agree(len(worst.dead), 'is')} dead (all zero)"
        f"{and_more(len(entries) - 1)}",
        facts,
        entries,
        step="Check the bias and batch norm of these channels against the model. If they are dead "
        "for other inputs too, they can be pruned.",
        weight=0.55,
        joined=(confidence, why),
    )


def _share(channels: DeadChannels) -> float:
    return len(channels.dead) / channels.total
