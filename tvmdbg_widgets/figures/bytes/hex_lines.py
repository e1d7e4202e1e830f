"""Which lines of bytes are shown of a byte map: all of short fields, the beginning of long ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tvmdbg_widgets.model.base.byte_map import ByteField

#: A field longer than this is cut to its beginning.
_WHOLE, _BEGINNING = 96, 32
MOST_LINES = 40


class HexLine(NamedTuple):
    """One line of bytes."""

    offset: int
    size: int
    left_out: int


def hex_lines(fields: Sequence[ByteField], length: int, per_line: int) -> tuple[list[HexLine], int]:
    """Return the lines that show the fields, and how many bytes follow the last of them."""
    lines: list[HexLine] = []
    end = 0
    for number in _numbers(fields, length, per_line):
        start = number * per_line
        if start < end:
            continue
        if len(lines) == MOST_LINES:
            break
        lines.append(HexLine(start, min(per_line, length - start), start - end))
        end = lines[-1].offset + lines[-1].size
    return lines, length - end


def _numbers(fields: Sequence[ByteField], length: int, per_line: int) -> Iterator[int]:
    """Yield numbers of lines to show, rising."""
    for field in sorted(fields, key=lambda each: each.offset):
        shown = field.size if field.size <= _WHOLE else _BEGINNING
        end = min(field.offset + shown, length)
        if field.offset < end:
            yield from range(field.offset // per_line, -(-end // per_line))


def hex_text(data: bytes | memoryview, field: ByteField, most: int = 8) -> str:
    """Return the bytes of a field as hex, of many the first ones."""
    piece = bytes(data[field.offset : min(field.end, field.offset + most)])
    return piece.hex(" ") + (" …" if field.size > len(piece) else "")
