"""Slices merged by their path, from the top down, or from one name up to its callers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.timeline.merged_tree import Frames, Places, levels_of, merge
from tvmdbg_widgets.analysis.times.sums import SlicesInRange, slices_within
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.ranges import checked_range, group_sums
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_labels
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LINES_SHOWN = 40
_LEAST_SHOWN = 0.005


@dataclass(frozen=True, eq=False, repr=False)
class CallTree:
    """Tree of P paths, level by level; siblings are sorted, the heaviest first.

    Attributes
    ----------
    title : str
        Name of the merged run or slices.
    said : str
        Meaning of the path of a place.
    parent : int64 [P]
        The place around it, which stands before it; -1 at the top.
    names : StringColumn [P]
        Operators of the node, name of the slices, title of the group.
    node, group : int64 [P]
        Node or group that the place stands for, else -1.
    total_ns : float64 [P]
        Own time and the totals inside; of callers that of the slices in question.
    self_ns : float64 [P]
        Time without what runs inside; of callers that of the slices in question.
    count : int64 [P]
        Slices; 0 of a group.
    depth : int64 [P]
    start_ns : float64 [P]
        Where the place begins where all are laid side by side, the heaviest first.
    """

    title: str
    said: str
    parent: Ints
    names: StringColumn
    node: Ints
    group: Ints
    total_ns: Floats
    self_ns: Floats
    count: Ints
    depth: Ints
    start_ns: Floats

    def __len__(self) -> int:
        return len(self.parent)

    def path(self, place: int) -> tuple[str, ...]:
        """Return the names from the top to a place; IndexError where there is none."""
        at = range(len(self))[place]
        names: list[str] = []
        while at >= 0:
            names.append(self.names[at])
            at = int(self.parent[at])
        return tuple(reversed(names))

    def children(self, place: int) -> Ints:
        """Return the children of a place, those at the top of -1; the heaviest first."""
        return np.flatnonzero(self.parent == place)

    def to_dataframe(self) -> Any:
        """Return one row per place as a ``pandas.DataFrame``; times in nanoseconds."""
        return data_frame(
            {
                "parent": self.parent,
                "name": list(self.names),
                "node": self.node,
                "group": self.group,
                "total_ns": self.total_ns,
                "self_ns": self.self_ns,
                "count": self.count,
                "depth": self.depth,
                "start_ns": self.start_ns,
            }
        )

    def __repr__(self) -> str:
        whole = float(self.total_ns[self.depth == 0].sum())
        lines = [
            f"{self.title}: {duration_text(whole)}, {counted(len(self), 'path')} ({self.said})"
        ]
        inside: dict[int, list[int]] = {}
        for place, outer in enumerate(self.parent.tolist()):
            inside.setdefault(outer, []).append(place)
        waiting = inside.get(-1, [])[::-1]
        shown = 0
        while waiting and shown < _LINES_SHOWN:
            place = waiting.pop()
            if self.total_ns[place] < _LEAST_SHOWN * whole:
                continue
            lines.append(self._line(place, whole))
            shown += 1
            waiting += inside.get(place, [])[::-1]
        if shown < len(self):
            lines.append(f"  … {len(self) - shown:,} more")
        return "\n".join(lines)

    def _line(self, place: int, whole: float) -> str:
        total, own = float(self.total_ns[place]), float(self.self_ns[place])
        share = percent(total / whole) if whole else "unknown"
        alone = f", {duration_text(own)} its own" if 0 < own < total else ""
        times = f", {counted(int(self.count[place]), 'slice')}" if self.count[place] > 1 else ""
        id_ = f" #{self.node[place]}" if self.node[place] >= 0 else ""
        indent = "  " * (1 + int(self.depth[place]))
        return (
            f"{indent}{one_line(self.names[place])}{id_}: {duration_text(total)}, {share}"
            f"{alone}{times}"
        )


def merged(run: RunParts, groups: Callable[[], Groups], within: object = None) -> CallTree:
    """Merge the slices of a run by their path from the top; see :class:`CallTree`."""
    timeline = _timeline(run)
    slices = slices_within(timeline, None if within is None else checked_range(within))
    called = Called(timeline, run.graph, groups)
    if called.nested:
        frames, meaning = slice_frames(timeline, called, slices), "nested slices"
    else:
        frames, meaning = group_frames(called, slices), "groups of the graph"
    if not called.groups and not called.nested:
        meaning = "no nested slices"
    return _tree(f"{run.title}: time by path", meaning, called, merge(frames, called.size))


def callers(run: RunParts, groups: Callable[[], Groups], name: str) -> CallTree:
    """Merge the slices of one name by callers: the name, its callers, their callers."""
    timeline = _timeline(run)
    called = Called(timeline, run.graph, groups)
    wanted = [i for i, slice_name in enumerate(timeline.slice_names.unique) if slice_name == name]
    touched = slices_within(timeline, None)
    named = np.isin(timeline.slice_names.codes[touched.slices], wanted)
    if not named.any():
        known = meant(name, timeline.slice_names.unique)
        raise KeyError(f"no slice is named {name!r:.200}{known}")
    slices, self_ns = touched.slices[named], touched.self_ns[named]
    chains = list(_enclosing_steps(timeline, called, slices))
    total = _inclusive_time(timeline, touched)[named]
    outermost = np.ones(len(slices), np.bool_)
    if called.nested:
        parent = timeline.rows.parent.astype(np.int64)
        at, kept = parent[slices], np.arange(len(slices))
        while len(kept):
            kept, at = kept[at >= 0], at[at >= 0]
            outermost[kept[np.isin(timeline.slice_names.codes[at], wanted)]] = False
            at = parent[at]
    through = np.concatenate([kept for kept, _ in chains])
    before, parents, done = np.full(len(slices), -1), [], 0
    for kept, _ in chains:
        parents.append(before[kept])
        before[kept] = done + np.arange(len(kept))
        done += len(kept)
    own = np.zeros(done)
    own[before] = self_ns
    keys = np.concatenate([keys for _, keys in chains])
    frames = Frames(np.concatenate(parents), keys, own, np.ones(done, np.int64))
    places = merge(frames, called.size)
    total = np.where(outermost, total, 0.0)[through]
    tree = _tree(
        f"{run.title}: callers of {one_line(name)}", "children are callers", called, places
    )
    return replace(tree, self_ns=places.total_ns, total_ns=group_sums(places.of, total, len(tree)))


def _inclusive_time(timeline: Timeline, within: SlicesInRange) -> Floats:
    times = np.zeros(timeline.num_slices)
    times[within.slices] = within.self_ns
    parent = timeline.rows.parent.astype(np.int64)
    for level in reversed(list(levels_of(parent))):
        held = level[parent[level] >= 0]
        np.add.at(times, parent[held], times[held])
    return times[within.slices]


def _enclosing_steps(
    timeline: Timeline, called: Called, slices: Ints
) -> Iterator[tuple[Ints, Ints]]:
    kept = np.arange(len(slices))
    yield kept, called.of(slices)
    if called.nested:
        parent = timeline.rows.parent.astype(np.int64)
        at = parent[slices]
    else:
        at = called.group_of(timeline.slice_node[slices].astype(np.int64))
    while True:
        kept, at = kept[at >= 0], at[at >= 0]
        if not len(kept):
            return
        yield kept, called.of(at) if called.nested else called.of_group(at)
        at = parent[at] if called.nested else called.around(at)


def _timeline(run: RunParts) -> Timeline:
    if run.timeline is None:
        raise ValueError(how_to_get("timeline", run))
    return run.timeline


def _tree(title: str, meaning: str, called: Called, places: Places) -> CallTree:
    return CallTree(
        title=title,
        said=meaning,
        parent=places.parent,
        names=called.labels(places.key),
        node=called.node(places.key),
        group=called.group(places.key),
        total_ns=places.total_ns,
        self_ns=places.self_ns,
        count=places.count,
        depth=places.depth,
        start_ns=places.start_ns,
    )


class Called:
    """Numbering of callees: nodes, then names of slices, then groups."""

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
        """Count of all numbers."""
        return self._first_group + (0 if self.groups is None else len(self.groups))

    def of(self, slices: Ints) -> Ints:
        """Return the number of each slice: its node, if unknown its name."""
        node = self._timeline.slice_node[slices].astype(np.int64)
        name = self._timeline.slice_names.codes[slices].astype(np.int64)
        return np.where(node >= 0, node, self._nodes + name)

    def of_group(self, groups: Ints) -> Ints:
        """Return the numbers of groups."""
        return self._first_group + groups

    def group_of(self, nodes: Ints) -> Ints:
        """Return the innermost group around nodes by number; -1 for none."""
        if self.groups is None or not len(self.groups.node_group):
            return np.full(len(nodes), -1)
        known = (nodes >= 0) & (nodes < len(self.groups.node_group))
        own = self.groups.node_group[np.where(known, nodes, 0)].astype(np.int64)
        return np.where(known, own, -1)

    def around(self, groups: Ints) -> Ints:
        """Return the groups around groups; -1 for none."""
        if self.groups is None:
            return np.full(len(groups), -1)
        return self.groups.parent[groups].astype(np.int64)

    def node(self, keys: Ints) -> Ints:
        """Return the nodes of numbers, else -1."""
        return np.where(keys < self._nodes, keys, -1)

    def group(self, keys: Ints) -> Ints:
        """Return the groups of numbers, else -1."""
        return np.where(keys >= self._first_group, keys - self._first_group, -1)

    def labels(self, keys: Ints) -> StringColumn:
        """Return the operators of nodes, names of slices and titles of groups."""
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
    """Return slices as frames, nested as in the timeline."""
    slices = within.slices
    place = np.full(timeline.num_slices + 1, -1, np.int64)
    place[slices] = np.arange(len(slices))
    parent = place[timeline.rows.parent[slices]]
    return Frames(parent, called.of(slices), within.self_ns, np.ones(len(slices), np.int64))


def group_frames(called: Called, within: SlicesInRange) -> Frames:
    """Return operators as frames, nested in the groups of the graph that ran."""
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
