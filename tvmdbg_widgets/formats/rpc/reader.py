"""Numbers at rising offsets of one packet, never beyond its end."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.readahead import ReadAhead

I32 = struct.Struct("<i")
U32 = struct.Struct("<I")
I64 = struct.Struct("<q")
U64 = struct.Struct("<Q")
F64 = struct.Struct("<d")
DEVICE = struct.Struct("<ii")


class WireError(ValueError):
    """What lies here is not what the grammar has here."""

    def __init__(
        self, field: str, offset: int, expected: object, found: object, *, is_short: bool = False
    ) -> None:
        self.is_short = is_short
        self.field = field
        self.offset = offset
        self.expected = str(expected)
        self.found = str(found)
        super().__init__(f"{field} at byte {offset}: expected {expected}, found {found}")


class Reader:
    """Reads one packet."""

    __slots__ = ("_ahead", "at", "end", "lenient", "values")

    def __init__(self, ahead: ReadAhead, at: int, end: int, *, lenient: bool = False) -> None:
        self._ahead = ahead
        self.lenient = lenient
        self.values = 0
        self.at = at
        self.end = end

    @property
    def left(self) -> int:
        """Bytes of the packet that were not read yet."""
        return self.end - self.at

    @property
    def captured(self) -> int:
        """Bytes of the whole stream that are there."""
        return self._ahead.captured

    def number(self, form: struct.Struct, field: str) -> int:
        """Read one number."""
        value: int = self.numbers(form, field)[0]
        return value

    def numbers(self, form: struct.Struct, field: str) -> tuple[int, ...]:
        """Read several numbers that lie one behind the other."""
        at, size = self.at, form.size
        if at + size > self.end:
            raise self._short(field, size)
        self.at = at + size
        ahead = self._ahead
        position = ahead.locate(at, size)
        return form.unpack_from(ahead.buffer, position)

    def data(self, size: int, field: str) -> bytes:
        """Read bytes."""
        at = self.skip(size, field)
        return self._ahead.bytes(at, size)

    def skip(self, size: int, field: str) -> int:
        """Go behind some bytes and return where they lie."""
        at = self.at
        if size > self.end - at:
            raise self._short(field, size)
        self.at = at + size
        return at

    def _short(self, field: str, size: int) -> WireError:
        found = f"{max(0, self.left)}, where the packet ends"
        return WireError(field, self.at, counted(size, "byte"), found, is_short=True)
