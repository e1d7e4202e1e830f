"""Messages between client and server in time order, as a figure and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tvmdbg_widgets.analysis.abi.folding import RepeatedRows, SequenceMessage, sequence_rows
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.byte_map import cut_line
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line

_MOST_ROWS = 60
_MOST_HOVER = 2000


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
    nbytes = sum(message.nbytes for message in messages)
    summary = f"{counted(sum(each.folded for each in messages), 'message')}, {_size(nbytes)}"
    if start is not None:
        summary += f", {duration_text(known[-1] - start)}; time runs down, not to scale"
    elif messages:
        summary += "; times are not known"
    rows = [_row(row, start) for row in shown.rows]
    loops = [{"first": each.first, "end": each.end, "words": _words(each)} for each in shown.loops]
    pauses = [
        {"row": at, "words": f"{duration_text(pause)} later"} for at, pause in shown.pauses.items()
    ]
    told = {"timed": start is not None, "rows": rows, "loops": loops, "pauses": pauses}
    text = "\n".join([title, summary, *lines, *_lines(told)])
    reply = Reply({"summary": summary, "notes": lines, "text": text, **told})
    return draw_view(
        "sequence", title, {}, lambda _: reply, text=lambda: text, width=width, theme=theme
    )


def _row(row: SequenceMessage, start: int | None) -> dict[str, Any]:
    """Return a row as ``js/src/engine/sequence_layout.ts`` reads it."""
    if row.status == "left out":
        label = f"{counted(row.folded, 'message')}, {_size(row.nbytes)}, not shown"
        return {"kind": "left out", "label": label}
    label = cut_line(row.label)
    lines = [cut_line(line) for line in row.hover[:_MOST_HOVER].splitlines()]
    since = None if row.time_ns is None or start is None else row.time_ns - start
    told = {
        "kind": "message",
        "side": row.side,
        "label": label,
        "bytes": _size(row.nbytes),
        "time": "" if since is None else f"{since / 1e9:.6f}",
        "status": row.status,
        "replyTo": -1 if row.reply_to is None else row.reply_to,
        "folded": row.folded,
    }
    return {**told, "hover": "\n".join([": ".join(_said(told)), *lines])}


def _said(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the direction of a message, and its words."""
    way = "client → server" if row["side"] == "client" else "server → client"
    return way, row["label"] if row["status"] == "ok" else f"{row['status']}: {row['label']}"


def _size(nbytes: int) -> str:
    return bytes_text(nbytes).partition(" (")[0]


def _words(loop: RepeatedRows) -> str:
    what = "this message" if loop.end - loop.first == 1 else "these messages"
    took = "" if loop.duration_ns is None else f", in {duration_text(loop.duration_ns)}"
    return f"{loop.repeats:,} × {what}{took}"


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows as lines: time, direction, message, bytes."""
    waits = {pause["row"]: pause["words"] for pause in told["pauses"]}
    loops = {loop["first"]: loop["words"] for loop in told["loops"]}
    inside = {at for loop in told["loops"] for at in range(loop["first"], loop["end"])}
    for at, row in enumerate(told["rows"]):
        if at in waits:
            yield f"… {waits[at]}"
        if at in loops:
            yield f"{loops[at]}:"
        if row["kind"] == "left out":
            yield f"… {row['label']}"
            continue
        time = f"{row['time']:>10} s  " if told["timed"] else ""
        words = "  ".join(_said(row))
        yield f"{time}{'  ' if at in inside else ''}{words}  [{row['bytes']}]"
