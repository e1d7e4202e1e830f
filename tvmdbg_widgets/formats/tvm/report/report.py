"""Profiling reports: JSON, CSV or printed tables, told by content.

``tvm.runtime.profiling.Report`` @ v0.8 … v0.23.0; ``GraphModuleDebug.profile()`` runs the graph
three times to warm up and then once with a timer around every operator.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np

from tvmdbg_widgets.formats.tvm.report.csv_file import CsvRows, is_header
from tvmdbg_widgets.formats.tvm.report.numbers import fixed_rounding, general_rounding
from tvmdbg_widgets.formats.tvm.report.report_json import ReportText
from tvmdbg_widgets.formats.tvm.report.rows import DEVICE, DURATION, HASH, NAME, SHAPES, make_report
from tvmdbg_widgets.formats.tvm.report.table import Row, TableRows, find_heading
from tvmdbg_widgets.formats.tvm.times_text import decode, read_text
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import as_float, counted
from tvmdbg_widgets.model.timeline.report import Metric, Report
from tvmdbg_widgets.sources.byte_source import ByteSource

_START = re.compile(r'\s*\{\s*"(calls|device_metrics|configuration)"\s*:\s*([\[{])')
_UNREADABLE = "metric-unreadable"
_SIX_DECIMALS = 6


def sniff(head: bytes) -> bool:
    """Tell whether these bytes are, or a log holds, a profiling report."""
    text = decode(head, "")[0]
    start = _START.match(text)
    if start is not None:
        return (start[1] == "calls") == (start[2] == "[") and (
            start[1] != "configuration" or '"calls"' in text or '"device_metrics"' in text
        )
    lines = text.split("\n")
    return is_header(lines[0]) or any(find_heading(line) is not None for line in {*lines})


def read_report(source: ByteSource) -> Report:
    """Read a profiling report; of several printed tables in one log, the last.

    Defects that leave calls readable are issues: ``report-cut``, ``string-unclear``,
    ``metric-unreadable``, ``metric-twice``, ``metric-not-a-number``, ``metric-not-text``,
    ``percent-disagrees``, ``total-disagrees``, ``backslash-kept``, ``kind-unknown``,
    ``unknown-section``, ``rows-interrupted``, ``several-tables``, ``not-text``.
    """
    text, issues = read_text(source)
    if text.lstrip()[:1] == "{":
        return _from_json(text, source.name, issues)
    lines = text.split("\n")
    if is_header(lines[0]):
        rows = CsvRows(text, source.name)
        if not rows.rows and not rows.issues:
            said = "the text ends behind its header: TVM prints one only above calls"
            issues = [*issues, Issue("report-cut", IssueSeverity.WARNING, said, file=source.name)]
        return make_report(
            rows.rows,
            form="csv",
            file=source.name,
            rounding_us=lambda metric: general_rounding(as_float(metric.value)),
            truncated=rows.truncated,
            issues=(*issues, *rows.issues),
        )
    headings = [i for i, line in enumerate(lines) if find_heading(line) is not None]
    if headings:
        report = _from_table(lines[headings[-1] :], source.name, issues)
        unread = any(DURATION in each.message for each in report.issues.by_rule(_UNREADABLE))
        if unread and not np.isfinite(report.duration_ns).any():
            raise FormatError(
                "no row of this profiling report has a time",
                file=source.name,
                field=f"line {headings[-1] + 1}",
                expected="rows whose cells end where the heading's titles do",
                found=repr(lines[headings[-1] + 1][:60]),
                hint="Save what report.table() or report.json() returns, as it is.",
            )
        return with_several(report, len(headings))
    if not text.strip() and "\n" in text:
        told = "the report has no calls: TVM's CSV of an empty report is an empty line"
        note = Issue("report-empty", IssueSeverity.NOTE, told, file=source.name)
        return make_report(
            [], form="csv", file=source.name, rounding_us=lambda _: 0.0, issues=(*issues, note)
        )
    raise FormatError(
        "no profiling report in this text",
        file=source.name,
        expected='{"calls":[…, a line "…,Duration (us),…,Name,…", or "Name  Duration (us)  …"',
        found=repr(text[:60]),
        hint="A report is what GraphModuleDebug.profile() returns: write its json() to a file.",
    )


def _from_json(text: str, file: str, issues: list[Issue]) -> Report:
    found = ReportText(text, file)
    found.read()
    kinds = {
        metric.kind
        for row in (*found.calls, *found.device_metrics.values(), found.configuration)
        for metric in row.values()
    } - {"microseconds", "percent", "count", "ratio", "string"}
    if kinds:
        names = ", ".join(sorted(kinds))
        note = f"values of unknown kinds are kept as they stand: {names[:200]!r}"
        found.issue("kind-unknown", IssueSeverity.NOTE, note)
    return make_report(
        found.calls,
        form="json",
        file=file,
        rounding_us=_json_rounding,
        device_metrics=found.device_metrics,
        configuration=found.configuration,
        truncated=found.truncated,
        issues=(*issues, *found.issues),
    )


def _json_rounding(metric: Metric) -> float:
    decimals = len(metric.text) - metric.text.rfind(".") - 1
    return fixed_rounding(metric.text) if decimals == _SIX_DECIMALS else 0.0


def printed_reports(source: ByteSource) -> tuple[Report, ...]:
    """Read every printed table of a log; none where the text is JSON or CSV."""
    text, issues = read_text(source)
    lines = text.split("\n")
    headings = [i for i, line in enumerate(lines) if find_heading(line) is not None]
    if text.lstrip()[:1] == "{" or is_header(lines[0]):
        return ()
    parts = itertools.pairwise([*headings, len(lines)])
    return tuple(_from_table(lines[start:end], source.name, issues) for start, end in parts)


def with_several(report: Report, count: int) -> Report:
    """Return the last of so many tables of a log with a note of the others."""
    if count == 1:
        return report
    told = f"{counted(count, 'report')} in this text: the last is used, run.tables has each"
    note = Issue("several-tables", IssueSeverity.NOTE, told, file=report.file)
    return replace(report, issues=Issues((*report.issues, note)))


def _from_table(lines: list[str], file: str, issues: list[Issue]) -> Report:
    heading = find_heading(lines[0])
    if heading is None:
        raise ValueError("the line is no heading")
    rows = TableRows(lines[1:], heading, file)
    return make_report(
        rows.rows,
        form="table",
        file=file,
        rounding_us=lambda metric: fixed_rounding(metric.text.replace(",", ".")),
        device_metrics=rows.device_metrics,
        configuration=rows.configuration,
        in_call_order=_in_call_order(rows.rows),
        truncated=rows.truncated,
        issues=(*issues, *rows.issues),
    )


def _in_call_order(rows: list[Row]) -> bool:
    """Whether a table was neither sorted nor merged, which keeps the order of the calls.

    Two rows that merging would have merged show that it was not done; a time above the one before
    it shows that the rows are not sorted.
    """
    names = [str(row.get(HASH) or row.get(NAME) or "") for row in rows]
    others = [(str(row.get(SHAPES) or ""), str(row.get(DEVICE) or "")) for row in rows]
    keys = set(zip(names, others, strict=True))
    times = [row[DURATION].value for row in rows if DURATION in row]
    rises = any(after > before for before, after in itertools.pairwise(times))
    return len(rows) == 1 or (rises and len(keys) < len(rows))
