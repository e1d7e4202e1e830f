"""Numbers and unescaped cells of profiling reports."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, as_float, counted
from tvmdbg_widgets.model.base.text import Issue, IssueLog, Issues, IssueSeverity, one_line
from tvmdbg_widgets.model.timeline.report import Metric, Report

_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_NONE = re.compile(r"([+-]?)(nan|inf|infinity)(?:\([a-z0-9]*\))?", re.IGNORECASE)
_GROUPED = re.compile(
    r"(-?)([0-9]{1,3}(?:[ ,.'\u2019\u00a0\u202f\ufffd][0-9]{3})*|[0-9]+)(?:[.,]([0-9]{2}))?"
)
LONGEST = 400


def parse_number(text: str) -> int | float | None:
    """Read a number as C++ prints it, with ``nan``, ``inf`` and ``nan(ind)``, or None."""
    if len(text) > LONGEST:
        return None
    if _PLAIN.fullmatch(text):
        digits = text.lstrip("+-")
        return int(text) if digits.isascii() and digits.isdigit() else float(text)
    match = _NONE.fullmatch(text)
    if match is None:
        return None
    value = math.nan if match[2].lower() == "nan" else math.inf
    return -value if match[1] == "-" else value


def parse_grouped(text: str, *, decimals: bool) -> int | float | None:
    """Read a number of a printed table with the thousands separators of any locale."""
    match = _GROUPED.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return parse_number(text) if _NONE.fullmatch(text) else None
    sign, integer, fraction = match.groups()
    if (fraction is not None) != decimals:
        return None
    digits = re.sub(r"[^0-9]", "", integer)
    if not decimals:
        return int(sign + digits)
    return float(f"{sign}{digits}.{fraction}")


def fixed_rounding(text: str) -> float:
    """Return half a unit of the last decimal; 0 if the digits give the double exactly."""
    point = text.rfind(".")
    if point < 0 or "e" in text.lower():
        return 0.0
    decimals = len(text) - point - 1
    return 0.0 if decimals not in (2, 6) else 0.5 * 10.0**-decimals


def general_rounding(value: float) -> float:
    """Return half a unit of the sixth significant digit, the default of ``ostream``."""
    if not value or not math.isfinite(value):
        return 0.0
    return 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - 5)


Range = tuple[int, int]
Cells = list[Range | None]

NAME, DURATION, PERCENT, COUNT = "Name", "Duration (us)", "Percent", "Count"

_NUMBERS = (DURATION, PERCENT, COUNT)
DEVICE, SHAPES, HASH = "Device", "Argument Shapes", "Hash"
_TEXTS = (NAME, DEVICE, SHAPES, HASH)
_MOST_LINES = 64
_MOST_QUOTES = 200
#: Columns of ambiguous reports; TVM's have fewer than 50.
_MOST_COLUMNS = 1_000
#: Limit of lines that are joined in vain.
_MOST_IN_VAIN = 64
_BARE = re.compile(r"[^,\"\s]{0,400}(?=,|\Z)")
_CLOSING = re.compile(r'"(?=,|\Z)')


class Cutter:
    """Cuts texts into columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self._last = len(columns) - 1

    def cut(self, text: str) -> Cells | None:
        """Return the cells, None for ambiguous ones; None if the text cannot be cut."""
        plain = self._plain(text)
        if plain is not None:
            return list(plain)
        if '"' not in text or text.count('"') > _MOST_QUOTES or self._last >= _MOST_COLUMNS:
            return None
        closed = {match.end() for match in _CLOSING.finditer(text)}
        starts: list[set[int]] = [{0}]
        for column in self.columns:
            strings = (s for s in starts[-1] if text.startswith('"', s) and column not in _NUMBERS)
            first = min(strings, default=len(text))
            bare = (_bare_end(text, start, column) for start in starts[-1])
            after = {end + 1 for end in closed if end > first + 1}
            starts.append(after.union(end + 1 for end in bare if end is not None))
        live = {len(text) + 1} & starts.pop()
        cells: Cells = []
        for column in reversed(self.columns):
            after = live
            last = max((start - 1 for start in after if start - 1 in closed), default=-1)
            live = set()
            for start in starts.pop():
                if text.startswith('"', start):
                    if column not in _NUMBERS and last > start + 1:
                        live.add(start)
                elif (end := _bare_end(text, start, column)) is not None and end + 1 in after:
                    live.add(start)
            is_known = len(live) == len(after) == 1
            cells.append((min(live), min(after) - 1) if is_known else None)
        return cells[::-1] if live else None

    def rows(
        self, lines: Sequence[str], newline: str = "\n"
    ) -> Iterator[tuple[int, str, Cells | None]]:
        """Yield line numbers, texts and cells of rows; None for lines in no row.

        A line that cannot be cut is joined with the next ones, except with rows of their own.
        """
        at = in_vain = 0
        while at < len(lines):
            text, taken = lines[at], 1
            cells = self.cut(text)
            if cells is None and '"' in text and in_vain < _MOST_IN_VAIN:
                for line in lines[at + 1 : at + _MOST_LINES]:
                    if self.cut(line) is not None:
                        break
                    text, taken = text + newline + line, taken + 1
                    if (cells := self.cut(text) if '"' in line else None) is not None:
                        break
                if cells is None:
                    text, taken = lines[at], 1
                    in_vain += 1
            yield taken, text, cells
            at += taken

    def _plain(self, text: str) -> list[Range] | None:
        """Cut a text whose quotes all belong to cells, which is unambiguous; else None."""
        if text.count(",") < self._last or text.count('"') % 2 or "\n" in text:
            return None
        cells: list[Range] = []
        position = 0
        for column in self.columns:
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
            cells.append((start, end))
            position = end + 1
        return cells if position == len(text) + 1 else None


