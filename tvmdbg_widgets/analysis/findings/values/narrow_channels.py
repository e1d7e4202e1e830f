"""Channels of 8-bit outputs that use little of the range, as too small multipliers make it.

Where a function rescales each channel by a multiplier of its own, a wrong scale of some channels is
seen twice: their multipliers are small beside the others, and so is what they use of the range,
their largest value less their smallest. Either alone is no fault: what a channel uses depends on
the input, and weak filters have small multipliers. Told are channels with at most a quarter of the
median in both, and a multiplier of at most half of the smallest such share in any of the other
functions of the run, at least three of them: networks whose multipliers differ widely are left.

Measured on a ResNet-20 in int8 (21 convolutions), computed again bit by bit: nothing was told for
446 inputs (the picture mirrored, cut, dark, bright, noisy; noise, smooth and constant pictures).
With the multipliers of one channel of one convolution k times too small, the channel was told for
all 21 at k = 8 and more, for 19 at k = 6 and for 2 at k = 4; of four channels, some or all for all
21 at k = 6 and more and for 11 at k = 4; never another one.

A multiplier is an operand of floats above zero, one a channel; those of fixed point, of two
operands, are not looked at. Left out are outputs of fewer than four channels, of channels of fewer
than 16 values, of more than 64 MB, and those whose channels use less than 32 steps in the median;
what would be more than a quarter of the channels; and layouts that only nodes further away tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.findings.values.channels import SOME, ChannelsWithin, OutputChannels
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry, Subject
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

NARROW_CHANNELS_NAME = "narrow-channels"
_PART: Final = 1 / 4
_OF_OTHERS: Final = 1 / 2
_OTHERS: Final = 3
_LEAST_CHANNELS: Final = 4
_LEAST_VALUES: Final = 16
_LEAST_STEPS: Final = 32
_MOST_BYTES: Final = 1 << 26
_TYPES: Final = ("int8", "uint8")

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


class _Channel(NamedTuple):
    """A channel that uses little, in steps, and what share of the median its multiplier is."""

    channel: int
    steps: int
    share: float


class _Rescaled(NamedTuple):
    """An output that is rescaled by channel: by which operand, and which channels use little.

    ``least`` is the smallest multiplier's share of the median, ``median`` the steps that channels
    use in the median; 0 where none had to be counted.
    """

    operand: Entry
    least: float
    total: int
    median: float
    narrow: tuple[_Channel, ...]


def probe_narrow_channels(subject: Subject) -> _Rescaled | None:
    """Measure what the channels use whose multipliers are small; None without multipliers."""
    found, tensor = subject.statistics, subject.tensor
    if tensor.dtype.name not in _TYPES or not found.finite or tensor.nbytes > _MOST_BYTES:
        return None
    if int(found.maximum) - int(found.minimum) < _LEAST_STEPS:
        return None
    for operand, multipliers in _multipliers(subject):
        channels = OutputChannels.of(subject.parts, subject.entry, tensor, near=False)
        if channels is None or channels.each < _LEAST_VALUES:
            return None
        if channels.count == len(multipliers):
            return _rescaled(subject, channels, operand, multipliers)
    return None


def _multipliers(subject: Subject) -> Iterator[tuple[Entry, Floats]]:
    """Operands of a node that are floats above zero along one axis."""
    graph, tensors, node = subject.parts.graph, subject.parts.tensors, subject.entry[0]
    if graph is None or tensors is None or not 0 <= node < graph.num_nodes:
        return
    edges = graph.in_edges(node)
    edges = edges[graph.edge_trust[edges] != Trust.AMBIGUOUS]
    sources, outputs = graph.edge_source[edges].tolist(), graph.edge_output[edges].tolist()
    for operand in zip(sources, outputs, strict=True):
        tensor = tensors.get(operand)
        if tensor is None or "float" not in tensor.dtype.name or tensor.size < _LEAST_CHANNELS:
            continue
        if max(tensor.shape) == tensor.size < subject.tensor.size:
            try:
                values = tensor.numpy().astype(np.float64).ravel()
            except (OSError, ValueError):  # that is told of the operand, not of this output
                continue
            if np.isfinite(values).all() and values.min() > 0:
                yield operand, values


def _rescaled(
    subject: Subject, channels: OutputChannels, operand: Entry, multipliers: Floats
) -> _Rescaled:
    shares = multipliers / np.median(multipliers)
    least, few = float(shares.min()), shares <= _PART
    if not few.any():
        return _Rescaled(operand, least, channels.count, 0, ())
    low, high = channels.bounds(np.concatenate(list(subject.chunks())))
    used: np.ndarray[Any, Any] = (high.astype(np.int64) - low)[: channels.count]
    median = float(np.median(used))
    few &= (used <= _PART * median) & (median >= _LEAST_STEPS)
    narrow = (_Channel(at, int(used[at]), float(shares[at])) for at in np.flatnonzero(few).tolist())
    return _Rescaled(operand, least, channels.count, median, tuple(narrow))


def screen_narrow_channels(batch: Batch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether the values use enough steps, and are enough."""
    if batch.size < _LEAST_CHANNELS * _LEAST_VALUES or batch.values.dtype.name not in _TYPES:
        return np.zeros(len(batch), np.bool_)
    steps: np.ndarray[tuple[int], np.dtype[np.bool_]] = batch.high - batch.low >= _LEAST_STEPS
    return steps


