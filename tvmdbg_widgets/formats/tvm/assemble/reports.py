"""Profiling reports of a run: which files print the same one, and what each says of the nodes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from tvmdbg_widgets.formats.tvm.versions import VersionEvidence
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.join.report import join_report
from tvmdbg_widgets.model.timeline.report import Report

_RANK = {"json": 0, "csv": 1, "table": 2, "vm-table": 3}
_MACHINE = ("VM::", "vm.builtin.")

_Group = tuple[str, str, str]


def join_reports(
    graph: Graph | None, read: Sequence[Report]
) -> tuple[tuple[Report, ...], list[Issue]]:
    """Take the most exact form of each report and join it to the graph.

    JSON goes before CSV, CSV before a printed table, a table of single calls before a merged one. A
    file whose rows, merged by name, shapes and device, agree with those of a more exact one within
    the printed digits prints the same report: it is named in ``Report.also``.
    """
    kept: list[Report] = []
    for report in sorted(read, key=_rank):
        place = next((i for i, each in enumerate(kept) if same_report(each, report)), None)
        if place is None:
            kept.append(report)
        else:
            kept[place] = replace(kept[place], also=(*kept[place].also, report.file))
    issues: list[Issue] = []
    joined = []
    for report in kept:
        issues += report.issues
        if graph is None:
            joined.append(report)
        else:
            with_nodes, found = join_report(graph, report)
            joined.append(with_nodes)
            issues += found
        if any(name.startswith(_MACHINE) for name in report.names.unique):
            issues.append(_nested(report))
    return tuple(joined), issues


def _rank(report: Report) -> tuple[int, bool, bool]:
    return _RANK[report.form], report.truncated, not report.in_call_order


def same_report(exact: Report, other: Report) -> bool:
    """Whether two files print one report, as far as their digits tell."""
    left, right = _merged(exact), _merged(other)
    if left.keys() != right.keys():
        return False
    for key, (count, time, slack) in left.items():
        other_count, other_time, other_slack = right[key]
        if count != other_count or math.isnan(time) != math.isnan(other_time):
            return False
        if abs(time - other_time) > 1.001 * (slack + other_slack) + 1e-12 * abs(time):
            return False
    return True


def _merged(report: Report) -> dict[_Group, tuple[int, float, float]]:
    found: dict[_Group, tuple[int, float, float]] = defaultdict(lambda: (0, 0.0, 0.0))
    for row in range(len(report)):
        key = report.names[row], report.argument_shapes[row], report.devices[row]
        count, time, slack = found[key]
        found[key] = (
            count + int(report.count[row]),
            time + float(report.duration_ns[row]),
            slack + float(report.rounding_ns[row]),
        )
    return found


def _nested(report: Report) -> Issue:
    text = (
        "the report is of a virtual machine: a call of a VM function contains the calls it makes, "
        "so that their times are in the sum twice; instructions (VM::…, vm.builtin.…) are kept"
    )
    return Issue("vm-calls-nested", IssueSeverity.NOTE, text, file=report.file)


def report_evidence(reports: Sequence[Report]) -> list[VersionEvidence]:
    """Tell releases by the reports: six decimals (v0.8), a configuration (v0.9 and later)."""
    found = []
    for report in reports:
        if report.form == "vm-table":
            found.append(VersionEvidence("the table is the VM profiler's of before v0.8", 6, 7))
        elif report.configuration:
            found.append(VersionEvidence("the report has a configuration", 9, 23))
        elif report.form == "json" and (report.rounding_ns > 0).any():
            found.append(VersionEvidence("the report's numbers have six decimals", 8, 8))
        else:
            found.append(VersionEvidence("there is a profiling report", 8, 23))
    return found