def _bare_end(text: str, start: int, column: str) -> int | None:
    """Return the end of a cell without quotes: an empty one, or a number."""
    match = _BARE.match(text, start) if start <= len(text) else None
    return match.end() if match is not None and _allowed(match[0], column) else None


def _allowed(cell: str, column: str) -> bool:
    if not cell:
        return True
    if cell.startswith('"'):
        return len(cell) > 1 and column not in _NUMBERS
    return column not in _TEXTS and '"' not in cell and parse_number(cell) is not None


Row = Mapping[str, Metric]
KNOWN = (NAME, DURATION, PERCENT, COUNT, DEVICE, SHAPES, HASH)
#: Value key of each metric class (``src/runtime/profiling.cc @ v0.19.0``, ``Report::AsJSON``).
KINDS = {DURATION: "microseconds", PERCENT: "percent", COUNT: "count"}
_LARGEST_COUNT = 2**63 - 1


def make_report(
    rows: Sequence[Row],
    *,
    form: str,
    file: str,
    rounding_us: Callable[[Metric], float],
    device_metrics: Mapping[str, Row] | None = None,
    configuration: Row | None = None,
    in_call_order: bool = True,
    truncated: bool = False,
    issues: Iterable[Issue] = (),
) -> Report:
    """Make a report of rows of metrics."""
    columns = _ReportColumns(rows, file)
    durations = columns.numbers(DURATION)
    counts = columns.whole(COUNT)
    percents = columns.numbers(PERCENT)
    others = dict.fromkeys(name for row in rows for name in row if name not in KNOWN)
    metrics = {name: tuple(row.get(name) for row in rows) for name in others}
    rounding = [
        rounding_us(row[DURATION]) if DURATION in row and math.isfinite(us) else 0.0
        for row, us in zip(rows, durations, strict=True)
    ]
    report = Report(
        names=columns.strings(NAME),
        duration_ns=np.asarray([us * 1e3 for us in durations], np.float64),
        rounding_ns=np.asarray(rounding, np.float64) * 1e3,
        count=np.asarray(counts, np.int64),
        percent=np.asarray(percents, np.float64),
        devices=columns.strings(DEVICE),
        argument_shapes=columns.strings(SHAPES),
        hashes=columns.strings(HASH),
        metrics=metrics,
        device_metrics=device_metrics or {},
        configuration=configuration or {},
        form=form,
        in_call_order=in_call_order,
        truncated=truncated,
        issues=Issues((*issues, *columns.issues)),
        file=file,
    )
    disagreement = _percents(report)
    if disagreement is not None:
        object.__setattr__(report, "issues", Issues((*report.issues, disagreement)))
    return report


