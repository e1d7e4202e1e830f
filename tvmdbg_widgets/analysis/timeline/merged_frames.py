"""What is around the slices of a run: other slices, or the groups of the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.timeline.merged_tree import Frames
from tvmdbg_widgets.analysis.times.sums import group_sums
from tvmdbg_widgets.analysis.times.within import SlicesInRange
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.node_words import node_labels
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]


class Called:
    """Numbers of what slices are called: nodes, behind them names, behind them groups."""

    def __init__(
        self, timeline: Timeline, graph: Graph | None, groups: Callable[[], Groups]
    ) -> None:
        self._timeline, self._graph = timeline, graph
        self.nested = bool((timeline.rows.parent >= 0).any())
        self.groups = None if self.nested or graph is None else groups()
        self._nodes = timeline.num_nodes
        self._first_group = self._nodes + len(timeline.slice_names.unique)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self._first_group + (0 if self.groups is None else len(self.groups))

    def of(self, slices: Ints) -> Ints:
        """Number of each slice: its node, where that is unknown its name."""
        node = self._timeline.slice_node[slices].astype(np.int64)
        name = self._timeline.slice_names.codes[slices].astype(np.int64)
        return np.where(node >= 0, node, self._nodes + name)

    def of_group(self, groups: Ints) -> Ints:
        """Number of each group."""
        return self._first_group + groups

    def group_of(self, nodes: Ints) -> Ints:
        """Innermost group around each number of a node; -1 where there is none."""
        if self.groups is None or not len(self.groups.node_group):
            return np.full(len(nodes), -1)
        known = (nodes >= 0) & (nodes < len(self.groups.node_group))
        own = self.groups.node_group[np.where(known, nodes, 0)].astype(np.int64)
        return np.where(known, own, -1)

    def around(self, groups: Ints) -> Ints:
        """The group around each group; -1 where there is none."""
        if self.groups is None:
            return np.full(len(groups), -1)
        return self.groups.parent[groups].astype(np.int64)

    def node(self, keys: Ints) -> Ints:
        """The node that a number stands for, else -1."""
        return np.where(keys < self._nodes, keys, -1)

    def group(self, keys: Ints) -> Ints:
        """The group that a number stands for, else -1."""
        return np.where(keys >= self._first_group, keys - self._first_group, -1)

    def labels(self, keys: Ints) -> StringColumn:
        """Operators of nodes, names of slices, titles of groups."""
        used = np.zeros(self.size, np.bool_)
        used[keys] = True
        table = StringColumn.from_strings(map(self._label, np.flatnonzero(used).tolist()))
        return StringColumn(table.unique, table.codes[(np.cumsum(used) - 1)[keys]])

    def _label(self, key: int) -> str:
        if key >= self._first_group and self.groups is not None:
            return self.groups[key - self._first_group].title
        if key >= self._nodes:
            return self._timeline.slice_names.unique[key - self._nodes]
        if self._labels is not None and key < len(self._labels):
            return self._labels[key]
        slices = self._timeline.slices_of(key)
        return self._timeline.slice_names[int(slices[0])] if len(slices) else ""

    @cached_property
    def _labels(self) -> list[str] | None:
        return None if self._graph is None else list(node_labels(self._graph))


def slice_frames(timeline: Timeline, called: Called, within: SlicesInRange) -> Frames:
    """Every slice in the one that holds it."""
    slices = within.slices
    place = np.full(timeline.num_slices + 1, -1, np.int64)
    place[slices] = np.arange(len(slices))
    parent = place[timeline.rows.parent[slices]]
    return Frames(parent, called.of(slices), within.self_ns, np.ones(len(slices), np.int64))


def group_frames(called: Called, within: SlicesInRange) -> Frames:
    """Every operator in the groups of the graph around it, without groups of which nothing ran."""
    keys = called.of(within.slices)
    own = group_sums(keys, within.self_ns, called.size)
    count = np.bincount(keys, minlength=called.size)
    ran = np.flatnonzero(count)
    inner = called.group_of(called.node(ran))
    groups, at = inner[inner >= 0], inner[inner >= 0]
    while len(at):
        at = called.around(np.unique(at))
        at = at[at >= 0]
        groups = np.concatenate((groups, at))
    groups = np.unique(groups)
    place = np.full(int(groups.max(initial=-1)) + 2, -1, np.int64)
    place[groups] = np.arange(len(groups))
    return Frames(
        np.concatenate((place[called.around(groups)], place[inner])),
        np.concatenate((called.of_group(groups), ran)),
        np.concatenate((np.zeros(len(groups)), own[ran])),
        np.concatenate((np.zeros(len(groups), np.int64), count[ran])),
    )
