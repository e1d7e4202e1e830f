"""What payloads that hold a FlatBuffer of a graph have in common: header, tables, edges."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity, cut
from tvmdbg_widgets.model.executorch.delegate_graph import Field
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

HINT = "The payload may be cut off or damaged: export the program again."
#: Ids are unsigned 32 bit, and those of values far smaller.
MOST_ID = 2**31 - 1

#: Length, flatbuffer offset and size, offset and size of the constants; behind 4 zero bytes and
#: the magic.
_HEADER = struct.Struct("<HIIIQ")
_MAGIC_END = 8
_HEADER_END = _MAGIC_END + _HEADER.size
_EXAMPLES = 5

#: Inputs and outputs of a node: field and value id of each.
Links = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]


class Payload(NamedTuple):
    """The parts of a payload.

    `header` has the fields by name and is empty where there is none; `constants` is where those
    behind the flatbuffer lie in the program file.
    """

    header: Mapping[str, int]
    buffer: FlatBuffer
    identifier: str
    constants: FileSpan


class SchemaField(NamedTuple):
    """A field of a table: its name in the schema, its type, and whether it is a vector."""

    name: str
    dtype: str = "u4"
    many: bool = False


def columns(text: str) -> tuple[SchemaField, ...]:
    """Return fields, in the order of their ids, from names; ``name:f4`` and ``name:[u4]`` differ.

    >>> columns("axis perm:[u4]")[1]
    Column(name='perm', dtype='u4', many=True)
    """
    found = []
    for word in text.split():
        name, _, dtype = word.partition(":")
        found.append(SchemaField(name, dtype.strip("[]") or "u4", dtype.startswith("[")))
    return tuple(found)


def read_payload(
    source: ByteSource,
    payload: FileSpan,
    magic: bytes | None,
    identifiers: Sequence[bytes],
    sizes: tuple[str, str, str, str, str],
    *,
    what: str,
    file: str,
) -> Payload:
    """Read header and flatbuffer of a payload, not its constants."""

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
        header = dict(zip(sizes, _HEADER.unpack_from(head, _MAGIC_END), strict=True))
        length, start, size, at, held = header.values()
        if length < _HEADER_END:
            raise broken(f"header: {sizes[0]}", 8, f"{_HEADER_END} or more", length)
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
        known = " or ".join(each.decode() for each in filter(None, (magic, *identifiers)))
        raise broken("identifier", start + 4, known, repr(data[4:8])[1:])
    buffer = FlatBuffer(data, file=file, base=payload.offset + start, hint=HINT)
    return Payload(header, buffer, data[4:8].decode(), constants)


def read_fields(tables: FlatTables, fields: Sequence[SchemaField]) -> list[dict[str, Field]]:
    """Return the fields of each table by name; 0 and nothing where they are absent."""
    # Absent fields take memory too, and one table may stand in many places.
    tables.buffer.budget.spend(4 * len(fields) * len(tables), tables.name)
    if not len(tables) or not fields:
        return [{} for _ in tables.places]
    found = [
        tables.vector(id_, dtype, name).tuples()
        if many
        else tables.scalar(id_, dtype, 0, name).tolist()
        for id_, (name, dtype, many) in enumerate(fields)
    ]
    names = [field.name for field in fields]
    return [dict(zip(names, row, strict=True)) for row in zip(*found, strict=True)]


def root_ids(root: FlatTables, id_: int, field: str) -> list[int]:
    """Return a vector of ids of the root table."""
    found: list[int] = root.vector(id_, np.uint32, field).values.tolist()
    return found


class Noted:
    """What does not fit in a payload: by rule, how often and where first."""

    def __init__(self, what: str, file: str) -> None:
        self._what = what
        self._file = file
        self._found: dict[tuple[str, str], tuple[list[str], list[int]]] = {}

    def add(self, rule: str, problem: str, example: str) -> None:
        """Note one case of a problem, which starts with the word for what is counted."""
        examples, count = self._found.setdefault((rule, problem), ([], [0]))
        count[0] += 1
        if len(examples) < _EXAMPLES:
            examples.append(cut(example, 100))

    def issues(self) -> Issues:
        """Return one issue for each problem."""
        return Issues(
            Issue(
                f"delegate-{rule}",
                IssueSeverity.WARNING,
                f"{self._what}: {_counted(count, problem)}: {', '.join(examples)}"
                f"{' and more' if count > len(examples) else ''}",
                file=self._file,
            )
            for (rule, problem), (examples, (count,)) in self._found.items()
        )


def _counted(count: int, problem: str) -> str:
    noun, _, rest = problem.partition(" ")
    return f"{counted(count, noun)} {rest}"


def known_ids(
    ids: Iterable[int], values: Mapping[int, object], field: str, noted: Noted
) -> tuple[int, ...]:
    """Return those ids that values have."""
    kept = []
    for at, id_ in enumerate(ids):
        if id_ in values:
            kept.append(id_)
        else:
            noted.add("ids", "id of a value that is not there, left out", f"{field}[{at}] = {id_}")
    return tuple(kept)


def joined(
    names: Sequence[str], links: Sequence[Links], values: Mapping[int, object], noted: Noted
) -> list[Links]:
    """Return the inputs and outputs of nodes that make a graph; the others are noted.

    Left out are ids that no value has, a second producer of a value, and what closes a circle.
    """
    producers: dict[int, int] = {}
    kept: list[Links] = []
    forward = True
    for index, pairs in enumerate(links):
        inputs, outputs = (
            tuple(pair for pair in own if _is_value(pair, index, names, values, noted))
            for own in pairs
        )
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


def _is_value(
    pair: tuple[str, int],
    index: int,
    names: Sequence[str],
    values: Mapping[int, object],
    noted: Noted,
) -> bool:
    field, id_ = pair
    if id_ in values:
        return True
    where = f"#{index} {names[index]}.{field} = {id_}"
    noted.add("ids", "id of a value that is not there, left out", where)
    return False


def _without_circles(
    names: Sequence[str], links: list[Links], producers: Mapping[int, int], noted: Noted
) -> list[Links]:
    """Return links without those that lead back, of nodes that wait for themselves."""
    waiting = _waiting([{producers.get(id_, -1) for _, id_ in own} - {-1} for own, _ in links])
    found = []
    for index, (inputs, outputs) in enumerate(links):
        kept = []
        for field, id_ in inputs:
            producer = producers.get(id_, -1)
            if producer >= index and producer in waiting and index in waiting:
                where = f"#{index} {names[index]}.{field}, written by #{producer}"
                noted.add("circles", "input in a circle of nodes, left out", where)
            else:
                kept.append((field, id_))
        found.append((tuple(kept), outputs))
    return found


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
