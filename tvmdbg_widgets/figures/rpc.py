"""RPC packets as table, nested HTML of bytes, and message sequence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice, pairwise
from statistics import median
from typing import Any, Literal, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.abi.folding import FoldedMessages, fold_runs
from tvmdbg_widgets.figures.engine import draw_or_tell
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import ByteField, bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line

_MOST_FIELDS, _MOST_BYTES, _MOST_LETTERS = 2000, 512, 300
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
        while opened > depth:
            parts.append("</details>")
            opened -= 1
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


def _cut(text: str) -> str:
    line = one_line(text[:_MOST_LETTERS])
    return line if len(text) <= _MOST_LETTERS else f"{line}…"


def _text(text: str) -> str:
    return escape(_cut(text), quote=True)


_HEADS = ("row", "time", "from", "packet", "function", "what", "bytes")
_LETTERS = 160
_TOP = ' style="vertical-align:top;text-align:left"'


class PacketRow(NamedTuple):
    """Cells of one packet, and its nested HTML."""

    cells: tuple[str, ...]
    details: str


def packet_table_html(rows: Sequence[PacketRow], left_out: int) -> str:
    """Return the packets as a table."""
    head = "".join(f"<th{_TOP}>{title}</th>" for title in _HEADS)
    parts = [f"<table><thead><tr>{head}</tr></thead><tbody>"]
    for row in rows:
        cells = [escape(_short(cell)) for cell in row.cells]
        for unit in (1, -1):
            cells[unit] = cells[unit].replace(" ", "&nbsp;")
        if row.details:
            cells[3] = f"<details><summary>{cells[3]}</summary>{row.details}</details>"
        parts.append("<tr>" + "".join(f"<td{_TOP}>{cell}</td>" for cell in cells) + "</tr>")
    parts.append("</tbody></table>")
    if left_out:
        parts.append(f"<p>and {counted(left_out, 'more packet')}, from log[{len(rows)}] on</p>")
    return "".join(parts)


def _short(text: str) -> str:
    line = one_line(text[: _LETTERS + 1])
    return line if len(line) <= _LETTERS else f"{line[: _LETTERS - 1]}…"


_MOST_ROWS = 60
_MOST_HOVER = 2000
_WORDS = {
    "ok": "",
    "exception": "exception: ",
    "damaged": "damaged: ",
    "desynchronised": "desynchronised: ",
    "incomplete": "incomplete: ",
}


def sequence_figure(
    title: str,
    messages: Sequence[SequenceMessage],
    notes: Sequence[str] = (),
    *,
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw messages between client and server in time order, one per row.

    Repeated messages are folded. Above 60 rows only the first, the last and faulty ones are drawn.
    Distances are not to scale; long pauses are marked.
    """
    shown = sequence_rows(messages, _MOST_ROWS)
    title = one_line(title)
    known = [message.time_ns for message in messages if message.time_ns is not None]
    start = known[0] if known else None
    lines = [one_line(note) for note in notes]
    summary = f"{counted(shown.count, 'message')}, {_size(shown.nbytes)}"
    if start is not None:
        summary += f", {duration_text(known[-1] - start)}; time runs down, not to scale"
    elif messages:
        summary += "; times are not known"
    text = _text_sequence([title, summary, *lines], shown, start)
    data = {
        "title": title,
        "summary": summary,
        "notes": lines,
        "text": text,
        "rows": [_row(row, start) for row in shown.rows],
        "loops": [
            {"first": loop.first, "end": loop.end, "words": _loop_words(loop)}
            for loop in shown.loops
        ],
        "pauses": [
            {"row": at, "words": f"{duration_text(pause)} later"}
            for at, pause in shown.pauses.items()
        ],
        "timed": start is not None,
    }
    return draw_or_tell("sequence", data, {}, {}, text=text, width=width, theme=theme)


