"""Reader of ETDump files: records of a run of ExecuTorch.

``devtools/etdump/etdump_schema_flatcc.fbs`` and ``devtools/etdump/etdump_flatcc.cpp`` @ v1.4.1.
The runtime writes a size before the FlatBuffer, ``serialize_to_etdump_flatcc`` does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables, followed
from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.executorch.etdump import (
    DebugTensor,
    DebugValue,
    ETDump,
    EventKind,
    ValueType,
)
from tvmdbg_widgets.sources.byte_source import ByteSource

_IDENTIFIER = b"ED00"
#: ``ETDUMP_VERSION`` of ``etdump_flatcc.h``; never anything else up to v1.4.1.
_VERSION = 0
#: Decoding budget to find the damage of a file, times its size; the kept part
#: counts this many times more.
_MOST_TRIED, _KEPT = 64, 8
_HINT = (
    "The runtime damages the dump of a debug run of a float16 or bfloat16 model, whose tensors it "
    "cannot log: record it without a debug buffer. Else write the file again."
)


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these bytes is an ETDump."""
    return _IDENTIFIER in (head[4:8], head[8:12])


def read_etdump(source: ByteSource, *, strict: bool = False) -> ETDump:
    """Read an ETDump."""
    data, base = _content(source)
    root = FlatTables.root(FlatBuffer(data, file=source.name, base=base, hint=_HINT), "ETDump")
    version = int(root.scalar(0, np.uint32, 0, "version")[0])
    issues: list[Issue] = []
    if version != _VERSION:
        text = (
            f"this ETDump is of version {version}, all known ones of version {_VERSION}; what it "
            "says may mean something else"
        )
        issues.append(Issue("etdump-version", IssueSeverity.WARNING, text, file=source.name))
    runs = _runs(root, issues, strict=strict)
    try:
        spans, places = runs.offsets(3, "RunData.events")
        events = read_events(FlatTables(runs.buffer, places, "Event"))
        has_events, counts = spans.present, np.diff(spans.offsets)
    except FormatError:
        size = runs.buffer.size
        tries = WorkBudget(
            _MOST_TRIED * size, source.name, "bytes decoded to find the damage", _HINT
        )
        numbers = range(0 if strict else len(runs))
        parts = [_before_damage(runs, run, issues, tries) for run in numbers]
        counts = np.asarray([len(part["kind"]) for part in parts], np.int64)
        if not counts.sum():
            raise
        events = _joined(parts)
        has_events = np.ones(len(runs), np.bool_)
    return ETDump(
        file=source.name,
        version=version,
        run_names=_names(runs, issues, strict=strict),
        bundled_input_index=runs.scalar(1, np.int32, -1, "bundled_input_index"),
        has_events=has_events,
        run_offsets=np.concatenate(([0], np.cumsum(counts))),
        **events,
        issues=Issues(issues),
    )


def _content(source: ByteSource) -> tuple[bytes, int]:
    head = source.read(0, min(12, source.size))
    if head[8:12] == _IDENTIFIER:
        size = int.from_bytes(head[:4], "little")
        if 4 + size > source.size:
            raise FormatError(
                "the ETDump is cut off",
                file=source.name,
                field="size prefix",
                offset=0,
                expected=f"{counted(size, 'byte')} after the first four",
                found=counted(source.size - 4, "byte"),
                hint="Copy it again, or write it again.",
            )
        return source.read(4, size), 4
    if head[4:8] == _IDENTIFIER:
        return source.read(0, source.size), 0
    raise FormatError(
        "this is no ETDump",
        file=source.name,
        field="file identifier",
        offset=8,
        expected="ED00 at byte 8 (or 4)",
        found=repr(head) if head else "an empty file",
        hint="A runtime built without its event tracer writes none "
        "(EXECUTORCH_ENABLE_EVENT_TRACER).",
    )


