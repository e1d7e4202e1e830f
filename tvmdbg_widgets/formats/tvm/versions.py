"""TVM releases that may have written a dump, and the table of the VM's profiler.

The ranges are those of the tags of apache/tvm between which the debugger's writers changed
(``python/tvm/contrib/debugger/debug_result.py``, ``debug_executor.py`` @ v0.5 … v0.19.0).
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tvm.report.numbers import (
    COUNT,
    DURATION,
    NAME,
    SHAPES,
    general_rounding,
    make_report,
    parse_number,
)
from tvmdbg_widgets.formats.tvm.report.report import with_several
from tvmdbg_widgets.formats.tvm.times_text import decode, read_text
from tvmdbg_widgets.model.base.numbers import as_float, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.placement import join_report
from tvmdbg_widgets.model.timeline.report import Metric, Report
from tvmdbg_widgets.sources.byte_source import ByteSource

FIRST, LAST = 5, 19


@dataclass(frozen=True)
class VersionEvidence:
    """A fact and the first and last minor release (0.x) with it."""

    fact: str
    first: int
    last: int


def releases(evidence: tuple[VersionEvidence, ...]) -> tuple[int, int] | None:
    """Return the range that all facts allow, or None if they contradict."""
    first = max((fact.first for fact in evidence), default=FIRST)
    last = min((fact.last for fact in evidence), default=LAST)
    return (first, last) if first <= last else None


def in_words(range_: tuple[int, int] | None) -> str:
    """Name a range of releases."""
    if range_ is None:
        return "no single TVM release: the evidence contradicts itself"
    first, last = range_
    if (first, last) == (FIRST, LAST):
        return "unknown TVM release"
    return f"TVM v0.{first}" if first == last else f"TVM v0.{first} to v0.{last}"


def of_folder(name: str) -> VersionEvidence | None:
    """Evidence of the dump folder's name."""
    if name.startswith("_tvmdbg_ctx_"):
        return VersionEvidence(f"the folder is named {name}", 5, 7)
    if name.startswith("_tvmdbg_device_"):
        return VersionEvidence(f"the folder is named {name}", 8, 19)
    return None


_FORM = "tensor keys have the form <name>_"
#: Evidence of the keys in ``output_tensors.params``, of the printed table, and of the graph.
OF_KEYS = {
    "v0.5": VersionEvidence(f"{_FORM}<output>__<time>", 5, 7),
    "v0.8": VersionEvidence(f"{_FORM}___<output>", 8, 8),
    "v0.9": VersionEvidence(f"{_FORM}___topo-index:<node>____output-num:<output>", 9, 19),
}
OF_TABLES = {
    "v0.5": VersionEvidence("the table has start and end times", 5, 5),
    "v0.6": VersionEvidence("the table has neither start times nor measurements", 6, 8),
    "v0.9": VersionEvidence("the table has a Measurements column", 9, 19),
}
OF_GRAPHS = {
    "string": VersionEvidence("the graph dump is a JSON string that holds the graph", 5, 6),
    "mutated": VersionEvidence("the graph dump is the graph as the debugger changed it", 7, 19),
}
_RANK = {"json": 0, "csv": 1, "table": 2, "vm-table": 3}
_MACHINE = ("VM::", "vm.builtin.")
_NESTED = (
    "the report is of a virtual machine: a call of a VM function contains the calls it makes, so "
    "that their times are in the sum twice; instructions (VM::…, vm.builtin.…) are kept"
)

_Group = tuple[str, str, str]


def join_reports(
    graph: Graph | None, read: Sequence[Report]
) -> tuple[tuple[Report, ...], list[Issue]]:
    """Join every report in its most exact form to the graph: JSON, CSV, table, merged table."""
    kept: list[Report] = []
    for report in sorted(read, key=_rank):
        place = next((i for i, other in enumerate(kept) if same_report(other, report)), None)
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
            with_nodes, problems = join_report(graph, report)
            joined.append(with_nodes)
            issues += problems
        if any(name.startswith(_MACHINE) for name in report.names.unique):
            issues.append(Issue("vm-calls-nested", IssueSeverity.NOTE, _NESTED, file=report.file))
    return tuple(joined), issues


def _rank(report: Report) -> tuple[int, bool, bool]:
    return _RANK[report.form], report.truncated, not report.in_call_order


def same_report(exact: Report, other: Report) -> bool:
    """Return whether two files print one report, within their digits."""
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
    merged: dict[_Group, tuple[int, float, float]] = defaultdict(lambda: (0, 0.0, 0.0))
    for row in range(len(report)):
        key = report.names[row], report.argument_shapes[row], report.devices[row]
        count, time, slack = merged[key]
        merged[key] = (
            count + int(report.count[row]),
            time + float(report.duration_ns[row]),
            slack + float(report.rounding_ns[row]),
        )
    return merged


def report_evidence(reports: Sequence[Report]) -> list[VersionEvidence]:
    """Return evidence from reports: six decimals (v0.8), a configuration (v0.9 and later)."""
    evidence = []
    for report in reports:
        if report.form == "vm-table":
            evidence.append(VersionEvidence("the table is the VM profiler's of before v0.8", 6, 7))
        elif report.configuration:
            evidence.append(VersionEvidence("the report has a configuration", 9, 23))
        elif report.form == "json" and (report.rounding_ns > 0).any():
            evidence.append(VersionEvidence("the report's numbers have six decimals", 8, 8))
        else:
            evidence.append(VersionEvidence("there is a profiling report", 8, 23))
    return evidence


