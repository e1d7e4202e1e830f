"""FlatBuffers column by column: fields, vectors, strings, and files that lie about them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.formats.flatbuffer_files import Table, Thing, Things, file, number, numbers, text
from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables
from tvmdbg_widgets.model.base.text import FormatError


def rows() -> bytes:
    """Return a root with three tables: full, empty, and with empty vectors and text."""
    full = Table(
        {
            0: number("i", -7),
            1: text("añ"),
            2: numbers("h", 1, -2, 3),
            3: Things([Table({0: number("d", 0.5)}), Table({})]),
            4: Things([text("x"), text("x"), text("")]),
            5: numbers("B", 9, 8),
            6: Table({0: number("d", 1.5)}),
            7: number("B", 2),
        }
    )
    empty: dict[int, bytes | Thing] = {
        1: text(""),
        2: numbers("h"),
        3: Things([]),
        4: Things([]),
        5: numbers("B"),
    }
    return bytes(file(Table({0: Things([full, Table({}), Table(empty)])}), b"TEST"))


def tables(data: bytes) -> FlatTables:
    return FlatTables.root(FlatBuffer(data, file="f"), "Root").children(0, "Row", "rows")[1]


def test_scalars_with_their_defaults() -> None:
    found = tables(rows())
    assert len(found) == 3
    assert found.scalar(0, np.int32, 5, "number").tolist() == [-7, 5, 5]
    assert found.scalar(9, np.uint8, 1, "later").tolist() == [1, 1, 1]
    assert found.scalar(7, np.bool_, 0, "flag").tolist() == [True, False, False]
    assert found.only(slice(1, 3)).scalar(0, np.int32, 5, "number").tolist() == [5, 5]
    assert found.most_fields == 8


def test_strings() -> None:
    found = tables(rows()).strings(1, "text")
    assert list(found.column) == ["añ", "", ""]
    assert found.present.tolist() == [True, False, True]


def test_vectors() -> None:
    found = tables(rows()).vector(2, np.int16, "vector")
    assert found.tuples() == [(1, -2, 3), (), ()]
    assert found.of(0).tolist() == [1, -2, 3]
    assert found.present.tolist() == [True, False, True]
    starts, lengths = tables(rows()).spans(5, "bytes")
    assert rows()[starts[0] : starts[0] + lengths[0]] == b"\x09\x08"
    assert starts[1] == -1
    assert lengths.tolist() == [2, 0, 0]


def test_tables_within_tables() -> None:
    owners, children = tables(rows()).children(3, "Child", "children")
    assert owners.tuples() == [(0, 1), (), ()]
    assert children.scalar(0, np.float64, 2, "value").tolist() == [0.5, 2.0]
    child, owner = tables(rows()).child(6, "Child", "child")
    assert owner.tolist() == [0]
    assert child.scalar(0, np.float64, 0, "value").tolist() == [1.5]


def test_vectors_of_strings() -> None:
    owners, column = tables(rows()).texts(4, "texts")
    assert owners.offsets.tolist() == [0, 3, 3, 3]
    assert list(column) == ["x", "x", ""]


def test_error_offsets_count_from_the_start_of_the_file() -> None:
    buffer = FlatBuffer(b"\xff" * 8, file="dump", base=4, hint="Copy it again.")
    with pytest.raises(FormatError) as problem:
        FlatTables.root(buffer, "Root")
    assert problem.value.file == "dump"
    assert problem.value.offset == 0xFFFFFFFF + 4
    assert problem.value.hint == "Copy it again."


#: A root at 12 whose vtable, of 6 bytes, lies before it; its one field is an offset at 16.
PLAIN = struct.pack("<IhHHh", 12, 0, 6, 8, 4) + struct.pack("<iI", 6, 4) + bytes(8)


@pytest.mark.parametrize(
    ("at", "kind", "value", "told"),
    [
        (0, "<I", 0xFFFFFFFF, "the field leaves the file"),
        (0, "<I", len(PLAIN) - 3, "the field leaves the file"),
        (12, "<i", 0x7FFFFFFF, "the field leaves the file"),
        (12, "<i", -0x80000000, "the field leaves the file"),
        (6, "<H", 5, "no vtable where the table says"),
        (6, "<H", 2, "no vtable where the table says"),
        (6, "<H", 0xFFFE, "the field leaves the file"),
        (10, "<H", 3, "a field overlaps the start of its table"),
        (10, "<H", 0xFFFF, "the field leaves the file"),
        (16, "<I", 0, "an offset leads to itself"),
        (16, "<I", 0xFFFFFFFF, "the field leaves the file"),
        (20, "<I", 5, "the field leaves the file"),
        (20, "<I", 0xFFFFFFFF, "the field leaves the file"),
    ],
)
def test_invalid_offsets_are_refused(at: int, kind: str, value: int, told: str) -> None:
    data = bytearray(PLAIN)
    assert FlatTables.root(FlatBuffer(PLAIN, file="f"), "Root").vector(0, "u1", "v").tuples() == [
        ()
    ]
    struct.pack_into(kind, data, at, value)
    with pytest.raises(FormatError, match=told):
        FlatTables.root(FlatBuffer(bytes(data), file="f"), "Root").vector(0, np.uint8, "v")


def test_string_of_invalid_utf8_is_refused() -> None:
    data = bytes(file(Table({0: text(b"ok \xff")}), b"TEST"))
    with pytest.raises(FormatError, match="no UTF-8") as problem:
        FlatTables.root(FlatBuffer(data, file="f"), "Root").strings(0, "name")
    assert problem.value.offset == data.index(b"\xff")


def test_repeatedly_shared_vectors_are_refused() -> None:
    row = Table({0: numbers("q", *range(500)), 1: text("long " * 500), 2: text("short")})
    data = bytes(file(Table({0: Things([row] * 500)}), b"TEST"))
    assert list(tables(data).strings(2, "text").column) == ["short"] * 500
    with pytest.raises(FormatError, match="again and again"):
        tables(data).vector(0, np.int64, "vector")
    # A string is decoded once, but whoever shows the rows writes it out for each.
    with pytest.raises(FormatError, match="again and again"):
        tables(data).strings(1, "text")


def test_shared_vectors_are_charged_by_the_memory_of_their_items() -> None:
    """Bytes that many vectors share are looked up with eight bytes for the place of each."""
    shared = numbers("B", *bytes(200))
    rows = Things([Table({0: shared}) for _ in range(60)])
    with pytest.raises(FormatError, match="again and again"):
        tables(bytes(file(Table({0: rows}), b"TEST"))).vector(0, np.uint8, "vector")


def test_renewed_buffer_has_a_fresh_budget() -> None:
    buffer = FlatBuffer(rows(), file="f")
    buffer.budget.spend(3 * buffer.size, "all")
    with pytest.raises(FormatError, match="again and again"):
        FlatTables.root(buffer, "Root")
    assert len(FlatTables.root(buffer.renewed(), "Root")) == 1
