"""Whose the time of a run is: every stretch of it counts once, and all shares are of one whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline.columns import SliceRole, TimelineColumns

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Account:
    """The time of a run in R rows: its nodes, its calls of several nodes, then names of slices.

    A slice counts with the time in which none of the slices inside it runs. It counts to its node
    or its call; slices of neither count to their name.
    """

    node: Ints
    call: Ints
    name: Ints
    role: npt.NDArray[np.uint8]
    ns: Floats
    share: Floats
    slices: Ints
    first: Ints
    within_ns: Floats
    whole_ns: float
    loading_ns: float
    left: Flags
    idle_name: int

    @classmethod
    def of(cls, timeline: TimelineColumns, own: Floats) -> Account:
        """Make the account of a timeline, with the time of each slice without those inside it."""
        drawn = np.isfinite(own)
        nodes, calls = timeline.num_nodes, 0 if timeline.shared is None else len(timeline.shared)
        work = timeline.slice_role == SliceRole.WORK
        owner = np.where(work & drawn, owners(timeline), -1)
        named = np.flatnonzero(drawn & (owner < 0))
        roles = len(SliceRole)
        key = timeline.slice_names.codes[named].astype(np.int64) * roles
        key += timeline.slice_role[named]
        keys, at = np.unique(key, return_inverse=True)
        # Names by their first slice.
        begin = np.full(len(keys), timeline.num_slices)
        np.minimum.at(begin, at, named)
        order = np.argsort(begin, kind="stable")
        place = np.empty(len(keys), np.int64)
        place[order] = np.arange(len(keys))
        keys = keys[order]
        row = owner.copy()
        row[named] = nodes + calls + place[at]
        size = nodes + calls + len(keys)
        rows, used = row[drawn], np.flatnonzero(drawn)
        total = np.bincount(rows, own[used], size).astype(np.float64)
        slices = np.bincount(rows, minlength=size)
        first = np.full(size, timeline.num_slices, np.int64)
        np.minimum.at(first, rows, used)
        told = timeline.node_ns.astype(np.float64)
        if timeline.shared is not None:
            told = np.concatenate((told, timeline.shared.own_ns))
        # Only a table knows nodes without slices.
        total[: len(told)] = np.where(slices[: len(told)] > 0, total[: len(told)],
                                      np.nan_to_num(told))  # fmt: skip
        role = np.concatenate((np.zeros(len(told)), keys % roles)).astype(np.uint8)
        times = max(1, timeline.executions)
        whole = float(total[role == SliceRole.WORK].sum())
        share = total / whole if whole > 0 else np.full(size, np.nan)
        names = np.concatenate((np.full(len(told), -1), keys // roles)).astype(np.int64)
        by_execution = np.where(role[len(told) :] == SliceRole.WORK, times, 1)
        ns = np.concatenate((told, total[len(told) :] / by_execution))
        kept = np.flatnonzero((slices > 0) | np.isfinite(ns))
        ids = np.arange(size)
        left = np.zeros(size, np.bool_)
        if timeline.shared is not None:
            left[nodes : nodes + calls] = timeline.shared.left
        wide = timeline.slice_duration_ns[used]
        return cls(
            node=np.where(ids < nodes, ids, -1)[kept],
            call=np.where((ids >= nodes) & (ids < nodes + calls), ids - nodes, -1)[kept],
            name=names[kept],
            role=role[kept],
            ns=np.where(np.isnan(ns), total / times, ns)[kept],
            share=np.where(role == SliceRole.WORK, share, np.nan)[kept],
            slices=slices[kept],
            first=np.where(slices > 0, first, -1)[kept],
            within_ns=np.bincount(rows, wide, size).astype(np.float64)[kept],
            whole_ns=whole / times,
            loading_ns=float(total[role == SliceRole.LOADING].sum()),
            left=left[kept],
            idle_name=_code_of(timeline, timeline.whole),
        )

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def operators(self) -> Flags:
        """Rows that are operators or calls, or names of work where no nodes are known (bool [R]).

        What an execution takes outside of its instructions is none, and what is left of calls.
        """
        found: Flags = (self.role == SliceRole.WORK) & (self.name != self.idle_name)
        return found & ~self.left

    @cached_property
    def gap_ns(self) -> float:
        """Time of an execution in which none of its instructions runs; 0 where that is unknown."""
        gap = (self.role == SliceRole.WORK) & (self.name == self.idle_name) & (self.name >= 0)
        return float(self.ns[gap].sum())

    @cached_property
    def ranked(self) -> Ints:
        """The rows of :attr:`operators`, the longest first."""
        rows = np.flatnonzero(self.operators & ~np.isnan(self.ns))
        return rows[np.argsort(-self.ns[rows], kind="stable")]

    def node_shares(self, count: int) -> Floats:
        """Return the share of each of so many nodes, NaN unknown (float64 [N])."""
        found = np.full(count, np.nan)
        rows = np.flatnonzero((self.node >= 0) & (self.node < count))
        found[self.node[rows]] = self.share[rows]
        return found


def owners(timeline: TimelineColumns) -> Ints:
    """Return whose each slice is: a node, behind the nodes a set of several, -1 nobody's."""
    found = timeline.slice_node.astype(np.int64)
    if timeline.shared is not None:
        together = timeline.shared.slice_set.astype(np.int64)
        found = np.where(together >= 0, timeline.num_nodes + together, found)
    return found


def _code_of(timeline: TimelineColumns, name: str) -> int:
    unique = timeline.slice_names.unique
    return unique.index(name) if name and name in unique else -2
