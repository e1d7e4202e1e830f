"""The debugger's execution trace, ``_tvmdbg_execution_trace.json``.

``python/tvm/contrib/debugger/debug_result.py`` @ v0.6.0 … v0.19.0 writes one B and one E event per
node, in node order, parameters included with zero duration. ``ts`` is in microseconds although
``displayTimeUnit`` says ns. The times are means (up to v0.8 the one measured repeat) laid end to
end, not observed starts. Names are node names and repeat, so events are paired by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.decimals import DecimalText, Wrong, nanoseconds
from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tvm.times_text import (
    FIELDS,
    TraceEvents,
    decode,
    load_events,
    peek_events,
    plain_events,
)
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import as_float, counted
from tvmdbg_widgets.model.base.text import FormatError, IssueLog, Issues, IssueSeverity, paired
from tvmdbg_widgets.sources.byte_source import ByteSource

_ERROR, _WARNING = IssueSeverity.ERROR, IssueSeverity.WARNING
_OTHER_KIND = (
    "The debugger's trace holds only B and E events, one after the other, with exactly the fields "
    "ts, tid, pid, name and ph; a Chrome trace of another program is another format."
)


@dataclass(frozen=True, eq=False)
class Trace:
    """An execution trace, P pairs of B and E events."""

    names: StringColumn
    start_us: npt.NDArray[np.float64]
    end_us: npt.NDArray[np.float64]
    start_ns: npt.NDArray[np.float64]
    duration_ns: npt.NDArray[np.float64]
    truncated: bool
    issues: Issues
    file: str

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        issues = f"; {self.issues.summary()}" if len(self.issues) else ""
        cut = ", cut off" if self.truncated else ""
        return f"Trace: {counted(len(self), 'pair')} of events from {self.file}{cut}{issues}"


def sniff(head: bytes) -> bool:
    """Return whether a file is a debugger's trace: B and E events with exactly its five fields."""
    events = peek_events(decode(head, "")[0])
    return events is not None and all(map(_is_own, events)) and not _nest(events)


def _is_own(event: Any) -> bool:
    return isinstance(event, dict) and event.keys() == FIELDS and event["ph"] in ("B", "E")


def _nest(events: list[dict[str, Any]]) -> bool:
    """Return whether an E event closes, by name, a B event with others inside."""
    opened: list[Any] = []
    inside = 0  # how many of the last closed events stood inside the open ones
    for event in events:
        if event["ph"] == "B":
            opened.append(event["name"])
            inside = 0
        elif opened and opened[-1] == event["name"]:
            opened.pop()
            if inside:
                return True
            inside = 1
    return False


def read_trace(source: ByteSource) -> Trace:
    """Read an execution trace; a B event without its E keeps its place with a NaN end."""
    data = source.read(0, source.size)
    checker = _Checker(source.name)
    issues, cut = checker.issues, False
    if (plain := plain_events(data)) is not None:
        events, unit = plain
    else:
        text, problems = decode(data, source.name)
        listed, unit, broken = load_events(text, source.name)
        cut = broken is not None
        issues += [*problems, *([broken] if broken else [])]
        events = checker.columns(listed)
    if unit not in ("ns", None):
        note = f"displayTimeUnit is {str(unit)[:40]!r}, TVM writes 'ns'; ts is read as microseconds"
        issues.warning("display-time-unit", f"{note} either way")
    times = np.asarray([as_float(value) for value in events.times], np.float64)
    if len(events.tracks) > 1:
        text = (
            f"events carry {counted(len(events.tracks), 'pair')} of pid and tid, TVM writes one; "
            "all are read as one track"
        )
        issues.warning("several-tracks", text)
    what = "ts is not a finite number; its slice is left out"
    checker.report("time-not-finite", _ERROR, np.flatnonzero(~np.isfinite(times)), what)
    start, end = checker.pair(events.names, events.begins)
    trace_names = checker.readable_names([events.names[i] for i in start.tolist()])
    start_us = times[start]
    end_us = np.where(end >= 0, times[end], np.nan) if len(end) else np.zeros(0)
    checker.check_times(start_us, end_us, start)
    start_ns, duration_ns = _exact(events.times, start, end)
    return Trace(
        trace_names, start_us, end_us, start_ns, duration_ns, cut, Issues(issues), source.name
    )


