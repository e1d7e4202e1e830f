"""Bytes with their decoded fields, as a figure and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.engine import MOST_LINES, Row, draw_or_tell
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.texts import usable_width
from tvmdbg_widgets.model.base.numbers import ByteField, counted
from tvmdbg_widgets.model.base.text import one_line

#: px; narrower figures have half as many bytes in a line.
_WIDE = 600


_MOST_LETTERS = 300


def byte_map_figure(
    title: str,
    root: ByteField,
    data: bytes | memoryview,
    *,
    width: float = 720,
    theme: str = "light",
    most_rows: int = 60,
) -> Figure:
    """Draw fields as a tree, and below it the bytes as hex and as text."""
    title = one_line(title)
    rows, left_out = _shown(root, most_rows)
    per_line = 16 if usable_width(width) >= _WIDE else 8
    lines, rest = hex_lines(_lowest(rows), len(data), per_line)
    text = byte_map_text(title, rows, left_out, data)
    described: dict[str, Any] = {
        "title": title,
        "text": text,
        "rows": [_described(depth, field, data) for depth, field in rows],
        "rowsLeftOut": left_out,
        "perLine": per_line,
        "lines": [line._asdict() for line in lines],
        "rest": rest,
        "missing": max(0, root.end - len(data)),
    }
    columns: dict[str, npt.NDArray[Any]] = {
        "bytes": _gathered(data, lines),
        "owners": _owners(rows, lines),
    }
    return draw_or_tell("bytes", described, columns, {}, text=text, width=width, theme=theme)


def _shown(root: ByteField, most: int) -> tuple[list[Row], int]:
    """Return the first rows, and the number of rows left out."""
    walk = root.walk()
    rows = list(islice(walk, max(most, 1)))
    return rows, sum(1 for _ in walk)


def _lowest(rows: Sequence[Row]) -> list[ByteField]:
    """Return the shown fields that have no shown child."""
    depths = [depth for depth, _ in rows[1:]] + [0]
    return [field for (depth, field), after in zip(rows, depths, strict=True) if after <= depth]


def _described(depth: int, field: ByteField, data: bytes | memoryview) -> dict[str, Any]:
    """Return a row as ``js/src/engine/byte_map.ts`` reads it."""
    return {
        "depth": depth,
        "name": _cut(field.name),
        "offset": field.offset,
        "size": field.size,
        "kind": field.kind,
        "value": _cut(field.value),
        "note": _cut(field.note),
        "hex": "" if field.children else hex_text(data, field, 16),
    }


def _cut(text: str) -> str:
    line = one_line(text[:_MOST_LETTERS])
    return line if len(text) <= _MOST_LETTERS else f"{line}…"


def _gathered(data: bytes | memoryview, lines: Sequence[HexLine]) -> npt.NDArray[np.uint8]:
    pieces = [bytes(data[line.offset : line.offset + line.size]) for line in lines]
    return np.frombuffer(b"".join(pieces), np.uint8)


def _owners(rows: Sequence[Row], lines: Sequence[HexLine]) -> npt.NDArray[np.int32]:
    """Return the row of the innermost field around every byte in the lines, or -1."""
    places = [np.arange(line.offset, line.offset + line.size) for line in lines]
    offsets = np.concatenate([*places, np.zeros(0, np.int64)])
    owners = np.full(len(offsets), -1, np.int32)
    for at, (_, field) in enumerate(rows):
        owners[(offsets >= field.offset) & (offsets < field.end)] = at
    return owners


def byte_map_text(title: str, rows: Sequence[Row], left_out: int, data: bytes | memoryview) -> str:
    """Return fields as an indented tree with offset, bytes and value."""
    last = max(field.offset for _, field in rows)
    digits = max(4, len(f"{last:x}"))
    lines = [title]
    for depth, field in rows:
        group = bool(field.children) or field.kind == "group"
        held = counted(field.size, "byte") if group else hex_text(data, field)
        value = f": {_cut(field.value)}" if field.value else ""
        long = f" ({counted(field.size, 'byte')})" if not group and field.size > 8 else ""
        lines.append(
            f"{field.offset:0{digits}x}  {'  ' * depth}{_cut(field.name)}{value}  [{held}]{long}"
        )
        if field.note:
            lines.append(f"{' ' * digits}  {'  ' * depth}! {_cut(field.note)}")
    if left_out:
        lines.append(f"and {counted(left_out, 'more field')}")
    return "\n".join(lines)


#: Fields longer than the first are cut to the second, in bytes.
_WHOLE, _BEGINNING = 96, 32


class HexLine(NamedTuple):
    """One line of bytes."""

    offset: int
    size: int
    left_out: int


def hex_lines(fields: Sequence[ByteField], length: int, per_line: int) -> tuple[list[HexLine], int]:
    """Return the lines to draw, and the number of bytes after the last line."""
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
    """Yield the numbers of the lines to draw, ascending."""
    for field in sorted(fields, key=lambda field_: field_.offset):
        shown = field.size if field.size <= _WHOLE else _BEGINNING
        end = min(field.offset + shown, length)
        if field.offset < end:
            yield from range(field.offset // per_line, -(-end // per_line))


def hex_text(data: bytes | memoryview, field: ByteField, most: int = 8) -> str:
    """Return the first bytes of a field as hex."""
    piece = bytes(data[field.offset : min(field.end, field.offset + most)])
    return piece.hex(" ") + (" …" if field.size > len(piece) else "")
