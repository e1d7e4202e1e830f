"""Event blocks of a dump: runs that logged the same events are one block.

``EventBlock._gen_from_etdump`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.executorch.event_block import EventBlock
from tvmdbg_widgets.analysis.executorch.event_merging import EventMerging, SameRuns
from tvmdbg_widgets.analysis.executorch.event_notes import notes, notes_on_events
from tvmdbg_widgets.analysis.executorch.events import MetadataParser
from tvmdbg_widgets.analysis.executorch.logged_values import check_outputs
from tvmdbg_widgets.analysis.executorch.measured_times import MeasuredTimes
from tvmdbg_widgets.analysis.executorch.run_patterns import EventSignature, RunPatterns
from tvmdbg_widgets.analysis.executorch.time_scale import Converter, TimeScale
from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.executorch.debug_buffer import DebugBufferFile
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind

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
    """Group the runs of a dump into blocks, and the events of each block over its runs."""
    scales = source_time_scale, target_time_scale
    times = MeasuredTimes(dump, *scales, converter, compat=compat)
    merging = EventMerging(dump, times, buffer, metadata_parser, compat=compat)
    if compat:
        _refuse_missing_fields(dump)
    return [_block(key, runs, scales, merging) for key, runs in _grouped(dump, merging).items()]


def _grouped(dump: ETDump, merging: EventMerging) -> dict[_Key, SameRuns]:
    """Return the runs by what has to be the same: name, signatures and bundled input."""
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
            found = merging.logged(runs.outputs[-1:]).of_run(0)
            if runs.returned:
                check_outputs(runs.returned, found)
            else:
                runs.returned = found
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
    """Refuse what ``_json_to_dataclass`` in exir/_serialize/_dataclass.py refuses."""
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
