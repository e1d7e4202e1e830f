"""The events of an Inspector's table, as the dump that it was made of as far as the table tells.

``EventBlock.to_dataframe`` in devtools/inspector/_inspector.py @ v1.4.1: one row an event of a
block, in the order of the dump, with one time a run in ``raw`` and one start a run in
``start_time`` (from v0.7 on, in unscaled ticks). A table has no instruction ids: calls are numbered
by their rows. What is printed or saved as TSV has neither ``raw`` nor the rows of OPERATOR_CALL.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.executorch.delegate_calls import CALL, EXECUTE, LOADING
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tvmdbg_widgets.formats.executorch.printed_tables import PrintedTable

HEADING: Final = ("event_block_name", "event_name")
_DISPATCH: Final = "OPERATOR_CALL"
_KERNEL: Final = "native_call_"
_FRAMEWORK: Final = (EXECUTE, *LOADING)
_STATISTICS: Final = ("p10", "p50", "p90", "avg", "min", "max")
_STATISTIC: Final = re.compile(r"(p10|p50|p90|avg|min|max)(?: \((\w+)\))?")
#: Nanoseconds of a unit. Of cycles nobody knows: they are drawn as nanoseconds.
_UNITS: Final = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9, "cycles": 1.0}
#: What a tick of start_time may be, in nanoseconds.
_TICKS: Final = (1, 1_000, 1_000_000, 1_000_000_000)
#: How far a recorded event may reach beyond another one that it lies in or before, in nanoseconds.
_SLACK: Final = 1_000
_MOST_NS: Final = 2.0**62
_ABOUT: Final = ("op_types", "module_hierarchy")
_LONGEST: Final = 400
_NOTHING: Final = frozenset(("", "none", "nan", "<na>", "[]", "{}"))
_COMMA: Final = re.compile(r",(?! )")


@dataclass(frozen=True, eq=False)
class EventTable:
    """One table of events.

    Attributes
    ----------
    dump : ETDump
        Calls are numbered by their rows.
    backends : Mapping of (int, int) to str
        The backend of each delegate call, by chain and row.
    about : StringColumn
        Lines of a name, a tab and a text for each event.
    laid : bool
        The starts are not in the table: calls follow each other.
    """

    dump: ETDump
    backends: Mapping[tuple[int, int], str]
    about: StringColumn
    laid: bool


@dataclass(eq=False)
class _Row:
    number: int
    block: str
    name: str
    inner: bool
    backend: str
    times: list[float]
    starts: list[int]
    #: Mean, in nanoseconds, where the times of the runs are not in the table.
    mean: float
    statistics: dict[str, str]
    about: list[tuple[str, str]]
    #: Whether rows are missing before it.
    behind_gap: bool
    call: int = -1

    @property
    def framework(self) -> bool:
        kernel = self.name.startswith(_KERNEL) or self.name in (_DISPATCH, CALL)
        return not (self.inner or kernel)

    @property
    def identifier(self) -> int:
        """The number that a delegate logged the event under; -1 where it is none."""
        digits = self.inner and self.name.isascii() and self.name.isdecimal()
        return int(self.name) if digits and len(self.name) < 10 else -1

    def of(self, run: int) -> float:
        """Nanoseconds in a run that it is of."""
        return self.times[run] if self.times else self.mean


@dataclass(eq=False)
class _Run:
    name: str
    events: list[tuple[_Row, float, float]] = field(default_factory=list)


def events_of(table: PrintedTable, file: str) -> EventTable | None:
    """Return the events of a table; None where no row has a time."""
    issues: list[Issue] = []
    unit, names = _unit(table, file, issues)
    rows = [
        row
        for number, cells in enumerate(table.rows)
        if (row := _row(cells, number, names, _UNITS[unit], gap=number in table.breaks)) is not None
    ]
    if not rows:
        return None
    issues += _lacks(table, rows, file)
    _group(rows)
    single = all(len(row.starts) == 1 or row.times for row in rows)
    if single:
        for row in rows:
            row.times = row.times or [row.mean]
    for row in rows:
        if not row.times:
            row.about += [(name, f"{text} {unit}") for name, text in row.statistics.items()]
    ticks = _tick(rows, unit) if single else 0
    if single and not ticks and any(row.starts for row in rows):
        text = "start_time is left out: the unit of its ticks does not follow from the times"
        issues.append(Issue("start-times-unknown", Severity.NOTE, text, file=file))
    runs = list(_recorded(rows, ticks) if ticks else _laid(rows))
    return EventTable(
        _dump(runs, file, Issues(issues)),
        {(0, row.call): row.backend for row in rows if row.call >= 0 and row.backend},
        StringColumn.from_strings(
            "\n".join(f"{name}\t{text}" for name, text in row.about)
            for run in runs
            for row, _, _ in run.events
        ),
        laid=not ticks,
    )


def _unit(table: PrintedTable, file: str, issues: list[Issue]) -> tuple[str, dict[str, str]]:
    """Return the unit of times, and the column of each statistic."""
    found = {
        match[1]: (column, "us" if match[2] in ("µs", "μs") else match[2])
        for column in table.columns
        if (match := _STATISTIC.fullmatch(column))
    }
    units = {unit for _, unit in found.values() if unit in _UNITS}
    unit = next(iter(units)) if len(units) == 1 else "ms"
    if unit == "cycles":
        text = "times are cycles, drawn as if each took 1 ns: shares hold, durations do not"
        issues.append(Issue("times-in-cycles", Severity.WARNING, text, file=file))
    elif len(units) != 1:
        text = "columns of times name no unit, or several: read as ms, the Inspector's default"
        issues.append(Issue("unit-assumed", Severity.WARNING, text, file=file))
    return unit, {name: column for name, (column, _) in found.items()}


def _row(
    cells: Mapping[str, str], position: int, names: Mapping[str, str], factor: float, *, gap: bool
) -> _Row | None:
    told = {name: cells.get(column, "") for name, column in names.items()}
    times = [value * factor for value in _numbers(cells.get("raw", ""))]
    mean = next((v * factor for v in _numbers(told.get("avg") or told.get("p50", ""))), math.nan)
    every = times or [mean]
    if not all(0 <= each < _MOST_NS for each in every):
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
    return _Row(
        int(number) if number.isascii() and number.isdigit() and len(number) < 10 else position,
        cells["event_block_name"],
        cells["event_name"],
        inner,
        "" if backend.lower() in _NOTHING else backend,
        times,
        [int(each) for each in _numbers(cells.get("start_time", "")) if 0 <= each < _MOST_NS],
        mean,
        {name: text for name, text in told.items() if text},
        about,
        gap,
    )


def _numbers(text: str) -> list[float]:
    """Read a number or a list of them; nothing of a list that was printed in part.

    Python writes a blank behind each comma of a list: others are decimal or part thousands.
    """
    text = text.strip()
    if text.lower() in _NOTHING or "..." in text or len(text) > 1 << 24:
        return []
    if _COMMA.search(text) or ("," in text and not text.startswith("[")):
        return []
    try:
        found = json.loads(text if text.startswith("[") else f"[{text}]")
    except (ValueError, RecursionError):
        return []
    numbers = [each for each in found if type(each) in (int, float)]
    return numbers if len(numbers) == len(found) else []


def _lacks(table: PrintedTable, rows: Sequence[_Row], file: str) -> Iterator[Issue]:
    """Tell what the table does not hold."""
    text = "the Inspector's table has no instruction ids, tensors or metadata of delegates"
    yield Issue("table-of-events", Severity.NOTE, text, file=file)
    without = len(table.rows) - len(rows)
    if without:
        text = f"{counted(without, 'row')} without a time left out"
        yield Issue("rows-without-time", Severity.NOTE, text, file=file)
    if table.left:
        lines = ", ".join(map(str, table.left[:5])) + (", …" if len(table.left) > 5 else "")
        text = f"{counted(len(table.left), 'line')} left out that do not fit the heading: {lines}"
        yield Issue("rows-left-out", Severity.ERROR, text, file=file)
    if table.elided or any(row.name.endswith(("...", "…")) for row in rows):
        text = "parts of the table were printed as '...' and are missing: print it whole, "
        text += "or save it with save_data_to_tsv"
        yield Issue("table-elided", Severity.WARNING, text, file=file)
    twice = sum(a == b for a, b in pairwise(table.rows) if a.get(""))
    if twice:
        text = (
            f"{counted(twice, 'row')} with the number and the cells of the one before: are lines "
        )
        text += "of the text doubled?"
        yield Issue("rows-twice", Severity.WARNING, text, file=file)
    kernels = any(row.name.startswith(_KERNEL) for row in rows)
    if kernels and all(row.name != _DISPATCH for row in rows):
        text = "rows of OPERATOR_CALL are not printed: times of operators are those of their "
        text += "kernels, without the runtime's part of the call"
        yield Issue("kernels-only", Severity.NOTE, text, file=file)
    means = [row for row in rows if not row.times and len(row.starts) != 1]
    if means:
        runs = max(len(row.starts) for row in means)
        of = counted(runs, "run") if runs else "an unknown number of runs"
        text = f"the table has means of {of}: the time of each is in to_dataframe(), column raw"
        yield Issue("means-only", Severity.NOTE, text, file=file)


def _group(rows: Sequence[_Row]) -> None:
    """Number the call of each event: what a call holds stands before it."""
    dispatched = any(row.name == _DISPATCH for row in rows)
    held: list[_Row] = []

    def close(number: int) -> None:
        for each in held:
            each.call = number
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
        if row.name in (CALL, _DISPATCH) or not (row.inner or dispatched):
            close(row.number)
    if held:
        close(held[-1].number)
    _number_alike(rows)


def _number_alike(rows: Sequence[_Row]) -> None:
    """Give blocks that make the same calls the same numbers: they are runs of one program."""
    first: dict[tuple[tuple[str, bool], ...], list[_Row]] = {}
    for own in _blocks(rows):
        alike = first.setdefault(tuple((row.name, row.inner) for row in own), own)
        for row, same in zip(own, alike, strict=True):
            row.call = same.call


def _blocks(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Return the rows of each block.

    Blocks of one name may follow each other, as runs that logged other events do: each execution
    ends with its row of ``Method::execute``.
    """
    blocks: list[list[_Row]] = []
    for row in rows:
        last = blocks[-1][-1] if blocks else None
        if last is None or last.block != row.block or last.name == EXECUTE:
            blocks.append([])
        blocks[-1].append(row)
    return blocks


