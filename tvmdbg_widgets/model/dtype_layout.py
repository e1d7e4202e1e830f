"""Byte layouts of ``DLDataType``.

TVM's own: ``{uint8_t code; uint8_t bits; uint16_t lanes;}``, include/dlpack/dlpack.h, all releases.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.short_tracebacks import perhaps
from tvmdbg_widgets.model.tensors.dtypes import DataType

_FIELDS = ("code", "bits", "lanes")
#: Letters of :mod:`struct`, which are also what keeps the widths to these.
_LETTERS = dict(
    zip(("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"), "BHIQbhiq", strict=True)
)
_NAMED = {"narrow": "code:u8 bits:u8 lanes:u16", "wide": "code:u16 bits:u16 lanes:i32"}
_ALSO = {"standard": "narrow", "packed64": "wide"}
_FIELD = re.compile(r"(code|bits|lanes):([ui](?:8|16|32|64))")
_EXAMPLE = "expected such as 'code:u16 bits:u16 lanes:i32', 'narrow' (TVM's own) or 'wide'"


class DTypeField(NamedTuple):
    """One field of ``DLDataType``."""

    name: str
    kind: str
    offset: int

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.kind[1:]) // 8

    @property
    def lowest(self) -> int:
        """Least value it holds."""
        return 0 if self.kind[0] == "u" else -(1 << (8 * self.size - 1))

    @property
    def highest(self) -> int:
        """Greatest value it holds."""
        return (1 << (8 * self.size - (self.kind[0] == "i"))) - 1


class DTypeLayout:
    """Byte layout of ``DLDataType`` in files and streams: its fields, little endian, no padding.

    Parameters
    ----------
    declaration : str
        Fields with their widths, in order: ``"code:u16 bits:u16 lanes:i32"``. Or a name:
        ``"narrow"`` (also ``"standard"``), TVM's own 4 bytes, ``"wide"`` (also ``"packed64"``),
        8 bytes as declared above.

    Raises
    ------
    ValueError
        The text declares no layout.

    Examples
    --------
    >>> DTypeLayout("code:u16 bits:u16 lanes:i32").size
    8
    >>> DTypeLayout("code:u16 bits:u16 lanes:i32") == DTypeLayout("wide")
    True
    """

    __slots__ = ("_hash", "_order", "_struct", "fields")

    fields: tuple[DTypeField, ...]

    def __init__(self, declaration: str) -> None:
        words = declaration.replace(",", " ").split()
        if len(words) == 1:
            words = _NAMED.get(_ALSO.get(words[0], words[0]), words[0]).split()
        fields: list[DTypeField] = []
        offset = 0
        for word in words:
            match = _FIELD.fullmatch(word)
            if match is None:
                hint = perhaps(word, _NAMED)
                raise ValueError(f"{word!r} declares no field of DLDataType{hint}; {_EXAMPLE}")
            fields.append(DTypeField(match[1], match[2], offset))
            offset += fields[-1].size
        names = [field.name for field in fields]
        if sorted(names) != sorted(_FIELDS):
            raise ValueError(
                f"{declaration!r} must declare code, bits and lanes once each; {_EXAMPLE}"
            )
        self.fields = tuple(fields)
        self._struct = struct.Struct("<" + "".join(_LETTERS[field.kind] for field in fields))
        self._order = tuple(names.index(name) for name in _FIELDS)
        self._hash = hash(self.fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return DTypeLayout, (self.declaration,)

    @property
    def declaration(self) -> str:
        """``"code:u8 bits:u8 lanes:u16"``."""
        return " ".join(f"{field.name}:{field.kind}" for field in self.fields)

    @property
    def name(self) -> str:
        """``"narrow"``, ``"wide"``, or the declaration of any other."""
        return next((name for name, text in _NAMED.items() if text == self.declaration), str(self))

    @property
    def size(self) -> int:
        """Bytes in a file or stream."""
        return self._struct.size

    def field(self, name: str) -> DTypeField:
        """Return the field ``"code"``, ``"bits"`` or ``"lanes"``."""
        return self.fields[self._order[_FIELDS.index(name)]]

    @property
    def format(self) -> str:
        """The fields in the notation of :mod:`struct`, without the byte order."""
        return self._struct.format[1:]

    def in_order(self, values: Sequence[int]) -> tuple[int, int, int]:
        """Return stored field values as code, bits, lanes."""
        code, bits, lanes = self._order
        return values[code], values[bits], values[lanes]

    def unpack(self, data: bytes | memoryview) -> tuple[int, int, int]:
        """Return code, bits and lanes.

        Raises
        ------
        struct.error
            Not ``size`` bytes.
        """
        return self.in_order(self._struct.unpack(data))

    def pack(self, dtype: DataType) -> bytes:
        """Return the bytes of a type.

        Raises
        ------
        ValueError
            A field cannot hold its value.
        """
        problem = self.too_narrow_for(dtype)
        if problem:
            raise ValueError(problem)
        values = {"code": dtype.code, "bits": dtype.bits, "lanes": dtype.lanes}
        return self._struct.pack(*(values[field.name] for field in self.fields))

    def too_narrow_for(self, dtype: DataType) -> str | None:
        """Name the field that cannot hold its value, or None."""
        values = {"code": dtype.code, "bits": dtype.bits, "lanes": dtype.lanes}
        for part in self.fields:
            value = values[part.name]
            if not part.lowest <= value <= part.highest:
                return (
                    f"{part.name} {value} of {dtype} does not fit into {part.kind} "
                    f"({part.lowest} to {part.highest}) of the {self.name} layout"
                )
        return None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DTypeLayout) and other.fields == self.fields)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return self.declaration

    def __repr__(self) -> str:
        return f"DTypeLayout({self.name!r}, {counted(self.size, 'byte')}: {self.declaration})"


NARROW = DTypeLayout("narrow")
WIDE = DTypeLayout("wide")


def dtype_layout(given: DTypeLayout | str) -> DTypeLayout:
    """Return a layout by name or declaration."""
    return given if isinstance(given, DTypeLayout) else DTypeLayout(given)


#: Device types of remote devices carry the number of their session: type + 128 × (session + 1)
#: (``kRPCSessMask``, src/runtime/rpc/rpc_session.h @ v0.7).
SESSION_MASK = 128
