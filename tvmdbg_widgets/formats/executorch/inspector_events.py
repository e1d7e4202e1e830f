"""The events of an Inspector's table, as a dump with as much as the table has.

Events have their recorded starts if the unit of ``start_time`` follows from the times; else calls
stand back to back.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import numpy as np

from tvmdbg_widgets.formats.executorch.inspector_rows import (
    DISPATCH,
    HEADING,
    MOST_NS,
    InspectorRow,
    rows_of,
    runs_of,
)
from tvmdbg_widgets.formats.executorch.printed_tables import PrintedTable, printed_tables
from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.pasted.readings import readings
from tvmdbg_widgets.formats.tvm.times_text import read_text
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.executorch.etdump import CALL, EXECUTE, LOADING, ETDump, EventKind
from tvmdbg_widgets.model.executorch.event_nodes import DelegationInfo
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, Timeline
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Possible ticks of start_time, in nanoseconds.
_TICKS: Final = (1, 1_000, 1_000_000, 1_000_000_000)
#: Nanoseconds that an event may reach into the next one, or beyond the one around it.
_SLACK: Final = 1_000


@dataclass(frozen=True, eq=False)
class PrintedEventTable:
    """One table of events."""

    dump: ETDump
    backends: Mapping[tuple[int, int], str]
    about: StringColumn
    laid: bool


@dataclass(eq=False)
class _Run:
    name: str
    events: list[tuple[InspectorRow, float, float]] = field(default_factory=list)


def events_of(table: PrintedTable, file: str) -> PrintedEventTable | None:
    """Return the events of a table, or None if no row has a time."""
    rows, unit, issues = rows_of(table, file)
    if not rows:
        return None
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
        issues.append(Issue("start-times-unknown", IssueSeverity.NOTE, text, file=file))
    runs = _recorded(rows, ticks) if ticks else list(_laid(rows))
    return PrintedEventTable(
        _dump(runs, file, Issues(issues)),
        {(0, row.call): row.backend for row in rows if row.call >= 0 and row.backend},
        StringColumn.from_strings(
            "\n".join(f"{name}\t{text}" for name, text in row.about)
            for run in runs
            for row, _, _ in run.events
        ),
        laid=not ticks,
    )


def _tick(rows: Sequence[InspectorRow], unit: str) -> int:
    """Return the tick of start_time in ns, 0 unless exactly one makes the events fit each other."""
    if any(len(row.starts) < len(row.times) for row in rows):
        return 0
    if unit == "cycles":
        return 1
    fitting = [
        tick for tick in _TICKS if all(_fits(own, run, tick) for _, run, own in runs_of(rows))
    ]
    # Blocks of one event fit every length.
    return fitting[0] if len(fitting) == 1 else 0


def _fits(rows: Sequence[InspectorRow], run: int, tick: int) -> bool:
    spans = {
        row: (row.starts[run] * tick, row.starts[run] * tick + row.of(run))
        for row in rows
        if not row.inner
    }
    if max((begin + tick for begin, _ in spans.values()), default=0) >= MOST_NS:
        return False
    slack = _SLACK + tick
    execution = next((span for row, span in spans.items() if row.name == EXECUTE), None)
    if execution is None:
        return True
    calls = [
        span
        for row, span in spans.items()
        if not row.framework and (row.name in (CALL, DISPATCH) or row.number == row.call)
    ]
    inside = all(execution[0] - slack <= a and b <= execution[1] + slack for a, b in calls)
    return inside and all(a[1] <= b[0] + slack for a, b in pairwise(sorted(calls)))


def _recorded(rows: Sequence[InspectorRow], tick: int) -> list[_Run]:
    # Integers: a clock that counts from 1970 has more digits than a float.
    recorded = [
        _Run(name, [(row, row.starts[run] * tick, row.of(run)) for row in own])
        for name, run, own in runs_of(rows)
    ]
    return sorted(recorded, key=lambda run: min(start for _, start, _ in run.events))


def _laid(rows: Sequence[InspectorRow]) -> Iterator[_Run]:
    """Lay out the runs one after the other, and the calls of each, which hold their events."""
    now = 0.0
    for name, run, own in runs_of(rows):
        begin, placed = now, []
        calls: dict[int, list[InspectorRow]] = {}
        for row in own:
            if not row.framework:
                calls.setdefault(row.call, []).append(row)
        spans: dict[InspectorRow, tuple[float, float]] = {}
        for held in calls.values():
            # Means are fractional; the events of a call must not take longer than it.
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


def with_table(timeline: Timeline | None, table: PrintedEventTable | None) -> Timeline | None:
    """Add a table's further columns to the timeline that was read from it."""
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