def _runs(rows: Sequence[_Row]) -> Iterator[tuple[str, int, list[_Row]]]:
    """Yield the name, the number and the rows of each run of each block."""
    for own in _blocks(rows):
        runs: list[list[_Row]] = [[] for _ in range(max(len(row.times) or 1 for row in own))]
        for row in own:
            for each in runs[: len(row.times) or 1]:
                each.append(row)
        for run, found in enumerate(runs):
            yield own[0].block, run, found


def _tick(rows: Sequence[_Row], unit: str) -> int:
    """Return how long a tick of start_time is: the one length with which events fit each other."""
    if any(len(row.starts) < len(row.times) for row in rows):
        return 0
    if unit == "cycles":
        return 1
    fitting = [tick for tick in _TICKS if all(_fits(own, run, tick) for _, run, own in _runs(rows))]
    # Blocks of one event fit every length.
    return fitting[0] if len(fitting) == 1 else 0


def _fits(rows: Sequence[_Row], run: int, tick: int) -> bool:
    spans = {
        row: (row.starts[run] * tick, row.starts[run] * tick + row.of(run))
        for row in rows
        if not row.inner
    }
    slack = _SLACK + tick
    whole = next((span for row, span in spans.items() if row.name == EXECUTE), None)
    if whole is None:
        return True
    calls = [
        span
        for row, span in spans.items()
        if not row.framework and (row.name in (CALL, _DISPATCH) or row.number == row.call)
    ]
    inside = all(whole[0] - slack <= a and b <= whole[1] + slack for a, b in calls)
    return inside and all(a[1] <= b[0] + slack for a, b in pairwise(sorted(calls)))


