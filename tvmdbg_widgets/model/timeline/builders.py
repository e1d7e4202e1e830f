"""Timelines from what a trace or a table gives, already joined to nodes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, WALL, Timeline

_TRACKS = ("execution",)
_NODES_SHOWN = 20

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def from_trace(
    names: StringColumn,
    start_ns: npt.ArrayLike,
    duration_ns: npt.ArrayLike,
    *,
    nodes: npt.ArrayLike,
    trust: npt.ArrayLike,
    num_nodes: int,
    source: str,
    issues: Iterable[Issue] = (),
) -> Timeline:
    """Make the timeline of an execution trace."""
    start = np.asarray(start_ns, dtype=np.float64)
    duration = np.asarray(duration_ns, dtype=np.float64)
    kept = np.flatnonzero(np.isfinite(start) & np.isfinite(duration) & (duration >= 0))
    node = _checked(nodes, num_nodes)[kept]
    start, duration = start[kept], duration[kept]
    slice_trust = np.asarray(trust, dtype=np.uint8)[kept]
    counts, node_trust = per_node(node, slice_trust, num_nodes)
    known = node >= 0
    sums = np.bincount(node[known], weights=duration[known], minlength=num_nodes)
    return Timeline(
        slice_node=node.astype(np.int32),
        slice_start_ns=start - start.min() if len(start) else start,
        slice_duration_ns=duration,
        slice_track=np.zeros(len(node), np.int32),
        slice_names=_take(names, kept),
        slice_trust=slice_trust,
        slice_occurrence=occurrences(node),
        tracks=_TRACKS,
        repeats_offsets=np.zeros(num_nodes + 1, np.int64),
        repeats_ns=np.zeros(0),
        node_ns=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        node_trust=node_trust,
        synthetic=True,
        clock=SYNTHETIC,
        sources=(source,),
        issues=Issues(issues),
    )


def from_table(
    names: StringColumn,
    time_ns: npt.ArrayLike,
    repeats_offsets: npt.ArrayLike,
    repeats_ns: npt.ArrayLike,
    *,
    nodes: npt.ArrayLike,
    trust: npt.ArrayLike,
    num_nodes: int,
    source: str,
    start_ns: npt.ArrayLike | None = None,
    end_ns: npt.ArrayLike | None = None,
    issues: Iterable[Issue] = (),
) -> Timeline:
    """Make the timeline of a table of node times with R rows.

    Several rows of one node, as a table prints for several outputs, are one slice; if their times
    differ the first counts and an issue says so.
    """
    if (start_ns is None) != (end_ns is None):
        raise ValueError("start_ns and end_ns go together")
    all_nodes = _checked(nodes, num_nodes)
    times = np.asarray(time_ns, dtype=np.float64)
    usable = np.isfinite(times) & (times >= 0)
    times = np.where(usable, times, np.nan)
    rows, found = _first_rows(all_nodes, times, source)
    if not usable.all():
        found.append(
            Issue(
                "time-not-finite",
                IssueSeverity.ERROR,
                f"{counted(int(np.count_nonzero(~usable)), 'row')} "
                f"{agree(int(np.count_nonzero(~usable)), 'has')} no usable time, row "
                f"{np.argmin(usable)} first; left out",
                nodes=tuple(int(i) for i in np.unique(all_nodes[~usable]) if i >= 0)[:_NODES_SHOWN],
                file=source,
            )
        )
    node, time = all_nodes[rows], times[rows]
    row_trust = np.asarray(trust, dtype=np.uint8)[rows]
    _, node_trust = per_node(node, row_trust, num_nodes)
    known = np.flatnonzero(node >= 0)
    node_ns = np.full(num_nodes, np.nan)
    node_ns[node[known]] = time[known]
    offsets, repeats = _repeats_by_node(
        node[known],
        rows[known],
        np.asarray(repeats_offsets, dtype=np.int64),
        np.asarray(repeats_ns, dtype=np.float64),
        num_nodes,
    )
    if start_ns is None or end_ns is None:
        order = np.argsort(np.where(node < 0, num_nodes, node), kind="stable")
        order = order[np.isfinite(time[order])]
        duration = time[order]
        start = np.concatenate(([0.0], np.cumsum(duration)[:-1])) if len(order) else duration
    else:
        begin = np.asarray(start_ns, dtype=np.float64)[rows]
        length = np.asarray(end_ns, dtype=np.float64)[rows] - begin
        order = np.flatnonzero(np.isfinite(length) & (length >= 0))
        start, duration = begin[order], length[order]
        start = start - start.min() if len(start) else start
    return Timeline(
        slice_node=node[order].astype(np.int32),
        slice_start_ns=start,
        slice_duration_ns=duration,
        slice_track=np.zeros(len(order), np.int32),
        slice_names=_take(names, rows[order]),
        slice_trust=row_trust[order],
        slice_occurrence=occurrences(node[order]),
        tracks=_TRACKS,
        repeats_offsets=offsets,
        repeats_ns=repeats,
        node_ns=node_ns,
        node_trust=node_trust,
        synthetic=start_ns is None,
        clock=SYNTHETIC if start_ns is None else WALL,
        sources=(source,),
        issues=Issues((*issues, *found)),
    )


def _checked(nodes: npt.ArrayLike, num_nodes: int) -> Ints:
    ids = np.asarray(nodes, dtype=np.int64)
    if len(ids) and not -1 <= int(ids.min()) <= int(ids.max()) < num_nodes:
        raise ValueError(f"node ids must lie in -1 … {num_nodes - 1}")
    return ids


def _take(names: StringColumn, rows: Ints) -> StringColumn:
    return StringColumn(names.unique, names.codes[rows])


def occurrences(node: Ints) -> npt.NDArray[np.int32]:
    """Number the slices of each node in the order they stand."""
    order = np.argsort(node, kind="stable")
    first = np.searchsorted(node[order], node[order])
    occurrence = np.empty(len(node), np.int32)
    occurrence[order] = np.arange(len(node)) - first
    return occurrence


def per_node(
    node: Ints, trust: npt.NDArray[np.uint8], num_nodes: int
) -> tuple[Ints, npt.NDArray[np.uint8]]:
    """Return how many slices each node has, and the worst trust among them."""
    known = node >= 0
    counts = np.bincount(node[known], minlength=num_nodes)
    worst = np.zeros(num_nodes, np.uint8)
    np.maximum.at(worst, node[known], trust[known])
    worst[counts == 0] = Trust.ABSENT
    return counts, worst


def _first_rows(node: Ints, times: Floats, source: str) -> tuple[Ints, list[Issue]]:
    unique, first, inverse = np.unique(node, return_index=True, return_inverse=True)
    with np.errstate(invalid="ignore"):
        differs = (node >= 0) & (np.abs(times - times[first][inverse]) > 0)
    issues = []
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        issues.append(
            Issue(
                "rows-disagree",
                IssueSeverity.WARNING,
                f"rows of one node have different times: node {node[row]} takes "
                f"{times[first[inverse[row]]] / 1e3:.9g} µs in row {first[inverse[row]]} and "
                f"{times[row] / 1e3:.9g} µs in row {row}; the first is used",
                nodes=tuple(int(i) for i in np.unique(node[differs])[:_NODES_SHOWN]),
                file=source,
            )
        )
    rows = np.sort(np.concatenate((first[unique >= 0], np.flatnonzero(node < 0))))
    return rows.astype(np.int64), issues


def _repeats_by_node(
    node: Ints, rows: Ints, offsets: Ints, repeats: Floats, num_nodes: int
) -> tuple[Ints, Floats]:
    counts = np.zeros(num_nodes, np.int64)
    counts[node] = np.diff(offsets)[rows]
    starts = np.zeros(num_nodes, np.int64)
    starts[node] = offsets[:-1][rows]
    result = np.concatenate(([0], np.cumsum(counts)))
    source = np.arange(result[-1]) + np.repeat(starts - result[:-1], counts)
    return result, repeats[source]