_COUNTS: Final = ("occurrences_in_delegated_graphs", "occurrences_in_non_delegated_graphs")
#: A report of one project names its columns so.
_SHORT: Final = ("delegated", "non_delegated")
_GROUPED: Final = r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?![\w,.]{0,9}\d)"
_SUMMARY: Final = {
    "subgraphs": re.compile(r"Total {1,3}delegated {1,3}subgraphs: {1,9}" + _GROUPED),
    "delegated": re.compile(r"Number {1,3}of {1,3}delegated {1,3}nodes: {1,9}" + _GROUPED),
    "non_delegated": re.compile(r"Number {1,3}of {1,3}non-delegated {1,3}nodes: {1,9}" + _GROUPED),
}
_COUNT: Final = re.compile(r"(\d{1,3}(?:,\d{3}){1,3}|\d{1,12})(?:\.0)?", re.ASCII)
_BETWEEN: Final = rb"[\"']?(?:[ \t\r\n,;|]|\xe2\x94\x82|</?th>){1,200}[\"']?"
_SNIFFED: Final = re.compile(
    rb"event_block_name" + _BETWEEN + rb"(?:event_name|\.\.\.)"
    rb"|op_type" + _BETWEEN + rb"occurrences_in_(?:non_)?delegated_graphs"
    rb"|Total {1,3}delegated {1,3}subgraphs: {1,9}\d"
)
_JSON: Final = re.compile(
    rb"\s{0,99}(?:\[\s{0,99})?\{\s{0,99}"
    rb"\"(?:event_block_name|op_type(?=(?s:.{1,4000})occurrences_in_))\"\s{0,9}:"
)
_COLUMN: Final = "occurrences_in_"
#: Lines of logs begin with brackets too.
_OPENS: Final = re.compile(rb"\s{0,99}\[\s{0,99}[\[{\"\d]")
_HINT: Final = "Save it with save_data_to_tsv, or with its data frame's to_csv, and open that file."


@dataclass(frozen=True, eq=False)
class InspectorText:
    """The contents of a text of ExecuTorch's developer tools."""

    tables: tuple[PrintedEventTable, ...]
    delegation: DelegationInfo | None
    issues: Issues


def sniff(head: bytes) -> bool:
    """Return whether a text has a heading of ExecuTorch's tables, or its summary of delegation."""
    if head.lstrip()[:1] == b"{" or _OPENS.match(head) is not None:
        return _JSON.match(head) is not None
    return _SNIFFED.search(head) is not None


def read_inspector_text(source: ByteSource) -> InspectorText:
    """Read the tables of a text."""
    text, issues = read_text(source)
    text_tables = _read(text, source.name, issues)
    lost = _unread_table(text, text_tables)
    if text_tables is None or lost:
        for inner, cleaned in readings(source):
            note = f"pasted text: {cleaned.notes or 'rows put together'}"
            notes = [*issues, Issue("pasted-text", IssueSeverity.NOTE, note, file=source.name)]
            other = _read(read_text(inner)[0], source.name, notes)
            if other is not None and (text_tables is None or not _unread_table(text, other)):
                text_tables, lost = other, ""
                break
    if text_tables is None:
        word = next((name for name in (HEADING[0], _COUNTS[0]) if name in text), "")
        line = text.count("\n", 0, text.find(word)) + 1
        there = "a heading without event_name, or one that looks like its rows"
        for table in printed_tables(text, HEADING)[:1]:
            rows, left = counted(len(table.rows), "row"), counted(len(table.left), "line")
            line, there = table.line, f"{rows} without times, and {left} unlike the heading"
        raise FormatError(
            "there is a heading of ExecuTorch's tables, but no row that can be read",
            file=source.name,
            field=f"line {line}",
            expected="rows of the heading's columns, with times",
            found=there,
            hint=_HINT,
        )
    if lost:
        issue = Issue("delegation-table-unread", IssueSeverity.WARNING, lost, file=source.name)
        text_tables = replace(text_tables, issues=Issues([*text_tables.issues, issue]))
    return text_tables


