"""A profiling report from ``Report.csv()``.

``src/runtime/profiling.cc`` @ v0.8 … v0.19.0, ``Report::AsCSV``: the first line names the columns,
the sorted union of all metrics, bare; then a line a call. Strings stand in double quotes and are
not escaped, numbers have six significant digits, and missing metrics leave their place empty.

A line is cut into columns in every way that its commas and quotes allow; only cells on which all
ways agree are read, others are reported. A line that cannot be cut is read together with the next
ones, as a string may hold line feeds.
"""

from __future__ import annotations

from tvmdbg_widgets.formats.tvm.report.numbers import (
    DURATION,
    KINDS,
    NAME,
    Cells,
    Cutter,
    parse_number,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import IssueLog
from tvmdbg_widgets.model.timeline.report import Metric

Row = dict[str, Metric]


def is_header(line: str) -> bool:
    """Return whether a line names the columns of a report: bare, sorted, with name and time."""
    columns = line.removesuffix("\r").split(",")
    return {NAME, DURATION} <= set(columns) and columns == sorted(columns)


class CsvRows:
    """The rows of the last CSV of a text."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.rows: list[Row] = []
        self.issues = IssueLog(file)
        self.truncated = False
        self._newline = "\r\n" if text.split("\n", 1)[0].endswith("\r") else "\n"
        self._lines = text.split(self._newline)
        headers = [at for at, line in enumerate(self._lines) if is_header(line)]
        self.reports, self._header = len(headers), headers[-1]
        self.columns = self._lines[self._header].removesuffix("\r").split(",")
        ends = [0]
        for line in self._lines:
            ends.append(ends[-1] + len((line + self._newline).encode("utf-8", "surrogatepass")))
        self._offsets = ends
        self._read()

    def _read(self) -> None:
        # TVM ends every line: what follows the last line feed was cut off.
        last = len(self._lines) - 1
        unclear: list[tuple[int, int, str]] = []
        skipped: list[int] = []
        position = self._header + 1
        lines = self._lines[position:last]
        for taken, text, cells in Cutter(self.columns).rows(lines, self._newline):
            if cells is None:
                skipped.append(position)
            else:
                row, doubtful = self._row(text, cells)
                unclear += [(position, len(self.rows), column) for column in doubtful]
                self.rows.append(row)
            position += taken
        if skipped:
            self._lost(
                skipped[0],
                f"{counted(len(skipped), 'line')} cannot be cut into the header's columns",
            )
        if self._lines[last] and last > self._header:
            self._lost(last, "the text ends inside a line, which is left out")
        if unclear:
            line, row_number, column = unclear[0]
            more = f" ({counted(len(unclear), 'such cell')})" if len(unclear) > 1 else ""
            self.issues.warning(
                "string-unclear",
                f"row {row_number}, at byte {self._offsets[line]}: TVM does not escape strings, "
                f"and where {column!r} begins and ends cannot be known; it is left out{more}",
            )

    def _lost(self, line: int, what: str) -> None:
        self.truncated = True
        self.issues.error("report-cut", f"at byte {self._offsets[line]}: {what}")

    def _row(self, text: str, cells: Cells) -> tuple[Row, list[str]]:
        """Read the cells of a row; also return the columns with unclear cells."""
        row: Row = {}
        unclear: list[str] = []
        for column, place in zip(self.columns, cells, strict=True):
            if place is None:
                unclear.append(column)
                continue
            cell = text[slice(*place)]
            if not cell:
                continue
            if cell.startswith('"'):
                row[column] = Metric("string", cell[1:-1], cell[1:-1])
            else:
                number = parse_number(cell)
                kind = KINDS.get(column, "text")
                row[column] = Metric(kind, cell if number is None else number, cell)
        return row, unclear
