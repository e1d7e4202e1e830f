"""Alignment of operator sequences between matched nodes by longest common subsequence."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.matching.pairs import MatchedPairs, NewPairs, agree, read_equally
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide

#: An edited graph has many operators left, and most of them in a common sequence.
_MANY, _MOSTLY = 1_000, 0.9


def match_sequences(a: GraphSide, b: GraphSide, matches: MatchedPairs) -> NewPairs:
    """Match operators in gaps between matched ones, in wiring order."""
    return _match(a, b, matches, _common_sequence(a, b, *_unmatched_operators(a, b)))


def match_edited(a: GraphSide, b: GraphSide, matches: MatchedPairs) -> NewPairs:
    """Match the common sequence if it is nearly everything left of large graphs."""
    left, right = _unmatched_operators(a, b)
    most = max(len(left), len(right))
    if most < _MANY:
        return []
    pairs = _common_sequence(a, b, left, right)
    return _match(a, b, matches, pairs) if len(pairs) > _MOSTLY * most else []


def _unmatched_operators(a: GraphSide, b: GraphSide) -> tuple[set[int], set[int]]:
    left, right = ({node for node in side.unmatched() if side.tokens[node]} for side in (a, b))
    return left, right


def _common_sequence(
    a: GraphSide, b: GraphSide, left: set[int], right: set[int]
) -> list[tuple[int, int]]:
    if {a.keys[node] for node in left}.isdisjoint([b.keys[node] for node in right]):
        return []
    pairs: list[tuple[int, int]] = []
    for gap_a, gap_b in _gaps(a, b):
        keys_a = np.array([a.keys[node] for node in gap_a])
        keys_b = np.array([b.keys[node] for node in gap_b])
        pairs += [(gap_a[at], gap_b[to]) for at, to in aligned(keys_a, keys_b)]
    return pairs


def _match(
    a: GraphSide, b: GraphSide, matches: MatchedPairs, pairs: list[tuple[int, int]]
) -> NewPairs:
    new: NewPairs = []
    for node_a, node_b in pairs:
        if not agree(a, b, node_a, node_b):
            continue
        sure = Certainty.LIKELY if read_equally(a, b, node_a, node_b) else Certainty.POSSIBLE
        matches.add(node_a, node_b, sure, Reason.SEQUENCE)
        new.append((node_a, node_b, sure))
    return new


def _gaps(a: GraphSide, b: GraphSide) -> list[tuple[list[int], list[int]]]:
    left, right = np.array(a.line, np.intp), np.array(b.line, np.intp)
    anchors_a, anchors_b = np.array(a.anchor)[left], np.array(b.anchor)[right]
    _, at_a, at_b = np.intersect1d(anchors_a, anchors_b, return_indices=True)
    known = anchors_a[at_a] != 0
    along = np.flatnonzero(known)[np.argsort(at_a[known])]
    kept = along[rising(at_b[along])]
    at_a, at_b = at_a[kept], at_b[kept]
    ends_a, ends_b = np.append(at_a, len(left)), np.append(at_b, len(right))
    begins_a, begins_b = np.append(0, at_a + 1), np.append(0, at_b + 1)
    gaps = []
    for gap in np.flatnonzero((ends_a > begins_a) & (ends_b > begins_b)).tolist():
        in_a, in_b = slice(begins_a[gap], ends_a[gap]), slice(begins_b[gap], ends_b[gap])
        gap_a = left[in_a][anchors_a[in_a] == 0].tolist()
        gap_b = right[in_b][anchors_b[in_b] == 0].tolist()
        if gap_a and gap_b:
            gaps.append((gap_a, gap_b))
    return gaps


_Numbers = npt.NDArray[np.int64]

_WINDOWS = (64, 16, 4, 1)  # widths of windows that are unique on both sides, the widest first
_MOST_CELLS = 1_000_000  # most cells in the table of one gap between such windows
#: Most edits in larger gaps, and most per number: beyond these, or if likely beyond after some,
#: gaps are left alone. Between equal blocks more edits prove nothing.
_MOST_EDITS, _RARE, _SOME_EDITS = 1_500, 32, 256
_BASE = 0x100000001B3  # base of the hashes of runs: odd, so invertible modulo 2**64
_INVERSE = pow(_BASE, -1, 1 << 64)


def aligned(a: _Numbers, b: _Numbers) -> list[tuple[int, int]]:
    """Return rising positions of equal numbers: unique windows, and common subsequences between."""
    positions: list[tuple[int, int]] = []
    waiting = [(0, len(a), 0, len(b), 0)]
    while waiting:
        start_a, end_a, start_b, end_b, depth = waiting.pop()
        while start_a < end_a and start_b < end_b and a[start_a] == b[start_b]:
            positions.append((start_a, start_b))
            start_a, start_b = start_a + 1, start_b + 1
        while start_a < end_a and start_b < end_b and a[end_a - 1] == b[end_b - 1]:
            end_a, end_b = end_a - 1, end_b - 1
            positions.append((end_a, end_b))
        part_a, part_b = a[start_a:end_a], b[start_b:end_b]
        if not len(part_a) or not len(part_b):
            continue
        small = len(part_a) * len(part_b) <= _MOST_CELLS
        fixed: list[tuple[int, int]] = []
        while not small and not fixed and depth < len(_WINDOWS):
            fixed = _fixed_windows(part_a, part_b, _WINDOWS[depth])
            depth += 1
        if not fixed:
            pairs = _longest_common(part_a, part_b) if small else _common_by_edits(part_a, part_b)
            positions += [(start_a + at, start_b + to) for at, to in pairs]
            continue
        before_a, before_b = start_a, start_b
        for at, to in fixed:
            waiting.append((before_a, start_a + at, before_b, start_b + to, depth))
            positions.append((start_a + at, start_b + to))
            before_a, before_b = start_a + at + 1, start_b + to + 1
        waiting.append((before_a, end_a, before_b, end_b, depth))
    return sorted(positions)


def _fixed_windows(a: _Numbers, b: _Numbers, width: int) -> list[tuple[int, int]]:
    once_a, at_a = _unique_windows(a, width)
    once_b, at_b = _unique_windows(b, width)
    _, in_a, in_b = np.intersect1d(once_a, once_b, assume_unique=True, return_indices=True)
    pairs = sorted(zip(at_a[in_a].tolist(), at_b[in_b].tolist(), strict=True))
    pairs = [(at, to) for at, to in pairs if a[at] == b[to]]
    return [pairs[row] for row in rising(np.array([to for _, to in pairs], np.int64)).tolist()]


def _unique_windows(
    numbers: _Numbers, width: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.intp]]:
    if len(numbers) < width:
        return np.zeros(0, np.uint64), np.zeros(0, np.intp)
    count = len(numbers) - width + 1
    mixed = _mixed(numbers)
    hashes = np.zeros(count, np.uint64)
    for at in range(width):
        hashes = hashes * np.uint64(_BASE) + mixed[at : at + count]
    unique, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    return unique[counts == 1], first[counts == 1]


def rising(values: _Numbers) -> npt.NDArray[np.intp]:
    """Return the positions of a longest rising subsequence of distinct numbers."""
    before = np.maximum.accumulate(values)
    after = np.minimum.accumulate(values[::-1])[::-1]
    in_order = (values >= before) & (values <= after)
    others = np.flatnonzero(~in_order)
    kept = others[_rising(values[others].tolist())]
    return np.sort(np.concatenate([np.flatnonzero(in_order), kept]))


def _rising(values: list[int]) -> list[int]:
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
    positions = []
    at = at_tail[-1] if at_tail else -1
    while at >= 0:
        positions.append(at)
        at = before[at]
    return positions[::-1]


def _longest_common(a: _Numbers, b: _Numbers) -> list[tuple[int, int]]:
    lengths = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for at in range(len(a)):
        row = np.maximum(lengths[at, 1:], lengths[at, :-1] + (b == a[at]))
        lengths[at + 1, 1:] = np.maximum.accumulate(row)
    positions = []
    at, to = len(a), len(b)
    while at and to:
        here = lengths[at, to]
        if lengths[at - 1, to] == here:
            at -= 1
        elif lengths[at, to - 1] == here:
            to -= 1
        else:
            at, to = at - 1, to - 1
            positions.append((at, to))
    return positions[::-1]


def _common_by_edits(a: _Numbers, b: _Numbers) -> list[tuple[int, int]]:
    """Return a longest common subsequence of few edits, by Myers' O(ND) algorithm (1986)."""
    runs = _CommonRuns(a, b)
    end = len(a) - len(b)
    most = min(_MOST_EDITS, (len(a) + len(b)) // _RARE)
    reach = np.full(2 * most + 3, -1, np.int32)
    middle = most + 1
    reach[middle + 1] = 0
    history: list[npt.NDArray[np.int32]] = []
    for edits in range(most + 1):
        diagonals = np.arange(-edits, edits + 1, 2)
        # Every other diagonal: those that the next edit starts from.
        history.append(reach[middle - edits - 1 : middle + edits + 2 : 2].copy())
        left, right = reach[middle + diagonals - 1], reach[middle + diagonals + 1]
        at = np.where(left < right, right, left + 1)
        at += runs.alike(at, at - diagonals)
        reach[middle + diagonals] = at
        if abs(end) <= edits and reach[middle + end] >= len(a):
            return _back(history, len(a), len(b))
        if edits % _SOME_EDITS == _SOME_EDITS - 1:
            share = float((2 * at - diagonals).max()) / (len(a) + len(b))
            if edits > share * most:
                break
    return []


class _CommonRuns:
    """Lengths of common runs of two sequences from given places on."""

    def __init__(self, a: _Numbers, b: _Numbers) -> None:
        self._a, self._b = a, b
        most = max(len(a), len(b)) + 1
        self._powers = np.cumprod(np.full(most, _BASE, np.uint64)) * np.uint64(_INVERSE)
        self._sums_a, self._sums_b = (
            np.concatenate(
                [np.zeros(1, np.uint64), np.cumsum(_mixed(numbers) * self._powers[: len(numbers)])]
            )
            for numbers in (a, b)
        )

    def alike(self, at: _Numbers, to: _Numbers) -> _Numbers:
        lengths = np.zeros(len(at), np.int64)
        room = np.minimum(len(self._a) - at, len(self._b) - to)
        some = np.flatnonzero(room > 0)
        some = some[self._a[at[some]] == self._b[to[some]]]
        if not len(some):
            return lengths
        at, to, room = at[some], to[some], room[some]
        far = np.ones(len(some), np.int64)
        step = 1 << max(0, int(room.max()).bit_length() - 1)
        while step:
            begin_a, begin_b = at + far, to + far
            fits = np.flatnonzero(far + step <= room)
            begin_a, begin_b = begin_a[fits], begin_b[fits]
            one = self._sums_a[begin_a + step] - self._sums_a[begin_a]
            other = self._sums_b[begin_b + step] - self._sums_b[begin_b]
            same = one * self._powers[begin_b] == other * self._powers[begin_a]
            far[fits[same]] += step
            step >>= 1
        lengths[some] = far
        return lengths


def _mixed(numbers: _Numbers) -> npt.NDArray[np.uint64]:
    hashes = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    hashes ^= hashes >> np.uint64(29)
    return hashes


def _back(history: list[npt.NDArray[np.int32]], at: int, to: int) -> list[tuple[int, int]]:
    positions = []
    for edits in range(len(history) - 1, -1, -1):
        reach, diagonal = history[edits], at - to
        slot = (diagonal + edits) // 2
        left, right = reach[slot : slot + 2].tolist()
        down = left < right
        from_at = right if down else left
        from_to = from_at - diagonal - (1 if down else -1)
        begin = from_at if down else from_at + 1
        while at > begin:
            at, to = at - 1, to - 1
            positions.append((at, to))
        at, to = from_at, from_to
    return positions[::-1]