_HEADING = re.compile(
    r"#OpName(NShape)?\s+#InvokeCount\s+#Duration\(us\): Sum/Mean/Min/Max\s*", re.ASCII
)
_VALUE = r"([^\s/]{1,40})"
_COUNT = re.compile(r"[0-9]{1,18}")
_VALUES = re.compile("/".join([_VALUE] * 4))
_TOTAL = re.compile(
    rf"Total Duration:? {_VALUE} us\.?(?:\s+Total Packed Functions: ([0-9]{{1,18}}))?\s*", re.ASCII
)
_LONGEST = 1 << 16


def sniff(head: bytes) -> bool:
    """Return whether these bytes hold the heading of a VM profiler's table."""
    text = decode(head, "")[0]
    return "#OpName" in text and any(map(_HEADING.fullmatch, text.split("\n")))


def read_vm_table(source: ByteSource) -> Report:
    """Read the last VM profiler's table of a text as a report with one row per function."""
    reports = read_vm_tables(source)
    return with_several(reports[-1], len(reports))


def read_vm_tables(source: ByteSource) -> tuple[Report, ...]:
    """Read all VM profiler's tables of a text."""
    text, issues = read_text(source)
    lines = [line[:_LONGEST] for line in text.split("\n")]
    headings = [i for i, line in enumerate(lines) if _HEADING.fullmatch(line)]
    if not headings:
        raise FormatError(
            "no table of the VM profiler in this text",
            file=source.name,
            expected="a line '#OpName  #InvokeCount  #Duration(us): Sum/Mean/Min/Max'",
            found=repr(text[:60]),
        )
    parts = itertools.pairwise([*headings, len(lines)])
    reports = tuple(_report(lines[start:end], source.name, issues) for start, end in parts)
    if not any(map(len, reports)) and any(map(str.strip, lines[headings[0] + 1 :])):
        raise FormatError(
            "no row of this table of the VM profiler can be read",
            file=source.name,
            field=f"line {headings[0] + 2}",
            expected="a function, a number of calls and four times with '/' between them",
            found=repr(lines[headings[0] + 1][:60]),
            hint="Save what the profiler prints, as it is.",
        )
    return reports


def _report(lines: list[str], file: str, issues: list[Issue]) -> Report:
    with_shapes = "#OpNameNShape" in lines[0]
    rows: list[dict[str, Metric]] = []
    total: tuple[float, int | None] | None = None
    strange = 0
    for line in lines[1:]:
        ended = _TOTAL.fullmatch(line)
        if ended is not None and (number := parse_number(ended[1])) is not None:
            total = (float(number), int(ended[2]) if ended[2] else None)
            break
        row = _row(line, with_shapes)
        if row is not None:
            rows.append(row)
        elif line.strip():
            strange += 1
    return make_report(
        rows,
        form="vm-table",
        file=file,
        rounding_us=lambda metric: general_rounding(as_float(metric.value)),
        in_call_order=False,
        truncated=total is None,
        issues=[*issues, *_checks(rows, total, strange, file)],
    )


def _row(line: str, with_shapes: bool) -> dict[str, Metric] | None:
    cells = line.rsplit(None, 2)
    if len(cells) == 2 and line[0].isspace():
        cells.insert(0, "")
    values = _VALUES.fullmatch(cells[-1]) if len(cells) == 3 else None
    if values is None or not _COUNT.fullmatch(cells[1]):
        return None
    called, count, _ = cells
    if not with_shapes and called.split() != ([called] if called else []):
        return None
    numbers = [parse_number(cell) for cell in values.groups()]
    if any(number is None for number in numbers):
        return None
    name, _, shapes = called.partition(" ") if with_shapes else (called, "", "")
    row = {NAME: Metric("string", name, name)}
    if shapes:
        row[SHAPES] = Metric("string", shapes, shapes)
    row[COUNT] = Metric("count", int(count), count)
    titles = (DURATION, "Mean (us)", "Min (us)", "Max (us)")
    for title, number, text in zip(titles, numbers, values.groups(), strict=True):
        row[title] = Metric("microseconds", number, text)
    return row


def _checks(
    rows: list[dict[str, Metric]], total: tuple[float, int | None] | None, strange: int, file: str
) -> list[Issue]:
    issues = []
    if strange:
        text = f"{counted(strange, 'line')} between the rows left out: no rows of the table"
        issues.append(Issue("rows-interrupted", IssueSeverity.WARNING, text, file=file))
    if total is None:
        what = "the line 'Total Duration' is missing: the text may be cut off behind the last row"
        return [*issues, Issue("report-cut", IssueSeverity.WARNING, what, file=file)]
    times = sum(float(row[DURATION].value) for row in rows)
    calls = sum(int(row[COUNT].value) for row in rows)
    slack = general_rounding(total[0]) + sum(
        general_rounding(as_float(row[DURATION].value)) for row in rows
    )
    if total[1] not in (None, calls) or abs(times - total[0]) > 1.01 * slack:
        message = (
            f"the last line says {total[0]:.9g} µs in {counted(total[1] or calls, 'call')}, "
            f"the rows give {times:.9g} µs in {calls}: rows may be missing"
        )
        issues.append(Issue("total-disagrees", IssueSeverity.WARNING, message, file=file))
    return issues


KIND = Kind("report", "VM profiler's table", sniff, read_vm_table, "report", pasted=True)