class _ReportColumns:
    def __init__(self, rows: Sequence[Row], file: str) -> None:
        self.rows = rows
        self.issues = IssueLog(file)

    def strings(self, name: str) -> StringColumn:
        """Return the texts of a column, empty where absent or of another kind."""
        return StringColumn.from_strings(self._values(name, "string", _is_text, "", "text"))

    def numbers(self, name: str) -> list[float]:
        """Return the numbers of a column, NaN where absent or of another kind."""
        own = self._values(name, KINDS[name], lambda metric: _fits(metric, name), math.nan)
        return [as_float(each) for each in own]

    def whole(self, name: str) -> list[int]:
        """Return the integers of a column, 0 if absent or of another kind."""
        return self._values(name, f"{KINDS[name]}, at most {_LARGEST_COUNT}", _is_count, 0)

    def _values(
        self,
        name: str,
        kind: str,
        fits: Callable[[Metric], bool],
        absent: Any,
        no: str = "a-number",
    ) -> list[Any]:
        good = [name in row and fits(row[name]) for row in self.rows]
        rows = [i for i, row in enumerate(self.rows) if name in row and not good[i]]
        if rows:
            metric = self.rows[rows[0]][name]
            more = f" ({counted(len(rows), 'such row')})" if len(rows) > 1 else ""
            limit = f" in at most {LONGEST} characters" if len(metric.text) > LONGEST else ""
            text = (
                f"row {rows[0]}: {name!r} is {one_line(f'{metric.kind} {metric.text}'[:60])!r}, "
                f"expected {kind}{limit}; it is left out{more}"
            )
            self.issues.warning(f"metric-not-{no}", text)
        return [
            row[name].value if fit else absent for row, fit in zip(self.rows, good, strict=True)
        ]


def _is_text(metric: Metric) -> bool:
    return isinstance(metric.value, str)


def _fits(metric: Metric, name: str) -> bool:
    numeric = isinstance(metric.value, int | float) and not isinstance(metric.value, bool)
    return numeric and metric.kind in (KINDS[name], "text")


def _is_count(metric: Metric) -> bool:
    value: Any = metric.value
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer and 0 <= value <= _LARGEST_COUNT


def _percents(report: Report) -> Issue | None:
    """Compare the percents with the durations over the largest device total, as in TVM."""
    totals = [ns for ns in report.device_ns.values() if math.isfinite(ns) and ns > 0]
    if not totals or not len(report):
        return None
    total = max(totals)
    with np.errstate(invalid="ignore", over="ignore"):
        computed = report.duration_ns / total * 100
        slack = 0.0051 * np.maximum(report.count, 1) + report.rounding_ns / total * 100
        apart = np.flatnonzero(np.abs(report.percent - computed) > slack + 1e-6 * np.abs(computed))
    if not len(apart):
        return None
    first = int(apart[0])
    text = (
        f"{len(apart)} of {counted(len(report), 'percent')} {agree(len(apart), 'is')} not the "
        "row's time over the largest device "
        f"total ({total / 1e3:.9g} µs): row {first} says {report.percent[first]:.9g} %, its time "
        f"gives {computed[first]:.9g} %; the report's own is kept"
    )
    return Issue("percent-disagrees", IssueSeverity.WARNING, text, file=report.file)