def _row(row: SequenceMessage | LeftOut, start: int | None) -> dict[str, Any]:
    """Return a row as ``js/src/engine/sequence_layout.ts`` reads it."""
    if isinstance(row, LeftOut):
        return {"kind": "left out", "label": _left_out(row)}
    label = _cut(row.label)
    lines = [_cut(line) for line in row.hover[:_MOST_HOVER].splitlines()]
    return {
        "kind": "message",
        "side": row.side,
        "label": label,
        "bytes": _size(row.nbytes),
        "time": _time(row, start),
        "status": row.status,
        "replyTo": -1 if row.reply_to is None else row.reply_to,
        "folded": row.folded,
        "hover": "\n".join([f"{_direction(row)}: {_WORDS[row.status]}{label}", *lines]),
    }


def _left_out(row: LeftOut) -> str:
    return f"{counted(row.count, 'message')}, {_size(row.nbytes)}, not shown"


def _direction(row: SequenceMessage) -> str:
    return "client → server" if row.side == "client" else "server → client"


def _time(row: SequenceMessage, start: int | None) -> str:
    """Return seconds since the first message, to the microsecond."""
    return "" if row.time_ns is None or start is None else f"{(row.time_ns - start) / 1e9:.6f}"


def _size(nbytes: int) -> str:
    return bytes_text(nbytes).partition(" (")[0]


def _loop_words(loop: RepeatedRows) -> str:
    what = "this message" if loop.end - loop.first == 1 else "these messages"
    took = "" if loop.duration_ns is None else f", in {duration_text(loop.duration_ns)}"
    return f"{loop.repeats:,} × {what}{took}"


def _text_sequence(head: Sequence[str], shown: SequenceRows, start: int | None) -> str:
    """Return the rows as lines: time, direction, message, bytes."""
    lines = list(head)
    loops = {loop.first: loop for loop in shown.loops}
    inside = {at for loop in shown.loops for at in range(loop.first, loop.end)}
    for at, row in enumerate(shown.rows):
        if at in shown.pauses:
            lines.append(f"… {duration_text(shown.pauses[at])} later")
        if at in loops:
            lines.append(f"{_loop_words(loops[at])}:")
        if isinstance(row, LeftOut):
            lines.append(f"… {_left_out(row)}")
            continue
        indent = "  " if at in inside else ""
        time = "" if start is None else f"{_time(row, start):>10} s  "
        label = f"{_WORDS[row.status]}{_cut(row.label)}"
        lines.append(f"{time}{indent}{_direction(row)}  {label}  [{_size(row.nbytes)}]")
    return "\n".join(lines)


Side = Literal["client", "server"]
Status = Literal["ok", "exception", "damaged", "desynchronised", "incomplete"]
#: Shares of the kept rows that are taken from the start and from the end.
_HEAD, _TAIL = 0.6, 0.2
#: A pause is marked if it is so many times the median.
_PAUSE = 10


@dataclass(frozen=True, slots=True)
class SequenceMessage:
    """One message between client and server."""

    side: Side
    label: str
    nbytes: int
    time_ns: int | None = None
    status: Status = "ok"
    reply_to: int | None = None
    hover: str = ""
    folded: int = 1
    kind: str = ""


