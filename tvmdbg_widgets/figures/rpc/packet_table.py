"""Packets of a conversation as an HTML table without script, each opening to its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

_HEADS = ("row", "time", "from", "packet", "function", "what", "bytes")
_LETTERS = 160
_TOP = ' style="vertical-align:top;text-align:left"'


class PacketRow(NamedTuple):
    """One row of the table."""

    cells: tuple[str, ...]
    details: str


def packet_table_html(rows: Sequence[PacketRow], left_out: int) -> str:
    """Return the table."""
    head = "".join(f"<th{_TOP}>{each}</th>" for each in _HEADS)
    found = [f"<table><thead><tr>{head}</tr></thead><tbody>"]
    for row in rows:
        cells = [escape(_short(each)) for each in row.cells]
        for unit in (1, -1):
            cells[unit] = cells[unit].replace(" ", "&nbsp;")
        if row.details:
            cells[3] = f"<details><summary>{cells[3]}</summary>{row.details}</details>"
        found.append("<tr>" + "".join(f"<td{_TOP}>{each}</td>" for each in cells) + "</tr>")
    found.append("</tbody></table>")
    if left_out:
        found.append(f"<p>and {counted(left_out, 'more packet')}, from log[{len(rows)}] on</p>")
    return "".join(found)


def _short(text: str) -> str:
    line = one_line(text[: _LETTERS + 1])
    return line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…"
