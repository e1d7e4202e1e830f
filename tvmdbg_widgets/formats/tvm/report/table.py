r"""A profiling report as ``Report.table()`` prints it.

``src/runtime/profiling.cc`` @ v0.8 … v0.19.0, ``Report::AsTable``: the first column is left
aligned, the others right, each as wide in bytes as its longest cell, two blanks behind every one.
Times and percents have two decimals; times and counts carry the thousands separators of the
locale. Behind the calls a row ``----------``, the row ``Sum``, a row ``Total`` a device, and from
v0.9 on the configuration. Rows of one function and shape are merged unless told not to, and sorted
by time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from tvmdbg_widgets.formats.tvm.report.numbers import parse_grouped, parse_number
from tvmdbg_widgets.formats.tvm.report.rows import (
    DEVICE,
    DURATION,
    HASH,
    KINDS,
    NAME,
    PERCENT,
    SHAPES,
)
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.timeline.report import Metric

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


def find_heading(line: str) -> Heading | None:
    """Recognise the line of titles; None if it is none."""
    if not line.startswith("Name  ") or f"  {DURATION}  {PERCENT}" not in line:
        return None
    data = line.rstrip("\r").encode("utf-8", "surrogatepass")
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
        self.issues: list[Issue] = []
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
            self._report(
                "report-cut",
                IssueSeverity.WARNING,
                "neither the row of dashes nor a Total row follows the calls: the text may be cut "
                "off behind the last one",
            )
        self._check_sum()

    def _report(self, rule: str, severity: IssueSeverity, message: str) -> None:
        self.issues.append(Issue(rule, severity, message, file=self.file))

    @staticmethod
    def _first_total(names: list[str]) -> int:
        start = len(names)
        while start and names[start - 1] == "Total":
            start -= 1
        return start

    def _records(self, lines: list[str]) -> tuple[int, list[bytes]]:
        """Return the lines of rows, those joined that a name with line feeds broke."""
        records: list[bytes] = []
        position = 0
        while position < len(lines):
            data = lines[position].rstrip("\r").encode("utf-8", "surrogatepass")
            taken = 1
            if not data.strip():
                break
            while self._short(data) and taken < _MOST_LINES and position + taken < len(lines):
                following = lines[position + taken].rstrip("\r").encode("utf-8", "surrogatepass")
                data = data + b"\n" + following
                taken += 1
            if not self._whole(data):
                if position + 1 >= len(lines) - 1:
                    self.truncated = True
                    self._report(
                        "report-cut",
                        IssueSeverity.ERROR,
                        "the text ends inside a row: it is left out",
                    )
                else:
                    self._report(
                        "rows-interrupted",
                        IssueSeverity.WARNING,
                        f"line {position + 2} of the table is not as wide as its columns; "
                        "the rows end there",
                    )
                    self.truncated = True
                return len(lines), records
            records.append(data)
            position += taken
        return position, records

    def _short(self, data: bytes) -> bool:
        return bool(self.heading.length) and len(data) < self.heading.length

    def _whole(self, data: bytes) -> bool:
        if self.heading.length:
            return len(data) == self.heading.length and data.endswith(b"  ")
        return True

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
                self._report(
                    "metric-unreadable",
                    IssueSeverity.WARNING,
                    f"{column!r} holds {text[:60]!r}, expected a number; it is left out",
                )
        return row

    def _read_configuration(self, lines: list[str]) -> None:
        texts = [line.rstrip("\r") for line in lines]
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
            self._report(
                "total-disagrees",
                IssueSeverity.WARNING,
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