def find_narrow_channels(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all outputs with such channels."""
    probed: Mapping[Entry, _Rescaled] = {
        entry: each
        for entry, each in evidence.scanned.probed.get(NARROW_CHANNELS_NAME, {}).items()
        if entry in evidence.statistics and each.operand in evidence.statistics
    }
    smallest = sorted({each.operand: each.least for each in probed.values()}.items(), key=_share)
    told: dict[Entry, tuple[_Channel, ...]] = {}
    for entry, each in probed.items():
        others = [least for operand, least in smallest[:2] if operand != each.operand]
        if not others or len(smallest) <= _OTHERS:
            continue
        narrow = tuple(one for one in each.narrow if one.share <= _OF_OTHERS * others[0])
        if 0 < len(narrow) <= SOME * each.total:
            told[entry] = narrow
    if not told:
        return
    entries = sorted(told)
    first, narrow = probed[entries[0]], told[entries[0]]
    one = len(narrow) == 1
    confidence, why = evidence.joined([*entries, *(probed[entry].operand for entry in entries)])
    yield Finding(
        NARROW_CHANNELS_NAME,
        Severity.WARNING,
        f"{evidence.entry_name(entries[0])}: {_within(first, narrow)} "
        f"{'uses' if one else 'use'} at most "
        f"{percent(max(each.steps for each in narrow) / first.median)} of the median channel "
        f"range, and {'its multiplier is' if one else 'their multipliers are'} at most "
        f"{percent(max(each.share for each in narrow))} of the median multiplier"
        f"{and_more(len(entries) - 1)}",
        cut([_fact(evidence, entry, probed[entry], told[entry]) for entry in entries]),
        max(confidence, Confidence.MEDIUM, key=list(Confidence).index),
        f"{why}; judged by how much multipliers differ in the other functions of this run",
        nodes_of(entries),
        tuple(entries),
        "Check the multipliers of these channels against the calibrated scales.",
        0.65,
    )


def _share(item: tuple[Entry, float]) -> float:
    return item[1]


def _within(output: _Rescaled, narrow: tuple[_Channel, ...]) -> ChannelsWithin:
    return ChannelsWithin(tuple(each.channel for each in narrow), output.total)


def _fact(
    evidence: RunEvidence, entry: Entry, output: _Rescaled, narrow: tuple[_Channel, ...]
) -> str:
    most = max(each.share for each in narrow)
    return (
        f"{evidence.entry_name(entry)}: at most "
        f"{counted(max(each.steps for each in narrow), 'step')} in {_within(output, narrow)} "
        f"(median: {output.median:g}); multipliers in {evidence.entry_name(output.operand)}: at "
        f"most {percent(most)} of the median, as if the scale were {1 / most:.0f}× too large"
    )


NARROW_CHANNELS = Rule(
    NARROW_CHANNELS_NAME,
    find_narrow_channels,
    Basis.TENSORS | Basis.EDGES,
    probe_narrow_channels,
    screen_narrow_channels,
)
