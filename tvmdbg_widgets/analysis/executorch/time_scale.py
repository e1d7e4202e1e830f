"""Units of ExecuTorch's time stamps, elapsed times, and durations of events.

``TimeScale`` and ``calculate_time_scale_factor`` in devtools/inspector/_inspector_utils.py,
``Event._calculate_elapsed_time`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.ranges import numbered
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind, is_of_delegate

#: Converts name and tick of a delegate's event to a time in the target unit.
Converter: TypeAlias = Callable[[str, int], float]

MOST_TICKS: Final = 2**32 - 1


class TimeScale(enum.Enum):
    """Unit of time stamps and durations."""

    NS = "ns"
    US = "us"
    MS = "ms"
    S = "s"
    CYCLES = "cycles"


_RATES: Final = {
    TimeScale.NS: 1_000_000_000,
    TimeScale.US: 1_000_000,
    TimeScale.MS: 1_000,
    TimeScale.S: 1,
    TimeScale.CYCLES: 1,
}


def scale_factor(source: TimeScale, target: TimeScale) -> float:
    """Return the number of `source` units per `target` unit."""
    if (source is TimeScale.CYCLES) != (target is TimeScale.CYCLES):
        raise RuntimeError(
            "For TimeScale in cycles both the source and target time scale have to be in cycles."
        )
    return _RATES[source] / _RATES[target]


def elapsed(start: float, end: float) -> float:
    """Return the time from `start` to `end`, one tick short after a wrap as in the Inspector."""
    if start <= end:
        return end - start
    if start > MOST_TICKS or end > MOST_TICKS:
        raise ValueError(
            f"Expected start_time ({start}) and end_time ({end}) to be less than {MOST_TICKS} for "
            "cases where there is wrap-around of time values."
        )
    return (MOST_TICKS - start) + end


def durations(start: npt.NDArray[Any], end: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return elapsed ticks or times by pair; NaN where :func:`elapsed` refuses."""
    most = start.dtype.type(MOST_TICKS)
    forward = start <= end
    ticks = np.where(forward, end - start, (most - start) + end)
    took: npt.NDArray[np.float64] = ticks.astype(np.float64)
    took[~forward & ((start > most) | (end > most))] = np.nan
    return took


class MeasuredTimes:
    """Times of profile events, by position in the dump."""

    def __init__(
        self,
        dump: ETDump,
        source: TimeScale,
        target: TimeScale,
        converter: Converter | None,
        *,
        compat: bool,
    ) -> None:
        self._scale = scale_factor(source, target)
        self._converter = converter
        self._compat = compat
        start, end = dump.start, dump.end
        measured = durations(start, end) / self._scale
        of_delegates = is_of_delegate(dump)
        if not compat:
            of_delegates &= start <= end
        # Scaled before they are subtracted, with the Inspector's rounding noise.
        measured[of_delegates] = durations(
            start[of_delegates] / self._scale, end[of_delegates] / self._scale
        )
        self._delegated = of_delegates
        self._measured = measured.tolist()
        self._unknown = np.isnan(measured).any()
        self._start, self._end = start.tolist(), end.tolist()

    def starts(self, rows: Sequence[int]) -> list[int]:
        """Return the start ticks of events."""
        return [self._start[row] for row in rows]

    def of_events(self, rows: Sequence[int]) -> list[float]:
        """Return the durations of events outside delegates."""
        times = [self._measured[row] for row in rows]
        if self._compat and self._unknown:
            self._refuse(rows)
        return times

    def of_delegate(self, name: str, rows: Sequence[int]) -> list[float]:
        """Return the durations of a delegate's events, by the converter if given."""
        convert = self._converter
        if convert is None:
            return self.of_events(rows)
        times = []
        for row in rows:
            start, end = convert(name, self._start[row]), convert(name, self._end[row])
            try:
                times.append(elapsed(start, end))
            except ValueError:
                if self._compat:
                    raise
                times.append(float("nan"))
        return times

    def _refuse(self, rows: Sequence[int]) -> None:
        for row in rows:
            start, end = self._start[row], self._end[row]
            if self._delegated[row]:
                start, end = start / self._scale, end / self._scale
            elapsed(start, end)


_PERCENTILES = (10, 50, 90)


