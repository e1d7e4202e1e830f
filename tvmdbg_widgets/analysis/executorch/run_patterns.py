"""How the events of one run group: ``InstructionEvent`` and ``EventSignature`` of the Inspector.

devtools/inspector/_inspector.py @ v1.4.1. Runs that logged the same events in the same order have
one pattern, which is worked out once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.model.base.numbering import numbered
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind


class EventSignature(NamedTuple):
    """What makes an event of one run the same as one of another; numbers of distinct values."""

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
    """The pattern of each run of a dump."""

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
            held = members.get(group)
            if held is None:
                held = members[group] = PatternEvent([], [])
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
