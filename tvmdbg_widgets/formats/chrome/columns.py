"""Events of a Chrome trace as columns, whatever program wrote them."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.chrome.tracks import TrackNames
from tvmdbg_widgets.formats.decimals import DecimalText, Wrong, nanoseconds

#: Phases of the trace event format ("Trace Event Format", Google, 2016) that make intervals.
INTERVALS = frozenset("XBE")
INSTANTS = frozenset(("i", "I", "R"))
ASYNC = frozenset(("b", "n", "e", "S", "T", "p", "F"))
FLOWS = frozenset(("s", "t", "f"))
_BINDING = INSTANTS | {"X", "B"}
_TIMED = INTERVALS | INSTANTS | ASYNC | FLOWS | {"C"}
_NUMBERS = frozenset((int, float, DecimalText))
_WHY = {
    ("ts", Wrong.NO_NUMBER): "ts is missing or no number",
    ("ts", Wrong.NOT_FINITE): "ts is not finite, or beyond every clock",
    ("dur", Wrong.NO_NUMBER): "dur is missing or no number",
    ("dur", Wrong.NOT_FINITE): "dur is not finite, or beyond every clock",
    ("dur", Wrong.NO): "dur is negative",
}
_LONGEST_ID = 64
_UNUSED = 0  # phase of a row whose times turned out to be none

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Columns:
    """The timed events of a trace, E of them, by position in the file.

    Attributes
    ----------
    phase : array of uint8
        Code of the ``ph`` letter; 0 of an event that could not be used.
    name, track : array of int32
        Index into ``names`` and ``tracks``.
    index : array of int64
        Position of the event in the list.
    asynchronous : dict of int to tuple
        By row: category and id of asynchronous events.
    flow : dict of int to (int, bool)
        By row: number of the flow, and whether it is bound to the slice around it.
    bound_row, bound_flow, bound_phase : array of int64, int32, uint8
        Slices that tell of flows themselves (``bind_id``): row, number of the flow, and ``ord`` of
        s (it begins there), t (passes) or f (ends).
    counter_row, counter_series, counter_value : array of int64, int32, float64
        Values of counters: row, index into ``series``, value.
    names : dict of str to int
    tracks : dict of (pid, tid) to int
    flows : dict of (category, name, id) to int
        The category is None of those that slices tell of themselves.
    series : dict of (pid, name, id, series) to int
    metadata : TrackNames
        What events of phase M tell.
    phases : Counter
        Events by phase, all of them; ``"?"`` for what is no event.
    bad : dict of str to (count, first position)
        Events that could not be used, by reason.
    """

    def __init__(self) -> None:
        self.phase = array("B")
        self.name = array("i")
        self.track = array("i")
        self.index = array("q")
        self.asynchronous: dict[int, tuple[str, str]] = {}
        self.flow: dict[int, tuple[int, bool]] = {}
        self.bound_row = array("q")
        self.bound_flow = array("i")
        self.bound_phase = array("B")
        self.counter_row = array("q")
        self.counter_series = array("i")
        self.counter_value = array("d")
        self.names: dict[str, int] = {}
        self.tracks: dict[tuple[Any, Any], int] = {}
        self.flows: dict[tuple[str | None, str, str], int] = {}
        self.series: dict[tuple[Any, str, str, str], int] = {}
        self.metadata = TrackNames()
        self.phases: Counter[str] = Counter()
        self.bad: dict[str, tuple[int, int]] = {}
        self._position = 0
        self._ts = array("q")
        self._dur = array("d")
        self._rest = array("d")

    def refuse(self, why: str, position: int) -> None:
        """Count an event that cannot be used."""
        count, first = self.bad.get(why, (0, position))
        self.bad[why] = (count + 1, first)

    def add(self, events: list[Any]) -> None:
        """Take the next events of the file."""
        position, first = self._position, len(self.phase)
        self._position += len(events)
        phases: Counter[str] = Counter()
        starts: list[Any] = []
        durations: list[Any] = []
        for place, event in enumerate(events, position):
            phase = event.get("ph") if type(event) is dict else None
            if type(phase) is not str:
                self._no_event(event, place, phases)
                continue
            phases[phase] += 1
            if phase == "X":
                if self._row(event, phase, place):
                    starts.append(event.get("ts"))
                    durations.append(event.get("dur"))
            elif phase in _TIMED:
                if self._row(event, phase, place):
                    starts.append(event.get("ts"))
                    durations.append(0)
            elif phase == "M":
                self.metadata.add(event)
        self.phases.update(phases)
        self._read(first, starts, durations)

    def _row(self, event: dict[str, Any], phase: str, place: int) -> bool:
        """Add a timed event; no where it cannot be used."""
        try:
            track = self.tracks.setdefault((event.get("pid"), event.get("tid")), len(self.tracks))
        except TypeError:
            self.refuse("pid or tid is neither a number nor text", place)
            return False
        name = event.get("name", "")
        if type(name) is not str:
            name = str(name)
        if phase not in INTERVALS:
            self._extra(len(self.phase), phase, name, event)
        if "bind_id" in event and phase in _BINDING:
            self._bind(len(self.phase), event)
        self.phase.append(ord(phase))
        self.name.append(self.names.setdefault(name, len(self.names)))
        self.track.append(track)
        self.index.append(place)
        return True

    def _read(self, first: int, starts: list[Any], durations: list[Any]) -> None:
        """Read the times of the last rows; those that have none are no longer used."""
        ts, dur = nanoseconds(starts), nanoseconds(durations)
        negative = dur.whole < 0
        wrong = np.flatnonzero(ts.wrong.astype(np.bool_) | dur.wrong.astype(np.bool_) | negative)
        for at in wrong.tolist():
            field, code = ("ts", ts.wrong[at]) if ts.wrong[at] else ("dur", dur.wrong[at])
            self.refuse(_WHY[field, Wrong(code)], self.index[first + at])
            self.phase[first + at] = _UNUSED
        self._ts.frombytes(ts.whole.tobytes())
        length = dur.whole.astype(np.float64)
        self._dur.frombytes((length if dur.rest is None else length + dur.rest).tobytes())
        if ts.rest is not None:
            self._rest.frombytes(bytes(8 * (first - len(self._rest))))
            self._rest.frombytes(ts.rest.tobytes())

    @cached_property
    def ts(self) -> Ints:
        """Whole nanoseconds (int64[E]), rounded down."""
        return np.frombuffer(self._ts, np.int64)

    @cached_property
    def ts_rest(self) -> Floats | None:
        """What ``ts`` leaves (float64[E]); None where nothing."""
        if not self._rest:
            return None
        self._rest.frombytes(bytes(8 * (len(self._ts) - len(self._rest))))
        return np.frombuffer(self._rest, np.float64)

    @cached_property
    def duration(self) -> Floats:
        """Nanoseconds (float64[E]) of X events."""
        return np.frombuffer(self._dur, np.float64)

    def since(self, rows: Ints, origin: Ints | int) -> Floats:
        """Times of rows from others on (float64), exact where they are whole."""
        whole: Floats = (self.ts[rows] - origin).astype(np.float64)
        return whole if self.ts_rest is None else whole + self.ts_rest[rows]

    def between(self, begin: Ints, end: Ints) -> Floats:
        """Nanoseconds from rows to others (float64)."""
        whole = self.since(end, self.ts[begin])
        return whole if self.ts_rest is None else whole - self.ts_rest[begin]

    def by_time(self, rows: Ints) -> Ints:
        """Order of rows by time, those of one time as in the file."""
        if self.ts_rest is None:
            return np.argsort(self.ts[rows], kind="stable")
        return np.lexsort((self.ts_rest[rows], self.ts[rows]))

    def text(self, row: int) -> str:
        """The time of a row in microseconds."""
        sign, whole = "-" if self.ts[row] < 0 else "", abs(int(self.ts[row]))
        return f"{sign}{whole // 1000}.{whole % 1000:03d}"

    def _no_event(self, event: Any, place: int, phases: Counter[str]) -> None:
        phases["?"] += 1
        what = "an object without ph" if isinstance(event, dict) else "no object"
        self.refuse(what, place)

    def _bind(self, row: int, event: dict[str, Any]) -> None:
        """Take a flow of the format's second version: its slice itself is bound to it."""
        enters, leaves = event.get("flow_in") is True, event.get("flow_out") is True
        if enters or leaves:
            key = None, "", _bind_id(event["bind_id"])
            self.bound_row.append(row)
            self.bound_flow.append(self.flows.setdefault(key, len(self.flows)))
            self.bound_phase.append(ord("t" if enters and leaves else "f" if enters else "s"))

    def _extra(self, row: int, phase: str, name: str, event: dict[str, Any]) -> None:
        if phase == "C":
            arguments = event.get("args")
            own = event.get("pid"), name, _plain(event.get("id"))
            for key, value in arguments.items() if isinstance(arguments, dict) else ():
                if type(value) in _NUMBERS:
                    self.counter_row.append(row)
                    at = self.series.setdefault((*own, key), len(self.series))
                    self.counter_series.append(at)
                    self.counter_value.append(_double(value))
        elif phase in ASYNC:
            self.asynchronous[row] = (str(event.get("cat", "")), _identity(event))
        elif phase in FLOWS:
            key = str(event.get("cat", "")), name, _identity(event)
            self.flow[row] = (self.flows.setdefault(key, len(self.flows)), event.get("bp") == "e")


def _double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _plain(identity: Any) -> str:
    return "" if identity is None else json.dumps(identity, sort_keys=True, default=str)


def _bind_id(identity: Any) -> str:
    """An id as number or as text, hexadecimal or not, is one id."""
    if type(identity) is not str:
        return _plain(identity)
    try:
        return str(int(identity, 0)) if len(identity) <= _LONGEST_ID else json.dumps(identity)
    except ValueError:
        return json.dumps(identity)


def _identity(event: dict[str, Any]) -> str:
    """What tells the events of one interval or flow from others: scope, id, and whose id it is."""
    local = event.get("id2")
    scope = event.get("scope", "")
    if isinstance(local, dict) and "local" in local:
        return json.dumps([scope, event.get("pid"), local["local"]], sort_keys=True, default=str)
    if isinstance(local, dict):
        return json.dumps([scope, local.get("global")], sort_keys=True, default=str)
    return json.dumps([scope, event.get("id")], sort_keys=True, default=str)
