"""Profiling reports: JSON, CSV or printed tables, identified by content.

``tvm.runtime.profiling.Report`` @ v0.8 … v0.23.0; ``GraphModuleDebug.profile()`` runs the graph
three times to warm up and then once with a timer around every operator.
"""

from __future__ import annotations

import codecs
import itertools
import re
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tvm.report.csv_file import CsvRows, is_header
from tvmdbg_widgets.formats.tvm.report.numbers import (
    DEVICE,
    DURATION,
    HASH,
    KINDS,
    NAME,
    PERCENT,
    SHAPES,
    fixed_rounding,
    general_rounding,
    make_report,
    parse_grouped,
    parse_number,
)
from tvmdbg_widgets.formats.tvm.report.report_json import ReportText
from tvmdbg_widgets.formats.tvm.times_text import decode, read_text
from tvmdbg_widgets.model.base.numbers import agree, as_float, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueLog, Issues, IssueSeverity
from tvmdbg_widgets.model.timeline.report import Metric, Report
from tvmdbg_widgets.sources.byte_source import ByteSource

_START = re.compile(r'\s*\{\s*"(calls|device_metrics|configuration)"\s*:\s*([\[{])')
_UNREADABLE = "metric-unreadable"
_SIX_DECIMALS = 6


def sniff(head: bytes) -> bool:
    """Return whether these bytes are, or a log holds, a profiling report."""
    text = decode(head, "")[0]
    start = _START.match(text)
    if start is not None:
        return (start[1] == "calls") == (start[2] == "[") and (
            start[1] != "configuration" or '"calls"' in text or '"device_metrics"' in text
        )
    lines = text.split("\n")
    return is_header(lines[0]) or any(find_heading(line) is not None for line in {*lines})


def read_report(source: ByteSource) -> Report:
    """Read a profiling report, the last of a log; defects that leave calls readable are issues."""
    text, issues = read_text(source)
    if text.lstrip()[:1] == "{":
        return _from_json(text, source.name, issues)
    lines = _lines(source, text)
    if is_header(lines[0]):
        rows = CsvRows(text, source.name)
        if not rows.rows and not rows.issues:
            message = "the text ends behind its header: TVM prints one only above calls"
            rows.issues.warning("report-cut", message)
        report = make_report(
            rows.rows,
            form="csv",
            file=source.name,
            rounding_us=lambda metric: general_rounding(as_float(metric.value)),
            truncated=rows.truncated,
            issues=(*issues, *rows.issues),
        )
        return with_several(report, rows.reports, "the others are left out")
    headings = [i for i, line in enumerate(lines) if find_heading(line) is not None]
    if headings:
        report = _from_table(lines[headings[-1] :], source.name, issues)
        unread = any(DURATION in issue.message for issue in report.issues.by_rule(_UNREADABLE))
        if unread and not np.isfinite(report.duration_ns).any():
            raise FormatError(
                "no row of this profiling report has a time",
                file=source.name,
                field=f"line {headings[-1] + 1}",
                expected="rows whose cells end where the heading's titles do",
                found=repr(text.split("\n")[headings[-1] + 1][:60]),
                hint="Save what report.table() or report.json() returns, as it is.",
            )
        return with_several(report, len(headings))
    if not text.strip() and "\n" in text:
        note_text = "the report has no calls: TVM's CSV of an empty report is an empty line"
        note = Issue("report-empty", IssueSeverity.NOTE, note_text, file=source.name)
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
    content = ReportText(text, file)
    content.read()
    kinds = {
        metric.kind
        for row in (*content.calls, *content.device_metrics.values(), content.configuration)
        for metric in row.values()
    } - {"microseconds", "percent", "count", "ratio", "string"}
    if kinds:
        names = ", ".join(sorted(kinds))
        note = f"values of unknown kinds are kept as is: {names[:200]!r}"
        content.issues.note("kind-unknown", note)
    return make_report(
        content.calls,
        form="json",
        file=file,
        rounding_us=_json_rounding,
        device_metrics=content.device_metrics,
        configuration=content.configuration,
        truncated=content.truncated,
        issues=(*issues, *content.issues),
    )


