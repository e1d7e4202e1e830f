"""The time of each row of one run, and its measured repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Samples:
    """Times and repeats of R rows of nodes."""

    ns: Floats
    unknown: Ints
    offsets: Ints
    repeats: Floats
    uneven: npt.NDArray[np.bool_]

    def of(self, row: int) -> Floats:
        """Return the repeats of a row."""
        return self.repeats[self.offsets[row] : self.offsets[row + 1]]


class NodeSamples:
    """Times and repeats of the nodes of one timeline, as they are compared."""

    def __init__(self, timeline: Timeline, warm_up: int) -> None:
        given = [timeline.repeats(node) for node in range(timeline.num_nodes)]
        self.rounding_ns = timeline.rounding_ns
        self.ns: Floats = timeline.node_ns.copy()
        self.ns[~np.isfinite(self.ns)] = np.nan
        self.call: Ints = np.full(timeline.num_nodes, -1)
        if timeline.shared is not None:
            _place_calls(timeline.shared, self.ns, self.call, given)
        counts = np.array([len(each) for each in given], np.int64)
        repeats = np.concatenate(given) if given else np.zeros(0)
        within = np.arange(len(repeats)) - np.repeat(np.cumsum(counts) - counts, counts)
        node = np.repeat(np.arange(timeline.num_nodes), counts)
        kept = np.isfinite(repeats) & (within >= warm_up)
        kept &= timeline.measured is TimeMeaning.MEAN
        self.repeats: Floats = repeats[kept]
        number = np.bincount(node[kept], minlength=timeline.num_nodes)
        self.offsets: Ints = np.concatenate(([0], np.cumsum(number))).astype(np.int64)
        if warm_up:
            sums = np.bincount(node[kept], weights=self.repeats, minlength=timeline.num_nodes)
            some = number > 0
            self.ns[some] = sums[some] / number[some]

    def rows(self, offsets: Ints, nodes: Ints) -> Samples:
        """Sum up the nodes of each row."""
        count = len(offsets) - 1
        row = np.repeat(np.arange(count), np.diff(offsets))
        times = self.ns[nodes]
        known = ~np.isnan(times)
        ns = np.bincount(row[known], weights=times[known], minlength=count).astype(np.float64)
        unknown = np.bincount(row[~known], minlength=count).astype(np.int64)
        ns[(unknown > 0) & (unknown == np.diff(offsets))] = np.nan
        number = np.diff(self.offsets)[nodes]
        most = np.zeros(count, np.int64)
        np.maximum.at(most, row, number)
        uneven = np.zeros(count, np.bool_)
        # What takes no time has nothing to be repeated.
        np.logical_or.at(uneven, row, (number != most[row]) & ~(times == 0))
        most[uneven] = 0
        starts = np.concatenate(([0], np.cumsum(most))).astype(np.int64)
        repeats = np.zeros(int(starts[-1]))
        used = (most[row] > 0) & (number > 0)
        sizes = number[used]
        steps = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        into = np.repeat(starts[row[used]], sizes) + steps
        np.add.at(repeats, into, self.repeats[np.repeat(self.offsets[nodes[used]], sizes) + steps])
        return Samples(ns, unknown, starts, repeats, uneven)


def _place_calls(sets: NodeSets, ns: Floats, call: Ints, repeats: list[Floats]) -> None:
    """Put the time of each call at one of its nodes that has none of its own."""
    inside = np.isnan(ns)
    for number in np.argsort(np.diff(sets.offsets), kind="stable").tolist():
        nodes = np.array(sets.of(number), np.int64)
        if not len(nodes) or np.isnan(sets.own_ns[number]) or sets.apart[number]:
            continue
        free = nodes[inside[nodes] & (call[nodes] < 0)]
        own = sets.repeats_ns[sets.repeats_offsets[number] : sets.repeats_offsets[number + 1]]
        if len(free):
            at = int(free[-1])
            ns[at], call[at], repeats[at] = sets.own_ns[number], number, own
            others = nodes[inside[nodes] & (call[nodes] < 0)]
            ns[others] = 0.0
        else:
            at = int(nodes[-1])
            both = len(repeats[at]) == len(own)
            ns[at] += sets.own_ns[number]
            repeats[at] = repeats[at] + own if both else np.zeros(0)
