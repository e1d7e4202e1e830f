"""ETDump files: what a run of ExecuTorch recorded.

``devtools/etdump/etdump_schema_flatcc.fbs`` and ``devtools/etdump/etdump_flatcc.cpp`` @ v1.4.1.
The runtime writes a size before the FlatBuffer, ``serialize_to_etdump_flatcc`` does not.
"""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.executorch.etdump_events import EventColumns, read_events
from tvmdbg_widgets.formats.flatbuffer.buffer import FlatBuffer
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables, followed
from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etdump import ETDump
from tvmdbg_widgets.sources.byte_source import ByteSource

_IDENTIFIER = b"ED00"
#: ``ETDUMP_VERSION`` of ``etdump_flatcc.h``; never anything else up to v1.4.1.
_VERSION = 0
#: Times the size of a damaged file that are decoded to find where it is damaged; what is kept of it
#: counts so many times more.
_MOST_TRIED, _KEPT = 64, 8
_HINT = (
    "The runtime damages the dump of a debug run of a float16 or bfloat16 model, whose tensors it "
    "cannot log: record it without a debug buffer. Else write the file again."
)


def sniff(head: bytes) -> bool:
    """Whether a file that starts so is an ETDump."""
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
        found, places = runs.offsets(3, "RunData.events")
        events = read_events(FlatTables(runs.buffer, places, "Event"))
        has_events, counts = found.present, np.diff(found.offsets)
    except FormatError:
        size = runs.buffer.size
        tries = WorkBudget(
            _MOST_TRIED * size, source.name, "bytes decoded to find the damage", _HINT
        )
        numbers = range(0 if strict else len(runs))
        parts = [_before_damage(runs, run, issues, tries) for run in numbers]
        if not sum(map(len, parts)):
            raise
        events = EventColumns.joined(parts)
        counts = np.asarray([len(part) for part in parts], np.int64)
        has_events = np.ones(len(runs), np.bool_)
    return ETDump(
        file=source.name,
        version=version,
        run_names=_names(runs, issues, strict=strict),
        bundled_input_index=runs.scalar(1, np.int32, -1, "bundled_input_index"),
        allocators=_allocators(runs, strict=strict),
        has_events=has_events,
        run_offsets=np.concatenate(([0], np.cumsum(counts))),
        **events.columns(),
        issues=Issues(issues),
    )


def _content(source: ByteSource) -> tuple[bytes, int]:
    """Return the FlatBuffer and where it starts in the file."""
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
    """Return the runs; those that the file does not lead to are left out."""
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
) -> EventColumns:
    """Return the events of a run before the first damaged one, and tell what is wrong with it."""
    field = "RunData.events"
    one = FlatTables(runs.buffer.renewed(), runs.places[run : run + 1], "RunData")

    def first(count: int) -> EventColumns:
        # Nothing is decoded yet in a renewed buffer: what was tried before does not count.
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
    found: list[str | None] = []
    for run in range(len(runs)):
        try:
            name = runs.only(slice(run, run + 1)).strings(0, "name")
            found.append(name.column[0] if name.present[0] else None)
        except FormatError as problem:
            if strict:
                raise
            text = f"the name of run {run} cannot be read: {problem.problem}. {_HINT}"
            issues.append(Issue("etdump-damaged", IssueSeverity.ERROR, text, file=problem.file))
            found.append(None)
    return tuple(found)


def _allocators(runs: FlatTables, *, strict: bool) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    for run in range(len(runs)):
        try:
            _, tables = runs.only(slice(run, run + 1)).children(2, "Allocator", "allocators")
            found.append(tuple(tables.strings(0, "name").column))
        except FormatError:
            if strict:
                raise
            found.append(())
    return tuple(found)
