"""The rows of an Inspector's table, and the call that each belongs to.

``EventBlock.to_dataframe`` in devtools/inspector/_inspector.py @ v1.4.1: one row an event of a
block, in the order of the dump, with one time a run in ``raw`` and one start a run in
``start_time`` (from v0.7 on, in unscaled ticks). A table has no instruction ids: calls are numbered
by their rows. Printed tables and TSV have neither ``raw`` nor the rows of OPERATOR_CALL.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tvmdbg_widgets.formats.executorch.printed_tables import PrintedTable
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issue, IssueSeverity, one_line
from tvmdbg_widgets.model.executorch.etdump import CALL, EXECUTE

HEADING: Final = ("event_block_name", "event_name")
DISPATCH: Final = "OPERATOR_CALL"
#: Above every time of a clock and their sums.
MOST_NS: Final = 1 << 62
_KERNEL: Final = "native_call_"
_STATISTIC: Final = re.compile(r"(p10|p50|p90|avg|min|max)(?: \((\w+)\))?")
#: Nanoseconds of a unit; cycles are drawn as nanoseconds.
_UNITS: Final = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "cycles": 1.0}
_ABOUT: Final = ("op_types", "module_hierarchy")
_LONGEST: Final = 400
_NOTHING: Final = frozenset(("", "none", "nan", "<na>", "[]", "{}"))
_COMMA: Final = re.compile(r",(?! )")


@dataclass(eq=False)
class InspectorRow:
    """One event of a block, in all its runs; times in nanoseconds."""

    number: int
    block: str
    name: str
    inner: bool
    backend: str
    times: list[float]
    starts: list[int]
    #: Mean in nanoseconds, if the table lacks the times of the runs.
    mean: float
    statistics: dict[str, str]
    about: list[tuple[str, str]]
    #: Whether rows are missing before it.
    behind_gap: bool
    call: int = -1

    @property
    def framework(self) -> bool:
        """Whether the event is the runtime's own, of no call."""
        kernel = self.name.startswith(_KERNEL) or self.name in (DISPATCH, CALL)
        return not (self.inner or kernel)

    @property
    def identifier(self) -> int:
        """The delegate's number of the event, or -1."""
        digits = self.inner and self.name.isascii() and self.name.isdecimal()
        return int(self.name) if digits and len(self.name) < 10 else -1

    def of(self, run: int) -> float:
        """Return the nanoseconds of a run."""
        return self.times[run] if self.times else self.mean


def rows_of(table: PrintedTable, file: str) -> tuple[list[InspectorRow], str, list[Issue]]:
    """Return the rows of a table that have a time, the unit of times, and what the table lacks."""
    issues: list[Issue] = []
    unit, names = _unit(table, file, issues)
    read = (
        _row(cells, number, names, _UNITS[unit], gap=number in table.breaks)
        for number, cells in enumerate(table.rows)
    )
    rows = [row for row in read if row is not None]
    if sum(sum(row.times) or row.mean for row in rows) >= MOST_NS:
        return [], unit, issues
    if rows:
        issues += _lacks(table, rows, file)
        _group(rows)
    return rows, unit, issues


def _unit(table: PrintedTable, file: str, issues: list[Issue]) -> tuple[str, dict[str, str]]:
    columns = {
        match[1]: (column, "us" if match[2] in ("µs", "μs") else match[2])
        for column in table.columns
        if (match := _STATISTIC.fullmatch(column))
    }
    units = {unit for _, unit in columns.values() if unit in _UNITS}
    unit = next(iter(units)) if len(units) == 1 else "ms"
    if unit == "cycles":
        text = "times are cycles, drawn as if each took 1 ns: shares hold, durations do not"
        issues.append(Issue("times-in-cycles", IssueSeverity.WARNING, text, file=file))
    elif len(units) != 1:
        text = "columns of times name no unit, or several: read as ms, the Inspector's default"
        issues.append(Issue("unit-assumed", IssueSeverity.WARNING, text, file=file))
    return unit, {name: column for name, (column, _) in columns.items()}


def _row(
    cells: Mapping[str, str], position: int, names: Mapping[str, str], factor: float, *, gap: bool
) -> InspectorRow | None:
    texts = {name: cells.get(column, "") for name, column in names.items()}
    times = [value * factor for value in _numbers(cells.get("raw", ""))]
    mean = next((v * factor for v in _numbers(texts.get("avg") or texts.get("p50", ""))), math.nan)
    every = times or [mean]
    if not all(0 <= time < MOST_NS for time in every):
        return None
    identifier = cells.get("delegate_debug_identifier", "")
    inner = cells.get("is_delegated_op", "").lower() == "true"
    inner = inner or identifier.lower() not in _NOTHING
    backend = cells.get("delegate_backend_name", "")
    number = cells.get("", "")
    about = [
        (column.replace("_", " "), one_line(cells[column])[:_LONGEST])
        for column in _ABOUT
        if cells.get(column, "").lower() not in _NOTHING
    ]
    return InspectorRow(
        int(number) if number.isascii() and number.isdigit() and len(number) < 10 else position,
        cells["event_block_name"],
        cells["event_name"],
        inner,
        "" if backend.lower() in _NOTHING else backend,
        times,
        [int(time) for time in _numbers(cells.get("start_time", "")) if 0 <= time < MOST_NS],
        mean,
        {name: text for name, text in texts.items() if text},
        about,
        gap,
    )


