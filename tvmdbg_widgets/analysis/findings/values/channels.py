"""Channels of outputs by the stated layout, and a rule on channels that use little range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.analysis.layouts import KnownLayout, known_layouts
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.analysis.tensor_scan import Flags, Subject
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.tensors.tensors import Tensor

_CHANNEL = "C"
_LEAST_CHANNELS = 2
_FIRST_OPERATOR = 2
SOME = 0.25  # largest share of channels that counts as "some channels"
_SHOWN = 8


class OutputChannels:
    """Channels of one output (``NCHW8c`` has two axes of them)."""

    def __init__(self, known: KnownLayout, tensor: Tensor) -> None:
        letters = known.layout.letters
        self.known = known
        self._shape = tensor.shape
        self._axes = known.layout.parts[letters.index(_CHANNEL)]
        self.stored = known.layout.logical_shape(tensor.shape)[letters.index(_CHANNEL)]
        self.count = known.sizes.get(_CHANNEL, self.stored)
        self.each = tensor.size // self.stored if self.stored else 0

    @classmethod
    def of(
        cls, run: RunParts, entry: Entry, tensor: Tensor, *, near: bool = True
    ) -> OutputChannels | None:
        """Return the channels of an operator's output, None if fewer than two or unknown."""
        graph, node = run.graph, entry[0]
        if graph is None or not 0 <= node < graph.num_nodes or graph.kinds[node] < _FIRST_OPERATOR:
            return None
        if tensor.view_shape != tensor.shape or tensor.values().repeats is not None:
            return None
        for known in known_layouts(run, entry, near=near):
            if _CHANNEL in known.layout.letters:
                channels = cls(known, tensor)
                return channels if channels.each and channels.count >= _LEAST_CHANNELS else None
        return None

    def at(self, positions: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, Any]:
        """Return the channels of flat positions."""
        channel = np.zeros(len(positions), np.int64)
        for axis in self._axes:
            inner = math.prod(self._shape[axis + 1 :])
            channel = channel * self._shape[axis] + positions // inner % self._shape[axis]
        return channel

    def bounds(
        self, values: np.ndarray[Any, Any]
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return minimum and maximum by stored channel; `values` are all."""
        array = values.reshape(self._shape)
        others = tuple(axis for axis in range(array.ndim) if axis not in self._axes)
        order = np.argsort(np.argsort(self._axes))
        low, high = array.min(axis=others), array.max(axis=others)
        return low.transpose(order).ravel(), high.transpose(order).ravel()


class ChannelsWithin(NamedTuple):
    """Channels with some property, and the number of channels."""

    channels: tuple[int, ...]
    total: int

    def __str__(self) -> str:
        noun = agree(len(self.channels), "channel", "channels")
        return f"{noun} {_listed(self.channels)} of {self.total:,}"


def within(
    subject: Subject, fits: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], least: float = 0
) -> ChannelsWithin | None:
    """Return the channels that hold all values of a kind, if these are only some."""
    channels = OutputChannels.of(subject.parts, subject.entry, subject.tensor)
    if channels is None:
        return None
    counts = np.zeros(channels.stored, np.int64)
    start = 0
    for chunk in subject.chunks():
        at = np.flatnonzero(fits(chunk)) + start
        counts += np.bincount(channels.at(at), minlength=channels.stored)
        start += len(chunk)
    held = np.flatnonzero(counts[: channels.count] > least * channels.each).tolist()
    if not 0 < len(held) <= SOME * channels.count:
        return None
    return ChannelsWithin(tuple(held), channels.count)


def _listed(channels: Sequence[int]) -> str:
    *first, last = map(str, channels[:_SHOWN])
    if len(channels) > _SHOWN:
        return f"{', '.join([*first, last])} and {len(channels) - _SHOWN:,} more"
    return f"{', '.join(first)} and {last}" if first else last


_PART: Final = 1 / 4
_OF_OTHERS: Final = 1 / 2
_OTHERS: Final = 3
_LEAST_MULTIPLIERS: Final = 4
_LEAST_VALUES: Final = 16
_LEAST_STEPS: Final = 32
_MOST_BYTES: Final = 1 << 26
_TYPES: Final = ("int8", "uint8")

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


class _NarrowChannel(NamedTuple):
    channel: int
    steps: int
    share: float


class _Rescaled(NamedTuple):
    """An output rescaled by channel, with channels of small multipliers that use little range."""

    operand: Entry
    least: float
    total: int
    median: float
    narrow: tuple[_NarrowChannel, ...]


def probe_narrow_channels(subject: Subject) -> _Rescaled | None:
    """Measure the range of channels with small multipliers; None without multipliers."""
    stats, tensor = subject.statistics, subject.tensor
    if tensor.dtype.name not in _TYPES or not stats.finite or tensor.nbytes > _MOST_BYTES:
        return None
    if int(stats.maximum) - int(stats.minimum) < _LEAST_STEPS:
        return None
    for operand, multipliers in _multipliers(subject):
        channels = OutputChannels.of(subject.parts, subject.entry, tensor, near=False)
        if channels is None or channels.each < _LEAST_VALUES:
            return None
        if channels.count == len(multipliers):
            return _rescaled(subject, channels, operand, multipliers)
    return None


def _multipliers(subject: Subject) -> Iterator[tuple[Entry, Floats]]:
    graph, tensors, node = subject.parts.graph, subject.parts.tensors, subject.entry[0]
    if graph is None or tensors is None or not 0 <= node < graph.num_nodes:
        return
    edges = graph.in_edges(node)
    edges = edges[graph.edge_trust[edges] != Trust.AMBIGUOUS]
    sources, outputs = graph.edge_source[edges].tolist(), graph.edge_output[edges].tolist()
    for operand in zip(sources, outputs, strict=True):
        tensor = tensors.get(operand)
        if tensor is None or "float" not in tensor.dtype.name or tensor.size < _LEAST_MULTIPLIERS:
            continue
        if max(tensor.shape) == tensor.size < subject.tensor.size:
            try:
                values = tensor.numpy().astype(np.float64).ravel()
            except (OSError, ValueError):  # reported for the operand, not for this output
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
    narrow = (
        _NarrowChannel(at, int(used[at]), float(shares[at])) for at in np.flatnonzero(few).tolist()
    )
    return _Rescaled(operand, least, channels.count, median, tuple(narrow))


def screen_narrow_channels(batch: Batch) -> Flags:
    """Return which rows have enough values in enough steps."""
    fewest = _LEAST_MULTIPLIERS * _LEAST_VALUES
    if batch.size < fewest or batch.values.dtype.name not in _TYPES:
        return np.zeros(len(batch), np.bool_)
    return batch.high - batch.low >= _LEAST_STEPS


@rule("narrow-channels", Basis.TENSORS | Basis.EDGES, probe_narrow_channels, screen_narrow_channels)
def find_narrow_channels(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all outputs with such channels."""
    probed: dict[Entry, _Rescaled] = {
        entry: rescaled
        for entry, rescaled in evidence.probed("narrow-channels").items()
        if rescaled.operand in evidence.statistics
    }
    least = {rescaled.operand: rescaled.least for rescaled in probed.values()}
    smallest = sorted(least.items(), key=lambda item: item[1])
    narrow_of: dict[Entry, tuple[_NarrowChannel, ...]] = {}
    for entry, each in probed.items():
        others = [least for operand, least in smallest[:2] if operand != each.operand]
        if not others or len(smallest) <= _OTHERS:
            continue
        narrow = tuple(one for one in each.narrow if one.share <= _OF_OTHERS * others[0])
        if 0 < len(narrow) <= SOME * each.total:
            narrow_of[entry] = narrow
    if not narrow_of:
        return
    entries = sorted(narrow_of)
    first, narrow = probed[entries[0]], narrow_of[entries[0]]
    one = len(narrow) == 1
    confidence, why = evidence.joined([*entries, *(probed[entry].operand for entry in entries)])
    why = f"{why}; judged by how much multipliers differ in the other functions of this run"
    yield evidence.of_entries(
        Severity.WARNING,
        f"{evidence.entry_name(entries[0])}: {_within(first, narrow)} "
        f"{'uses' if one else 'use'} at most "
        f"{percent(max(each.steps for each in narrow) / first.median)} of the median channel "
        f"range, and {'its multiplier is' if one else 'their multipliers are'} at most "
        f"{percent(max(each.share for each in narrow))} of the median multiplier"
        f"{and_more(len(entries) - 1)}",
        [_fact(evidence, entry, probed[entry], narrow_of[entry]) for entry in entries],
        entries,
        step="Check the multipliers of these channels against the calibrated scales.",
        weight=0.65,
        joined=(max(confidence, Confidence.MEDIUM, key=list(Confidence).index), why),
    )


def _within(output: _Rescaled, narrow: tuple[_NarrowChannel, ...]) -> ChannelsWithin:
    return ChannelsWithin(tuple(channel.channel for channel in narrow), output.total)


def _fact(
    evidence: RunEvidence, entry: Entry, output: _Rescaled, narrow: tuple[_NarrowChannel, ...]
) -> str:
    most = max(channel.share for channel in narrow)
    return (
        f"{evidence.entry_name(entry)}: at most "
        f"{counted(max(each.steps for each in narrow), 'step')} in {_within(output, narrow)} "
        f"(median: {output.median:g}); multipliers in {evidence.entry_name(output.operand)}: at "
        f"most {percent(most)} of the median, as if the scale were {1 / most:.0f}× too large"
    )
