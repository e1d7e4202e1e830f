"""The events of an Inspector's table, as the dump that it was made of as far as the table tells.

They are placed where they were recorded, if the unit of ``start_time`` follows from the times;
else calls stand back to back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import numpy as np

from tvmdbg_widgets.formats.executorch.inspector_rows import (
    DISPATCH,
    MOST_NS,
    InspectorRow,
    rows_of,
    runs_of,
)
from tvmdbg_widgets.formats.executorch.printed_tables import PrintedTable
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.executorch.delegate_calls import CALL, EXECUTE, LOADING
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.timeline.timeline import SYNTHETIC, Timeline

#: What a tick of start_time may be, in nanoseconds.
_TICKS: Final = (1, 1_000, 1_000_000, 1_000_000_000)
#: How far a recorded event may reach beyond another one that it lies in or before, in nanoseconds.
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
    """Return the events of a table; None where no row has a time."""
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
    runs = list(_recorded(rows, ticks) if ticks else _laid(rows))
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
    """Return how long a tick of start_time is: the one length with which events fit each other."""
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
    whole = next((span for row, span in spans.items() if row.name == EXECUTE), None)
    if whole is None:
        return True
    calls = [
        span
        for row, span in spans.items()
        if not row.framework and (row.name in (CALL, DISPATCH) or row.number == row.call)
    ]
    inside = all(whole[0] - slack <= a and b <= whole[1] + slack for a, b in calls)
    return inside and all(a[1] <= b[0] + slack for a, b in pairwise(sorted(calls)))


def _recorded(rows: Sequence[InspectorRow], tick: int) -> list[_Run]:
    found: list[tuple[float, _Run]] = []
    for name, run, own in runs_of(rows):
        # Whole numbers: a clock that counts from 1970 has more digits than a float.
        events: list[tuple[InspectorRow, float, float]] = [
            (row, row.starts[run] * tick, row.of(run)) for row in own
        ]
        found.append((min(start for _, start, _ in events), _Run(name, events)))
    return [run for _, run in sorted(found, key=lambda each: each[0])]


def _laid(rows: Sequence[InspectorRow]) -> Iterator[_Run]:
    """Return the runs one behind the other, and in each the calls, which hold their events."""
    now = 0.0
    for name, run, own in runs_of(rows):
        begin, placed = now, []
        calls: dict[int, list[InspectorRow]] = {}
        for row in own:
            if not row.framework:
                calls.setdefault(row.call, []).append(row)
        spans: dict[InspectorRow, tuple[float, float]] = {}
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


def with_table(timeline: Timeline | None, table: PrintedEventTable | None) -> Timeline | None:
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
