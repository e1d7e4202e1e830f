"""Packets of RPC: table, bytes as HTML without scripts, and the sequence of messages."""

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


_MOST_ROWS = 60
_MOST_LETTERS_sequence, _MOST_HOVER = 300, 2000
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
    """Draw who sends what to whom, in the order of time, one row a message.

    Runs of messages that are alike are folded. Of more than 60 rows the first, the last and those
    with trouble are shown. Distances are not to scale; long pauses are marked.
    """
    shown = sequence_rows(messages, _MOST_ROWS)
    title = one_line(title)
    known = [each.time_ns for each in messages if each.time_ns is not None]
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
        "rows": [_row(each, start) for each in shown.rows],
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
    said = [_cut(line) for line in row.hover[:_MOST_HOVER].splitlines()]
    return {
        "kind": "message",
        "side": row.side,
        "label": label,
        "bytes": _size(row.nbytes),
        "time": _time(row, start),
        "status": row.status,
        "replyTo": -1 if row.reply_to is None else row.reply_to,
        "folded": row.folded,
        "hover": "\n".join([f"{_direction(row)}: {_WORDS[row.status]}{label}", *said]),
    }


def _left_out(row: LeftOut) -> str:
    return f"{counted(row.count, 'message')}, {_size(row.nbytes)}, not shown"


def _direction(row: SequenceMessage) -> str:
    return "client → server" if row.side == "client" else "server → client"


def _time(row: SequenceMessage, start: int | None) -> str:
    """Return seconds since the first message, as precise as captures are."""
    return "" if row.time_ns is None or start is None else f"{(row.time_ns - start) / 1e9:.6f}"


def _size(nbytes: int) -> str:
    return bytes_text(nbytes).partition(" (")[0]


def _loop_words(loop: RepeatedRows) -> str:
    what = "this message" if loop.end - loop.first == 1 else "these messages"
    took = "" if loop.duration_ns is None else f", in {duration_text(loop.duration_ns)}"
    return f"{loop.repeats:,} × {what}{took}"


def _cut(text: str) -> str:
    line = one_line(text[:_MOST_LETTERS_sequence])
    return line if len(text) <= _MOST_LETTERS_sequence else f"{line}…"


def _text_sequence(head: Sequence[str], shown: SequenceRows, start: int | None) -> str:
    """Return the rows as lines: time, direction, message, bytes."""
    found = list(head)
    loops = {loop.first: loop for loop in shown.loops}
    inside = {at for loop in shown.loops for at in range(loop.first, loop.end)}
    for at, row in enumerate(shown.rows):
        if at in shown.pauses:
            found.append(f"… {duration_text(shown.pauses[at])} later")
        if at in loops:
            found.append(f"{_loop_words(loops[at])}:")
        if isinstance(row, LeftOut):
            found.append(f"… {_left_out(row)}")
            continue
        indent = "  " if at in inside else ""
        time = "" if start is None else f"{_time(row, start):>10} s  "
        label = f"{_WORDS[row.status]}{_cut(row.label)}"
        found.append(f"{time}{indent}{_direction(row)}  {label}  [{_size(row.nbytes)}]")
    return "\n".join(found)


Side = Literal["client", "server"]
Status = Literal["ok", "exception", "damaged", "desynchronised", "incomplete"]
#: Of the rows that are kept, how many stand at the beginning and at the end.
_HEAD, _TAIL = 0.6, 0.2
#: A pause is so many times as long as most.
_PAUSE = 10


@dataclass(frozen=True, slots=True)
class SequenceMessage:
    """One message between the two sides."""

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
    """Rows that stand for messages which repeat."""

    first: int
    end: int
    repeats: int
    duration_ns: int | None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Messages between two rows that are not shown."""

    count: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class SequenceRows:
    """What a picture shows of a conversation."""

    rows: list[SequenceMessage | LeftOut]
    loops: list[RepeatedRows]
    pauses: dict[int, int]
    count: int
    nbytes: int


def sequence_rows(messages: Sequence[SequenceMessage], most_rows: int) -> SequenceRows:
    """Fold repeats, and leave out what is in the middle of too many rows."""
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
    seen = [
        RepeatedRows(min(inside), max(inside) + 1, loop.repeats, loop.duration_ns)
        for loop in loops
        if (inside := [places[at] for at in range(loop.first, loop.end) if at in places])
    ]
    return SequenceRows(
        shown,
        seen,
        {places[at]: pause for at, pause in pauses.items() if at in places},
        sum(message.folded for message in messages),
        sum(message.nbytes for message in messages),
    )


def _folded(
    messages: Sequence[SequenceMessage],
) -> tuple[list[SequenceMessage], list[RepeatedRows]]:
    """Return a row for each message that is not a repeat."""
    numbers: dict[tuple[str, str, str], int] = {}
    keys = np.array(
        [
            numbers.setdefault((each.side, each.kind or each.label, each.status), len(numbers))
            for each in messages
        ],
        np.int64,
    )
    replies = np.array(
        [-1 if each.reply_to is None else each.reply_to for each in messages], np.int64
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
            times = [messages[at].time_ns for at in (fold.start, fold.end - 1)]
            start, end = times
            took = None if start is None or end is None else end - start
            loops.append(RepeatedRows(first, len(rows), fold.repeats, took))
    return rows, loops


def _row_messages(
    messages: Sequence[SequenceMessage], at: int, fold: FoldedMessages, places: dict[int, int]
) -> SequenceMessage:
    """Return a message that stands for its repeats too."""
    message = messages[at]
    answered = None if message.reply_to is None else places.get(message.reply_to)
    if fold.repeats == 1:
        return replace(message, reply_to=answered)
    alike = messages[at : fold.end : fold.period]
    return replace(
        message,
        label=message.kind or message.label,
        nbytes=sum(each.nbytes for each in alike),
        reply_to=answered,
        folded=sum(each.folded for each in alike),
    )


def _pauses(rows: Sequence[SequenceMessage], loops: Sequence[RepeatedRows]) -> dict[int, int]:
    """Return rows before which nothing is said for much longer than elsewhere."""
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
    """Return the rows that are shown: the first, the last, and trouble between them."""
    count = len(rows)
    if count <= most:
        return set(range(count))
    head, tail = math.floor(most * _HEAD), math.floor(most * _TAIL)
    trouble = [at for at in range(head, count - tail) if rows[at].status != "ok"]
    asked = [rows[at].reply_to for at in trouble]
    near = sorted({*trouble, *(at for at in asked if at is not None and at >= head)})
    return {*range(head), *near[: most - head - tail], *range(count - tail, count)}
