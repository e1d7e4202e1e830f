"""What a piece of memory or of a stream holds, byte by byte, as nested fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

ByteKind = Literal["group", "number", "pointer", "text", "data", "padding", "unknown"]


@dataclass(frozen=True, slots=True)
class ByteField:
    """One field, or a group of fields.

    Attributes
    ----------
    name : str
    offset : int
        Bytes from the start of what is shown.
    size : int
        Bytes.
    kind : str
        ``"group"`` has ``children``; ``"data"`` is a payload; ``"unknown"`` could not be read.
    value : str
        What it holds, in words; empty for padding.
    note : str
        What is wrong or odd about it; empty where nothing is.
    children : tuple of ByteField
        In order, inside these bytes.
    """

    name: str
    offset: int
    size: int
    kind: ByteKind
    value: str = ""
    note: str = ""
    children: tuple[ByteField, ...] = ()

    @property
    def end(self) -> int:
        """Offset of the first byte after it."""
        return self.offset + self.size

    def walk(self, depth: int = 0) -> Iterator[tuple[int, ByteField]]:
        """Yield this field and all below it, each with its depth."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


_HEX_SHOWN = 16


def byte_rows(root: ByteField, data: bytes) -> list[tuple[str, str, str, str, str]]:
    """Return the fields as rows of a table: offset, bytes, name, hex, and what it holds."""
    return [
        (
            str(field.offset),
            str(field.size),
            "  " * depth + field.name,
            "" if field.children else _hex(data, field),
            f"{field.value} ({field.note})" if field.note else field.value,
        )
        for depth, field in root.walk()
    ]


def _hex(data: bytes, field: ByteField) -> str:
    own = data[field.offset : min(field.end, field.offset + _HEX_SHOWN)]
    return own.hex(" ") + (" …" if field.size > len(own) else "")
