"""The timeline of a run whose only times are a profiling report's."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.builders import occurrences, per_node
from tvmdbg_widgets.model.timeline.report import Report
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, Timeline


def from_report(report: Report, *, device: str) -> Timeline:
    """Make the timeline of a report: its rows back to back, a track a device.

    The profiler records durations only. The rows follow one another in the order of the file; a
    joined row is the one measured repeat of its node, after three passes to warm up (one in the
    Relax VM). Where no graph is known the rows are the nodes.
    """
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
    rule, told = (
        "report-one-pass",
        (
            "the times are a profiling report's: one pass after passes to warm up, a timer around "
            "every call, back to back since a report has no start times"
        ),
    )
    if report.form == "vm-table":
        rule, told = (
            "report-sums",
            (
                "the times are the VM profiler's: sums over every call since it was last reset, "
                "with no warm-up left out, back to back since it has no start times"
            ),
        )
    notes = [Issue(rule, IssueSeverity.NOTE, told, file=report.file)]
    if unusable:
        notes.append(
            Issue(
                "time-not-finite",
                IssueSeverity.ERROR,
                f"{counted(unusable, 'row')} {agree(unusable, 'has')} no usable time; left out",
                file=report.file,
            )
        )
    if report.aggregated:
        notes.append(
            Issue(
                "rows-merged",
                IssueSeverity.WARNING,
                "rows stand for several calls of one function: their times are sums, and "
                "the time of each node is unknown. Use report.json(), report.csv() or "
                "table(aggregate=False)",
                file=report.file,
            )
        )
    if alone and not report.in_call_order and len(report):
        notes.append(
            Issue(
                "order-unknown",
                IssueSeverity.NOTE,
                "the table may be sorted or merged and no graph is given: nodes are numbered by "
                "row, not by their place in the graph",
                file=report.file,
            )
        )
    return notes
