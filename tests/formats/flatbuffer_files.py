"""FlatBuffers to test on, written from tables told as Python objects, each object once."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(eq=False)
class Table:
    """Fields by id: numbers as their bytes, all else as what they refer to."""

    fields: dict[int, bytes | Thing]


@dataclass(eq=False)
class Vector:
    """A vector of numbers: their count and their bytes."""

    count: int
    data: bytes


@dataclass(eq=False)
class Things:
    """A vector of tables or strings; one thing may stand in it many times."""

    items: list[Thing]


Thing: TypeAlias = Table | Vector | Things


def text(of: str | bytes) -> Vector:
    raw = of.encode() if isinstance(of, str) else of
    return Vector(len(raw), raw + b"\0")


def numbers(kind: str, *values: float) -> Vector:
    return Vector(len(values), struct.pack(f"<{len(values)}{kind}", *values))


def number(kind: str, value: float) -> bytes:
    return struct.pack(f"<{kind}", value)


def file(root: Table, identifier: bytes, start: int = 8) -> bytearray:
    """Return the bytes of a file; whatever refers to a thing lies before it."""
    order: list[Thing] = []
    _visit(root, order, set())
    order.reverse()
    data = bytearray(start)
    places: dict[int, int] = {}
    links: list[tuple[int, Thing]] = []
    for thing in order:
        data += bytes(-len(data) % 8)
        if isinstance(thing, Table):
            places[id(thing)] = _table(thing, data, links)
            continue
        places[id(thing)] = len(data)
        if isinstance(thing, Vector):
            data += struct.pack("<I", thing.count) + thing.data
            continue
        data += struct.pack("<I", len(thing.items))
        links += [(len(data) + 4 * at, item) for at, item in enumerate(thing.items)]
        data += bytes(4 * len(thing.items))
    for at, thing in links:
        struct.pack_into("<I", data, at, places[id(thing)] - at)
    struct.pack_into("<I4s", data, 0, places[id(root)], identifier)
    return data


def _table(table: Table, data: bytearray, links: list[tuple[int, Thing]]) -> int:
    slots = [0] * (max(table.fields, default=-1) + 1)
    body = bytearray(4)
    for id_, field in table.fields.items():
        slots[id_] = len(body)
        body += field if isinstance(field, bytes) else bytes(4)
    vtable = struct.pack(f"<{2 + len(slots)}H", 4 + 2 * len(slots), len(body), *slots)
    place = len(data) + len(vtable)
    struct.pack_into("<i", body, 0, len(vtable))
    links += [
        (place + slots[id_], field)
        for id_, field in table.fields.items()
        if not isinstance(field, bytes)
    ]
    data += vtable + body
    return place


def _visit(thing: Thing, order: list[Thing], seen: set[int]) -> None:
    """Add a thing behind all that it refers to."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    held = thing.fields.values() if isinstance(thing, Table) else ()
    for each in thing.items if isinstance(thing, Things) else held:
        if not isinstance(each, bytes):
            _visit(each, order, seen)
    order.append(thing)
