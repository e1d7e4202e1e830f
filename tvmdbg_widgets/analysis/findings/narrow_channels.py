"""Channels of 8-bit outputs that use far less of the range than the others do.

What a channel uses is its largest value less its smallest. How far channels of sound networks
differ is another matter in each, so the run itself tells: channels of an output are told where they
use a sixth or less of the median of its channels, and half or less of the smallest such share in
any of the other outputs of that kind of operator and type, at least three of them. Outputs that
read the one in question do not count among these, since the fault may pass on to them.

Measured on a ResNet-20 in int8 (21 convolutions), computed again bit by bit: nothing was told for
14 inputs, mirrored, inverted, dark, cut, noise or constant. With scales of one or two channels of
one convolution made k times too large, just these were told for all 21 at k = 16 and 32; at k = 8
for 18 with one channel and 16 with two, of which another 3 had one told; at k = 6 for 10 and 4; at
k = 4 for none.

Left out are outputs of fewer than 100 values or four channels, of channels of fewer than 16 values,
of more than 64 MB, and those whose channels use less than 32 steps in the median; channels of one
value, which sound networks have too; and what would be more than a quarter of the channels. The
layout must be told by the node itself or by one that reads it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.channels import SOME, Channels, Within
from tvmdbg_widgets.analysis.findings.evidence import cut, nodes_of
from tvmdbg_widgets.analysis.findings.narrow_range import comparable_outputs
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.numbers import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.tensor_scan import Entry, Subject
    from tvmdbg_widgets.model.statistics.batch import Batch

NAME = "narrow-channels"
_PART: Final = 1 / 6
_OF_OTHERS: Final = 1 / 2
_PEERS: Final = 3
_LEAST_CHANNELS: Final = 4
_LEAST_VALUES: Final = 16
_LEAST_STEPS: Final = 32
_MOST_BYTES: Final = 1 << 26
_TYPES: Final = ("int8", "uint8")


class _Use(NamedTuple):
    """What the channels of an output use, in steps.

    ``least`` is the smallest share of the median; ``narrow`` are the channels far below it, and
    ``steps`` what each of them uses.
    """

    median: float
    least: float
    total: int
    narrow: np.ndarray[tuple[int], np.dtype[np.int64]]
    steps: np.ndarray[tuple[int], np.dtype[np.int64]]


class _Told(NamedTuple):
    """Channels that are told, what they use at most, and the smallest share elsewhere."""

    channels: Within
    most: int
    least: float
    kind: str


def probe(subject: Subject) -> _Use | None:
    """Measure what the channels use; None where they cannot be compared."""
    found, tensor = subject.statistics, subject.tensor
    if tensor.dtype.name not in _TYPES or not found.finite or tensor.nbytes > _MOST_BYTES:
        return None
    if int(found.maximum) - int(found.minimum) < _LEAST_STEPS:
        return None
    channels = Channels.of(subject.parts, subject.entry, tensor, near=False)
    if channels is None or channels.each < _LEAST_VALUES or channels.count < _LEAST_CHANNELS:
        return None
    low, high = channels.bounds(np.concatenate(list(subject.chunks())))
    used = (high.astype(np.int64) - low)[: channels.count]
    median = float(np.median(used))
    if median < _LEAST_STEPS:
        return None
    narrow = np.flatnonzero((used > 0) & (used <= _PART * median))
    least = float(used[used > 0].min()) / median
    return _Use(median, least, channels.count, narrow, used[narrow])


def screen(batch: Batch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether the values use enough steps, and are enough."""
    if batch.size < _LEAST_CHANNELS * _LEAST_VALUES or batch.values.dtype.name not in _TYPES:
        return np.zeros(len(batch), np.bool_)
    steps: np.ndarray[tuple[int], np.dtype[np.bool_]] = batch.high - batch.low >= _LEAST_STEPS
    return steps


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of all outputs with such channels."""
    probed: Mapping[Entry, _Use] = evidence.scanned.probed.get(NAME, {})
    if not any(len(use.narrow) for use in probed.values()):
        return
    told: dict[Entry, _Told] = {}
    for (kind, _), entries in comparable_outputs(evidence).items():
        uses = {entry: probed[entry] for entry in entries if entry in probed}
        rising = sorted(uses, key=lambda entry: uses[entry].least)
        for entry, use in uses.items():
            least = _least_elsewhere(evidence, uses, rising, entry) if len(use.narrow) else None
            found = None if least is None else _told(use, least, kind)
            if found is not None:
                told[entry] = found
    if not told:
        return
    entries = sorted(told)
    first = told[entries[0]]
    named, share = str(first.channels), first.most / probed[entries[0]].median
    certainty, why = evidence.joined(entries)
    rest = f"; {counted(len(entries) - 1, 'output')} more likewise" if entries[1:] else ""
    yield Finding(
        NAME,
        Kind.DOUBT,
        f"{named[0].upper()}{named[1:]} of {evidence.entry_name(entries[0])} "
        f"{'uses' if len(first.channels.channels) == 1 else 'use'} at most "
        f"{percent(share)} of what its channels use in the median; of the other outputs compared "
        f"({first.kind}), no channel that varies uses less than {percent(first.least)}{rest}",
        cut([_fact(evidence, entry, told[entry], probed[entry].median) for entry in entries]),
        max(certainty, Certainty.LIKELY, key=list(Certainty).index),
        f"{why}; that channels should not differ more rests on the other outputs of this run",
        nodes_of(entries),
        tuple(entries),
        "Compare the scales (multipliers or shifts) of these channels with the calibrated ones.",
        0.62,
    )


def _least_elsewhere(
    evidence: Evidence, uses: Mapping[Entry, _Use], rising: Sequence[Entry], entry: Entry
) -> float | None:
    """Return the smallest share in outputs that do not read an entry; None where these are few."""
    graph = evidence.parts.graph
    if graph is None:
        return None
    readers = set(graph.edge_target[graph.readers(*entry)].tolist())
    others = (other for other in rising if other != entry and other[0] not in readers)
    peers = list(islice(others, _PEERS))
    return uses[peers[0]].least if len(peers) == _PEERS else None


def _told(use: _Use, least: float, kind: str) -> _Told | None:
    """Return the channels that are far below those elsewhere, where these are only some."""
    below = use.steps <= _OF_OTHERS * least * use.median
    if not 0 < np.count_nonzero(below) <= SOME * use.total:
        return None
    channels = Within(tuple(use.narrow[below].tolist()), use.total)
    return _Told(channels, int(use.steps[below].max()), least, kind)


def _fact(evidence: Evidence, entry: Entry, told: _Told, median: float) -> str:
    return (
        f"{evidence.entry_name(entry)}: {counted(told.most, 'step')} at most in {told.channels}, "
        f"where the median is {median:g}, as a scale about {median / told.most:.0f} times too "
        "large would make it"
    )


RULE = Rule(NAME, find, probe, screen)