def _json_rounding(metric: Metric) -> float:
    decimals = len(metric.text) - metric.text.rfind(".") - 1
    return fixed_rounding(metric.text) if decimals == _SIX_DECIMALS else 0.0


def printed_reports(source: ByteSource) -> tuple[Report, ...]:
    """Read every printed table of a log; none in JSON or CSV."""
    text, issues = read_text(source)
    lines = _lines(source, text)
    headings = [i for i, line in enumerate(lines) if find_heading(line) is not None]
    if text.lstrip()[:1] == "{" or is_header(lines[0]):
        return ()
    parts = itertools.pairwise([*headings, len(lines)])
    return tuple(_from_table(lines[start:end], source.name, issues) for start, end in parts)


def with_several(report: Report, count: int, others: str = "run.tables has each") -> Report:
    """Return the last table of a log with a note of the others."""
    if count == 1:
        return report
    text = f"{counted(count, 'report')} in this text: the last is used, {others}"
    note = Issue("several-tables", IssueSeverity.NOTE, text, file=report.file)
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
    """Return whether a table was neither sorted nor merged, as equal or rising rows prove."""
    names = [str(row.get(HASH) or row.get(NAME) or "") for row in rows]
    others = [(str(row.get(SHAPES) or ""), str(row.get(DEVICE) or "")) for row in rows]
    keys = set(zip(names, others, strict=True))
    times = [row[DURATION].value for row in rows if DURATION in row]
    rises = any(after > before for before, after in itertools.pairwise(times))
    return len(rows) == 1 or (rises and len(keys) < len(rows))


Row = dict[str, Metric]

SEPARATOR = "----------"
_TITLE = re.compile(rb"\S+(?: \S+)*")
_MOST_LINES = 64
_TWO_DECIMALS = (DURATION, PERCENT)


@dataclass(frozen=True)
class Heading:
    """The line of column titles."""

    columns: tuple[str, ...]
    ends: tuple[int, ...]
    length: int


def _lines(source: ByteSource, text: str) -> list[str]:
    """Return the lines of a text; bytes that are no UTF-8 are surrogates, one a byte."""
    if "\ufffd" in text:
        data = source.read(0, source.size)
        if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            text = data.decode("utf-8-sig", "surrogateescape")
    return text.split("\n")


def _printed(line: str) -> bytes:
    """Return the bytes of a line, by which columns are as wide as they were printed."""
    line = line.rstrip("\r")
    try:
        return line.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a pair of a text's own
        return line.encode("utf-8", "surrogatepass")


def find_heading(line: str) -> Heading | None:
    """Recognise the line of titles; None if it is none."""
    if not line.startswith("Name  ") or f"  {DURATION}  {PERCENT}" not in line:
        return None
    data = _printed(line)
    titles = list(_TITLE.finditer(data))
    columns = tuple(title[0].decode("utf-8", "replace") for title in titles)
    if columns[:3] != (NAME, DURATION, PERCENT) or len(set(columns)) != len(columns):
        return None
    ends = tuple(title.end() for title in titles[1:])
    return Heading(columns, ends, len(data) if data.endswith(b"  ") else 0)


