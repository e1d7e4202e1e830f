"""Bytes with their decoded fields, as a figure, as text and as nested HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import islice

from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import ByteField, counted, hex_bytes
from tvmdbg_widgets.model.base.text import one_line

_MOST_ROWS, _MOST_LETTERS = 60, 300
#: Bytes of a field as hex in the tree, and in a text.
_HEX, _HEX_TEXT = 16, 8


def byte_map_figure(
    title: str,
    root: ByteField,
    data: bytes | memoryview,
    *,
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw fields as a tree, and below it the bytes as hex and as text."""
    title = one_line(title)
    walk = root.walk()
    rows = list(islice(walk, _MOST_ROWS))
    left_out = sum(1 for _ in walk)
    text = _byte_map_text(title, rows, left_out, data)
    told = [
        {
            "depth": depth,
            "name": cut_line(field.name),
            "offset": field.offset,
            "size": field.size,
            "kind": field.kind,
            "value": cut_line(field.value),
            "note": cut_line(field.note),
            "hex": "" if field.children else hex_bytes(data, field, _HEX),
        }
        for depth, field in rows
    ]
    reply = Reply({"text": text, "rows": told, "rowsLeftOut": left_out}, (bytes(data),))
    return draw_view(
        "bytes", title, {}, lambda _: reply, text=lambda: text, width=width, theme=theme
    )


def cut_line(text: str) -> str:
    """Return a text in one line, cut at 300 letters."""
    line = one_line(text[:_MOST_LETTERS])
    return line if len(text) <= _MOST_LETTERS else f"{line}…"


def _byte_map_text(
    title: str, rows: Sequence[tuple[int, ByteField]], left_out: int, data: bytes | memoryview
) -> str:
    """Return fields as an indented tree with offset, bytes and value."""
    digits = max(4, *(len(f"{field.offset:x}") for _, field in rows))
    lines = [title]
    for depth, field in rows:
        indent, name, size = "  " * depth, cut_line(field.name), counted(field.size, "byte")
        group = bool(field.children) or field.kind == "group"
        held = size if group else hex_bytes(data, field, _HEX_TEXT)
        value = f": {cut_line(field.value)}" if field.value else ""
        long = f" ({size})" if not group and field.size > _HEX_TEXT else ""
        lines.append(f"{field.offset:0{digits}x}  {indent}{name}{value}  [{held}]{long}")
        if field.note:
            lines.append(f"{' ' * digits}  {indent}! {cut_line(field.note)}")
    if left_out:
        lines.append(f"and {counted(left_out, 'more field')}")
    return "\n".join(lines)


_MOST_FIELDS, _MOST_BYTES = 2000, 512
_PER_LINE = 16
#: Depth up to which fields are open.
_OPEN = 2
_INDENT = "margin-left:18px"


def byte_map_html(title: str, root: ByteField, data: bytes | memoryview) -> str:
    """Return fields as nested ``<details>`` with their bytes."""
    parts = [f'<div class="tvmdbg-bytes"><b>{_text(title)}</b>']
    opened = 0
    walk = root.walk()
    for depth, field in islice(walk, _MOST_FIELDS):
        parts.append("</details>" * (opened - depth))
        is_open = " open" if field.children and depth < _OPEN else ""
        style = f' style="{_INDENT}"' if depth else ""
        parts.append(f"<details{is_open}{style}><summary>{_summary(field)}</summary>")
        opened = depth + 1
        if not field.children:
            parts.append(f"<pre>{_dump(field, data)}</pre>")
    parts.append("</details>" * opened)
    if left := sum(1 for _ in walk):
        parts.append(f"<p>and {counted(left, 'more field')}</p>")
    return "".join([*parts, "</div>"])


def _summary(field: ByteField) -> str:
    value = f" = {_text(field.value)}" if field.value else ""
    note = f" <strong>⚠ {_text(field.note)}</strong>" if field.note else ""
    place = f"{field.offset:#06x}, {counted(field.size, 'byte')}"
    return f"<b>{_text(field.name)}</b>{value} <small>{place}</small>{note}"


def _dump(field: ByteField, data: bytes | memoryview) -> str:
    """Return the first bytes of a field as lines of hex and text."""
    end = min(field.end, field.offset + _MOST_BYTES, len(data))
    lines = []
    for offset in range(field.offset, end, _PER_LINE):
        piece = bytes(data[offset : min(offset + _PER_LINE, end)])
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in piece)
        lines.append(f"{offset:06x}  {piece.hex(' '):<{3 * _PER_LINE - 1}}  {escape(letters)}")
    more = field.size - max(0, end - field.offset)
    if more > 0:
        lines.append(f"… {counted(more, 'more byte')}")
    return "\n".join(lines)


def _text(text: str) -> str:
    return escape(cut_line(text), quote=True)
