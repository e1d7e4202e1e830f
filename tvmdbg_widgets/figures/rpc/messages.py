"""The messages of a conversation, and the rows that a picture of them has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Literal

import numpy as np

from tvmdbg_widgets.analysis.rpc.folding import FoldedMessages, fold_runs

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
            rows.append(_row(messages, at, fold, places))
        if fold.repeats > 1:
            times = [messages[at].time_ns for at in (fold.start, fold.end - 1)]
            start, end = times
            took = None if start is None or end is None else end - start
            loops.append(RepeatedRows(first, len(rows), fold.repeats, took))
    return rows, loops


def _row(
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