@dataclass(frozen=True, slots=True)
class RepeatedRows:
    """Rows that are drawn once for several repeats."""

    first: int
    end: int
    repeats: int
    duration_ns: int | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages between two rows that are not drawn."""

    count: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class SequenceRows:
    """Rows of a sequence figure."""

    rows: list[SequenceMessage | LeftOut]
    loops: list[RepeatedRows]
    pauses: dict[int, int]
    count: int
    nbytes: int


def sequence_rows(messages: Sequence[SequenceMessage], most_rows: int) -> SequenceRows:
    """Fold repeats, and leave out the middle if there are too many rows."""
    rows, loops = _folded(messages)
    pauses = _pauses(rows, loops)
    kept = _kept(rows, most_rows)
    shown: list[SequenceMessage | LeftOut] = []
    places: dict[int, int] = {}
    for at, row in enumerate(rows):
        if at in kept:
            places[at] = len(shown)
            answered = None if row.reply_to is None else places.get(row.reply_to)
            shown.append(replace(row, reply_to=answered))
        elif shown and isinstance(shown[-1], LeftOut):
            before = shown[-1]
            shown[-1] = LeftOut(before.count + row.folded, before.nbytes + row.nbytes)
        else:
            shown.append(LeftOut(row.folded, row.nbytes))
    repeated = [
        RepeatedRows(min(inside), max(inside) + 1, loop.repeats, loop.duration_ns)
        for loop in loops
        if (inside := [places[at] for at in range(loop.first, loop.end) if at in places])
    ]
    return SequenceRows(
        shown,
        repeated,
        {places[at]: pause for at, pause in pauses.items() if at in places},
        sum(message.folded for message in messages),
        sum(message.nbytes for message in messages),
    )


def _folded(
    messages: Sequence[SequenceMessage],
) -> tuple[list[SequenceMessage], list[RepeatedRows]]:
    """Return one row per message of a repeated block, and the repeats."""
    numbers: dict[tuple[str, str, str], int] = {}
    keys = np.array(
        [
            numbers.setdefault(
                (message.side, message.kind or message.label, message.status), len(numbers)
            )
            for message in messages
        ],
        np.int64,
    )
    replies = np.array(
        [-1 if message.reply_to is None else message.reply_to for message in messages], np.int64
    )
    rows: list[SequenceMessage] = []
    loops: list[RepeatedRows] = []
    places: dict[int, int] = {}
    for fold in fold_runs(keys, replies):
        first = len(rows)
        for at in range(fold.start, fold.start + fold.period):
            places[at] = len(rows)
            rows.append(_row_messages(messages, at, fold, places))
        if fold.repeats > 1:
            start, end = messages[fold.start].time_ns, messages[fold.end - 1].time_ns
            took = None if start is None or end is None else end - start
            loops.append(RepeatedRows(first, len(rows), fold.repeats, took))
    return rows, loops


def _row_messages(
    messages: Sequence[SequenceMessage], at: int, fold: FoldedMessages, places: dict[int, int]
) -> SequenceMessage:
    """Return the row of a message, summed over its repeats."""
    message = messages[at]
    answered = None if message.reply_to is None else places.get(message.reply_to)
    if fold.repeats == 1:
        return replace(message, reply_to=answered)
    copies = messages[at : fold.end : fold.period]
    return replace(
        message,
        label=message.kind or message.label,
        nbytes=sum(copy.nbytes for copy in copies),
        reply_to=answered,
        folded=sum(copy.folded for copy in copies),
    )


def _pauses(rows: Sequence[SequenceMessage], loops: Sequence[RepeatedRows]) -> dict[int, int]:
    """Return rows that follow an unusually long wait, with its length."""
    taken = {loop.end: loop.duration_ns or 0 for loop in loops}
    inside = {at for loop in loops for at in range(loop.first + 1, loop.end)}
    starts = {loop.end: rows[loop.first].time_ns for loop in loops}
    waits: dict[int, int] = {}
    for at, (before, row) in enumerate(pairwise(rows), 1):
        since = starts.get(at, before.time_ns)
        if at in inside or since is None or row.time_ns is None:
            continue
        waits[at] = row.time_ns - since - taken.get(at, 0)
    usual = median([wait for wait in waits.values() if wait > 0] or [0])
    return {at: wait for at, wait in waits.items() if wait > _PAUSE * usual > 0}


def _kept(rows: Sequence[SequenceMessage], most: int) -> set[int]:
    """Return the drawn rows: first, last, and faulty ones with what they reply to."""
    count = len(rows)
    if count <= most:
        return set(range(count))
    head, tail = math.floor(most * _HEAD), math.floor(most * _TAIL)
    trouble = [at for at in range(head, count - tail) if rows[at].status != "ok"]
    asked = [rows[at].reply_to for at in trouble]
    near = sorted({*trouble, *(at for at in asked if at is not None and at >= head)})
    return {*range(head), *near[: most - head - tail], *range(count - tail, count)}
