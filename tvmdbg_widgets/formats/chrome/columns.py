"""Events of a Chrome trace as columns, from any program."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import UNSET

from tvmdbg_widgets.formats.chrome.event import ChromeEvent, NoObject
from tvmdbg_widgets.formats.chrome.tracks import TrackNames
from tvmdbg_widgets.formats.decimals import DecimalText, Wrong, nanoseconds_of_json
from tvmdbg_widgets.model.base.numbers import as_float

#: Phases of the trace event format ("Trace Event Format", Google, 2016) that make intervals.
INTERVALS = frozenset("XBE")
INSTANTS = frozenset(("i", "I", "R"))
ASYNC = frozenset(("b", "n", "e", "S", "T", "p", "F"))
FLOWS = frozenset(("s", "t", "f"))
#: Categories of PyTorch's profiler (``torch.profiler``, libkineto's ``ActivityType.h``) for itself
#: and for ranges of the program, whose contents are further events.
_OBSERVERS = frozenset(("user_annotation", "gpu_user_annotation", "overhead"))
_PROFILER = "PyTorch Profiler"
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
_CATEGORY = attrgetter("cat")
_TRACK, _NAME = attrgetter("pid", "tid"), attrgetter("name")
_ZERO = b"0"
_UNUSED = 0  # phase of a row whose times turned out to be none

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Key = TypeVar("Key")


class KeyNumbers(dict[Key, int]):
    """Numbers of keys, from 0 on in order of first use."""

    def __missing__(self, key: Key) -> int:
        self[key] = number = len(self)
        return number


class TextNumbers(KeyNumbers[str]):
    """Numbers of texts; other values are converted to text."""

    def __missing__(self, key: Any) -> int:
        return super().__missing__(key) if type(key) is str else self[str(key)]


class ChromeColumns:
    """The E timed events of a trace by position in the file."""

    def __init__(self) -> None:
        self.phase = array("B")
        self.name = array("i")
        self.track = array("i")
        self.index = array("q")
        self.asynchronous: dict[int, tuple[str, str]] = {}
        self.observers = array("q")
        self.flow: dict[int, tuple[int, bool]] = {}
        self.bound_row = array("q")
        self.bound_flow = array("i")
        self.bound_phase = array("B")
        self.counter_row = array("q")
        self.counter_series = array("i")
        self.counter_value = array("d")
        self.names = TextNumbers()
        self.tracks: KeyNumbers[tuple[Any, Any]] = KeyNumbers()
        self.flows: KeyNumbers[tuple[str | None, str, str]] = KeyNumbers()
        self.series: KeyNumbers[tuple[Any, str, str, str]] = KeyNumbers()
        self.metadata = TrackNames()
        self.phases: Counter[str] = Counter()
        self.bad: dict[str, tuple[int, int]] = {}
        self._position = 0
        self._ts = array("q")
        self._dur = array("d")
        self._rest = array("d")

    def refuse(self, why: str, position: int) -> None:
        """Count an unusable event."""
        count, first = self.bad.get(why, (0, position))
        self.bad[why] = (count + 1, first)

    def add(self, events: list[ChromeEvent]) -> None:
        """Add the next events of the file."""
        index = np.arange(self._position, self._position + len(events))
        self._position += len(events)
        phases = [event.ph for event in events]
        known = set(phases)
        if known == {"X"}:
            self.phases["X"] += len(phases)
        else:
            self.phases.update("?" if phase is None else phase for phase in phases)
        if known <= _TIMED:
            self._rows(events, index)
            return
        self._untimed(events, index)
        timed = [at for at, phase in enumerate(phases) if phase in _TIMED]
        self._rows([events[at] for at in timed], index[timed])

    def _untimed(self, events: list[ChromeEvent], index: Ints) -> None:
        for place, event in zip(index.tolist(), events, strict=True):
            if event.ph == "M":
                self.metadata.add(event)
            elif event.ph is None:
                alien = isinstance(event, NoObject)
                self.refuse("no object" if alien else "an object without ph", place)

    def _rows(self, events: list[ChromeEvent], index: Ints) -> None:
        count, first = len(events), len(self.phase)
        try:
            track = np.fromiter(map(self.tracks.__getitem__, map(_TRACK, events)), np.int32, count)
        except TypeError:
            self._hashable_rows(events, index)
            return
        try:
            name = np.fromiter(map(self.names.__getitem__, map(_NAME, events)), np.int32, count)
        except TypeError:
            name = np.asarray([self.names[str(event.name)] for event in events], np.int32)
        phases = "".join([event.ph or "" for event in events])
        self.phase.frombytes(phases.encode())
        self.name.frombytes(name.tobytes())
        self.track.frombytes(track.tobytes())
        self.index.frombytes(index.tobytes())
        self._observe(events, first)
        if [event.bind_id for event in events].count(UNSET) < count:
            for row, event in enumerate(events, first):
                if event.bind_id is not UNSET and event.ph in _BINDING:
                    self._bind(row, event)
        durations: list[bytes] = [event.dur for event in events]
        known = set(phases)
        if known != {"X"}:
            durations = [event.dur if event.ph == "X" else _ZERO for event in events]
        if not known <= INTERVALS:
            for row, event in enumerate(events, first):
                if event.ph not in INTERVALS:
                    self._extra(row, event)
        self._read(first, [event.ts for event in events], durations)

    def _observe(self, events: list[ChromeEvent], first: int) -> None:
        """Mark the rows that a profiler records of itself."""
        try:
            if (_OBSERVERS | {"Trace"}).isdisjoint(map(_CATEGORY, events)):
                return
        except TypeError:  # a category that is no text
            pass
        self.observers.extend(
            row for row, event in enumerate(events, first) if _is_observer(event.cat, event.name)
        )

    def _hashable_rows(self, events: list[ChromeEvent], index: Ints) -> None:
        timed = []
        for at, event in enumerate(events):
            try:
                hash(_TRACK(event))
            except TypeError:
                self.refuse("pid or tid is neither a number nor text", int(index[at]))
            else:
                timed.append(at)
        self._rows([events[at] for at in timed], index[timed])

    def _read(self, first: int, starts: Sequence[bytes], durations: Sequence[bytes]) -> None:
        """Read the times of the last rows; rows without times are dropped."""
        ts, dur = nanoseconds_of_json(starts), nanoseconds_of_json(durations)
        negative = dur.whole < 0
        wrong = np.flatnonzero(ts.wrong.astype(np.bool_) | dur.wrong.astype(np.bool_) | negative)
        for at in wrong.tolist():
            field, code = ("ts", ts.wrong[at]) if ts.wrong[at] else ("dur", dur.wrong[at])
            self.refuse(_WHY[field, Wrong(code)], self.index[first + at])
            self.phase[first + at] = _UNUSED
        self._ts.frombytes(ts.whole.tobytes())
        length = dur.whole.astype(np.float64)
        self._dur.frombytes((length if dur.rest is None else length + dur.rest).tobytes())
        if ts.rest is not None and ts.rest.any():
            self._rest.frombytes(bytes(8 * (first - len(self._rest))))
            self._rest.frombytes(ts.rest.tobytes())

    @cached_property
    def ts(self) -> Ints:
        """Integer nanoseconds (int64[E]), rounded down."""
        return np.frombuffer(self._ts, np.int64)

    @cached_property
    def ts_rest(self) -> Floats | None:
        """Remainder of ``ts`` (float64[E]), or None."""
        if not self._rest:
            return None
        self._rest.frombytes(bytes(8 * (len(self._ts) - len(self._rest))))
        return np.frombuffer(self._rest, np.float64)

    @cached_property
    def duration(self) -> Floats:
        """Nanoseconds (float64[E]) of X events."""
        return np.frombuffer(self._dur, np.float64)

    def since(self, rows: Ints, origin: Ints | int) -> Floats:
        """Return times of rows since an origin (float64), exact if they are integers."""
        ns: Floats = (self.ts[rows] - origin).astype(np.float64)
        return ns if self.ts_rest is None else ns + self.ts_rest[rows]

    def between(self, begin: Ints, end: Ints) -> Floats:
        """Nanoseconds from rows to others (float64)."""
        ns = self.since(end, self.ts[begin])
        return ns if self.ts_rest is None else ns - self.ts_rest[begin]

    def by_time(self, rows: Ints) -> Ints:
        """Return the stable order of rows by time."""
        if self.ts_rest is None:
            return np.argsort(self.ts[rows], kind="stable")
        return np.lexsort((self.ts_rest[rows], self.ts[rows]))

    def text(self, row: int) -> str:
        """Return the time of a row in microseconds."""
        sign, ns = "-" if self.ts[row] < 0 else "", abs(int(self.ts[row]))
        return f"{sign}{ns // 1000}.{ns % 1000:03d}"

    def _bind(self, row: int, event: ChromeEvent) -> None:
        """Add a flow of the format's second version, which is bound to its own slice."""
        enters, leaves = event.flow_in is True, event.flow_out is True
        if enters or leaves:
            key = None, "", bind_id(event.bind_id)
            self.bound_row.append(row)
            self.bound_flow.append(self.flows[key])
            self.bound_phase.append(ord("t" if enters and leaves else "f" if enters else "s"))

    def _extra(self, row: int, event: ChromeEvent) -> None:
        name = event.name if type(event.name) is str else str(event.name)
        if event.ph == "C":
            arguments = event.arguments()
            own = event.pid, name, plain(event.id)
            for key, value in arguments.items() if isinstance(arguments, dict) else ():
                if type(value) in _NUMBERS:
                    self.counter_row.append(row)
                    self.counter_series.append(self.series[*own, key])
                    self.counter_value.append(as_float(value))
        elif event.ph in ASYNC:
            self.asynchronous[row] = (str(event.cat), identity(event))
        elif event.ph in FLOWS:
            key = str(event.cat), name, identity(event)
            self.flow[row] = (self.flows[key], event.bp == "e")


def _is_observer(category: Any, name: Any) -> bool:
    if type(category) is not str:
        return False
    own = {part.strip() for part in category.split(",")}
    is_span = "Trace" in own and type(name) is str and _PROFILER in name
    return is_span or not _OBSERVERS.isdisjoint(own)


_LONGEST_ID = 64


def plain(value: Any) -> str:
    """Return an id as JSON, or ""."""
    return "" if value is None else _dumped(value)


def bind_id(value: Any) -> str:
    """Return an id, equal for numbers, texts and hexadecimal texts."""
    if type(value) is not str:
        return plain(value)
    try:
        return str(int(value, 0)) if len(value) <= _LONGEST_ID else _dumped(value)
    except ValueError:
        return _dumped(value)


def identity(event: ChromeEvent) -> str:
    """Return the key that events of one interval or flow share: scope, id and its owner."""
    local = event.id2
    if isinstance(local, dict) and "local" in local:
        return _dumped([event.scope, event.pid, local["local"]])
    if isinstance(local, dict):
        return _dumped([event.scope, local.get("global")])
    return _dumped([event.scope, event.id])


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except RecursionError:  # it was just not too deep to be parsed
        return "…"
