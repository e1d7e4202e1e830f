"""Events of a Chrome trace as columns, whatever program wrote them."""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from typing import Any

_UNKNOWN = math.nan
_LARGEST_US = 1e30  # differences and sums of times stay finite
#: Phases of the trace event format ("Trace Event Format", Google, 2016) that make intervals.
INTERVALS = frozenset("XBE")
INSTANTS = frozenset(("i", "I", "R"))
ASYNC = frozenset(("b", "n", "e", "S", "T", "p", "F"))
FLOWS = frozenset(("s", "t", "f"))
_TIMED = INTERVALS | INSTANTS | ASYNC | FLOWS | {"C"}
_KEYS = (int, float, str)


class Columns:
    """The timed events of a trace, E of them, by position in the file.

    Attributes
    ----------
    phase : array of uint8
        Code of the ``ph`` letter.
    name, track : array of int32
        Index into ``names`` and ``tracks``.
    ts_us, dur_us : array of float64
        NaN where the event has none or no number.
    index : array of int64
        Position of the event in the list.
    extra : dict of int to tuple
        By row: category and id of asynchronous events and flows, arguments of counters.
    names : dict of str to int
    tracks : dict of (pid, tid) to int
    metadata : list of dict
        Events of phase M.
    phases : Counter
        Events by phase, all of them; ``"?"`` for what is no event.
    bad : dict of str to (count, first position)
        Events that could not be used, by reason.
    """

    def __init__(self) -> None:
        self.phase = array("B")
        self.name = array("i")
        self.track = array("i")
        self.ts_us = array("d")
        self.dur_us = array("d")
        self.index = array("q")
        self.extra: dict[int, tuple[Any, ...]] = {}
        self.names: dict[str, int] = {}
        self.tracks: dict[tuple[Any, Any], int] = {}
        self.metadata: list[dict[str, Any]] = []
        self.phases: Counter[str] = Counter()
        self.bad: dict[str, tuple[int, int]] = {}
        self._position = 0

    def refuse(self, why: str, position: int) -> None:
        """Count an event that cannot be used."""
        count, first = self.bad.get(why, (0, position))
        self.bad[why] = (count + 1, first)

    def add(self, events: list[Any]) -> None:
        """Take the next events of the file."""
        position = self._position
        self._position += len(events)
        phases: Counter[str] = Counter()
        for place, event in enumerate(events, position):
            phase = event.get("ph") if type(event) is dict else None
            if type(phase) is not str:
                self._no_event(event, place, phases)
                continue
            phases[phase] += 1
            if phase in _TIMED:
                why = self._row(event, phase, place)
                if why:
                    self.refuse(why, place)
            elif phase == "M":
                self.metadata.append(event)
        self.phases += phases

    def _row(self, event: dict[str, Any], phase: str, place: int) -> str:
        """Add a timed event; say why not where it cannot be used."""
        try:
            ts = float(event["ts"])
            duration = float(event["dur"]) if phase == "X" else _UNKNOWN
            track = self.tracks.setdefault((event.get("pid"), event.get("tid")), len(self.tracks))
        except (KeyError, TypeError, ValueError, OverflowError):
            return self._why(event, phase)
        if not -_LARGEST_US < ts < _LARGEST_US:
            return "ts is not finite"
        if phase == "X" and not 0 <= duration < _LARGEST_US:
            return "dur is negative or not finite"
        name = event.get("name", "")
        if type(name) is not str:
            name = str(name)
        if phase not in INTERVALS:
            self._extra(len(self.phase), phase, event)
        self.phase.append(ord(phase))
        self.name.append(self.names.setdefault(name, len(self.names)))
        self.track.append(track)
        self.ts_us.append(ts)
        self.dur_us.append(duration)
        self.index.append(place)
        return ""

    @staticmethod
    def _why(event: dict[str, Any], phase: str) -> str:
        for field in ("ts", "dur") if phase == "X" else ("ts",):
            try:
                float(event[field])
            except (KeyError, TypeError, ValueError, OverflowError):
                return f"{field} is missing or no number"
        return "pid or tid is neither a number nor text"

    def _no_event(self, event: Any, place: int, phases: Counter[str]) -> None:
        phases["?"] += 1
        what = "an object without ph" if isinstance(event, dict) else "no object"
        self.refuse(what, place)

    def _extra(self, row: int, phase: str, event: dict[str, Any]) -> None:
        if phase == "C":
            arguments = event.get("args")
            values = arguments.items() if isinstance(arguments, dict) else ()
            series = {
                key: float(value)
                for key, value in values
                if isinstance(value, int | float) and not isinstance(value, bool)
            }
            self.extra[row] = (series, event.get("id"))
        elif phase in INSTANTS:
            scope = event.get("s", "t")
            if scope != "t":
                self.extra[row] = (scope,)
        else:
            category = event.get("cat", "")
            self.extra[row] = (str(category), _identity(event), event.get("bp") == "e")


def _identity(event: dict[str, Any]) -> str:
    """What tells the events of one interval or flow from others: scope, id, and whose id it is."""
    local = event.get("id2")
    scope = event.get("scope", "")
    if isinstance(local, dict) and "local" in local:
        return json.dumps([scope, event.get("pid"), local["local"]], sort_keys=True, default=str)
    if isinstance(local, dict):
        return json.dumps([scope, local.get("global")], sort_keys=True, default=str)
    return json.dumps([scope, event.get("id")], sort_keys=True, default=str)