def _unread_table(text: str, tables: InspectorText | None) -> str:
    """Return the message for a heading of operators without readable rows, or ""."""
    at = text.find(_COLUMN)
    if tables is None or tables.delegation is None or tables.delegation.operators or at < 0:
        return ""
    line = text.count("\n", 0, at) + 1
    return f"the table of operators whose heading is in line {line:,} cannot be read: left out"


def _read(text: str, file: str, issues: list[Issue]) -> InspectorText | None:
    printed = printed_tables(text, HEADING)
    tables = [events for table in printed if (events := events_of(table, file)) is not None]
    delegation, problems = _delegation(text, file)
    if not tables and delegation is None:
        return None
    return InspectorText(tuple(tables), delegation, Issues([*issues, *problems]))


def _delegation(text: str, file: str) -> tuple[DelegationInfo | None, list[Issue]]:
    totals: dict[str, int] = {}
    for name, pattern in _SUMMARY.items():
        counts = [int(match[1].replace(",", "")) for match in pattern.finditer(text)]
        if counts:
            totals[name] = counts[-1]
    names = _COUNTS
    tables = printed_tables(text, ("op_type", *names))
    if not tables and totals:
        names = _SHORT
        tables = printed_tables(text, ("op_type", *names))
    if not totals and not tables:
        return None, []
    operators = _operators(tables[-1], names) if tables else {}
    left = len(tables[-1].rows) - len(operators) if tables else 0
    total = operators.pop("Total", None)
    issues = []
    if left:
        text = f"{counted(left, 'row')} of the table of operators left out: without two counts, or "
        text += "of an operator listed twice"
        issues.append(Issue("delegation-incomplete", IssueSeverity.WARNING, text, file=file))
    if len(tables) > 1:
        text = f"{len(tables)} tables of delegation; the last is shown"
        issues.append(Issue("more-than-one", IssueSeverity.NOTE, text, file=file))
    if total is not None:
        stated = (totals.get("delegated", total[0]), totals.get("non_delegated", total[1]))
        totals["delegated"], totals["non_delegated"] = stated
        if stated != total:
            text = f"the summary counts {stated[0]:,} and {stated[1]:,} nodes, the row Total of "
            text += f"its table {total[0]:,} and {total[1]:,}: are they of two programs?"
            issues.append(Issue("delegation-disagrees", IssueSeverity.WARNING, text, file=file))
    info = DelegationInfo(operators=operators, **totals)
    if operators and not info.complete:
        text = "the rows of the table do not add up to the counts of nodes: rows are missing"
        issues.append(Issue("delegation-incomplete", IssueSeverity.WARNING, text, file=file))
    return info, issues


def _operators(table: PrintedTable, names: Sequence[str]) -> dict[str, tuple[int, int]]:
    counts: dict[str, tuple[int, int]] = {}
    for row in table.rows:
        a, b = (_COUNT.fullmatch(row[name]) for name in names)
        if a is not None and b is not None:
            counts[row["op_type"]] = (int(a[1].replace(",", "")), int(b[1].replace(",", "")))
    return counts


KIND = Kind(
    "inspector-text",
    "table of ExecuTorch's Inspector",
    sniff,
    read_inspector_text,
    "inspector-text",
)
