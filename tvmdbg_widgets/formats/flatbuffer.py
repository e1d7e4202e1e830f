"""FlatBuffers read in columns: many tables of one type at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError


class Ragged(NamedTuple):
    """A vector per table: ``values[offsets[i]:offsets[i + 1]]``; `present` marks absent ones."""

    offsets: npt.NDArray[np.int64]
    values: npt.NDArray[Any]
    present: npt.NDArray[np.bool_]

    def of(self, row: int) -> npt.NDArray[Any]:
        """Return the vector of one table."""
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    def tuples(self) -> list[tuple[Any, ...]]:
        """Return the vectors as plain numbers."""
        values, ends = self.values.tolist(), self.offsets.tolist()
        return [tuple(values[start:end]) for start, end in pairwise(ends)]


class Strings(NamedTuple):
    """A string per table, ``""`` if absent."""

    column: StringColumn
    present: npt.NDArray[np.bool_]


class Present(NamedTuple):
    """Present tables, and the rows of the tables that hold them."""

    tables: FlatTables
    rows: npt.NDArray[np.int64]


class SchemaField(NamedTuple):
    """A field of a table: its name in the schema, its type, and whether it is a vector."""

    name: str
    dtype: str = "u4"
    many: bool = False


def columns(text: str) -> tuple[SchemaField, ...]:
    """Return fields in the order of their ids: ``"name:f4=1"``, ``"name:[u4]"``, ``-`` unread."""
    fields = []
    for word in text.split():
        name, _, dtype = word.partition(":")
        fields.append(SchemaField(name, dtype.strip("[]") or "u4", dtype.startswith("[")))
    return tuple(fields)


class FlatTables:
    """N tables of one type in a FlatBuffer."""

    def __init__(self, buffer: FlatBuffer, places: Places, name: str) -> None:
        self.buffer = buffer
        self.places = places
        self.name = name
        buffer.require(places, 4, name)
        # A vtable may lie before its table or after it; flatcc writes all of them last.
        vtables = places - buffer.at(places, np.int32, name).astype(np.int64)
        # Tables share the few that there are.
        self._vtables = np.unique(vtables)
        self._vtable = np.searchsorted(self._vtables, vtables)
        sizes = buffer.at(self._vtables, np.uint16, f"{name}: vtable").astype(np.int64)
        wrong = (sizes < 4) | (sizes % 2 != 0)
        if wrong.any():
            first = int(np.argmax(wrong))
            raise buffer.broken(
                "no vtable where the table says",
                name,
                int(self._vtables[first]),
                expected="an even size of 4 or more",
                found=int(sizes[first]),
            )
        buffer.require(self._vtables, sizes, f"{name}: vtable")
        self._sizes = sizes
        buffer.budget.spend(4 * len(places), name)

    @classmethod
    def root(cls, buffer: FlatBuffer, name: str) -> Self:
        """Return the one root table."""
        place = buffer.at(np.zeros(1, np.int64), np.uint32, "root").astype(np.int64)
        return cls(buffer, place, name)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def most_fields(self) -> int:
        """Largest number of fields of any table."""
        return (int(self._sizes.max(initial=4)) - 4) // 2

    def only(self, rows: slice) -> FlatTables:
        """Return some of the tables."""
        return FlatTables(self.buffer, self.places[rows], self.name)

    def places_of(self, id_: int, width: int, field: str) -> Places:
        """Return the places of a field, -1 where it is absent."""
        slot = 4 + 2 * id_
        relative = np.zeros(len(self._vtables), np.int64)
        long = self._sizes >= slot + 2
        relative[long] = self.buffer.at(self._vtables[long] + slot, np.uint16, field)
        wrong = (relative > 0) & (relative < 4)
        if wrong.any():
            row = int(np.argmax(wrong[self._vtable]))
            raise self.buffer.broken(
                "a field overlaps the start of its table",
                field,
                int(self.places[row]),
                expected="an offset of 4 or more",
                found=int(relative[self._vtable[row]]),
            )
        offsets = relative[self._vtable]
        places = np.where(offsets, self.places + offsets, -1)
        self.buffer.require(places[places >= 0], width, field)
        return places

    def scalar(self, id_: int, dtype: npt.DTypeLike, default: int, field: str) -> npt.NDArray[Any]:
        """Return a scalar field of every table (N values); absent means the default."""
        kind = np.dtype(dtype)
        field = f"{self.name}.{field}"
        places = self.places_of(id_, kind.itemsize, field)
        column = np.full(len(self), default, kind)
        there = places >= 0
        column[there] = self.buffer.at(places[there], kind, field)
        self.buffer.budget.spend(kind.itemsize * int(there.sum()), field)
        return column

    def _targets(self, id_: int, field: str) -> tuple[npt.NDArray[np.int64], Places]:
        places = self.places_of(id_, 4, field)
        rows = np.flatnonzero(places >= 0)
        return rows, followed(self.buffer, places[rows], field)

    def child(self, id_: int, name: str, field: str) -> Present:
        """Return the tables that a field refers to."""
        rows, places = self._targets(id_, f"{self.name}.{field}")
        return Present(FlatTables(self.buffer, places, name), rows)

    def strings(self, id_: int, field: str) -> Strings:
        """Return a string field of every table."""
        field = f"{self.name}.{field}"
        rows, places = self._targets(id_, field)
        return _strings(self.buffer, len(self), rows, places, field)

    def vector(self, id_: int, dtype: npt.DTypeLike, field: str) -> Ragged:
        """Return a vector of scalars of every table."""
        kind = np.dtype(dtype)
        field = f"{self.name}.{field}"
        offsets, places, present = self._laid_out(id_, kind.itemsize, field)
        return Ragged(offsets, self.buffer.at(places, kind, field), present)

    def _laid_out(
        self, id_: int, width: int, field: str
    ) -> tuple[Places, Places, npt.NDArray[np.bool_]]:
        """Return offsets of vectors, places of their items, and which tables have one."""
        rows, starts, lengths = self._vectors(id_, width, field)
        counts = np.zeros(len(self), np.int64)
        counts[rows] = lengths
        offsets = np.concatenate(([0], np.cumsum(counts)))
        places = np.arange(offsets[-1])
        places *= width
        places += np.repeat(starts - offsets[:-1][rows] * width, lengths)
        present = np.zeros(len(self), np.bool_)
        present[rows] = True
        return offsets, places, present

    def _vectors(
        self, id_: int, width: int, field: str, least: int = 4
    ) -> tuple[Places, Places, Places]:
        rows, places = self._targets(id_, field)
        lengths = self.buffer.at(places, np.uint32, field).astype(np.int64)
        self.buffer.require(places + 4, lengths * width, field)
        # An item takes more memory than its byte does while it is looked up.
        self.buffer.budget.spend(int(lengths.sum()) * max(width, least), field)
        return rows, places + 4, lengths

    def rows(self, fields: str | Sequence[SchemaField]) -> list[tuple[Any, ...]]:
        """Return fields of every table (:func:`columns`): numbers, texts, tuples of numbers."""
        given = columns(fields) if isinstance(fields, str) else fields
        read_columns: list[Iterable[Any]] = []
        for id_, (name, dtype, many) in enumerate(given):
            if many:
                read_columns.append(self.vector(id_, dtype, name).tuples())
            elif dtype == "text":
                read_columns.append(self.strings(id_, name).column)
            elif name != "-":
                kind, _, default = dtype.partition("=")
                read_columns.append(self.scalar(id_, kind, int(default or 0), name).tolist())
        return list(zip(*read_columns, strict=True))

    def members(
        self, kinds: npt.NDArray[np.uint8], kind: int, name: str, field: str, *, id_: int = 1
    ) -> tuple[list[int], FlatTables]:
        """Return the rows whose union has a type, and its values; `id_` is the value's field."""
        rows = np.flatnonzero(kinds == kind)
        chosen = FlatTables(self.buffer, self.places[rows], self.name)
        present = chosen.child(id_, name, field)
        if len(present.rows) < len(rows):
            missing = np.setdiff1d(np.arange(len(rows)), present.rows)[0]
            raise self.buffer.broken(
                "a union says its type and has no value",
                f"{self.name}.{field}",
                int(chosen.places[missing]),
                expected=f"a table {name}",
                found="nothing",
            )
        return rows.tolist(), present.tables

    def spans(self, id_: int, field: str) -> tuple[Places, Places]:
        """Return start and length of a vector of bytes of every table; start -1 if absent."""
        rows, starts, lengths = self._vectors(id_, 1, f"{self.name}.{field}", least=1)
        all_starts, all_lengths = np.full(len(self), -1, np.int64), np.zeros(len(self), np.int64)
        all_starts[rows], all_lengths[rows] = starts, lengths
        return all_starts, all_lengths

    def children(self, id_: int, name: str, field: str) -> tuple[Ragged, FlatTables]:
        """Return the vectors of tables of every table, as positions in all tables."""
        vectors, places = self.offsets(id_, f"{self.name}.{field}")
        return vectors, FlatTables(self.buffer, places, name)

    def offsets(self, id_: int, field: str) -> tuple[Ragged, Places]:
        """Return the vectors of offsets of every table, and their targets."""
        vectors, places = self.items(id_, field)
        return vectors, followed(self.buffer, places, field)

    def items(self, id_: int, field: str) -> tuple[Ragged, Places]:
        """Return the vectors of offsets of every table, and their places."""
        offsets, places, present = self._laid_out(id_, 4, field)
        return Ragged(offsets, np.arange(offsets[-1]), present), places


