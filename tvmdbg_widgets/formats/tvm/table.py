"""The table of node times that the debugger prints after ``run()``.

``python/tvm/contrib/debugger/debug_result.py`` @ v0.5 … v0.19.0: no separators, each column as wide
as its longest cell plus two, lengths counted in characters. Three sets of columns, see
:data:`~tvmdbg_widgets.formats.tvm.layout.TITLES`. A node with k outputs has k rows with the
same time; parameters have none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tvm.layout import (
    DECIMALS,
    TOTAL_NAME,
    TableLayout,
    TableRow,
    canonical_layout,
    check_table,
    dashes,
    find_layout,
    parse_row,
    parse_total,
    wall_times,
)
from tvmdbg_widgets.formats.tvm.times_text import decode, read_text
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueLog, Issues
from tvmdbg_widgets.sources.byte_source import ByteSource


@dataclass(frozen=True, eq=False)
class DebuggerTable:
    """One printed table of R rows."""

    rows: tuple[TableRow, ...]
    columns: tuple[str, ...]
    total_us: float | None
    style: str
    start_ns: npt.NDArray[np.float64] | None
    end_ns: npt.NDArray[np.float64] | None
    truncated: bool
    line: int
    layout: TableLayout
    total_cells: tuple[str, ...]
    issues: Issues
    file: str

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> StringColumn:
        """Node names, one per row."""
        return StringColumn.from_strings(row.name for row in self.rows)

    @property
    def time_ns(self) -> npt.NDArray[np.float64]:
        """Time of the rows' nodes, float64[R], rounded by :attr:`rounding_ns`."""
        return np.asarray([row.time_us * 1e3 for row in self.rows], dtype=np.float64)

    @property
    def is_sorted(self) -> bool:
        """Whether the rows are by time: a total then follows."""
        return self.total_us is not None

    @property
    def rounding_ns(self) -> float:
        """Largest rounding error of a time: 5 ns in v0.5, later 0.5 ns."""
        return 0.5e3 * 10.0 ** -DECIMALS[self.style]

    def repeats(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return the measured repeats as int64[R + 1] offsets and nanoseconds; one up to v0.8."""
        measured = [
            row.measurements_us if self.style == "v0.9" else (row.time_us,) for row in self.rows
        ]
        values = np.array([us * 1e3 for own in measured for us in own], np.float64)
        values[np.isinf(values)] = np.nan
        return np.cumsum([0, *map(len, measured)], dtype=np.int64), values

    def __repr__(self) -> str:
        total = "no total" if self.total_us is None else f"total {self.total_us:g} µs"
        issues = f"; {self.issues.summary()}" if len(self.issues) else ""
        cut = ", cut off" if self.truncated else ""
        return (
            f"Table: {counted(len(self), 'row')}, {total}, style of {self.style}{cut}; "
            f"{self.file}{issues}"
        )


def sniff(head: bytes) -> bool:
    """Return whether these bytes hold the header of a table, also after a long text."""
    lines = decode(head, "")[0].split("\n")
    return any("Node Name  " in line and find_layout(line) is not None for line in lines)


def read_tables(source: ByteSource) -> tuple[DebuggerTable, ...]:
    """Read every table of a text, in order; foreign lines are skipped."""
    text, issues = read_text(source)
    lines = text.split("\n")
    headers = [
        (index, layout)
        for index, line in enumerate(lines)
        if "Node Name  " in line and (layout := find_layout(line)) is not None
    ]
    ends = [index for index, _ in headers[1:]] + [len(lines)]
    tables = []
    for (index, layout), end in zip(headers, ends, strict=False):
        marks = layout.split(lines[index + 1]) if index + 1 < end else None
        if marks == dashes(layout.columns):
            tables.append(_TableBody(source.name, layout, lines, index, end).table(issues))
    if not tables:
        raise _no_table(source, text, [index for index, _ in headers])
    return tuple(tables)


class _TableBody:
    """The lines of one table, up to the next header or the end of the text."""

    def __init__(
        self, file: str, layout: TableLayout, lines: list[str], header: int, end: int
    ) -> None:
        self.file = file
        self.layout = layout
        self.lines = lines
        self.header = header
        self.end = end
        self.rows: list[TableRow] = []
        self.total_cells: tuple[str, ...] = ()
        self.issues = IssueLog(file)
        self.truncated = False

    def table(self, text_issues: list[Issue]) -> DebuggerTable:
        last, strangers = self.read_rows()
        between = [index for index in strangers if index < last]
        if between:
            self.issues.warning(
                "rows-interrupted",
                f"line {between[0] + 1} is not a row but lies between rows "
                f"({counted(len(between), 'such line')}): {self.lines[between[0]][:60]!r}",
            )
        if not self.total_cells and last + 1 == self.end - 1 == len(self.lines) - 1:
            self.check_cut(self.lines[-1])
        cells, layout = self.total_cells, self.layout
        rows = check_table(self.rows, cells, layout, self.issues, truncated=self.truncated)
        start = end = None
        if layout.style == "v0.5":
            start, end = wall_times(rows, self.issues)
        return DebuggerTable(
            rows=rows,
            columns=self.layout.columns,
            total_us=parse_total(cells),
            style=self.layout.style,
            start_ns=start,
            end_ns=end,
            truncated=self.truncated,
            line=self.header + 1,
            layout=self.layout,
            total_cells=self.total_cells,
            issues=Issues((*text_issues, *self.issues)),
            file=self.file,
        )

    def read_rows(self) -> tuple[int, list[int]]:
        """Collect the rows; return the index of the last, and the other lines."""
        last = self.header + 1
        strangers: list[int] = []
        for index in range(self.header + 2, self.end):
            cells = self.layout.split(self.lines[index])
            row = parse_row(self.layout.columns, cells) if cells else None
            if row is not None:
                self.rows.append(row)
                last = index
            elif cells and parse_total(cells) is not None:
                self.total_cells = cells
                return index, strangers
            else:
                strangers.append(index)
        return last, strangers

    def check_cut(self, line: str) -> None:
        """Report a last line without line end that may be the beginning of a row."""
        text = self.layout.content(line)
        if text and all(
            text[start - 2 : start].strip(" ") == "" for start in self.layout.starts[1:]
        ):
            self.truncated = True
            self.issues.error("row-cut", "the text ends inside a row, which is left out")


def _no_table(source: ByteSource, text: str, headers: list[int]) -> FormatError:
    hint = "The table is what the debugger's run() prints: keep the program's standard output."
    if "ZeroDivisionError" in text:
        hint = (
            "The text holds a ZeroDivisionError: TVM up to v0.8 cannot print the table when all "
            "times are zero. Open the other files of the dump."
        )
    header = "no header line"
    if headers:
        header = f"a header in line {headers[0] + 1} without the line of dashes below it"
    return FormatError(
        "no table of node times in this text",
        file=source.name,
        expected="a line 'Node Name  Ops  Time(us)  Time(%) …' and a line of dashes below it",
        found=header,
        hint=hint,
    )


@dataclass(frozen=True, slots=True)
class TimedNode:
    """An operator node with its measured repeats."""

    name: str
    func_name: str
    times_s: tuple[float, ...]
    shapes: tuple[tuple[int, ...], ...]
    num_inputs: int


def bare_table(table: DebuggerTable) -> str:
    """Return a table as TVM printed it, without marks of quotes or comments."""
    lines = [*(row.cells for row in table.rows), *filter(None, [table.total_cells])]
    canonical = canonical_layout(table.style, lines)
    starts, length = table.layout.starts, table.layout.length
    if length is None and starts == canonical.starts:
        length = canonical.length
    return _format(replace(table.layout, indent="", newline="\n", length=length), lines)


def print_table(
    nodes: Sequence[TimedNode], *, style: str = "v0.9", sort_by_time: bool = True
) -> str:
    """Print the times of nodes."""
    if style not in ("v0.6", "v0.9"):
        raise ValueError(f"style must be 'v0.6' or 'v0.9', found {style!r}")
    rows: list[tuple[float, tuple[str, ...]]] = []
    times = [_time(node, style) for node in nodes]
    total = float(sum(times))
    for node, time in zip(nodes, times, strict=True):
        time_us = _rounded(time * 1e6, style)
        percent = _rounded(time / total * 100, style) if total else math.nan
        measurements = str([round(float(repeat) * 1e6, 3) for repeat in node.times_s])
        for shape in node.shapes:
            cells = (
                node.name,
                node.func_name,
                str(time_us),
                str(percent),
                str(tuple(int(size) for size in shape)),
                str(node.num_inputs),
                str(len(node.shapes)),
            )
            rows.append((time_us, (*cells, measurements) if style == "v0.9" else cells))
    if sort_by_time:
        rows.sort(key=lambda row: row[0], reverse=True)
    lines = [cells for _, cells in rows]
    if sort_by_time:
        rest = "-" * (5 if style == "v0.9" else 4)
        lines.append((TOTAL_NAME, "-", str(_rounded(total * 1e6, style)), *rest))
    return _format(canonical_layout(style, lines), lines)


def _time(node: TimedNode, style: str) -> float:
    if not node.times_s:
        raise ValueError(f"node {node.name!r} has no time")
    return float(np.mean(node.times_s)) if style == "v0.9" else node.times_s[0]


def _rounded(value: float, style: str) -> float:
    """Round as TVM does: from v0.9 on like numpy, whose ties differ from Python's."""
    return float(np.round(value, 3)) if style == "v0.9" else round(value, 3)


def _format(layout: TableLayout, lines: Iterable[Sequence[str]]) -> str:
    head = (layout.columns, dashes(layout.columns))
    return layout.newline.join(layout.join(cells) for cells in (*head, *lines))


KIND = Kind(
    "table", "printed table of node times", sniff, read_tables, "table", rank=1, pasted=True
)