def _runs(root: FlatTables, issues: list[Issue], *, strict: bool) -> FlatTables:
    """Return the readable runs."""
    field = "ETDump.run_data"
    buffer = root.buffer
    _, items = root.items(1, field)
    try:
        return FlatTables(buffer, followed(buffer, items, field), "RunData")
    except FormatError:
        if strict:
            raise
    sound = []
    for run in range(len(items)):
        try:
            place = followed(buffer, items[run : run + 1], field)
            FlatTables(buffer.renewed(), place, "RunData")
            sound.append(int(place[0]))
        except FormatError as problem:
            text = f"run {run} cannot be read: {problem.problem}. {_HINT}"
            issues.append(Issue("etdump-damaged", IssueSeverity.ERROR, text, file=problem.file))
    return FlatTables(buffer.renewed(), np.asarray(sound, np.int64), "RunData")


def _before_damage(
    runs: FlatTables, run: int, issues: list[Issue], tries: WorkBudget
) -> dict[str, Any]:
    """Return the events of a run before the first damaged one, and add an issue."""
    field = "RunData.events"
    one = FlatTables(runs.buffer.renewed(), runs.places[run : run + 1], "RunData")

    def first(count: int) -> dict[str, Any]:
        # A renewed buffer starts with a fresh decoding budget.
        buffer = one.buffer.renewed()
        try:
            return read_events(FlatTables(buffer, followed(buffer, items[:count], field), "Event"))
        finally:
            tries.spent += buffer.budget.spent

    items, problem = np.zeros(0, np.int64), None
    good, bad = 0, 0
    try:
        _, items = one.items(3, field)
        bad = len(items) + 1
        first(len(items))
        good = len(items)
    except FormatError as found:
        problem = found
        while bad - good > 1:
            middle = (good + bad) // 2
            tries.spend(0, field)
            try:
                first(middle)
                good = middle
            except FormatError as earlier:
                bad, problem = middle, earlier
    if problem is not None:
        text = (
            f"run {run} is damaged: {problem.field}: {problem.problem}; {good:,} of "
            f"{counted(len(items), 'event')} could be read. {_HINT}"
        )
        issues.append(Issue("etdump-damaged", IssueSeverity.ERROR, text, file=problem.file))
    before = tries.spent
    kept = first(good)
    tries.spend(_KEPT * (tries.spent - before), field)
    return kept


def _names(runs: FlatTables, issues: list[Issue], *, strict: bool) -> tuple[str | None, ...]:
    def read(tables: FlatTables) -> list[str | None]:
        found = tables.strings(0, "name")
        pairs = zip(found.column, found.present.tolist(), strict=True)
        return [name if there else None for name, there in pairs]

    try:
        return tuple(read(runs))
    except FormatError:
        if strict:
            raise
    names: list[str | None] = []
    each = FlatTables(runs.buffer.renewed(), runs.places, "RunData")
    for run in range(len(runs)):
        try:
            names += read(each.only(slice(run, run + 1)))
        except FormatError as problem:
            text = f"the name of run {run} cannot be read: {problem.problem}. {_HINT}"
            issues.append(Issue("etdump-damaged", IssueSeverity.ERROR, text, file=problem.file))
            names.append(None)
    return tuple(names)


Ints = npt.NDArray[np.int64]