def _recorded(rows: Sequence[_Row], tick: int) -> list[_Run]:
    """Return the runs where they were recorded, the first first."""
    found = []
    for name, run, own in _runs(rows):
        events = [(row, float(row.starts[run] * tick), row.of(run)) for row in own]
        found.append((min(start for _, start, _ in events), _Run(name, events)))
    return [run for _, run in sorted(found, key=lambda each: each[0])]


def _laid(rows: Sequence[_Row]) -> Iterator[_Run]:
    """Return the runs one behind the other, and in each the calls, which hold their events."""
    now = 0.0
    for name, run, own in _runs(rows):
        begin, placed = now, []
        calls: dict[int, list[_Row]] = {}
        for row in own:
            if not row.framework:
                calls.setdefault(row.call, []).append(row)
        spans: dict[_Row, tuple[float, float]] = {}
        for held in calls.values():
            # Means are no whole nanoseconds; what a call holds must not take longer than it.
            at = now
            for row in held[:-1]:
                spans[row] = (at, math.floor(row.of(run)))
                at += math.floor(row.of(run))
            spans[held[-1]] = (now, math.floor(held[-1].of(run)))
            now += math.floor(held[-1].of(run))
        for row in own:
            # An execution holds its calls, and loading a method its initialization.
            if row.name in (EXECUTE, *LOADING):
                spans[row] = (begin, round(row.of(run)))
                now = max(now, begin + round(row.of(run)))
        for row in own:
            if row not in spans:
                spans[row] = (now, round(row.of(run)))
                now += round(row.of(run))
            placed.append((row, *spans[row]))
        yield _Run(name, placed)


