"""Slices that several nodes share: a delegate may run many operators in one call."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.timeline.node_times import NodeStatistics, node_statistics


@dataclass(frozen=True, eq=False)
class NodeSets:
    """The sets of nodes that slices of a timeline are of, C of them. Every array is read-only.

    The time of such a slice belongs to its nodes together; nobody knows the share of each. The set
    of a call whose nodes no file names is empty.
    """

    slice_set: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int32]
    own_ns: npt.NDArray[np.float64]
    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    repeats_offsets: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    repeats_ns: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    apart: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        count = len(self.own_ns)
        dtypes: dict[str, type[np.generic]] = {
            "slice_set": np.int32,
            "offsets": np.int64,
            "nodes": np.int32,
            "own_ns": np.float64,
            "repeats_offsets": np.int64,
            "repeats_ns": np.float64,
            "apart": np.bool_,
        }
        if not len(self.apart):
            object.__setattr__(self, "apart", np.zeros(count, np.bool_))
        if not len(self.repeats_offsets):
            object.__setattr__(self, "repeats_offsets", np.zeros(count + 1, np.int64))
        for name, words in (("names", "together"), ("kinds", "other")):
            object.__setattr__(self, name, getattr(self, name) or (words,) * count)
        for name, dtype in dtypes.items():
            column = np.ascontiguousarray(getattr(self, name), dtype).view()
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if len(self.offsets) != count + 1 or self.offsets[-1] != len(self.nodes):
            raise ValueError(
                f"offsets do not fit {counted(count, 'set')} of {counted(len(self.nodes), 'node')}"
            )
        if ((np.diff(self.offsets) == 1) & ~self.apart).any():
            raise ValueError("a set that is not apart has no node or several")
        if len(self.slice_set) and not -1 <= self.slice_set.min() <= self.slice_set.max() < count:
            raise ValueError(f"slice_set must lie in -1 … {count - 1}")

    def __len__(self) -> int:
        return len(self.own_ns)

    @property
    def left(self) -> npt.NDArray[np.bool_]:
        """The sets that are what is left of calls whose operators are timed (bool [C])."""
        calls = np.array([kind == "delegate" for kind in self.kinds], np.bool_)
        found: npt.NDArray[np.bool_] = self.apart & calls
        return found

    @property
    def hidden(self) -> bool:
        """Whether there are calls of delegates whose operators no file names."""
        sizes = np.diff(self.offsets).tolist()
        return any(
            kind == "delegate" and not size for kind, size in zip(self.kinds, sizes, strict=True)
        )

    def of(self, number: int) -> tuple[int, ...]:
        """Return the nodes of a set."""
        return tuple(self.nodes[self.offsets[number] : self.offsets[number + 1]].tolist())

    def statistics(self) -> NodeStatistics:
        """Return statistics of the executions of each set."""
        return node_statistics(self.repeats_offsets, self.repeats_ns, self.own_ns)

    def smallest(self, num_nodes: int) -> npt.NDArray[np.int32]:
        """Return, of each node, the smallest set of a known time that it is in; -1 for none.

        Sets apart are no node's.
        """
        found = np.full(num_nodes, -1, np.int32)
        sizes = np.diff(self.offsets)
        for number in np.argsort(-sizes, kind="stable").tolist():
            if self.own_ns[number] >= 0 and not self.apart[number]:
                found[self.nodes[self.offsets[number] : self.offsets[number + 1]]] = number
        return found

    @property
    def total_ns(self) -> float:
        """Time of all sets as such; those that are unknown left out."""
        return float(np.nansum(self.own_ns))

    def within_groups(self, groups: Groups) -> npt.NDArray[np.float64]:
        """Return, of each group, the time of the sets that lie wholly within it (float64 [G])."""
        some = np.flatnonzero(np.diff(self.offsets))
        if not len(some):
            return np.zeros(len(groups))
        place = np.empty(len(groups.order), np.int64)
        place[groups.order] = np.arange(len(groups.order))
        places = place[self.nodes]
        first = np.minimum.reduceat(places, self.offsets[some])
        last = np.maximum.reduceat(places, self.offsets[some])
        own = np.nan_to_num(self.own_ns[some])
        return np.array(
            [
                float(own[(first >= start) & (last < end)].sum())
                for start, end in zip(groups.start.tolist(), groups.end.tolist(), strict=True)
            ]
        )

    def groups_around(self, groups: Groups) -> npt.NDArray[np.int64]:
        """Return the innermost group that holds all nodes of each set, -1 for none (int64 [C])."""
        found = np.full(len(self), -1, np.int64)
        for number in range(len(self)):
            around = [{group.id for group in groups.of(node)} for node in self.of(number)]
            if around:
                found[number] = max(set.intersection(*around), default=-1)
        return found

    def within(self, members: npt.NDArray[np.bool_]) -> float:
        """Return the time of the sets that lie wholly within some nodes (bool [N])."""
        # What is left of the call of one node is not the node's.
        some = np.flatnonzero(np.diff(self.offsets) > (1 if np.count_nonzero(members) == 1 else 0))
        if not len(some):
            return 0.0
        whole = np.logical_and.reduceat(members[self.nodes], self.offsets[some])
        return float(np.nansum(self.own_ns[some[whole]]))
