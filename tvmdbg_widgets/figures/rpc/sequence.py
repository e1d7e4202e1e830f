"""A conversation of two sides as a sequence diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmdbg_widgets.figures.engine import draw_or_tell
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.rpc.messages import (
    LeftOut,
    RepeatedRows,
    SequenceMessage,
    SequenceRows,
    sequence_rows,
)
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line

_MOST_ROWS = 60
_MOST_LETTERS, _MOST_HOVER = 300, 2000
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
    text = _text([title, summary, *lines], shown, start)
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
    """Return a row as ``js/src/rpc/data.ts`` reads it."""
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
    line = one_line(text[:_MOST_LETTERS])
    return line if len(text) <= _MOST_LETTERS else f"{line}…"


def _text(head: Sequence[str], shown: SequenceRows, start: int | None) -> str:
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
