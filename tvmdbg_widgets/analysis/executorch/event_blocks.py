"""Event blocks of a dump: runs with equal events are one block.

``EventBlock._gen_from_etdump`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.analysis.executorch.events import (
    Event,
    LoggedValues,
    MetadataParser,
    check_outputs,
    notes,
    notes_on_events,
)
from tvmdbg_widgets.analysis.executorch.time_scale import (
    Converter,
    EventSignature,
    MeasuredTimes,
    PatternEvent,
    PerfData,
    RunPattern,
    RunPatterns,
    TimeScale,
)
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile, Inflated
from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.model.executorch.etdump import DebugValue, ETDump, EventKind

_Key: TypeAlias = tuple[str, tuple[EventSignature, ...], int]


@collector_paused()
def event_blocks(
    dump: ETDump,
    *,
    source_time_scale: TimeScale = TimeScale.NS,
    target_time_scale: TimeScale = TimeScale.MS,
    buffer: DebugBufferFile | None = None,
    metadata_parser: MetadataParser | None = None,
    converter: Converter | None = None,
    compat: bool = False,
) -> list[EventBlock]:
    """Group the runs of a dump into blocks, and their events over the runs."""
    scales = source_time_scale, target_time_scale
    times = MeasuredTimes(dump, *scales, converter, compat=compat)
    merging = EventMerging(dump, times, buffer, metadata_parser, compat=compat)
    if compat:
        _refuse_missing_fields(dump)
    return [_block(key, runs, scales, merging) for key, runs in _runs_by_key(dump, merging).items()]


def _runs_by_key(dump: ETDump, merging: EventMerging) -> dict[_Key, SameRuns]:
    grouped: dict[_Key, SameRuns] = {}
    indexes, starts = dump.bundled_input_index.tolist(), dump.run_offsets.tolist()
    for run, pattern in RunPatterns(dump, compat=merging.compat):
        if merging.compat and pattern.allocations:
            raise ValueError("Unable to find populated event")
        key = (dump.run_names[run] or "", pattern.signatures, indexes[run])
        runs = grouped.setdefault(key, SameRuns())
        runs.numbers.append(run)
        runs.starts.append(starts[run])
        runs.patterns.append(pattern)
        runs.outputs.append(merging.values_at(starts[run], pattern.outputs))
        if merging.compat:
            outputs = merging.logged(runs.outputs[-1:]).of_run(0)
            if runs.returned:
                check_outputs(runs.returned, outputs)
            else:
                runs.returned = outputs
    return grouped


def _block(
    key: _Key, runs: SameRuns, scales: tuple[TimeScale, TimeScale], merging: EventMerging
) -> EventBlock:
    name, signatures, index = key
    events = merging.events(signatures, runs)
    return EventBlock(
        name,
        events,
        *scales,
        bundled_input_index=index,
        runs=tuple(runs.numbers),
        outputs=merging.logged(runs.outputs),
        compat=merging.compat,
        noted=[]
        if merging.compat
        else [*notes(events, runs.patterns), *notes_on_events(merging.dump, runs.numbers)],
    )


def _refuse_missing_fields(dump: ETDump) -> None:
    logged = np.flatnonzero(dump.kind == EventKind.DEBUG).tolist()
    missing = "name" if None in dump.run_names else ""
    if any(row not in dump.values for row in logged):
        missing = "debug_entry"
    if missing:
        of = "str" if missing == "name" else "executorch.devtools.etdump.schema_flatcc.Value"
        raise TypeError(
            f"Invalid Buffer. Received no value for field: {missing}, but {missing} : "
            f"<class '{of}'> is not an Optional type."
        )


@dataclass
class SameRuns:
    """Runs with one signature."""

    numbers: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    patterns: list[RunPattern] = field(default_factory=list)
    outputs: list[list[DebugValue]] = field(default_factory=list)
    returned: list[Inflated] = field(default_factory=list)


class EventMerging:
    """Merger of a dump's rows into events."""

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
        pairs = zip(dump.delegate_id_int.tolist(), dump.delegate_id_str.codes.tolist(), strict=True)
        self._identifiers = [texts[code] if number == -1 else number for number, code in pairs]

    def logged(self, runs: Sequence[Sequence[DebugValue]]) -> LoggedValues:
        """Return logged values, read on demand."""
        return LoggedValues(runs, self._buffer, compat=self.compat)

    def values_at(self, start: int, positions: Sequence[int]) -> list[DebugValue]:
        """Return the values logged by a run from event `start` on; other events are skipped."""
        values = self._values
        return [values[start + at] for at in positions if start + at in values]

    def events(self, signatures: Sequence[EventSignature], runs: SameRuns) -> list[Event]:
        """Return the events with these signatures, in order."""
        patterns = [pattern.events for pattern in runs.patterns]
        events, measured, raws = [], [], []
        for signature, members in zip(signatures, zip(*patterns, strict=True), strict=True):
            event, raw = self._event(signature, members, runs.starts)
            events.append(event)
            if raw:
                measured.append(event)
                raws.append(raw)
        for event, perf_data in zip(measured, PerfData.of_events(raws), strict=True):
            event.perf_data = perf_data
        return events

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
        names, own = self._names, [signature.debug_name, signature.name]
        event = Event(
            next((names[at] for at in own if at >= 0 and names[at]), "")
            if identifier is None
            else str(identifier),
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
            pairs = zip(starts, members, strict=True)
            event.logged = self.logged([self.values_at(at, each.debugs) for at, each in pairs])
            if self.compat:
                event.logged.check_events()
        return event, raw
