"""Timelines built from traces, tables, events and reports that are joined to nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, IssueLog, Issues
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.node_sets import TraceExtras
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, WALL, Timeline

_TRACKS = ("execution",)

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
    """Make the timeline of a table of node times with R rows."""
    if (start_ns is None) != (end_ns is None):
        raise ValueError("start_ns and end_ns go together")
    all_nodes = _checked(nodes, num_nodes)
    times = np.asarray(time_ns, dtype=np.float64)
    usable = np.isfinite(times) & (times >= 0)
    times = np.where(usable, times, np.nan)
    rows, row_issues = _first_rows(all_nodes, times, source)
    if not usable.all():
        bad = all_nodes[~usable]
        message = (
            f"{counted(len(bad), 'row')} {agree(len(bad), 'has')} no usable time, row "
            f"{np.argmin(usable)} first; left out"
        )
        row_issues.error("time-not-finite", message, np.unique(bad[bad >= 0]))
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
        issues=Issues((*issues, *row_issues)),
    )


def _checked(nodes: npt.ArrayLike, num_nodes: int) -> Ints:
    ids = np.asarray(nodes, dtype=np.int64)
    if len(ids) and not -1 <= int(ids.min()) <= int(ids.max()) < num_nodes:
        raise ValueError(f"node ids must lie in -1 … {num_nodes - 1}")
    return ids


def _take(names: StringColumn, rows: Ints) -> StringColumn:
    return StringColumn(names.unique, names.codes[rows])


def occurrences(node: Ints) -> npt.NDArray[np.int32]:
    """Number the slices of each node in order."""
    order = np.argsort(node, kind="stable")
    first = np.searchsorted(node[order], node[order])
    occurrence = np.empty(len(node), np.int32)
    occurrence[order] = np.arange(len(node)) - first
    return occurrence


def per_node(
    node: Ints, trust: npt.NDArray[np.uint8], num_nodes: int
) -> tuple[Ints, npt.NDArray[np.uint8]]:
    """Return the number of slices per node, and their worst trust."""
    known = node >= 0
    counts = np.bincount(node[known], minlength=num_nodes)
    worst = np.zeros(num_nodes, np.uint8)
    np.maximum.at(worst, node[known], trust[known])
    worst[counts == 0] = Trust.ABSENT
    return counts, worst


def _first_rows(node: Ints, times: Floats, source: str) -> tuple[Ints, IssueLog]:
    unique, first, inverse = np.unique(node, return_index=True, return_inverse=True)
    with np.errstate(invalid="ignore"):
        differs = (node >= 0) & (np.abs(times - times[first][inverse]) > 0)
    issues = IssueLog(source)
    if differs.any():
        row = int(np.flatnonzero(differs)[0])
        message = (
            f"rows of one node have different times: node {node[row]} takes "
            f"{times[first[inverse[row]]] / 1e3:.9g} µs in row {first[inverse[row]]} and "
            f"{times[row] / 1e3:.9g} µs in row {row}; the first is used"
        )
        issues.warning("rows-disagree", message, np.unique(node[differs]))
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


def from_events(
    names: StringColumn,
    start_ns: Floats,
    duration_ns: Floats,
    track: npt.NDArray[np.int32],
    tracks: tuple[str, ...],
    *,
    graph: Graph | None,
    source: str,
    issues: Iterable[Issue] = (),
    extras: TraceExtras | None = None,
) -> Timeline:
    """Make the timeline of S observed intervals, joined by name, in turn if ambiguous."""
    count = 0 if graph is None else graph.num_nodes
    node = np.full(len(names), -1, np.int64)
    trust = np.full(len(names), Trust.ABSENT, np.uint8)
    all_issues = IssueLog(source, issues)
    if graph is not None:
        _join(graph, names, node, trust)
        _match_issues(graph, node, trust, all_issues)
    known = node >= 0
    counts, node_trust = per_node(node, trust, count)
    order = np.argsort(node[known], kind="stable")
    repeats = duration_ns[known][order]
    sums = np.bincount(node[known], weights=duration_ns[known], minlength=count)
    return Timeline(
        slice_node=node.astype(np.int32),
        slice_start_ns=start_ns,
        slice_duration_ns=duration_ns,
        slice_track=track,
        slice_names=names,
        slice_trust=trust,
        slice_occurrence=occurrences(node),
        tracks=tracks,
        repeats_offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        repeats_ns=repeats,
        node_ns=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        node_trust=node_trust,
        synthetic=False,
        clock=WALL,
        sources=(source,),
        issues=Issues(all_issues),
        extras=extras,
    )


def _join(graph: Graph, names: StringColumn, node: Ints, trust: npt.NDArray[np.uint8]) -> None:
    named: dict[str, list[int]] = defaultdict(list)
    for operator in np.flatnonzero(np.asarray(graph.kinds) >= NodeKind.OPERATOR).tolist():
        for name in {graph.names[operator], graph.func_names[operator]} - {""}:
            named[name].append(operator)
    rows = np.argsort(names.codes, kind="stable")
    first = np.searchsorted(names.codes[rows], np.arange(len(names.unique) + 1))
    for code, name in enumerate(names.unique):
        fitting = named.get(name, [])
        if not fitting:
            continue
        own = [operator for operator in fitting if graph.names[operator] == name]
        fitting = own if len(own) == 1 else fitting
        mine = rows[first[code] : first[code + 1]]
        node[mine] = np.asarray(fitting, np.int64)[np.arange(len(mine)) % len(fitting)]
        trust[mine] = Trust.BY_NAME if len(fitting) == 1 else Trust.AMBIGUOUS


def _match_issues(graph: Graph, node: Ints, trust: npt.NDArray[np.uint8], issues: IssueLog) -> None:
    unsure = np.unique(node[trust == Trust.AMBIGUOUS])
    if len(unsure):
        slices = int(np.count_nonzero(trust == Trust.AMBIGUOUS))
        message = (
            f"{counted(slices, 'slice')} {agree(slices, 'has')} a name that several of "
            f"{counted(len(unsure), 'operator')} share; slices are given to operators in "
            "turn, which the trace cannot confirm"
        )
        issues.warning("slices-ambiguous", message, unsure)
    if len(node) and not (node >= 0).any():
        message = (
            "no slice of the trace has the name of one of the graph's "
            f"{counted(graph.num_nodes, 'node')} or of their functions: none is matched"
        )
        issues.warning("slices-not-joined", message)


def from_report(report: Report, *, device: str) -> Timeline:
    """Make the timeline of a report: its rows back to back, one track per device."""
    alone = report.num_nodes == 0
    count = len(report) if alone else report.num_nodes
    all_nodes = np.arange(len(report), dtype=np.int32) if alone else report.nodes
    order = Trust.BY_ORDER if report.in_call_order else Trust.AMBIGUOUS
    all_trust = np.full(len(report), order, np.uint8) if alone else report.trust
    usable = np.isfinite(report.duration_ns) & (report.duration_ns >= 0)
    rows = np.flatnonzero(usable)
    node, trust = all_nodes[rows].astype(np.int64), all_trust[rows]
    duration = report.duration_ns[rows]
    tracks = StringColumn.from_strings(report.devices[row] or device for row in rows.tolist())
    node_ns = np.full(count, np.nan)
    known = node >= 0
    node_ns[node[known]] = duration[known]
    single = known & (report.count[rows] <= 1)
    measured = np.zeros(count, np.int64)
    measured[node[single]] = 1
    _, node_trust = per_node(node, trust, count)
    return Timeline(
        slice_node=node.astype(np.int32),
        slice_start_ns=np.concatenate(([0.0], np.cumsum(duration)[:-1])) if len(rows) else duration,
        slice_duration_ns=duration,
        slice_track=tracks.codes,
        slice_names=StringColumn.from_strings(report.names[row] for row in rows.tolist()),
        slice_trust=trust,
        slice_occurrence=occurrences(node),
        tracks=tracks.unique,
        track_device=tracks.unique,
        track_thread=("",) * len(tracks.unique),
        repeats_offsets=np.concatenate(([0], np.cumsum(measured))),
        repeats_ns=node_ns[measured > 0],
        node_ns=node_ns,
        node_trust=node_trust,
        synthetic=True,
        clock=SYNTHETIC,
        sources=(report.file,),
        issues=Issues(_notes(report, alone, int(np.count_nonzero(~usable)))),
    )


def _notes(report: Report, alone: bool, unusable: int) -> list[Issue]:
    rule = "report-sums" if report.form == "vm-table" else "report-one-pass"
    if rule == "report-sums":
        text = (
            "the times are the VM profiler's: sums over every call since it was last reset, "
            "with no warm-up left out, back to back since it has no start times"
        )
    else:
        text = (
            "the times are a profiling report's: one pass after passes to warm up, a timer around "
            "every call, back to back since a report has no start times"
        )
    notes = IssueLog(report.file)
    notes.note(rule, text)
    if unusable:
        text = f"{counted(unusable, 'row')} {agree(unusable, 'has')} no usable time; left out"
        notes.error("time-not-finite", text)
    if report.aggregated:
        message = (
            "rows stand for several calls of one function: their times are sums, and "
            "the time of each node is unknown. Use report.json(), report.csv() or "
            "table(aggregate=False)"
        )
        notes.warning("rows-merged", message)
    if alone and not report.in_call_order and len(report):
        message = (
            "the table may be sorted or merged and no graph is given: nodes are numbered by "
            "row, not by their place in the graph"
        )
        notes.note("order-unknown", message)
    return notes
