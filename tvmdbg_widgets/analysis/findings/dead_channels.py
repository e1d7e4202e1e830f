"""Channels of an activation that are zero throughout.

The channel axis is that of the layout that the graph tells of the entry (``NCHW8c`` has two axes of
channels); padding is left out where its size is known. The finding says where the layout is only
likely. A channel must hold 16 values or more, since single zeros mean nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import cut, nodes_of
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.statistics import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.layouts import KnownLayout
    from tvmdbg_widgets.analysis.tensor_scan import Entry, Subject
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.model.tensors import Tensor

NAME = "dead-channels"
_LEAST_VALUES = 16
#: Share of dead channels from which on they are a doubt.
MANY = 0.5
_SHOWN = 8
_CHANNEL = "C"
_LEAST_CHANNELS = 2
_FIRST_OPERATOR = 2


class Channels(NamedTuple):
    """The dead channels of one entry, which may be none, and by which axis they were counted."""

    dead: tuple[int, ...]
    total: int
    axis: str
    assumed: bool


def probe(subject: Subject) -> Channels | None:
    """Find the channels that are zero throughout, where so many values are zero."""
    found, shape = subject.statistics, subject.tensor.shape
    if found.zero < _LEAST_VALUES:
        return None
    known = _known(subject.parts, subject.entry, subject.tensor)
    if known is None:
        return None
    count = _count(known, shape)
    dead: tuple[int, ...] = ()
    if subject.tensor.size // _stored(known, shape) <= found.zero < found.size:
        dead = tuple(np.flatnonzero(~_alive(subject, known)[:count]).tolist())
    text = f"{known.layout} by {known.source}"
    return Channels(dead, count, text, known.certainty != "stated")


def _known(run: RunParts, entry: Entry, tensor: Tensor) -> KnownLayout | None:
    """The layout of an output that has channels large enough to look at."""
    graph, node = run.graph, entry[0]
    if graph is None or not 0 <= node < graph.num_nodes or graph.kinds[node] < _FIRST_OPERATOR:
        return None
    if tensor.view_shape != tensor.shape:
        return None
    for known in known_layouts(run, entry):
        if _CHANNEL in known.layout.letters:
            stored = _stored(known, tensor.shape)
            large = stored and tensor.size // stored >= _LEAST_VALUES
            return known if large and _count(known, tensor.shape) >= _LEAST_CHANNELS else None
    return None


def _stored(known: KnownLayout, shape: tuple[int, ...]) -> int:
    """How many channels are stored, padding included."""
    return known.layout.logical_shape(shape)[known.layout.letters.index(_CHANNEL)]


def _count(known: KnownLayout, shape: tuple[int, ...]) -> int:
    """How many channels there are, without padding where its size is known."""
    return known.sizes.get(_CHANNEL, _stored(known, shape))


def _alive(subject: Subject, known: KnownLayout) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each stored channel is not all zero; reads on only while one seems dead."""
    shape = subject.tensor.shape
    axes = known.layout.parts[known.layout.letters.index(_CHANNEL)]
    stored, count = _stored(known, shape), _count(known, shape)
    alive = np.zeros(stored, np.bool_)
    start = 0
    for chunk in subject.chunks():
        at = np.flatnonzero(comparable(chunk)) + start
        channel = np.zeros(len(at), np.int64)
        for axis in axes:
            inner = math.prod(shape[axis + 1 :])
            channel = channel * shape[axis] + at // inner % shape[axis]
        alive |= np.bincount(channel, minlength=stored) > 0
        if alive[:count].all():
            break
        start += len(chunk)
    return alive


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of all nodes with dead channels; a doubt where half are dead somewhere."""
    found: dict[tuple[int, int], Channels] = {
        entry: each
        for entry, each in evidence.scanned.probed.get(NAME, {}).items()
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
            f"{evidence.entry_name(entry)}: {len(each.dead):,} of {each.total:,} channels "
            f"({listed}{more}); {each.axis}"
        )
    certainty, why = evidence.joined(entries)
    if any(each.assumed for each in found.values()) and certainty is Certainty.CERTAIN:
        certainty, why = Certainty.LIKELY, f"{why}; a layout that is not stated is assumed"
    rest = f"; {len(entries) - 1:,} more outputs have some" if entries[1:] else ""
    yield Finding(
        NAME,
        Kind.DOUBT if _share(worst) >= MANY else Kind.NOTE,
        f"{len(worst.dead):,} of {worst.total:,} channels of {evidence.entry_name(entries[0])} "
        f"{'is' if len(worst.dead) == 1 else 'are'} zero throughout{rest}",
        cut(facts),
        certainty,
        why,
        nodes_of(entries),
        tuple(entries),
        "Compare the bias and the batch norm of these channels with the model's; if they are dead "
        "for other inputs too, they can be pruned.",
        0.55,
    )


def _share(found: Channels) -> float:
    return len(found.dead) / found.total


RULE = Rule(NAME, find, probe)
