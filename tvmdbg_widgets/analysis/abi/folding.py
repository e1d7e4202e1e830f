"""Repeating runs of messages, folded to display long conversations."""

from __future__ import annotations

from typing import NamedTuple

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