def _dump(runs: Sequence[_Run], file: str, issues: Issues) -> ETDump:
    events = [event for run in runs for event in run.events]
    rows = [row for row, _, _ in events]
    count = len(rows)
    start = np.array([round(at) for _, at, _ in events], np.uint64)
    took = np.array([round(took) for _, _, took in events], np.uint64)
    return ETDump(
        file=file,
        version=0,
        run_names=tuple(run.name for run in runs),
        bundled_input_index=np.full(len(runs), -1, np.int32),
        allocators=((),) * len(runs),
        has_events=np.ones(len(runs), np.bool_),
        run_offsets=np.cumsum([0, *(len(run.events) for run in runs)]),
        kind=np.full(count, EventKind.PROFILE, np.uint8),
        names=StringColumn.from_strings("" if row.inner else row.name for row in rows),
        chain_index=np.array([-1 if row.framework else 0 for row in rows], np.int64),
        instruction_id=np.array([max(0, row.call) for row in rows], np.int64),
        delegate_id_int=np.array([row.identifier for row in rows], np.int64),
        delegate_id_str=StringColumn.from_strings(
            row.name if row.inner and row.identifier < 0 else "" for row in rows
        ),
        start=start,
        end=start + took,
        issues=issues,
        call_word="row",
    )


def with_table(timeline: Timeline | None, table: EventTable | None) -> Timeline | None:
    """Return a timeline with what else the table that it was read from says of its events."""
    if timeline is None or table is None:
        return timeline
    about = timeline.slice_about
    pairs = zip(about or [""] * len(table.about), table.about, strict=True)
    texts = ("\n".join(filter(None, pair)) for pair in pairs)
    return replace(
        timeline,
        slice_about=StringColumn.from_strings(texts),
        synthetic=table.laid,
        clock=SYNTHETIC if table.laid else timeline.clock,
    )
