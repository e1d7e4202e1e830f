"""FlatBuffers column by column: fields, vectors, strings, and files that lie about them."""

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
