"""The events of an ETDump, a column for each field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.etdump_values import read_values
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.executorch.etdump import DebugValue, EventKind

Ints = npt.NDArray[np.int64]

#: What an event without the field has; framework events log chain 2**64 - 1, which is -1.
_ABSENT_ID = -1


@dataclass
class EventColumns:
    """Columns over some events; see :class:`~tvmdbg_widgets.model.executorch.etdump.ETDump`."""

    kind: npt.NDArray[np.uint8]
    names: StringColumn
    chain_index: Ints
    instruction_id: Ints
    delegate_id_int: Ints
    delegate_id_str: StringColumn
    start: npt.NDArray[np.uint64]
    end: npt.NDArray[np.uint64]
    metadata: dict[int, bytes]
    values: dict[int, DebugValue]
    allocations: dict[int, tuple[int, int]]

    def __len__(self) -> int:
        return len(self.kind)

    def columns(self) -> dict[str, Any]:
        """Return the columns as an ETDump takes them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def joined(cls, parts: Sequence[EventColumns]) -> EventColumns:
        """Return the events of several runs as one."""
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        found: dict[str, Any] = {}
        for each in fields(cls):
            columns = [getattr(part, each.name) for part in parts]
            if each.name in ("names", "delegate_id_str"):
                rows = map(slice, starts, starts[1:])
                found[each.name] = _texts(starts[-1], *zip(rows, columns, strict=True))
            elif each.name in ("metadata", "values", "allocations"):
                found[each.name] = {
                    start + at: value
                    for start, column in zip(starts, columns, strict=False)
                    for at, value in column.items()
                }
            else:
                found[each.name] = np.concatenate(columns)
        return cls(**found)


def read_events(events: FlatTables) -> EventColumns:
    """Read events (``Event`` of the schema)."""
    profile, profile_rows = events.child(0, "ProfileEvent", "profile_event")
    allocation, allocation_rows = events.child(1, "AllocationEvent", "allocation_event")
    debug, debug_rows = events.child(2, "DebugEvent", "debug_event")
    count = len(events)
    members = np.zeros(count, np.int64)
    for rows in (profile_rows, allocation_rows, debug_rows):
        members[rows] += 1
    if (members != 1).any():
        row = int(np.argmax(members != 1))
        raise events.buffer.broken(
            "an event is a profile, an allocation or a debug event",
            f"Event {row}",
            int(events.places[row]),
            expected="exactly one of the three",
            found=f"{members[row]}",
        )
    kind = np.full(count, EventKind.PROFILE, np.uint8)
    kind[allocation_rows], kind[debug_rows] = EventKind.ALLOCATION, EventKind.DEBUG
    chain = np.zeros(count, np.int64)
    chain[profile_rows] = profile.scalar(1, np.int32, 0, "chain_index")
    chain[debug_rows] = debug.scalar(0, np.uint64, 0, "chain_index").astype(np.int64)
    instruction = np.full(count, _ABSENT_ID, np.int64)
    instruction[profile_rows] = profile.scalar(2, np.int32, _ABSENT_ID, "instruction_id")
    instruction[debug_rows] = debug.scalar(1, np.int32, _ABSENT_ID, "instruction_id")
    number = np.full(count, _ABSENT_ID, np.int64)
    number[profile_rows] = profile.scalar(3, np.int32, _ABSENT_ID, "delegate_debug_id_int")
    number[debug_rows] = debug.scalar(3, np.int32, _ABSENT_ID, "delegate_debug_id_int")
    start, end = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    start[profile_rows] = profile.scalar(6, np.uint64, 0, "start_time")
    end[profile_rows] = profile.scalar(7, np.uint64, 0, "end_time")
    allocator = allocation.scalar(0, np.int32, 0, "allocator_id").tolist()
    size = allocation.scalar(1, np.uint64, 0, "allocation_size").tolist()
    return EventColumns(
        kind=kind,
        names=_texts(
            count,
            (profile_rows, profile.strings(0, "name").column),
            (debug_rows, debug.strings(5, "name").column),
        ),
        chain_index=chain,
        instruction_id=instruction,
        delegate_id_int=number,
        delegate_id_str=_texts(
            count,
            (profile_rows, profile.strings(4, "delegate_debug_id_str").column),
            (debug_rows, debug.strings(4, "delegate_debug_id_str").column),
        ),
        start=start,
        end=end,
        metadata=_metadata(profile, profile_rows),
        values=read_values(debug, debug_rows),
        allocations=dict(
            zip(allocation_rows.tolist(), zip(allocator, size, strict=True), strict=True)
        ),
    )


def _texts(count: int, *parts: tuple[Ints | slice, StringColumn]) -> StringColumn:
    """Return the columns of some rows as one of all, ``""`` in other rows."""
    table = {"": 0}
    codes = np.zeros(count, np.int32)
    for rows, column in parts:
        numbers = [table.setdefault(text, len(table)) for text in column.unique]
        codes[rows] = np.array(numbers, np.int32)[column.codes]
    return StringColumn(tuple(table), codes)


def _metadata(profile: FlatTables, rows: Ints) -> dict[int, bytes]:
    starts, lengths = profile.spans(5, "delegate_debug_metadata")
    there = np.flatnonzero(lengths)
    data = profile.buffer.data
    spans = zip(rows[there].tolist(), starts[there].tolist(), lengths[there].tolist(), strict=True)
    return {row: bytes(data[start : start + length]) for row, start, length in spans}
