"""What bytes hold as HTML that needs no script: fields that open and close by hand."""

from __future__ import annotations

from html import escape
from itertools import islice

from tvmdbg_widgets.model.base.byte_map import ByteField
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

_MOST_FIELDS, _MOST_BYTES, _MOST_LETTERS = 2000, 512, 300
_PER_LINE = 16
#: Fields up to this depth are open.
_OPEN = 2
_INDENT = "margin-left:18px"


def byte_map_html(title: str, root: ByteField, data: bytes | memoryview) -> str:
    """Return the fields as nested ``<details>``, each with its bytes."""
    found = [f'<div class="tvmdbg-bytes"><b>{_text(title)}</b>']
    opened = 0
    walk = root.walk()
    for depth, field in islice(walk, _MOST_FIELDS):
        while opened > depth:
            found.append("</details>")
            opened -= 1
        is_open = " open" if field.children and depth < _OPEN else ""
        style = f' style="{_INDENT}"' if depth else ""
        found.append(f"<details{is_open}{style}><summary>{_summary(field)}</summary>")
        opened = depth + 1
        if not field.children:
            found.append(f"<pre>{_dump(field, data)}</pre>")
    found.append("</details>" * opened)
    if left := sum(1 for _ in walk):
        found.append(f"<p>and {counted(left, 'more field')}</p>")
    return "".join([*found, "</div>"])


def _summary(field: ByteField) -> str:
    value = f" = {_text(field.value)}" if field.value else ""
    note = f" <strong>⚠ {_text(field.note)}</strong>" if field.note else ""
    place = f"{field.offset:#06x}, {counted(field.size, 'byte')}"
    return f"<b>{_text(field.name)}</b>{value} <small>{place}</small>{note}"


def _dump(field: ByteField, data: bytes | memoryview) -> str:
    """Return the bytes of a field in lines, of many the first ones."""
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
    line = one_line(text[:_MOST_LETTERS])
    return escape(line if len(text) <= _MOST_LETTERS else f"{line}…", quote=True)
