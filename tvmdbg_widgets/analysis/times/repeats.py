"""How surely the time of several nodes together is known, from their repeats."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline.node_times import node_statistics
from tvmdbg_widgets.model.timeline.timeline import Timeline

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def confidence(
    timeline: Timeline, offsets: Ints, nodes: Ints, *, overlap: bool, part: bool
) -> tuple[Floats, Floats, Flags]:
    """Return the 95 % interval of the mean and whether the times are noisy, by group of nodes.

    The repeats of a group are the sums of its nodes' repeats, paired by their number. Where a
    repeat was a pass over the graph, that is one pass; where each node was measured on its own,
    any other pairing has the same expectation. Nodes that take no time and have no repeats, as
    inputs and parameters, are left out.
    """
    size = len(offsets) - 1
    counts = np.diff(timeline.repeats_offsets)
    unknown = np.full(size, np.nan), np.full(size, np.nan), np.zeros(size, np.bool_)
    if part or not len(nodes) or counts.max(initial=0) < 2:
        return unknown
    group = np.repeat(np.arange(size), np.diff(offsets))
    timed = (counts[nodes] > 0) | (timeline.node_ns[nodes] != 0)
    group, nodes = group[timed], nodes[timed]
    most = np.zeros(size, np.int64)
    np.maximum.at(most, group, counts[nodes])
    least = np.full(size, counts.max())
    np.minimum.at(least, group, counts[nodes])
    usable = (least == most) & (most >= 2)
    if not overlap:
        shared = np.bincount(nodes)[nodes] > 1
        usable[group[shared]] = False
    own = np.where(usable, most, 0)
    at = np.concatenate(([0], np.cumsum(own)))
    sums = np.zeros(at[-1])
    kept = usable[group]
    length = counts[nodes[kept]]
    each = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    np.add.at(
        sums,
        np.repeat(at[group[kept]], length) + each,
        timeline.repeats_ns[np.repeat(timeline.repeats_offsets[nodes[kept]], length) + each],
    )
    found = node_statistics(at, sums, np.full(size, np.nan))
    unsure = usable & (found.n < most)
    low, high = np.where(unsure, np.nan, found.low), np.where(unsure, np.nan, found.high)
    return low, high, found.noisy & ~unsure
