"""Column positions of a printed table of node times."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import IssueLog

_TIMES, _OTHERS = ("Node Name", "Ops", "Time(us)", "Time(%)"), ("Shape", "Inputs", "Outputs")
TITLES: dict[str, tuple[str, ...]] = {
    "v0.5": (*_TIMES, "Start Time", "End Time", *_OTHERS),
    "v0.6": (*_TIMES, *_OTHERS),
    "v0.9": (*_TIMES, *_OTHERS, "Measurements(us)"),
}
"""Column titles by style, the first release that prints them."""

#: Line starts of a table in a document, a comment, a quotation.
_INDENT = re.compile(r"[ \t#>/*|;%-]{0,100}(?=Node Name  )")

DECIMALS = {"v0.5": 2, "v0.6": 3, "v0.9": 3}
"""Decimals the times are rounded to."""


def dashes(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of the second line: dashes as long as the titles."""
    return tuple("-" * len(title) for title in columns)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Columns of one table."""

    style: str
    indent: str
    starts: tuple[int, ...]
    length: int | None
    newline: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Titles of the columns."""
        return TITLES[self.style]

    def content(self, line: str) -> str | None:
        """Return a line without indent and line end; None with another indent."""
        if self.newline == "\r\n":
            line = line.removesuffix("\r")
        return line[len(self.indent) :] if line.startswith(self.indent) else None

    def join(self, cells: Sequence[str]) -> str:
        """Write one line, without its line end; the inverse of :meth:`split`."""
        line = _padded(self.starts, self.length or 0) % tuple(cells)
        return self.indent + (line if self.length is not None else line.rstrip(" "))

    def split(self, line: str) -> tuple[str, ...] | None:
        """Cut a line into stripped cells; None if it does not fit or was cut off."""
        text = self.content(line)
        if text is None or (self.length is not None and len(text) != self.length):
            return None
        match = _cells(self.starts, self.length is not None).fullmatch(text)
        return None if match is None else tuple([cell.rstrip(" ") for cell in match.groups()])


@lru_cache(maxsize=64)
def _padded(starts: tuple[int, ...], length: int) -> str:
    """Return the format of a line: cells as wide as their column."""
    ends = (*starts[1:], max(length, starts[-1]))
    return "".join(f"%-{end - start}s" for start, end in zip(starts, ends, strict=True))


@lru_cache(maxsize=64)
def _cells(starts: tuple[int, ...], padded: bool) -> re.Pattern[str]:
    """Return the pattern of lines of columns with these starts: cells, two blanks between them."""
    widths = (end - start - 2 for start, end in itertools.pairwise(starts))
    last = "(.*)  " if padded else "(.+)"
    return re.compile("".join(f"(.{{{width}}})  " for width in widths) + last, re.DOTALL)


def canonical_layout(style: str, lines: Iterable[Sequence[str]]) -> TableLayout:
    """Lay out cells as TVM does: columns two wider than their longest cell or title."""
    widths = [len(title) for title in TITLES[style]]
    for column, cells in enumerate(zip(*lines, strict=True)):
        widths[column] = max(widths[column], *map(len, cells))
    edges = [0, *accumulate(width + 2 for width in widths)]
    return TableLayout(style, "", tuple(edges[:-1]), edges[-1], "\n")


def find_layout(line: str) -> TableLayout | None:
    """Recognise a header line; None if it is none."""
    newline = "\r\n" if line.endswith("\r") else "\n"
    line = line.removesuffix("\r")
    match = _INDENT.match(line)
    if match is None:
        return None
    indent, text = line[: match.end()], line[match.end() :]
    for style, titles in TITLES.items():
        starts = _starts(text, titles)
        if starts is not None:
            padded = len(text) - len(text.rstrip(" ")) >= 2
            return TableLayout(style, indent, starts, len(text) if padded else None, newline)
    return None


def _starts(text: str, titles: tuple[str, ...]) -> tuple[int, ...] | None:
    starts: list[int] = []
    position = 0
    for title in titles:
        rest = text[position:]
        start = position + len(rest) - len(rest.lstrip(" "))
        if not text.startswith(title, start) or (starts and start - position < 2):
            return None
        starts.append(start)
        position = start + len(title)
    return tuple(starts) if not text[position:].strip(" ") else None


