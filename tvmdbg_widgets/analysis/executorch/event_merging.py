"""One event of the same kind of run, merged over all such runs.

``Event._gen_from_inference_events`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tvmdbg_widgets.analysis.executorch.events import Event, MetadataParser
from tvmdbg_widgets.analysis.executorch.logged_values import LoggedValues
from tvmdbg_widgets.analysis.executorch.measured_times import MeasuredTimes
from tvmdbg_widgets.analysis.executorch.perf_data import PerfData
from tvmdbg_widgets.analysis.executorch.run_patterns import (
    EventSignature,
    PatternEvent,
    RunPattern,
)
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile, Inflated
from tvmdbg_widgets.model.executorch.etdump import DebugValue, ETDump


@dataclass
class SameRuns:
    """Runs with one signature."""

    numbers: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    patterns: list[RunPattern] = field(default_factory=list)
    outputs: list[list[DebugValue]] = field(default_factory=list)
    returned: list[Inflated] = field(default_factory=list)


class EventMerging:
    """Makes events of the rows of a dump."""

    def __init__(
        self,
        dump: ETDump,
        times: MeasuredTimes,
        buffer: DebugBufferFile | None,
        parser: MetadataParser | None,
        *,
        compat: bool,
    ) -> None:
        self.compat = compat
        self.dump = dump
        self._times = times
        self._buffer = buffer
        self._parser = parser
        self._names = dump.names.unique
        self._instructions = dump.instruction_id.tolist()
        self._chains = dump.chain_index.tolist()
        self._values, self._metadata = dump.values, dump.metadata
        texts = [text or None for text in dump.delegate_id_str.unique]
        self._identifiers: list[int | str | None] = [
            number if number != -1 else texts[code]
            for number, code in zip(
                dump.delegate_id_int.tolist(), dump.delegate_id_str.codes.tolist(), strict=True
            )
        ]

    def logged(self, runs: Sequence[Sequence[DebugValue]]) -> LoggedValues:
        """Return logged values, to be read when they are wanted."""
        return LoggedValues(runs, self._buffer, compat=self.compat)

    def values_at(self, start: int, positions: Sequence[int]) -> list[DebugValue]:
        """Return what a run that starts at event `start` logged; events without a value do not."""
        values = self._values
        return [values[start + at] for at in positions if start + at in values]

    def events(self, signatures: Sequence[EventSignature], runs: SameRuns) -> list[Event]:
        """Return the events that have these signatures, in order."""
        patterns = [pattern.events for pattern in runs.patterns]
        found, measured, raws = [], [], []
        for signature, members in zip(signatures, zip(*patterns, strict=True), strict=True):
            event, raw = self._event(signature, members, runs.starts)
            found.append(event)
            if raw:
                measured.append(event)
                raws.append(raw)
        for event, perf_data in zip(measured, PerfData.of_events(raws), strict=True):
            event.perf_data = perf_data
        return found

    def _event(
        self, signature: EventSignature, members: Sequence[PatternEvent], starts: Sequence[int]
    ) -> tuple[Event, list[float]]:
        rows = [
            start + profile
            for start, member in zip(starts, members, strict=True)
            for profile in (member.profiles[-1:] if self.compat else member.profiles)
        ]
        last = rows[-1] if rows else starts[-1] + members[-1].debugs[0]
        identifier = self._identifiers[last]
        event = Event(
            self._name(signature) if identifier is None else str(identifier),
            delegate_debug_identifier=identifier,
            is_delegated_op=identifier is not None,
            instruction_id=self._instructions[last],
            chain_index=self._chains[last],
            occurrences=tuple([len(member.profiles) for member in members]),
            metadata_parser=self._parser,
        )
        raw: list[float] = []
        if rows:
            measure = self._times.of_events
            raw = measure(rows) if identifier is None else self._times.of_delegate(event.name, rows)
            event.start_time = self._times.starts(rows)
            if self._metadata and any(row in self._metadata for row in rows):
                event.raw_delegate_debug_metadatas = [self._metadata.get(row, "") for row in rows]
        if members[-1].debugs:
            event.logged = self.logged(
                [
                    self.values_at(start, member.debugs)
                    for start, member in zip(starts, members, strict=True)
                ]
            )
            if self.compat:
                event.logged.check_events()
        return event, raw

    def _name(self, signature: EventSignature) -> str:
        names = self._names
        debug_name = names[signature.debug_name] if signature.debug_name >= 0 else ""
        return debug_name or (names[signature.name] if signature.name >= 0 else "")