def followed(buffer: FlatBuffer, places: Places, field: str) -> Places:
    """Return the targets of unsigned offsets, which never lead back or to themselves."""
    offsets = buffer.at(places, np.uint32, field).astype(np.int64)
    if (offsets == 0).any():
        row = int(np.argmax(offsets == 0))
        raise buffer.broken(
            "an offset leads to itself",
            field,
            int(places[row]),
            expected="an offset above 0",
            found=0,
        )
    return places + offsets


def _once(places: Places) -> tuple[Places, Places | slice]:
    """Return the distinct places, and the index of each place among them."""
    ordered = np.sort(places)
    if (ordered[1:] != ordered[:-1]).all():
        return places, slice(None)
    return np.unique(places, return_inverse=True)


def _strings(buffer: FlatBuffer, count: int, rows: Places, places: Places, field: str) -> Strings:
    distinct, codes = _once(places)
    lengths = buffer.at(distinct, np.uint32, field).astype(np.int64)
    buffer.require(distinct + 4, lengths, field)
    # Rows that share a text count its bytes each time.
    buffer.budget.spend(int(lengths[codes].sum()), field)
    table: dict[bytes, int] = {b"": 0}
    data, starts = buffer.data, distinct + 4
    spans = map(slice, starts.tolist(), (starts + lengths).tolist())
    numbers = np.fromiter(
        (table.setdefault(data[span], len(table)) for span in spans), np.int32, len(distinct)
    )
    texts = []
    for number, raw in enumerate(table):
        try:
            texts.append(raw.decode("utf-8"))
        except UnicodeDecodeError as problem:
            raise buffer.broken(
                "the string is no UTF-8",
                field,
                int(starts[np.argmax(numbers == number)]) + problem.start,
                expected="UTF-8",
                found=repr(raw[:40]),
            ) from None
    column = np.zeros(count, np.int32)
    column[rows] = numbers[codes]
    present = np.zeros(count, np.bool_)
    present[rows] = True
    return Strings(StringColumn(texts, column), present)