class TableRows:
    """The rows of one printed report."""

    def __init__(self, lines: list[str], heading: Heading, file: str) -> None:
        self.file = file
        self.heading = heading
        self.device_metrics: dict[str, Row] = {}
        self.configuration: Row = {}
        self.summed: Row | None = None
        self.issues = IssueLog(file)
        self.truncated = False
        taken, records = self._records(lines)
        widths = self._name_width(records)
        rows = [self._cells(record, widths) for record in records]
        names = [row[NAME].text if NAME in row else "" for row in rows]
        marks = [i for i, row in enumerate(rows) if names[i] == SEPARATOR and DURATION not in row]
        totals = marks[-1] + 1 if marks else self._first_total(names)
        self.rows = rows[: marks[-1] if marks else totals]
        summed = rows[totals - 1] if 0 < totals < len(rows) else {}
        if not marks and names[totals - 1 : totals] == ["Sum"] and DEVICE not in summed:
            totals -= 1  # Markdown takes the row of dashes for its own
            self.rows = rows[:totals]
        for row, name in zip(rows[totals:], names[totals:], strict=True):
            if name == "Sum" and self.summed is None and (marks or DEVICE not in row):
                self.summed = row
            else:
                key = row[DEVICE].text if DEVICE in row else f"#{len(self.device_metrics)}"
                self.device_metrics[key] = row
        self._read_configuration(lines[taken:])
        if not marks and not self.device_metrics:
            self.truncated = True
            self.issues.warning(
                "report-cut",
                "neither the row of dashes nor a Total row follows the calls: the text may be cut "
                "off behind the last one",
            )
        self._check_sum()

    @staticmethod
    def _first_total(names: list[str]) -> int:
        start = len(names)
        while start and names[start - 1] == "Total":
            start -= 1
        return start

    def _records(self, lines: list[str]) -> tuple[int, list[bytes]]:
        """Return the lines of rows, rejoined if a name with line feeds broke them."""
        records: list[bytes] = []
        width = self.heading.length
        position = 0
        while position < len(lines):
            data = _printed(lines[position])
            taken = 1
            if not data.strip():
                break
            while len(data) < width and taken < _MOST_LINES and position + taken < len(lines):
                data = data + b"\n" + _printed(lines[position + taken])
                taken += 1
            if width and not (len(data) == width and data.endswith(b"  ")):
                if position + 1 >= len(lines) - 1:
                    self.truncated = True
                    self.issues.error("report-cut", "the text ends inside a row: it is left out")
                else:
                    self.issues.warning(
                        "rows-interrupted",
                        f"line {position + 2} of the table is not as wide as its columns; "
                        "the rows end there",
                    )
                    self.truncated = True
                return len(lines), records
            records.append(data)
            position += taken
        return position, records

    def _name_width(self, records: list[bytes]) -> int:
        end = self.heading.ends[0]
        widest = len(DURATION)
        for record in records:
            token = record[:end].rsplit(b"  ", 1)[-1].strip()
            if len(token) > widest and _cell(DURATION, token.decode("utf-8", "replace")):
                widest = len(token)
        return end - widest - 2

    def _cells(self, record: bytes, width: int) -> Row:
        edges = (width, *self.heading.ends)
        texts = [record[:width].decode("utf-8", "replace").rstrip(" ")]
        texts += [record[a:b].decode("utf-8", "replace").strip(" ") for a, b in pairwise(edges)]
        row: Row = {}
        for column, text in zip(self.heading.columns, texts, strict=True):
            metric = _cell(column, text)
            if metric is not None:
                row[column] = metric
            elif text:
                self.issues.warning(
                    "metric-unreadable",
                    f"{column!r} holds {text[:60]!r}, expected a number; it is left out",
                )
        return row

    def _read_configuration(self, lines: list[str]) -> None:
        texts = [_printed(line).decode("utf-8", "replace") for line in lines]
        start = next((i for i, text in enumerate(texts) if text.strip()), len(texts))
        if texts[start : start + 2] != ["Configuration", "-" * len("Configuration")]:
            return
        for text in texts[start + 2 :]:
            key, colon, value = text.partition(": ")
            if not colon:
                break
            number = parse_number(value)
            kind = "string" if number is None else "text"
            self.configuration[key] = Metric(kind, value if number is None else number, value)

    def _check_sum(self) -> None:
        metric = None if self.summed is None else self.summed.get(DURATION)
        if metric is None or not self.rows:
            return
        times = [row[DURATION].value for row in self.rows if DURATION in row]
        total = sum(times)
        if abs(total - metric.value) > 0.0051 * (len(times) + 1) + 1e-12 * abs(total):
            self.issues.warning(
                "total-disagrees",
                f"the Sum row says {metric.text} µs, the {counted(len(times), 'row')} above "
                f"{agree(len(times), 'takes', 'together take')} {total:.2f} µs: rows may be "
                "missing",
            )


def _cell(column: str, text: str) -> Metric | None:
    if not text:
        return None
    if column in KINDS:
        value = parse_grouped(text, decimals=column in _TWO_DECIMALS)
        return None if value is None else Metric(KINDS[column], value, text)
    if column in (NAME, DEVICE, SHAPES, HASH):
        return Metric("string", text, text)
    number = parse_number(text)
    return Metric("text", text if number is None else number, text)


KIND = Kind("report", "profiling report", sniff, read_report, "report", pasted=True)
