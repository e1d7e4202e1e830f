"""ETDumps made in memory, for what no recorded file shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.executorch.etdump import DebugValue, ETDump, EventKind, ValueType


@dataclass(frozen=True)
class Logged:
    """One event: a time, or, with a value, what a debug event logged."""

    name: str = ""
    start: int = 0
    end: int = 0
    instruction: int = 0
    chain: int = 0
    identifier: int | str = -1
    value: DebugValue | None = None
    kind: EventKind | None = None


def number(value: float, *, output: bool | None = None) -> DebugValue:
    return DebugValue(ValueType.DOUBLE, value, output)


def dump_of(*runs: Sequence[Logged], names: Sequence[str | None] = ()) -> ETDump:
    """Make a dump of runs, called ``Execute`` unless their names are given."""
    events = [event for run in runs for event in run]
    kinds = [EventKind.DEBUG if event.value else EventKind.PROFILE for event in events]
    identifiers = [event.identifier for event in events]
    return ETDump(
        file="dump",
        version=0,
        run_names=tuple(names) or ("Execute",) * len(runs),
        bundled_input_index=np.full(len(runs), -1, np.int32),
        has_events=np.ones(len(runs), np.bool_),
        run_offsets=np.cumsum([0, *map(len, runs)]),
        kind=np.array(
            [event.kind or kind for event, kind in zip(events, kinds, strict=True)], np.uint8
        ),
        names=StringColumn.from_strings(event.name for event in events),
        chain_index=np.array([event.chain for event in events], np.int64),
        instruction_id=np.array([event.instruction for event in events], np.int64),
        delegate_id_int=np.array([i if isinstance(i, int) else -1 for i in identifiers], np.int64),
        delegate_id_str=StringColumn.from_strings(
            i if isinstance(i, str) else "" for i in identifiers
        ),
        start=np.array([event.start for event in events], np.uint64),
        end=np.array([event.end for event in events], np.uint64),
        values={at: event.value for at, event in enumerate(events) if event.value},
    )
