r"""A profiling report as ``Report.csv()`` prints it.

``src/runtime/profiling.cc`` @ v0.8 … v0.19.0, ``Report::AsCSV``: the first line names the columns,
the sorted union of all metrics, bare; then a line a call. Strings stand in double quotes and are
not escaped, numbers have six significant digits, and a metric that a call lacks leaves its place
empty.

A line is cut into as many cells as there are columns in every way that its commas and quotes
allow; a cell on which all ways agree is read, any other is left out and told. A line that cannot be
cut is read together with the next ones, as a string may hold line feeds.
"""

from __future__ import annotations

import re

from tvmdbg_widgets.formats.tvm.report_numbers import parse_number
from tvmdbg_widgets.formats.tvm.report_rows import (
    COUNT,
    DEVICE,
    DURATION,
    HASH,
    KINDS,
    NAME,
    PERCENT,
    SHAPES,
)
from tvmdbg_widgets.model.issues import Issue, Severity
from tvmdbg_widgets.model.report import Metric

Row = dict[str, Metric]

_NUMBERS = (DURATION, PERCENT, COUNT)
_TEXTS = (NAME, DEVICE, SHAPES, HASH)
_MOST_LINES = 64
_MOST_QUOTES = 200
_BARE = re.compile(r"[^,\"\s]{1,400}(?=,|\Z)")


def is_header(line: str) -> bool:
    """Tell whether a line names the columns of a report: bare, sorted, with name and time."""
    columns = line.removesuffix("\r").split(",")
    return {NAME, DURATION} <= set(columns) and columns == sorted(columns)


class CsvRows:
    """The rows of a report's CSV.

    Attributes
    ----------
    rows : list of dict of str to Metric
    issues : list of Issue
    truncated : bool
        Lines were left out, so that later rows do not stand where their calls do.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.rows: list[Row] = []
        self.issues: list[Issue] = []
        self.truncated = False
        self._newline = "\r\n" if text.split("\n", 1)[0].endswith("\r") else "\n"
        self._lines = text.split(self._newline)
        self.columns = self._lines[0].split(",")
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
        position = 1
        while position < last:
            row, taken, doubtful = self._row(position, last)
            if row is None:
                skipped.append(position)
            else:
                unclear += [(position, len(self.rows), column) for column in doubtful]
                self.rows.append(row)
            position += taken
        if skipped:
            self._lost(skipped[0], f"{len(skipped)} lines cannot be cut into the header's columns")
        if self._lines[last] and last > 0:
            self._lost(last, "the text ends inside a line, which is left out")
        if unclear:
            line, row_number, column = unclear[0]
            more = f" ({len(unclear)} such cells)" if len(unclear) > 1 else ""
            self._report(
                "string-unclear",
                Severity.WARNING,
                f"row {row_number}, at byte {self._offsets[line]}: TVM does not escape strings, "
                f"and where {column!r} begins and ends cannot be known; it is left out{more}",
            )

    def _lost(self, line: int, what: str) -> None:
        self.truncated = True
        self._report("report-cut", Severity.ERROR, f"at byte {self._offsets[line]}: {what}")

    def _report(self, rule: str, severity: Severity, message: str) -> None:
        self.issues.append(Issue(rule, severity, message, file=self.file))

    def _row(self, position: int, last: int) -> tuple[Row | None, int, list[str]]:
        """Read the row that starts at a line; how many lines it takes and its unclear columns."""
        text = self._lines[position]
        for taken in range(1, min(_MOST_LINES, last - position) + 1):
            if taken > 1:
                line = self._lines[position + taken - 1]
                if _cut(line, self.columns) is not None:
                    break  # that line is a row of its own
                text += self._newline + line
            found = _cut(text, self.columns)
            if found is not None:
                return self._cells(text, found, taken)
        return None, 1, []

    def _cells(
        self, text: str, found: list[list[tuple[int, int]]], taken: int
    ) -> tuple[Row, int, list[str]]:
        row: Row = {}
        doubtful: list[str] = []
        for column, ways in zip(self.columns, found, strict=True):
            if len(ways) > 1:
                doubtful.append(column)
                continue
            start, end = ways[0]
            cell = text[start:end]
            if not cell:
                continue
            if cell.startswith('"'):
                row[column] = Metric("string", cell[1:-1], cell[1:-1])
            else:
                number = parse_number(cell)
                kind = KINDS.get(column, "text")
                row[column] = Metric(kind, cell if number is None else number, cell)
        return row, taken, doubtful


def _cut(text: str, columns: list[str]) -> list[list[tuple[int, int]]] | None:
    """Return for each column the ranges its cell has in any way to cut the text; None if none."""
    plain = _plain(text, columns)
    if plain is not None:
        return plain
    quotes = [match.start() for match in re.finditer('"', text)]
    if len(quotes) > _MOST_QUOTES:
        return None
    ends = [each + 1 for each in quotes if text[each + 1 : each + 2] in (",", "")]
    last = len(columns) - 1
    reached: list[dict[int, list[int]]] = [{0: []}]
    for index, column in enumerate(columns):
        steps: dict[int, list[int]] = {}
        for start in reached[index]:
            for end in _ends(text, start, column, ends):
                if (index == last) == (end == len(text)):
                    steps.setdefault(end + 1, []).append(start)
        reached.append(steps)
    if not reached[-1]:
        return None
    found: list[list[tuple[int, int]]] = []
    live = set(reached[-1])
    for steps in reversed(reached[1:]):
        ways = [(start, after - 1) for after in sorted(live) for start in steps[after]]
        found.append(ways)
        live = {start for start, _ in ways}
    return found[::-1]


def _plain(text: str, columns: list[str]) -> list[list[tuple[int, int]]] | None:
    """Cut a text whose quotes all belong to cells: there is no other way to cut it."""
    if text.count('"') % 2 or "\n" in text:
        return None
    cells: list[list[tuple[int, int]]] = []
    position = 0
    for column in columns:
        start = position
        if text.startswith('"', start):
            end = text.find('"', start + 1) + 1
        else:
            end = text.find(",", start)
            end = len(text) if end < 0 else end
        if end < start or text[end : end + 1] not in (",", ""):
            return None
        if not _allowed(text[start:end], column):
            return None
        cells.append([(start, end)])
        position = end + 1
    return cells if position == len(text) + 1 else None


def _allowed(cell: str, column: str) -> bool:
    if not cell:
        return True
    if cell.startswith('"'):
        return len(cell) > 1 and column not in _NUMBERS
    return column not in _TEXTS and '"' not in cell and parse_number(cell) is not None


def _ends(text: str, start: int, column: str, ends: list[int]) -> list[int]:
    """Return where a cell that starts here may end."""
    if text[start : start + 1] in (",", ""):
        return [start] if start <= len(text) else []
    if text[start] == '"':
        return [] if column in _NUMBERS else [end for end in ends if end > start + 1]
    bare = _BARE.match(text, start)
    return [bare.end()] if bare and _allowed(bare[0], column) else []
