"""Two sequences of numbers aligned: what stays in order on both sides."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.int64]

#: Windows that are looked for once on both sides, the widest first.
_WINDOWS = (64, 16, 4, 1)
#: Cells of the table of one gap between such windows.
_MOST_CELLS = 1_000_000
#: Steps taken in larger gaps before they are left alone.
_MOST_STEPS = 400_000


def aligned(a: _Numbers, b: _Numbers) -> list[tuple[int, int]]:
    """Return positions of equal numbers that rise on both sides.

    Windows of numbers that exist once on both sides are fixed points; what lies between them is
    aligned by its longest common subsequence. Where that would take too long, nothing is.

    Parameters
    ----------
    a, b : int64 [N], [M]
    """
    found: list[tuple[int, int]] = []
    waiting = [(0, len(a), 0, len(b), 0)]
    while waiting:
        start_a, end_a, start_b, end_b, depth = waiting.pop()
        while start_a < end_a and start_b < end_b and a[start_a] == b[start_b]:
            found.append((start_a, start_b))
            start_a, start_b = start_a + 1, start_b + 1
        while start_a < end_a and start_b < end_b and a[end_a - 1] == b[end_b - 1]:
            end_a, end_b = end_a - 1, end_b - 1
            found.append((end_a, end_b))
        part_a, part_b = a[start_a:end_a], b[start_b:end_b]
        if not len(part_a) or not len(part_b):
            continue
        if len(part_a) * len(part_b) <= _MOST_CELLS:
            pairs = _common(part_a, part_b)
            found += [(start_a + at, start_b + to) for at, to in pairs]
            continue
        fixed: list[tuple[int, int]] = []
        while not fixed and depth < len(_WINDOWS):
            fixed = _fixed(part_a, part_b, _WINDOWS[depth])
            depth += 1
        if not fixed:
            pairs = _greedy(part_a.tolist(), part_b.tolist())
            found += [(start_a + at, start_b + to) for at, to in pairs]
            continue
        before_a, before_b = start_a, start_b
        for at, to in fixed:
            waiting.append((before_a, start_a + at, before_b, start_b + to, depth))
            found.append((start_a + at, start_b + to))
            before_a, before_b = start_a + at + 1, start_b + to + 1
        waiting.append((before_a, end_a, before_b, end_b, depth))
    return sorted(found)


def _fixed(a: _Numbers, b: _Numbers, width: int) -> list[tuple[int, int]]:
    """Return where windows begin that exist once on both sides, as far as they keep their order."""
    once_a, at_a = _once(a, width)
    once_b, at_b = _once(b, width)
    _, in_a, in_b = np.intersect1d(once_a, once_b, assume_unique=True, return_indices=True)
    pairs = sorted(zip(at_a[in_a].tolist(), at_b[in_b].tolist(), strict=True))
    pairs = [(at, to) for at, to in pairs if a[at] == b[to]]
    return [pairs[each] for each in rising([to for _, to in pairs])]


def _once(numbers: _Numbers, width: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.intp]]:
    """Return the hashes of windows that exist once, and where they begin."""
    if len(numbers) < width:
        return np.zeros(0, np.uint64), np.zeros(0, np.intp)
    count = len(numbers) - width + 1
    mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    hashes = np.zeros(count, np.uint64)
    for at in range(width):
        hashes = hashes * np.uint64(0x100000001B3) + mixed[at : at + count]
    unique, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    return unique[counts == 1], first[counts == 1]


def rising(values: list[int]) -> list[int]:
    """Return the positions of a longest rising subsequence."""
    tails: list[int] = []
    at_tail: list[int] = []
    before = [-1] * len(values)
    for at, value in enumerate(values):
        slot = bisect_left(tails, value)
        before[at] = at_tail[slot - 1] if slot else -1
        if slot == len(tails):
            tails.append(value)
            at_tail.append(at)
        else:
            tails[slot], at_tail[slot] = value, at
    found = []
    at = at_tail[-1] if at_tail else -1
    while at >= 0:
        found.append(at)
        at = before[at]
    return found[::-1]


def _common(a: _Numbers, b: _Numbers) -> list[tuple[int, int]]:
    """Return positions of a longest common subsequence."""
    lengths = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for at in range(len(a)):
        row = np.maximum(lengths[at, 1:], lengths[at, :-1] + (b == a[at]))
        lengths[at + 1, 1:] = np.maximum.accumulate(row)
    found = []
    at, to = len(a), len(b)
    while at and to:
        here = lengths[at, to]
        if lengths[at - 1, to] == here:
            at -= 1
        elif lengths[at, to - 1] == here:
            to -= 1
        else:
            at, to = at - 1, to - 1
            found.append((at, to))
    return found[::-1]


def _greedy(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Return a longest common subsequence where few edits part the two, else nothing.

    E. W. Myers, An O(ND) difference algorithm and its variations, Algorithmica 1 (1986).
    """
    reach = {1: 0}
    history: list[dict[int, int]] = []
    steps = 0
    for edits in range(len(a) + len(b) + 1):
        history.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]
            )
            at = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            to = at - diagonal
            steps += 1
            while at < len(a) and to < len(b) and a[at] == b[to]:
                at, to = at + 1, to + 1
                steps += 1
            reach[diagonal] = at
            if at >= len(a) and to >= len(b):
                return _back(history, len(a), len(b))
        if steps > _MOST_STEPS:
            return []
    return []


def _back(history: list[dict[int, int]], at: int, to: int) -> list[tuple[int, int]]:
    found = []
    for edits in range(len(history) - 1, -1, -1):
        reach, diagonal = history[edits], at - to
        down = diagonal == -edits or (
            diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1]
        )
        before = diagonal + 1 if down else diagonal - 1
        from_at = reach[before]
        from_to = from_at - before
        while at > from_at and to > from_to:
            at, to = at - 1, to - 1
            found.append((at, to))
        if edits:
            at, to = from_at, from_to
    return found[::-1]
