"""The columns of a timeline, checked for consistent lengths and ids."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn, column_types, freeze
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.timeline.node_sets import NodeSets, TraceExtras


class SliceRole(IntEnum):
    """The work that a slice spends its time on."""

    #: Running the model.
    WORK = 0
    #: Loading and initializing a program, and everything meanwhile.
    LOADING = 1
    #: Work timed by another clock, in an unknown unit.
    OTHER_CLOCK = 2
    #: Overhead of a profiler.
    OBSERVER = 3


@dataclass(frozen=True, eq=False)
class TimelineColumns:
    """The times of a run as columns: S slices, N nodes, T tracks.

    Attributes
    ----------
    slice_node : int32[S]
        Node id, -1 unknown.
    slice_start_ns, slice_duration_ns : float64[S]
        Start counted from the first timed event of the source, ``origin_ns``.
    slice_track : int32[S]
        Index into ``tracks``.
    slice_names : StringColumn[S]
        Names as the source gives them.
    slice_trust, node_trust : uint8[S], uint8[N]
        :class:`~tvmdbg_widgets.model.base.numbers.Trust` of the join of a slice (of a node's time).
    slice_occurrence : int32[S]
        0 for the first slice of its node, 1 for the second, …; (node, occurrence) is a slice id.
    tracks : tuple of str
        One name a track, as it is shown.
    track_run : int32[T]
        The run a track is of: 0 where there is one.
    track_device, track_thread : tuple of str
        Parts of the name: device or process, and thread. ``""`` if unknown.
    origin_ns : int
        The source's clock at its first timed event.
    repeats_offsets, repeats_ns : int64[N + 1], float64[R]
        Measured repeats of node i, in file order: ``repeats_ns[offsets[i]:offsets[i + 1]]``.
        Empty where unknown. A printed table rounds them to 1 ns.
    node_ns : float64[N]
        Mean time of a node as the best source gives it; NaN unknown.
    synthetic : bool
        The slices were not observed at these times: nodes are back to back in node order.
    clock : str
        ``"synthetic"`` or ``"wall"``.
    sources : tuple of str
        Files with the times.
    issues : Issues
        Faults and disagreements of the sources.
    extras : TraceExtras or None
        Counters, flows and counts of other events of a Chrome trace.
    shared : NodeSets or None
        Slices of several nodes at once; their ``slice_node`` is -1 and their time is of no node.
    slice_about : StringColumn[S] or None
        Further facts of the slices: lines of a name, a tab and a text.
    slice_role : uint8[S]
        :class:`SliceRole` of the slices; all WORK by default. Shares are of work alone.
    executions : int
        How often the model ran in the time of the slices; 0 where the source does not tell.
    whole : str
        Name of the slices that hold an execution from start to end, ``"Method::execute"``; ``""``
        where the source has none.
    rounding_ns : float
        Unit of truncated times in a part of the source: a time of 0 is less than one of them,
        and shown so. 0 if times are as exact as the clock.

    Raises
    ------
    ValueError
        Columns of unequal length, or ids out of range.
    """

    slice_node: npt.NDArray[np.int32]
    slice_start_ns: npt.NDArray[np.float64]
    slice_duration_ns: npt.NDArray[np.float64]
    slice_track: npt.NDArray[np.int32]
    slice_names: StringColumn
    slice_trust: npt.NDArray[np.uint8]
    slice_occurrence: npt.NDArray[np.int32]
    tracks: tuple[str, ...]
    repeats_offsets: npt.NDArray[np.int64]
    repeats_ns: npt.NDArray[np.float64]
    node_ns: npt.NDArray[np.float64]
    node_trust: npt.NDArray[np.uint8]
    synthetic: bool
    clock: str
    sources: tuple[str, ...]
    issues: Issues
    extras: TraceExtras | None = None
    track_run: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    track_device: tuple[str, ...] = ()
    track_thread: tuple[str, ...] = ()
    origin_ns: int = 0
    shared: NodeSets | None = None
    slice_about: StringColumn | None = None
    slice_role: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    executions: int = 0
    whole: str = ""
    rounding_ns: float = 0.0

    def __post_init__(self) -> None:
        tracks = len(self.tracks)
        defaults: dict[str, Any] = {
            "track_device": tuple(self.track_device) or ("",) * tracks,
            "track_thread": tuple(self.track_thread) or tuple(self.tracks),
        }
        for name in COLUMNS:
            if (dimensions := np.ndim(getattr(self, name))) != 1:
                raise ValueError(f"{name} must have one dimension, found {dimensions}")
        if not len(self.track_run):
            defaults["track_run"] = np.zeros(tracks, np.int32)
        if not np.any(self.slice_role):
            defaults["slice_role"] = np.zeros(len(self.slice_node), np.uint8)
        for name, value in defaults.items():
            object.__setattr__(self, name, value)
        freeze(self)
        _require_consistent(self)

    @property
    def num_slices(self) -> int:
        """Number of slices, S."""
        return len(self.slice_node)

    @property
    def num_nodes(self) -> int:
        """Number of nodes the timeline was made for, N."""
        return len(self.node_ns)


COLUMNS = column_types(TimelineColumns)


def _require_consistent(timeline: TimelineColumns) -> None:
    slices, nodes, tracks = timeline.num_slices, timeline.num_nodes, len(timeline.tracks)
    columns = {name: getattr(timeline, name) for name in COLUMNS}
    columns |= {"slice_names": timeline.slice_names, "slice_about": timeline.slice_about}
    columns |= {"track_device": timeline.track_device, "track_thread": timeline.track_thread}
    columns["slice_set"] = None if timeline.shared is None else timeline.shared.slice_set
    _require_length(columns, "slice", slices)
    if slices and timeline.slice_role.max() > max(SliceRole):
        raise ValueError(f"slice_role must lie in 0 … {max(SliceRole)}")
    node, track, offsets = timeline.slice_node, timeline.slice_track, timeline.repeats_offsets
    if slices and (node.min() < -1 or node.max() >= nodes):
        raise ValueError(f"slice_node must lie in -1 … {nodes - 1}")
    if slices and not 0 <= track.min() <= track.max() < tracks:
        raise ValueError(f"slice_track must lie in 0 … {tracks - 1}")
    if len(timeline.node_trust) != nodes or len(offsets) != nodes + 1:
        raise ValueError(
            f"node_trust ({len(timeline.node_trust)}) and repeats_offsets "
            f"({len(offsets)}) do not fit {counted(nodes, 'node')}"
        )
    repeats = len(timeline.repeats_ns)
    if offsets[0] != 0 or offsets[-1] != repeats or np.any(np.diff(offsets) < 0):
        raise ValueError(f"repeats_offsets must rise from 0 to {repeats}")
    _require_length(columns, "track", tracks)


def _require_length(columns: dict[str, Any], noun: str, count: int) -> None:
    for name, column in columns.items():
        if name.startswith(f"{noun}_") and column is not None and len(column) != count:
            items = counted(len(column), "item")
            raise ValueError(f"{name} has {items} for {counted(count, noun)}")


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Account:
    """The time of a run in R rows: its nodes, its calls of several nodes, then names of slices."""

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
        """Make the account of a timeline; `own` is the self time of its slices."""
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
        node_ns = timeline.node_ns.astype(np.float64)
        if timeline.shared is not None:
            node_ns = np.concatenate((node_ns, timeline.shared.own_ns))
        # Only a table knows nodes without slices.
        total[: len(node_ns)] = np.where(slices[: len(node_ns)] > 0, total[: len(node_ns)],
                                      np.nan_to_num(node_ns))  # fmt: skip
        role = np.concatenate((np.zeros(len(node_ns)), keys % roles)).astype(np.uint8)
        times = max(1, timeline.executions)
        work_ns = float(total[role == SliceRole.WORK].sum())
        share = total / work_ns if work_ns > 0 else np.full(size, np.nan)
        names = np.concatenate((np.full(len(node_ns), -1), keys // roles)).astype(np.int64)
        by_execution = np.where(role[len(node_ns) :] == SliceRole.WORK, times, 1)
        ns = np.concatenate((node_ns, total[len(node_ns) :] / by_execution))
        kept = np.flatnonzero((slices > 0) | np.isfinite(ns))
        ids = np.arange(size)
        left = np.zeros(size, np.bool_)
        if timeline.shared is not None:
            left[nodes : nodes + calls] = timeline.shared.left
        wide = timeline.slice_duration_ns[used]
        known, whole_name = timeline.slice_names.unique, timeline.whole
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
            whole_ns=work_ns / times,
            loading_ns=float(total[role == SliceRole.LOADING].sum()),
            left=left[kept],
            idle_name=known.index(whole_name) if whole_name and whole_name in known else -2,
        )

    def __len__(self) -> int:
        return len(self.node)

    @cached_property
    def operators(self) -> Flags:
        """Rows of operators or calls, or of names of work without known nodes (bool [R])."""
        work: Flags = (self.role == SliceRole.WORK) & (self.name != self.idle_name)
        return work & ~self.left

    @cached_property
    def gap_ns(self) -> float:
        """Time of an execution in which none of its instructions runs; 0 if unknown."""
        gap = (self.role == SliceRole.WORK) & (self.name == self.idle_name) & (self.name >= 0)
        return float(self.ns[gap].sum())

    @cached_property
    def ranked(self) -> Ints:
        """The rows of :attr:`operators`, longest first."""
        rows = np.flatnonzero(self.operators & ~np.isnan(self.ns))
        return rows[np.argsort(-self.ns[rows], kind="stable")]

    def node_shares(self, count: int) -> Floats:
        """Return the shares of the first `count` nodes, NaN if unknown (float64 [N])."""
        shares = np.full(count, np.nan)
        rows = np.flatnonzero((self.node >= 0) & (self.node < count))
        shares[self.node[rows]] = self.share[rows]
        return shares


def owners(timeline: TimelineColumns) -> Ints:
    """Return the owner of each slice: a node, N + a set of nodes, or -1."""
    nodes = timeline.slice_node.astype(np.int64)
    if timeline.shared is not None:
        together = timeline.shared.slice_set.astype(np.int64)
        nodes = np.where(together >= 0, timeline.num_nodes + together, nodes)
    return nodes