def _exact(
    values: Sequence[Any], start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return starts and durations in nanoseconds from the digits of the file."""
    read = nanoseconds(values)
    rest = np.zeros(len(values)) if read.rest is None else read.rest
    good = read.wrong[start] == Wrong.NO
    origin = read.whole[start][good].min() if good.any() else 0
    begin = np.where(good, (read.whole[start] - origin) + rest[start], np.nan)
    good &= (end >= 0) & (read.wrong[end] == Wrong.NO)
    length = (read.whole[end] - read.whole[start]) + (rest[end] - rest[start])
    return begin, np.where(good, length, np.nan)


class _Checker:
    def __init__(self, file: str) -> None:
        self.file = file
        self.issues = IssueLog(file)

    def report(self, rule: str, severity: IssueSeverity, indices: Any, what: str) -> None:
        """Add one issue for all events of a rule, if there are any."""
        if len(indices):
            more = f" ({counted(len(indices), 'such event')})" if len(indices) > 1 else ""
            self.issues.add(rule, severity, f"traceEvents[{indices[0]}]: {what}{more}")

    def columns(self, events: list[Any]) -> TraceEvents:
        """Check the fields of all events, and return them by field."""
        names: list[str] = []
        times: list[Any] = []
        begins: list[bool] = []
        tracks: set[tuple[int | str, int | str]] = set()
        for index, event in enumerate(events):
            if not _is_own(event):
                raise self.refuse(index, event)
            names.append(self.field(index, event, "name", str))
            times.append(self.field(index, event, "ts", float, int, DecimalText))
            begins.append(event["ph"] == "B")
            pid, tid = (self.field(index, event, name, int, str) for name in ("pid", "tid"))
            tracks.add((pid, tid))
        return TraceEvents(names, times, begins, tracks)

    def field(self, index: int, event: dict[str, Any], name: str, *kinds: type) -> Any:
        """Return a field of an event; FormatError if it has another JSON type."""
        value = event[name]
        if type(value) not in kinds:
            raise FormatError(
                "the field has the wrong type",
                file=self.file,
                field=f"traceEvents[{index}].{name}",
                expected=" or ".join(kind.__name__ for kind in kinds if kind is not DecimalText),
                found=repr(value)[:80],
            )
        return value

    def refuse(self, index: int, event: Any) -> FormatError:
        """Return the error for an event that the debugger does not write."""
        if isinstance(event, dict) and event.keys() == FIELDS:
            content = f"ph {str(event['ph'])[:40]!r}"
        elif isinstance(event, dict):
            content = "fields " + ", ".join(sorted(str(key)[:40] for key in event)[:20])
        else:
            content = type(event).__name__
        return FormatError(
            "this event is not one the debugger writes",
            file=self.file,
            field=f"traceEvents[{index}]",
            expected="ph 'B' or 'E' and the fields ts, tid, pid, name, ph",
            found=content,
            hint=_OTHER_KIND,
        )

    def pair(
        self, names: Sequence[str], begins: Sequence[bool]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Pair events by position: indices of the B and of the E events, -1 for a missing E."""
        begin = np.asarray(begins, np.bool_)
        start = np.flatnonzero(begin)
        closes = ~np.append(begin, True)[start + 1]
        end = np.where(closes, start + 1, -1)
        lone = start[~closes]
        inside = begin.copy()
        inside[end[closes]] = True
        lone_ends = np.flatnonzero(~inside)
        if len(lone) and len(lone) == len(lone_ends):
            raise FormatError(
                "B and E events are nested or out of order",
                file=self.file,
                field=f"traceEvents[{lone[0]}]",
                expected="an E event right after each B event",
                found="a B event that is closed elsewhere",
                hint=_OTHER_KIND,
            )
        self.report("end-missing", _ERROR, lone, "B event without its E event")
        self.report("begin-missing", _ERROR, lone_ends, "E event without its B event")
        both = start[closes].tolist()
        differ = [at for at in both if names[at] != names[at + 1]]
        self.report("names-differ", _ERROR, differ, "its E event has another name; paired by place")
        return start, end

    def readable_names(self, names: list[str]) -> StringColumn:
        """Return the names as a column, lone surrogates replaced by U+FFFD."""
        column = StringColumn.from_strings(names)
        with suppress(UnicodeEncodeError):
            "".join(column.unique).encode()
            return column
        clean = tuple(map(paired, column.unique))
        self.issues.warning("not-text", "a name holds half of a surrogate pair, shown as U+FFFD")
        return StringColumn(clean, column.codes)

    def check_times(
        self,
        start: npt.NDArray[np.float64],
        end: npt.NDArray[np.float64],
        index: npt.NDArray[np.int64],
    ) -> None:
        """Report pairs that run backwards or into the next one by more than rounding."""
        finite = np.isfinite(start) & np.isfinite(end)
        start, end, index = start[finite], end[finite], index[finite]
        backwards = index[end < start]
        self.report("ends-before-start", _ERROR, backwards, "ends before it starts; left out")
        slack = 8 * np.spacing(np.abs(end).max()) if len(end) else 0.0
        early = index[1:][start[1:] < end[:-1] - slack]
        what = "starts before the previous slice ends, which slices back to back do not"
        self.report("slices-overlap", _WARNING, early, what)


KIND = Kind("trace", "execution trace", sniff, read_trace, "trace", pasted=True)
