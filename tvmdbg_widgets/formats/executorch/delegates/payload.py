"""Parts shared by payloads with a FlatBuffer graph: header, tables, edges."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables, SchemaField
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity, cut
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateConstant
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

HINT = "The payload may be cut off or damaged: export the program again."
#: Ids are unsigned 32 bit; real value ids are far smaller.
MOST_ID = 2**31 - 1

#: Length, flatbuffer offset and size, offset and size of the constants; behind 4 zero bytes and
#: the magic.
_HEADER = struct.Struct("<HIIIQ")
_MAGIC_END = 8
_HEADER_END = _MAGIC_END + _HEADER.size
_SPAN = ("offset", "size")
_EXAMPLES = 5

#: Inputs and outputs of a node: pairs of field and value id.
Links = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]


class Payload(NamedTuple):
    """The parts of a payload; `constants` is their byte range in the program file."""

    header: Mapping[str, int]
    buffer: FlatBuffer
    identifier: str
    constants: FileSpan


def read_payload(
    source: ByteSource,
    payload: FileSpan,
    magic: bytes,
    identifiers: Sequence[bytes],
    constants_name: str,
    *,
    what: str,
    file: str,
) -> Payload:
    """Read header and flatbuffer of a payload, not its constants."""
    names = [f"{name}_{part}" for name in ("flatbuffer", constants_name) for part in _SPAN]

    def broken(region: str, offset: int, expected: object, found: object) -> FormatError:
        return FormatError(
            "the payload of a delegate is none that its backend reads",
            file=file,
            field=f"{what}: {region}",
            offset=payload.offset + offset,
            expected=expected,
            found=found,
            hint=HINT,
        )

    within = f"within the {counted(payload.size, 'byte')} of the payload"
    head = source.read(payload.offset, min(payload.size, _HEADER_END))
    header: dict[str, int] = {}
    start, size, constants = 0, payload.size, FileSpan(payload.offset + payload.size, 0)
    if head[4:_MAGIC_END] == magic:
        if len(head) < _HEADER_END:
            found = counted(len(head), "byte")
            raise broken("header", 0, counted(_HEADER_END, "byte"), found)
        fields = _HEADER.unpack_from(head, _MAGIC_END)
        header = dict(zip(("header_length", *names), fields, strict=True))
        length, start, size, at, held = header.values()
        if length < _HEADER_END:
            raise broken("header: header_length", 8, f"{_HEADER_END} or more", length)
        if start < _HEADER_END or start + size > payload.size:
            raise broken("flatbuffer", 10, within, f"bytes {start:,} to {start + size:,}")
        if at < start + size:
            raise broken("constants", 18, f"behind the flatbuffer, from {start + size:,} on", at)
        if at + held > payload.size:
            raise broken("constants", 18, within, f"bytes {at:,} to {at + held:,}")
        constants = FileSpan(payload.offset + at, held)
    if size < 8:
        raise broken("flatbuffer", start, "8 bytes or more", size)
    data = source.read(payload.offset + start, size)
    if data[4:8] not in identifiers:
        known = " or ".join(each.decode() for each in (magic, *identifiers))
        raise broken("identifier", start + 4, known, repr(data[4:8])[1:])
    buffer = FlatBuffer(data, file=file, base=payload.offset + start, hint=HINT)
    return Payload(header, buffer, data[4:8].decode(), constants)


def read_fields(tables: FlatTables, fields: Sequence[SchemaField]) -> list[dict[str, Any]]:
    """Return the fields of each table by name; absent ones are 0 or empty."""
    # Absent fields take memory too, and one table may stand in many places.
    tables.buffer.budget.spend(4 * len(fields) * len(tables), tables.name)
    if not fields:
        return [{} for _ in tables.places]
    names = [field.name for field in fields]
    return [dict(zip(names, row, strict=True)) for row in tables.rows(fields)]


def read_constants(
    tables: FlatTables, fields: str, held: Payload, noted: Noted, *, first: int = 0
) -> list[DelegateConstant]:
    """Return the constants; those from `first` on without a key lie in the payload."""
    constants = []
    for index, (offset, size, key) in enumerate(tables.rows(fields)):
        span = None
        if index >= first and not key:
            if offset + size <= held.constants.size:
                span = FileSpan(held.constants.offset + offset, size)
            elif size:
                where = f"[{index}] of {counted(size, 'byte')} at {offset}"
                noted.add("constants", "constant outside of the payload, left out", where)
        constants.append(DelegateConstant(offset, size, key, span))
    return constants


class Noted:
    """Problems of a payload, counted by rule, with the first examples."""

    def __init__(self, what: str, file: str) -> None:
        self._subject = what
        self._file = file
        self._problems: dict[tuple[str, str], tuple[list[str], list[int]]] = {}

    def add(self, rule: str, problem: str, example: str) -> None:
        """Count one case of a problem; its text starts with the noun that is counted."""
        examples, count = self._problems.setdefault((rule, problem), ([], [0]))
        count[0] += 1
        if len(examples) < _EXAMPLES:
            examples.append(cut(example, 100))

    def issues(self) -> Issues:
        """Return one issue per problem."""
        return Issues(
            Issue(
                f"delegate-{rule}",
                IssueSeverity.WARNING,
                f"{self._subject}: {counted(count, noun)} {rest}: {', '.join(examples)}"
                f"{' and more' if count > len(examples) else ''}",
                file=self._file,
            )
            for (rule, problem), (examples, (count,)) in self._problems.items()
            for noun, _, rest in [problem.partition(" ")]
        )


def known_ids(
    root: FlatTables, place: int, values: Mapping[int, object], field: str, noted: Noted
) -> tuple[int, ...]:
    """Return a vector of ids of the root table without unknown ones."""
    kept = []
    for at, id_ in enumerate(root.vector(place, np.uint32, field).values.tolist()):
        if id_ in values:
            kept.append(id_)
        else:
            noted.add("ids", "id of a value that is not there, left out", f"{field}[{at}] = {id_}")
    return tuple(kept)


def joined(
    names: Sequence[str], links: Sequence[Links], values: Mapping[int, object], noted: Noted
) -> list[Links]:
    """Return the links that make a graph: known ids, one producer per value, no circles."""
    producers: dict[int, int] = {}
    kept: list[Links] = []
    forward = True
    for index, pairs in enumerate(links):
        for field, id_ in (pair for own in pairs for pair in own if pair[1] not in values):
            where = f"#{index} {names[index]}.{field} = {id_}"
            noted.add("ids", "id of a value that is not there, left out", where)
        inputs, outputs = (tuple(pair for pair in own if pair[1] in values) for own in pairs)
        own = []
        for field, id_ in outputs:
            if producers.setdefault(id_, index) == index:
                own.append((field, id_))
            else:
                where = f"{id_} by #{producers[id_]} and #{index}"
                noted.add("producers", "value written twice, the second time left out", where)
        kept.append((inputs, tuple(own)))
    for index, (inputs, _) in enumerate(kept):
        forward &= all(producers.get(id_, -1) < index for _, id_ in inputs)
    return kept if forward else _without_circles(names, kept, producers, noted)


def _without_circles(
    names: Sequence[str], links: list[Links], producers: Mapping[int, int], noted: Noted
) -> list[Links]:
    """Return the links without backward ones of nodes that wait for themselves."""
    waiting = _waiting([{producers.get(id_, -1) for _, id_ in own} - {-1} for own, _ in links])
    open_links = []
    for index, (inputs, outputs) in enumerate(links):
        kept = []
        for field, id_ in inputs:
            producer = producers.get(id_, -1)
            if producer >= index and producer in waiting and index in waiting:
                where = f"#{index} {names[index]}.{field}, written by #{producer}"
                noted.add("circles", "input in a circle of nodes, left out", where)
            else:
                kept.append((field, id_))
        open_links.append((tuple(kept), outputs))
    return open_links


def _waiting(needs: list[set[int]]) -> set[int]:
    """Return the nodes that no order of execution reaches."""
    users: list[list[int]] = [[] for _ in needs]
    for index, own in enumerate(needs):
        for producer in own:
            users[producer].append(index)
    left = [len(own) for own in needs]
    ready = [index for index, count in enumerate(left) if not count]
    waiting = set(range(len(needs)))
    while ready:
        done = ready.pop()
        waiting.discard(done)
        for user in users[done]:
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    return waiting