def _numbers(text: str) -> list[float]:
    """Read a number or a list of them; empty if cut, or with other commas than Python's."""
    text = text.strip()
    if text.lower() in _NOTHING or "..." in text or len(text) > 1 << 24:
        return []
    if _COMMA.search(text) or ("," in text and not text.startswith("[")):
        return []
    try:
        numbers = json.loads(text if text.startswith("[") else f"[{text}]")
    except (ValueError, RecursionError):
        return []
    if any(type(number) not in (int, float) for number in numbers):
        return []
    return [number if abs(number) < MOST_NS else math.inf for number in numbers]


def _lacks(table: PrintedTable, rows: Sequence[InspectorRow], file: str) -> Iterator[Issue]:
    text = "the Inspector's table has no instruction ids, tensors or metadata of delegates"
    yield Issue("table-of-events", IssueSeverity.NOTE, text, file=file)
    without = len(table.rows) - len(rows)
    if without:
        text = f"{counted(without, 'row')} without a time left out"
        yield Issue("rows-without-time", IssueSeverity.NOTE, text, file=file)
    if table.left:
        lines = ", ".join(map(str, table.left[:5])) + (", …" if len(table.left) > 5 else "")
        text = f"{counted(len(table.left), 'line')} left out that do not fit the heading: {lines}"
        yield Issue("rows-left-out", IssueSeverity.ERROR, text, file=file)
    if table.elided or any(row.name.endswith(("...", "…")) for row in rows):
        text = "parts of the table were printed as '...' and are missing: print all of it, "
        text += "or save it with save_data_to_tsv"
        yield Issue("table-elided", IssueSeverity.WARNING, text, file=file)
    twice = sum(a == b for a, b in pairwise(table.rows) if a.get(""))
    if twice:
        text = f"{counted(twice, 'row')} with the number and the cells of the one before: are "
        text += "lines of the text doubled?"
        yield Issue("rows-twice", IssueSeverity.WARNING, text, file=file)
    kernels = any(row.name.startswith(_KERNEL) for row in rows)
    if kernels and all(row.name != DISPATCH for row in rows):
        text = "rows of OPERATOR_CALL are not printed: times of operators are those of their "
        text += "kernels, without the runtime's part of the call"
        yield Issue("kernels-only", IssueSeverity.NOTE, text, file=file)
    means = [row for row in rows if not row.times and len(row.starts) != 1]
    if means:
        runs = max(len(row.starts) for row in means)
        of = counted(runs, "run") if runs else "an unknown number of runs"
        text = f"the table has means of {of}: the time of each is in to_dataframe(), column raw"
        yield Issue("means-only", IssueSeverity.NOTE, text, file=file)


def _group(rows: Sequence[InspectorRow]) -> None:
    """Number the call of each event: its events stand before it."""
    dispatched = any(row.name == DISPATCH for row in rows)
    held: list[InspectorRow] = []

    def close(number: int) -> None:
        for own in held:
            own.call = number
        held.clear()

    for row in rows:
        if held:
            inner = row.inner or row.name == CALL
            fits = not row.framework and row.block == held[0].block and inner == held[0].inner
            if row.behind_gap or not fits:
                close(held[-1].number)
        if row.framework:
            continue
        held.append(row)
        if row.name in (CALL, DISPATCH) or not (row.inner or dispatched):
            close(row.number)
    if held:
        close(held[-1].number)
    _number_equal_blocks(rows)


def _number_equal_blocks(rows: Sequence[InspectorRow]) -> None:
    """Give blocks that make the same calls the same numbers: they are runs of one program."""
    first: dict[tuple[tuple[str, bool], ...], list[InspectorRow]] = {}
    for own in _blocks(rows):
        twin = first.setdefault(tuple((row.name, row.inner) for row in own), own)
        for row, same in zip(own, twin, strict=True):
            row.call = same.call


def _blocks(rows: Sequence[InspectorRow]) -> list[list[InspectorRow]]:
    """Split rows into blocks; a block also ends with its row of ``Method::execute``."""
    blocks: list[list[InspectorRow]] = []
    for row in rows:
        last = blocks[-1][-1] if blocks else None
        if last is None or last.block != row.block or last.name == EXECUTE:
            blocks.append([])
        blocks[-1].append(row)
    return blocks


def runs_of(rows: Sequence[InspectorRow]) -> Iterator[tuple[str, int, list[InspectorRow]]]:
    """Yield name, number and rows of each run of each block."""
    for own in _blocks(rows):
        for run in range(max(len(row.times) or 1 for row in own)):
            yield own[0].block, run, [row for row in own if run < (len(row.times) or 1)]
