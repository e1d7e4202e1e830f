"""Params files between byte layouts of ``DLDataType``, without touching the values.

Only the dtype field differs; every other byte is copied as it stands, names that are not UTF-8,
reserved fields and what follows the last array included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

from tvmdbg_widgets.formats.tvm.params.layout import LayoutLike
from tvmdbg_widgets.formats.tvm.params.list import ListReader
from tvmdbg_widgets.formats.tvm.params.record import DTYPE_AT, MAX_CODE, header_struct
from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout, dtype_layout
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Conversion:
    """A file whose every header was read and fits the layout asked for; nothing is written yet."""

    source: ByteSource
    layout: DTypeLayout
    to: DTypeLayout
    records: tuple[ArrayRecord, ...]

    @property
    def size(self) -> int:
        """Bytes that :meth:`write` writes."""
        grown = self.to.size - self.layout.size
        return self.source.size + grown * len(self.records)

    def write(self, target: IO[bytes], progress: Callable[[int], object] | None = None) -> None:
        """Write the file in its new layout."""
        told = progress or (lambda _: None)
        old, new = self.layout, self.to
        done = 0
        for record in self.records:
            place = _dtype_offset(record, self.layout)
            for piece in _pieces(self.source, done, place):
                target.write(piece)
                told(len(piece))
            dtype = DataType(*old.unpack(self.source.read(place, old.size)))
            target.write(new.pack(dtype))
            told(new.size)
            done = place + old.size
        for piece in _pieces(self.source, done, self.source.size):
            target.write(piece)
            told(len(piece))


def conversion(
    source: ByteSource, to: DTypeLayout | str, layout: LayoutLike = "auto"
) -> Conversion:
    """Read all headers of a params file and make sure that it can have the other layout.

    Memory grows with the number of arrays, not with their size.
    """
    new = dtype_layout(to)
    reader = ListReader(source, layout)
    try:
        reader.read()
        if reader.error is not None:
            raise reader.error
    except FormatError as error:
        raise _unknown_code(error) or error from None
    old = reader.choice.layout if reader.choice else new
    for index, record in enumerate(reader.records):
        dtype = record.stored_dtype or record.dtype
        if new.too_narrow_for(dtype):
            raise _too_wide(record, index, dtype, old, new)
    return Conversion(source, old, new, tuple(reader.records))


def _too_wide(
    record: ArrayRecord, index: int, dtype: DataType, old: DTypeLayout, new: DTypeLayout
) -> FormatError:
    values = {"code": dtype.code, "bits": dtype.bits, "lanes": dtype.lanes}
    field = next(
        each for each in new.fields if not each.lowest <= values[each.name] <= each.highest
    )
    return FormatError(
        f"this data type does not fit into the {new.name} layout",
        file=record.file,
        field=f"array {index} ({record.key!r}): dtype {field.name}",
        offset=_dtype_offset(record, old) + old.field(field.name).offset,
        expected=f"{field.lowest} to {field.highest}",
        found=values[field.name],
        hint="Nothing was written. Choose a layout with a wider field, or leave the array out.",
    )


def _unknown_code(error: FormatError) -> FormatError | None:
    """Say of a type code that no release has that the file's layout must be given for it."""
    what = (error.field or "").rpartition(": ")[2]
    if what != "dtype code" or not isinstance(error.found, int) or error.found <= MAX_CODE:
        return None
    return FormatError(
        "no release of TVM has this type code",
        file=error.file,
        field=error.field,
        offset=error.offset,
        expected=error.expected,
        found=error.found,
        hint="Nothing was written. Give the layout that the file has, if its codes are your own.",
    )


def _dtype_offset(record: ArrayRecord, layout: DTypeLayout) -> int:
    """Where the dtype of an array starts, behind which lie the rest of header, sizes, values."""
    start = record.offset - 8 * (len(record.shape) + 1) - header_struct(layout).size
    return start + DTYPE_AT


def _pieces(source: ByteSource, start: int, end: int) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(min(_CHUNK, max(0, end - start))))
    while start < end:
        piece = buffer[: min(len(buffer), end - start)]
        source.read_into(start, piece)
        yield piece
        start += len(piece)
