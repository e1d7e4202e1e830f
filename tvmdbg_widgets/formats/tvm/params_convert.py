"""Params files between the two byte layouts of ``DLDataType``, without touching the values.

Only the dtype field differs (narrow: u8 code, u8 bits, u16 lanes; wide: u16 code, u16 bits, i32
lanes); every other byte is copied as it stands, names that are not UTF-8, reserved fields and what
follows the last array included.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from tvmdbg_widgets.formats.tvm.params_list import ListReader
from tvmdbg_widgets.formats.tvm.params_record import HEADERS, Layout
from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tvmdbg_widgets.model.array_record import ArrayRecord
    from tvmdbg_widgets.model.sources import ByteSource

_CHUNK = 1 << 20
#: Bytes of a record before its dtype, which are the same in both layouts.
_BEFORE_DTYPE = 28
_FIELDS: dict[Layout, struct.Struct] = {
    "narrow": struct.Struct("<BBH"),
    "wide": struct.Struct("<HHi"),
}
_NARROW_LIMITS = {"dtype code": 0xFF, "dtype bits": 0xFF, "dtype lanes": 0xFFFF}


@dataclass(frozen=True, slots=True)
class Conversion:
    """A file whose every header was read and fits the layout asked for; nothing is written yet.

    Attributes
    ----------
    source
        The file.
    layout, to
        Layout it has and is to have.
    records
        Its arrays.
    """

    source: ByteSource
    layout: Layout
    to: Layout
    records: tuple[ArrayRecord, ...]

    @property
    def size(self) -> int:
        """Bytes that :meth:`write` writes."""
        grown = _FIELDS[self.to].size - _FIELDS[self.layout].size
        return self.source.size + grown * len(self.records)

    def write(self, target: IO[bytes], progress: Callable[[int], object] | None = None) -> None:
        """Write the file in its new layout.

        Parameters
        ----------
        target
            Binary file object; it is only written to, in order.
        progress
            Called with the number of bytes of each piece.

        Raises
        ------
        FormatError
            The source changed since its headers were read.
        OSError
            The target cannot be written.
        """
        told = progress or (lambda _: None)
        old, new = _FIELDS[self.layout], _FIELDS[self.to]
        done = 0
        for record in self.records:
            place = _start(record, self.layout) + _BEFORE_DTYPE
            for piece in _pieces(self.source, done, place):
                target.write(piece)
                told(len(piece))
            target.write(new.pack(*old.unpack(self.source.read(place, old.size))))
            told(new.size)
            done = place + old.size
        for piece in _pieces(self.source, done, self.source.size):
            target.write(piece)
            told(len(piece))


def conversion(source: ByteSource, to: Layout) -> Conversion:
    """Read all headers of a params file and make sure that it can have the other layout.

    Memory grows with the number of arrays, not with their size.

    Parameters
    ----------
    source
        A params list or one bare array, complete.
    to
        ``"narrow"`` (TVM's own, 4 bytes) or ``"wide"`` (8 bytes).

    Raises
    ------
    FormatError
        The file is no params file, is cut off or damaged, or an array's type does not fit into
        the narrow layout; the array is named.
    ValueError
        ``to`` is neither of the two.
    """
    if to not in HEADERS:
        raise ValueError(f"the layout must be narrow or wide, not {to!r}")
    reader = ListReader(source, "auto")
    try:
        reader.read()
        if reader.error is not None:
            raise reader.error
    except FormatError as error:
        raise _too_wide(error) or error from None
    return Conversion(source, reader.layout or to, to, tuple(reader.records))


def _too_wide(error: FormatError) -> FormatError | None:
    """Say of a field that no narrow dtype can hold that this is why."""
    what = (error.field or "").rpartition(": ")[2]
    limit = _NARROW_LIMITS.get(what)
    if limit is None or not isinstance(error.found, int) or 0 <= error.found <= limit:
        return None
    return FormatError(
        "this data type does not fit into the narrow layout",
        file=error.file,
        field=error.field,
        offset=error.offset,
        expected=f"0 to {limit}",
        found=error.found,
        hint="Nothing was written. No release of TVM has such a type; leave the array out.",
    )


def _start(record: ArrayRecord, layout: Layout) -> int:
    """Where the record of an array starts: header, sizes, values."""
    return record.offset - 8 * (len(record.shape) + 1) - HEADERS[layout].size


def _pieces(source: ByteSource, start: int, end: int) -> Iterator[memoryview]:
    """Yield the bytes of a range in one buffer, used again and again."""
    buffer = memoryview(bytearray(min(_CHUNK, max(0, end - start))))
    while start < end:
        piece = buffer[: min(len(buffer), end - start)]
        source.read_into(start, piece)
        yield piece
        start += len(piece)