class PerfData:
    """Durations of an event in the target unit of its block.

    Parameters
    ----------
    raw
        Durations in the order of the file, one or several per run.

    Attributes
    ----------
    raw : list of float
    """

    __slots__ = ("_known", "raw")

    def __init__(self, raw: Sequence[float], _known: tuple[float, ...] | None = None) -> None:
        self.raw = list(raw)
        self._known = _known

    def _statistics(self) -> tuple[float, ...]:
        if self._known is None:
            percentiles = np.percentile(self.raw, _PERCENTILES).tolist()
            self._known = (*percentiles, float(np.mean(self.raw)))
        return self._known

    @property
    def p10(self) -> float:
        """The 10th percentile, interpolated linearly."""
        return self._statistics()[0]

    @property
    def p50(self) -> float:
        """The median."""
        return self._statistics()[1]

    @property
    def p90(self) -> float:
        """The 90th percentile, interpolated linearly."""
        return self._statistics()[2]

    @property
    def avg(self) -> float:
        """The mean."""
        return self._statistics()[3]

    @property
    def min(self) -> float:
        """The shortest duration."""
        return min(self.raw)

    @property
    def max(self) -> float:
        """The longest duration."""
        return max(self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerfData) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PerfData(avg={self.avg:g} over {len(self.raw):,})"

    @classmethod
    def of_events(cls, raws: Sequence[Sequence[float]]) -> list[PerfData]:
        """Return the data of many events; statistics of equal counts are computed together.

        Parameters
        ----------
        raws : sequence of sequence of float
            Floats only, at least one per event.
        """
        by_length: dict[int, list[int]] = {}
        for event, raw in enumerate(raws):
            by_length.setdefault(len(raw), []).append(event)
        known: list[tuple[float, ...]] = [()] * len(raws)
        for events in by_length.values():
            table = np.array([raws[event] for event in events])
            columns = (*np.percentile(table, _PERCENTILES, axis=1), table.mean(axis=1))
            for event, row in zip(events, np.stack(columns, axis=1).tolist(), strict=True):
                known[event] = tuple(row)
        return [cls(raw, row) for raw, row in zip(raws, known, strict=True)]


class EventSignature(NamedTuple):
    """Identity of an event across runs, as numbers of distinct values."""

    group: int
    name: int
    debug_name: int


class PatternEvent(NamedTuple):
    """One event of a pattern; positions count from the run's first event."""

    profiles: list[int]
    debugs: list[int]


@dataclass(frozen=True, eq=False)
class RunPattern:
    """The events of one run, in the order they first appear, and its program outputs."""

    signatures: tuple[EventSignature, ...]
    events: tuple[PatternEvent, ...]
    outputs: tuple[int, ...]
    allocations: int


class RunPatterns:
    """Patterns of all runs of a dump."""

    def __init__(self, dump: ETDump, *, compat: bool) -> None:
        by_instruction = numbered(
            dump.instruction_id, dump.delegate_id_int, dump.delegate_id_str.codes
        )
        # An unset chain is 2**64 - 1 in debug events and -1 in others: two groups to the Inspector.
        apart = (dump.chain_index < 0) & (dump.kind == EventKind.DEBUG)
        instances = numbered(by_instruction, dump.chain_index, apart.view(np.int8))
        output = np.zeros(dump.num_events, np.bool_)
        output[[row for row, value in dump.values.items() if value.output]] = True
        self._dump = dump
        self._groups = instances.tolist()
        self._keys = by_instruction.tolist() if compat else self._groups
        self._outputs = output.tolist()
        self._names = dump.names.codes.tolist()
        self._kinds = dump.kind.tolist()
        names = max(1, len(dump.names.unique))
        self._whole = ((instances * names + dump.names.codes) * 3 + dump.kind) * 2 + output
        self._known: dict[bytes, RunPattern] = {}

    def __iter__(self) -> Iterator[tuple[int, RunPattern]]:
        """Yield the runs that have a vector of events, by number, with their pattern."""
        for run in np.flatnonzero(self._dump.has_events).tolist():
            rows = self._dump.events_of(run)
            content = self._whole[rows.start : rows.stop].tobytes()
            if content not in self._known:
                self._known[content] = self._pattern(rows)
            yield run, self._known[content]

    def _pattern(self, rows: range) -> RunPattern:
        members: dict[int, PatternEvent] = {}
        outputs: list[int] = []
        allocations = 0
        for at, row in enumerate(rows):
            kind = self._kinds[row]
            if kind == EventKind.ALLOCATION:
                allocations += 1
                continue
            group = self._groups[row]
            held = members.setdefault(group, PatternEvent([], []))
            if kind == EventKind.PROFILE:
                held.profiles.append(at)
            elif self._outputs[row]:
                outputs.append(at)
            else:
                held.debugs.append(at)
        events = self._events(rows.start, members.values())
        return RunPattern(tuple(events), tuple(events.values()), tuple(outputs), allocations)

    def _events(
        self, start: int, members: Iterable[PatternEvent]
    ) -> dict[EventSignature, PatternEvent]:
        names, keys = self._names, self._keys
        events: dict[EventSignature, PatternEvent] = {}
        for profiles, debugs in members:
            debug_name = names[start + debugs[0]] if debugs else -1
            for at in profiles:
                signature = EventSignature(keys[start + at], names[start + at], debug_name)
                held = events.get(signature)
                if held is None:
                    events[signature] = PatternEvent([at], debugs)
                else:
                    held.profiles.append(at)
                    if held.debugs is not debugs:
                        events[signature] = PatternEvent(held.profiles, debugs)
            if debugs and not profiles:
                signature = EventSignature(keys[start + debugs[0]], -1, debug_name)
                events[signature] = PatternEvent(profiles, debugs)
        return events
