"""Repeating runs of messages, folded to display long conversations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

_LONGEST = 8  # messages
_FEWEST_REPEATS = 3


class FoldedMessages(NamedTuple):
    """Messages shown once for all their repeats."""

    start: int
    period: int
    repeats: int

    @property
    def end(self) -> int:
        """First message after all repeats."""
        return self.start + self.period * self.repeats


def fold_runs(
    keys: npt.NDArray[np.integer], replies: npt.NDArray[np.integer]
) -> list[FoldedMessages]:
    """Find, in linear time, patterns of up to 8 messages that repeat at least 3 times in a row."""
    count = len(keys)
    if count == 0:
        return []
    alike = _numbered_with_replies(np.asarray(keys, np.int64), np.asarray(replies, np.int64))
    longest = min(_LONGEST, count // _FEWEST_REPEATS)
    runs = {n: _lengths_of_true_runs(alike[n:] == alike[:-n]) for n in range(1, longest + 1)}
    folds: list[FoldedMessages] = []
    single = 0
    at = 0
    while at < count:
        best = _best_pattern(runs, at)
        if best is None:
            at += 1
            continue
        if single < at:
            folds.append(FoldedMessages(single, at - single, 1))
        folds.append(best)
        at = single = best.end
    if single < count:
        folds.append(FoldedMessages(single, count - single, 1))
    return folds


def _numbered_with_replies(
    keys: npt.NDArray[np.int64], replies: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    order = np.arange(len(keys))
    answers = (replies >= 0) & (replies < order)
    target = np.where(answers, replies, 0)
    facts = np.stack(
        [keys, np.where(answers, keys[target], -1), np.where(answers, order - target, 0)], axis=1
    )
    return np.unique(facts, axis=0, return_inverse=True)[1].reshape(-1)


def _lengths_of_true_runs(same: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    places = np.arange(len(same))
    ends = np.where(same, len(same), places)
    return np.minimum.accumulate(ends[::-1])[::-1] - places


def _best_pattern(runs: dict[int, npt.NDArray[np.int64]], at: int) -> FoldedMessages | None:
    best = None
    for period, lengths in runs.items():
        if at >= len(lengths):
            continue
        repeats = int(lengths[at]) // period + 1
        if repeats < _FEWEST_REPEATS:
            continue
        if best is None or repeats * period > best.repeats * best.period:
            best = FoldedMessages(at, period, repeats)
    return best


Side = Literal["client", "server"]
Status = Literal["ok", "exception", "damaged", "out of sync", "incomplete", "left out"]
#: Shares of the kept rows that are taken from the start and from the end.
_HEAD, _TAIL = 0.6, 0.2
#: A pause is marked if it is so many times the median.
_PAUSE = 10


@dataclass(frozen=True, slots=True)
class SequenceMessage:
    """A message between client and server, or several: repeated, or left out between two rows."""

    side: Side
    label: str
    nbytes: int
    time_ns: int | None = None
    status: Status = "ok"
    reply_to: int | None = None
    hover: str = ""
    folded: int = 1
    kind: str = ""


class RepeatedRows(NamedTuple):
    """Rows that are drawn once for several repeats."""

    first: int
    end: int
    repeats: int
    duration_ns: int | None


class SequenceRows(NamedTuple):
    """Rows of a sequence figure; pauses by the row that follows."""

    rows: list[SequenceMessage]
    loops: list[RepeatedRows]
    pauses: dict[int, int]


def sequence_rows(messages: Sequence[SequenceMessage], most_rows: int) -> SequenceRows:
    """Fold repeats, and leave out the middle if there are too many rows."""
    rows, loops = _folded(messages)
    kept = _kept(rows, most_rows)
    shown: list[SequenceMessage] = []
    places: dict[int | None, int] = {}
    for at, row in enumerate(rows):
        if at in kept:
            places[at] = len(shown)
            shown.append(replace(row, reply_to=places.get(row.reply_to)))
            continue
        nbytes, folded = row.nbytes, row.folded
        if shown and shown[-1].status == "left out":
            before = shown.pop()
            nbytes, folded = before.nbytes + nbytes, before.folded + folded
        shown.append(SequenceMessage("client", "", nbytes, status="left out", folded=folded))
    repeated = [
        loop._replace(first=min(inside), end=max(inside) + 1)
        for loop in loops
        if (inside := [places[at] for at in range(loop.first, loop.end) if at in places])
    ]
    pauses = _pauses(rows, loops).items()
    return SequenceRows(
        shown, repeated, {places[at]: pause for at, pause in pauses if at in places}
    )


def _folded(
    messages: Sequence[SequenceMessage],
) -> tuple[list[SequenceMessage], list[RepeatedRows]]:
    """Return one row per message of a repeated block, and the repeats."""
    numbers: dict[tuple[str, str, str], int] = {}
    names = [(each.side, each.kind or each.label, each.status) for each in messages]
    keys = [numbers.setdefault(name, len(numbers)) for name in names]
    replies = [-1 if each.reply_to is None else each.reply_to for each in messages]
    rows: list[SequenceMessage] = []
    loops: list[RepeatedRows] = []
    places: dict[int | None, int] = {}
    for fold in fold_runs(np.array(keys, np.int64), np.array(replies, np.int64)):
        first = len(rows)
        for at in range(fold.start, fold.start + fold.period):
            places[at] = len(rows)
            message, copies = messages[at], messages[at : fold.end : fold.period]
            row = replace(
                message,
                nbytes=sum(copy.nbytes for copy in copies),
                reply_to=places.get(message.reply_to),
                folded=sum(copy.folded for copy in copies),
            )
            rows.append(replace(row, label=names[at][1]) if fold.repeats > 1 else row)
        if fold.repeats > 1:
            start, end = messages[fold.start].time_ns, messages[fold.end - 1].time_ns
            took = None if start is None or end is None else end - start
            loops.append(RepeatedRows(first, len(rows), fold.repeats, took))
    return rows, loops


def _pauses(rows: Sequence[SequenceMessage], loops: Sequence[RepeatedRows]) -> dict[int, int]:
    """Return rows that follow an unusually long wait, with its length."""
    before = {loop.end: loop for loop in loops}
    inside = {at for loop in loops for at in range(loop.first + 1, loop.end)}
    waits: dict[int, int] = {}
    for at, (last, row) in enumerate(pairwise(rows), 1):
        loop = before.get(at)
        since = last.time_ns if loop is None else rows[loop.first].time_ns
        if at not in inside and since is not None and row.time_ns is not None:
            waits[at] = row.time_ns - since - ((loop and loop.duration_ns) or 0)
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
