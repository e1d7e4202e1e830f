"""Which channels of an output something lies in, by the layout that the graph tells of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.layouts.layouts import KnownLayout, known_layouts
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry, Subject
from tvmdbg_widgets.model.base.numbers import agree
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor

_CHANNEL = "C"
_LEAST_CHANNELS = 2
_FIRST_OPERATOR = 2
#: In at most this share of the channels something is within some of them, not in the tensor.
SOME = 0.25
_SHOWN = 8


class OutputChannels:
    """The channels of one output (``NCHW8c`` has two axes of them)."""

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
        """Return the channels of an operator's output, None where there are not two or unknown.

        Nor of a tensor that repeats a few stored values: it costs many times more to look at each.
        Layouts that only entries beside this one tell are left out unless ``near``: to look for
        them takes a millisecond.
        """
        graph, node = run.graph, entry[0]
        if graph is None or not 0 <= node < graph.num_nodes or graph.kinds[node] < _FIRST_OPERATOR:
            return None
        if tensor.view_shape != tensor.shape or tensor.values().repeats is not None:
            return None
        for known in known_layouts(run, entry, near=near):
            if _CHANNEL in known.layout.letters:
                found = cls(known, tensor)
                return found if found.each and found.count >= _LEAST_CHANNELS else None
        return None

    def at(self, positions: np.ndarray[Any, np.dtype[np.intp]]) -> np.ndarray[Any, Any]:
        """Return the channel of each flat position."""
        channel = np.zeros(len(positions), np.int64)
        for axis in self._axes:
            inner = math.prod(self._shape[axis + 1 :])
            channel = channel * self._shape[axis] + positions // inner % self._shape[axis]
        return channel

    def bounds(
        self, values: np.ndarray[Any, Any]
    ) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return the least and the largest value of each stored channel; `values` are all."""
        array = values.reshape(self._shape)
        others = tuple(axis for axis in range(array.ndim) if axis not in self._axes)
        order = np.argsort(np.argsort(self._axes))
        low, high = array.min(axis=others), array.max(axis=others)
        return low.transpose(order).ravel(), high.transpose(order).ravel()


class ChannelsWithin(NamedTuple):
    """Channels in which something lies, and how many there are."""

    channels: tuple[int, ...]
    total: int

    def __str__(self) -> str:
        noun = agree(len(self.channels), "channel", "channels")
        return f"{noun} {_listed(self.channels)} of {self.total:,}"


def within(
    subject: Subject, fits: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], least: float = 0
) -> ChannelsWithin | None:
    """Return the channels that hold all values of a kind, where these are only some."""
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