#: Value of an absent field; framework events log chain 2**64 - 1, which is -1.
_ABSENT_ID = -1


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Concatenate the events of several runs."""
    starts = np.cumsum([0, *(len(part["kind"]) for part in parts)]).tolist()
    joined: dict[str, Any] = {}
    for name in parts[0]:
        columns = [part[name] for part in parts]
        if isinstance(columns[0], StringColumn):
            rows = map(slice, starts, starts[1:])
            joined[name] = _texts(starts[-1], *zip(rows, columns, strict=True))
        elif isinstance(columns[0], dict):
            joined[name] = {
                start + at: value
                for start, column in zip(starts, columns, strict=False)
                for at, value in column.items()
            }
        else:
            joined[name] = np.concatenate(columns)
    return joined


def read_events(events: FlatTables) -> dict[str, Any]:
    """Read events (``Event`` of the schema) as the columns of an ETDump."""
    profile, profile_rows = events.child(0, "ProfileEvent", "profile_event")
    _, allocation_rows = events.child(1, "AllocationEvent", "allocation_event")
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
    spans = [column.tolist() for column in profile.spans(5, "delegate_debug_metadata")]
    return {
        "kind": kind,
        "names": _texts(
            count,
            (profile_rows, profile.strings(0, "name").column),
            (debug_rows, debug.strings(5, "name").column),
        ),
        "chain_index": chain,
        "instruction_id": instruction,
        "delegate_id_int": number,
        "delegate_id_str": _texts(
            count,
            (profile_rows, profile.strings(4, "delegate_debug_id_str").column),
            (debug_rows, debug.strings(4, "delegate_debug_id_str").column),
        ),
        "start": start,
        "end": end,
        "metadata": {
            row: events.buffer.data[start : start + length]
            for row, start, length in zip(profile_rows.tolist(), *spans, strict=True)
            if length
        },
        "values": read_values(debug, debug_rows),
    }


def _texts(count: int, *parts: tuple[Ints | slice, StringColumn]) -> StringColumn:
    """Scatter columns over all rows; the others get ``""``."""
    table = {"": 0}
    codes = np.zeros(count, np.int32)
    for rows, column in parts:
        numbers = [table.setdefault(text, len(table)) for text in column.unique]
        codes[rows] = np.array(numbers, np.int32)[column.codes]
    return StringColumn(tuple(table), codes)


#: The member of ``Value`` that holds a scalar of each type: its id, table and number type.
_SCALARS = {
    ValueType.INT: (3, "Int", "i8"),
    ValueType.FLOAT: (4, "Float", "f4"),
    ValueType.DOUBLE: (5, "Double", "f8"),
    ValueType.BOOL: (6, "Bool", "?"),
}


def read_values(debug: FlatTables, rows: npt.NDArray[np.int64]) -> dict[int, DebugValue]:
    """Return the logged values by row of their debug event."""
    values, there = debug.child(2, "Value", "debug_entry")
    kinds = values.scalar(0, np.int8, 0, "val").tolist()
    flag, flagged = values.child(7, "Bool", "output")
    outputs: list[bool | None] = [None] * len(values)
    for row, output in zip(flagged.tolist(), flag.scalar(0, np.bool_, 0, "bool_val"), strict=True):
        outputs[row] = bool(output)
    by_kind: dict[int, dict[int, Any]] = {}
    for kind, (id_, table, dtype) in _SCALARS.items():
        name = table.lower()
        held, of = values.child(id_, table, f"{name}_value")
        numbers = held.scalar(0, dtype, 0, f"{name}_val").tolist()
        by_kind[kind] = dict(zip(of.tolist(), numbers, strict=True))
    tensor, of = values.child(1, "Tensor", "tensor")
    by_kind[ValueType.TENSOR] = dict(zip(of.tolist(), _tensors(tensor), strict=True))
    lists, of = values.child(2, "TensorList", "tensor_list")
    which, items = lists.children(0, "Tensor", "tensors")
    tensors = _tensors(items)
    by_kind[ValueType.TENSOR_LIST] = {
        row: tuple(tensors[at] for at in which.of(number).tolist())
        for number, row in enumerate(of.tolist())
    }
    return {
        row: DebugValue(kind, by_kind.get(kind, {}).get(at), outputs[at])
        for at, (row, kind) in enumerate(zip(rows[there].tolist(), kinds, strict=True))
    }


def _tensors(tables: FlatTables) -> list[DebugTensor]:
    rows = tables.rows("scalar_type:i1 sizes:[i8] strides:[i8] offset:i8")
    return [DebugTensor(*row) for row in rows]


#: 100 bytes an event: 20 million.
KIND = Kind("etdump", "ETDump", sniff, read_etdump, "etdump")