def check_table(
    rows: Sequence[TableRow],
    total_cells: tuple[str, ...],
    layout: TableLayout,
    issues: IssueLog,
    *,
    truncated: bool,
) -> tuple[TableRow, ...]:
    """Number the rows of nodes and compare total, means and widths with the rows."""
    numbered, total_us = _number_outputs(rows, layout, issues), parse_total(total_cells)
    half_step = 0.5 * 10.0 ** -DECIMALS[layout.style]
    for row in numbered:
        values = row.measurements_us
        mean = math.fsum(values) / len(values) if values else math.nan
        if abs(mean - row.time_us) > 2 * half_step + 1e-12 * abs(mean):
            text = (
                f"{row.name!r}: Time(us) is {row.time_us!r}, the mean of its measurements "
                f"{mean:.9g}"
            )
            issues.warning("mean-disagrees", text)
            break
    calls = [row for row in numbered if row.output == 0]
    if total_us is not None:
        times = math.fsum(row.time_us for row in calls if math.isfinite(row.time_us))
        slack = half_step * (len(calls) + 1) + 1e-12 * abs(times)
        if abs(times - total_us) > slack:
            total_text = (
                f"Total_time is {total_us!r} µs, the {counted(len(calls), 'node')} above "
                f"{agree(len(calls), 'takes', 'together take')} {times:.9g} µs: rows may be "
                "missing"
            )
            issues.warning("total-disagrees", total_text)
    elif (
        layout.style != "v0.5"
        and not truncated
        and len(calls) > 4
        and all(a.time_us >= b.time_us for a, b in itertools.pairwise(calls))
    ):
        note = (
            "the rows are sorted by time but no Total_time row follows: "
            "the text may be cut off behind the last row"
        )
        issues.note("no-total-row", note)
    shares = math.fsum(row.percent for row in calls)
    off = calls and math.isfinite(shares) and abs(shares - 100) >= 0.1 + 0.0051 * len(calls)
    if off and total_us is None and not truncated:
        text = f"the printed shares of {counted(len(calls), 'node')} add up to {shares:.4g} %, "
        text += "not to 100 %: rows are missing or duplicated"
        issues.warning("shares-disagree", text)
    lines = [row.cells for row in numbered] + ([total_cells] if total_cells else [])
    _check_widths(lines, layout, issues)
    return numbered


def _number_outputs(
    rows: Sequence[TableRow], layout: TableLayout, issues: IssueLog
) -> tuple[TableRow, ...]:
    shape = layout.columns.index("Shape")
    numbered: list[TableRow] = []
    broken: list[str] = []
    previous: tuple[str, ...] = ()
    for row in rows:
        call = row.cells[:shape] + row.cells[shape + 1 :]
        last = numbered[-1] if numbered else row
        output = last.output + 1 if call == previous and last.output + 1 < last.outputs else 0
        if output == 0 and numbered and last.output + 1 < last.outputs:
            broken.append(last.name)
        numbered.append(row._replace(output=output) if output else row)
        previous = call
    if numbered and numbered[-1].output + 1 < numbered[-1].outputs:
        broken.append(numbered[-1].name)
    if broken:
        others = f", as have {counted(len(broken) - 1, 'other')}" if len(broken) > 1 else ""
        issues.warning("rows-missing", f"{broken[0]!r} has fewer rows than outputs{others}")
    return tuple(numbered)


def _check_widths(lines: Sequence[Sequence[str]], layout: TableLayout, issues: IssueLog) -> None:
    canonical = canonical_layout(layout.style, lines)
    actual = _widths(layout)
    for title, width, expected in zip(layout.columns, actual, _widths(canonical), strict=False):
        if width != expected:
            text = (
                f"column {title!r} is {width} wide where its cells need {expected}: "
                "a name ends in blanks, which print loses, or rows are missing"
            )
            issues.note("blanks-lost", text)
            return


