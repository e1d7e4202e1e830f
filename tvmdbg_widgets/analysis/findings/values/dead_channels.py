"""Channels of an activation that are zero throughout.

The channel axis is that of the layout that the graph tells of the entry (``NCHW8c`` has two axes of
channels); padding is left out where its size is known. The finding says where the layout is only
likely. A channel must hold 16 values or more, since single zeros mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.findings.values.channels import OutputChannels as Axis
from tvmdbg_widgets.analysis.scan.tensor_scan import Subject
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.statistics import comparable
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DEAD_CHANNELS_NAME = "dead-channels"
_LEAST_VALUES = 16
#: Share of dead channels from which on they are a doubt.
MANY = 0.5
_SHOWN = 8


class DeadChannels(NamedTuple):
    """The dead channels of one entry, which may be none, and by which axis they were counted."""

    dead: tuple[int, ...]
    total: int
    axis: str
    assumed: bool


def probe_dead_channels(subject: Subject) -> DeadChannels | None:
    """Find the channels that are zero throughout, where so many values are zero."""
    found = subject.statistics
    if found.zero < _LEAST_VALUES:
        return None
    axis = Axis.of(subject.parts, subject.entry, subject.tensor)
    if axis is None or axis.each < _LEAST_VALUES:
        return None
    dead: tuple[int, ...] = ()
    if axis.each <= found.zero < found.size:
        dead = tuple(np.flatnonzero(~_alive(subject, axis)[: axis.count]).tolist())
    text = f"{axis.known.layout} by {axis.known.source}"
    return DeadChannels(dead, axis.count, text, axis.known.certainty != "stated")


def _alive(subject: Subject, axis: Axis) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each stored channel is not all zero; reads on only while one seems dead."""
    alive = np.zeros(axis.stored, np.bool_)
    start = 0
    for chunk in subject.chunks():
        at = np.flatnonzero(comparable(chunk)) + start
        alive |= np.bincount(axis.at(at), minlength=axis.stored) > 0
        if alive[: axis.count].all():
            break
        start += len(chunk)
    return alive


def find_dead_channels(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all nodes with dead channels; a doubt where half are dead somewhere."""
    found: dict[tuple[int, int], DeadChannels] = {
        entry: each
        for entry, each in evidence.scanned.probed.get(DEAD_CHANNELS_NAME, {}).items()
        if entry in evidence.statistics and each.dead
    }
    if not found:
        return
    entries = sorted(found, key=lambda entry: (-_share(found[entry]), entry))
    worst = found[entries[0]]
    facts = []
    for entry in entries:
        each = found[entry]
        more = f" and {len(each.dead) - _SHOWN:,} more" if len(each.dead) > _SHOWN else ""
        listed = ", ".join(map(str, each.dead[:_SHOWN]))
        facts.append(
            f"{evidence.entry_name(entry)}: {len(each.dead):,} of {counted(each.total, 'channel')} "
            f"({listed}{more}); {each.axis}"
        )
    confidence, why = evidence.joined(entries)
    if any(each.assumed for each in found.values()) and confidence is Confidence.HIGH:
        confidence, why = Confidence.MEDIUM, f"{why}; the layout is inferred, not stated"
    yield Finding(
        DEAD_CHANNELS_NAME,
        Severity.WARNING if _share(worst) >= MANY else Severity.INFO,
        f"{len(worst.dead):,} of {counted(worst.total, 'channel')} of "
        f"{evidence.entry_name(entries[0])} "
        f"{agree(len(worst.dead), 'is')} dead (all zero){and_more(len(entries) - 1)}",
        cut(facts),
        confidence,
        why,
        nodes_of(entries),
        tuple(entries),
        "Check the bias and batch norm of these channels against the model. If they are dead for "
        "other inputs too, they can be pruned.",
        0.55,
    )


def _share(found: DeadChannels) -> float:
    return len(found.dead) / found.total


def screen_dead_channels(batch: Batch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether so many values are zero."""
    return batch.zero >= _LEAST_VALUES


DEAD_CHANNELS = Rule(
    DEAD_CHANNELS_NAME, find_dead_channels, Basis.TENSORS, probe_dead_channels, screen_dead_channels
)