Places = npt.NDArray[np.int64]

#: Only vtables are shared in real files; the rest is decoded once.
_MOST_DECODED = 3


class FlatBuffer:
    """One FlatBuffer in memory."""

    def __init__(self, data: bytes, *, file: str, base: int = 0, hint: str | None = None) -> None:
        self.data = data
        self.size = len(data)
        self.file = file
        self.base = base
        self.hint = hint
        #: Decoded bytes, so that vectors which share bytes cannot unfold to any size.
        self.budget = WorkBudget(_MOST_DECODED * self.size, file, "bytes decoded", hint)

    def renewed(self) -> FlatBuffer:
        """Return the same bytes with a fresh decoding budget."""
        return FlatBuffer(self.data, file=self.file, base=self.base, hint=self.hint)

    def at(self, places: Places, dtype: npt.DTypeLike, field: str) -> npt.NDArray[Any]:
        """Return the values of a little-endian type at some places."""
        kind = np.dtype(dtype).newbyteorder("<")
        self.require(places, kind.itemsize, field)
        if not len(places):
            return np.zeros(0, np.dtype(dtype))
        if kind == np.bool_:
            return self.at(places, np.uint8, field).astype(np.bool_)
        # One overlapping item per byte: values need not be aligned.
        items = self.size - kind.itemsize + 1
        every = np.ndarray((items,), kind, buffer=self.data, strides=(1,))
        return every[places].astype(np.dtype(dtype), copy=False)

    def require(self, places: Places, widths: Places | int, field: str) -> None:
        """Raise FormatError if bytes do not lie within the buffer."""
        if not len(places):
            return
        wrong = (places < 0) | (places + widths > self.size)
        if wrong.any():
            first = int(np.argmax(wrong))
            width = widths if isinstance(widths, int) else int(widths[first])
            raise self.broken(
                "the field leaves the file",
                field,
                int(places[first]),
                expected=counted(width, "byte"),
                found=counted(max(0, self.size - int(places[first])), "byte"),
            )

    def broken(
        self, problem: str, field: str, place: int | None, *, expected: object, found: object
    ) -> FormatError:
        """Return the error for a place in this buffer."""
        return FormatError(
            problem,
            file=self.file,
            field=field,
            offset=None if place is None else self.base + place,
            expected=expected,
            found=found,
            hint=self.hint,
        )