def _widths(layout: TableLayout) -> list[int]:
    edges = [*layout.starts, *([] if layout.length is None else [layout.length])]
    return [end - start for start, end in itertools.pairwise(edges)]


_DAY = 86_400e9


def wall_times(
    rows: Sequence[TableRow], issues: IssueLog
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Put times of day on one axis: half a day back is midnight, smaller steps are issues."""
    calls = [row for row in rows if row.output == 0]
    call_of_row = np.cumsum([row.output == 0 for row in rows], dtype=np.int64) - 1
    flat = np.array([clock_ns(text) for row in calls for text in (row.start, row.end)])
    steps = np.diff(flat, prepend=flat[:1])
    flat = flat + _DAY * np.cumsum(steps < -_DAY / 2)
    back = np.flatnonzero(np.diff(flat, prepend=flat[:1]) < 0)
    if len(back):
        name = calls[int(back[0]) // 2].name
        message = (
            f"the row of {name!r} has a time before the one "
            "printed ahead of it: the clock was set, or rows were reordered"
        )
        issues.warning("clock-steps-back", message)
    return flat[0::2][call_of_row], flat[1::2][call_of_row]


TOTAL_NAME = "Total_time"

_NUMBER = re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?|nan|inf)")
_LIST = re.compile(rf"\[(?:{_NUMBER.pattern}(?:, {_NUMBER.pattern})*)?\]")
_COUNT = re.compile(r"[0-9]{1,18}")
_SHAPE = re.compile(r"\(\)|\([0-9]{1,18},\)|\([0-9]{1,18}(?:, [0-9]{1,18})+\)")
_CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{6}))?")


class TableRow(NamedTuple):
    """One row: one output of one node."""

    name: str
    ops: str
    time_us: float
    percent: float
    shape: tuple[int, ...]
    inputs: int
    outputs: int
    measurements_us: tuple[float, ...]
    start: str
    end: str
    output: int
    cells: tuple[str, ...]


def parse_row(columns: tuple[str, ...], cells: tuple[str, ...]) -> TableRow | None:
    """Read the cells of one row; None if a cell is not of its column's kind."""
    name, ops, time, percent, *clock, shape_text, inputs_text, outputs_text = (
        cells if columns[-1] == "Outputs" else cells[:-1]
    )
    if not (_NUMBER.fullmatch(time) and _NUMBER.fullmatch(percent)):
        return None
    inputs, outputs, shape = _count(inputs_text), _count(outputs_text), _shape(shape_text)
    measurements = () if columns[-1] == "Outputs" else _measurements(cells[-1])
    if inputs is None or outputs is None or shape is None or measurements is None:
        return None
    if any(math.isnan(clock_ns(cell)) for cell in clock):
        return None
    numbers = float(time), float(percent), shape, inputs, outputs, measurements
    start, end = clock or ("", "")
    return TableRow(name, ops, *numbers, start, end, 0, cells)


@lru_cache(maxsize=4096)
def _count(text: str) -> int | None:
    return int(text) if _COUNT.fullmatch(text) else None


@lru_cache(maxsize=4096)
def _shape(text: str) -> tuple[int, ...] | None:
    if not _SHAPE.fullmatch(text):
        return None
    return tuple(int(size) for size in re.findall("[0-9]+", text))


def parse_total(cells: tuple[str, ...]) -> float | None:
    """Return the total in microseconds from the cells of the ``Total_time`` row, or None."""
    others = (*cells[1:2], *cells[3:])
    if cells[:1] != (TOTAL_NAME,) or any(cell != "-" for cell in others):
        return None
    return float(cells[2]) if _NUMBER.fullmatch(cells[2]) else None


def clock_ns(text: str) -> float:
    """Return a time of day such as ``15:24:44.177475`` in nanoseconds, NaN for other texts."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return math.nan
    hours, minutes, seconds, micros = (int(part or 0) for part in match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1e9 + micros * 1e3


def _measurements(text: str) -> tuple[float, ...] | None:
    if not _LIST.fullmatch(text):
        return None
    return tuple([float(part) for part in text[1:-1].split(", ")]) if len(text) > 2 else ()
