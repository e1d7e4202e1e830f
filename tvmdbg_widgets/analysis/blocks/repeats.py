"""Runs of equally wired blocks: repeating stretches of letters, and branches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.blocks.sequence import Sequence
from tvmdbg_widgets.model.graph.groups import GroupSource

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_MOST_TRIED = 4_000  # most stretches examined, the longest first
_FEWEST_IN_CHAINS = 6  # least number of operators of a run whose blocks are plain chains
_OFFSETS_TRIED = 3
_MOST_PAIRS = 100_000  # most pairs of operands compared directly
_OUTPUTS = 1 << 20


@dataclass(frozen=True, slots=True)
class RepeatedBlock:
    """A group as a range of operators."""

    start: int
    end: int
    source: GroupSource
    repeats: int
    content: bytes
    inside: tuple[RepeatedBlock, ...] = ()
    apart: tuple[int, ...] = ()


@dataclass(eq=False)
class BlockSearch:
    """Search for runs of blocks in a sequence."""

    sequence: Sequence
    first_reader: Ints
    last_reader: Ints
    _runs_by_offset: int = field(default=0, init=False)
    _outer: Ints = field(init=False)
    _own_from: Ints = field(init=False)

    def __post_init__(self) -> None:
        self._own_from = self.first_reader.copy()
        owned = np.concatenate([[0], np.cumsum(self.sequence.outer >= 0)])
        slot = self.sequence.slot
        self._outer = (owned[slot[1:]] - owned[slot[:-1]] > 0).astype(np.int64)

    def all(self) -> tuple[RepeatedBlock, ...]:
        """Return the top-level groups in order; between runs also branching stretches."""
        count = len(self.sequence.nodes)
        blocks = self._within(0, count, runs(self.sequence.letters))
        gaps = zip(
            [0, *(run.end for run in blocks)], [*(run.start for run in blocks), count], strict=True
        )
        single = [
            RepeatedBlock(start, end, GroupSource.BLOCK, 1, self.content(start, end))
            for low, high in gaps
            for start, end in branching(self.sequence, low, high)
            if end - start < count
        ]
        return tuple(sorted([*blocks, *single], key=lambda each: each.start))

    def content(self, start: int, end: int) -> bytes:
        """Return the structure of operators `start` to `end`, for comparison."""
        wires, own = self._wires(start, end - start, 1)
        return self._signature(start, end, wires[0], own[0])

    def _within(self, low: int, high: int, known: PeriodicRuns) -> tuple[RepeatedBlock, ...]:
        taken = _DisjointIntervals()
        blocks: list[RepeatedBlock] = []
        for start, end, period in _clipped(known, low, high):
            for first, last in taken.free(start, end):
                if last - first < max(2 * period, FEWEST) or self._runs_by_offset >= _MOST_TRIED:
                    continue
                self._runs_by_offset += 1
                for run in self._runs_in_stretch(first, last, period, known):
                    blocks.append(run)
                    taken.add(run.start, run.end)
        return tuple(sorted(blocks, key=lambda each: each.start))

    def _runs_in_stretch(
        self, start: int, end: int, period: int, known: PeriodicRuns
    ) -> Iterator[RepeatedBlock]:
        for offset in self._block_starts(start, end, period):
            begin = start + offset
            count = (end - begin) // period
            wires, own = self._wires(begin, period, count)
            alike = (wires[1:] == wires[:-1]).all(axis=1)
            some = False
            for first, last in _runs_of_true(alike):
                if (last - first) * period >= self._least_run_length(begin, period, wires[first]):
                    some = True
                    where = begin + first * period, begin + last * period
                    yield self._run(*where, (wires[first], own[first:last]), known)
            if some:
                return

    def _run(
        self, start: int, end: int, blocks_own: tuple[Ints, Bools], known: PeriodicRuns
    ) -> RepeatedBlock:
        wires, own = blocks_own
        count = len(own)
        period = (end - start) // count
        everywhere: Bools = np.logical_and.reduce(own, axis=0)
        apart = np.flatnonzero(own.any(axis=0) & ~everywhere)
        low, high = int(self.sequence.slot[start]), int(self.sequence.slot[end])
        # Nor do they belong to groups inside a block.
        self._own_from[low:high].reshape(count, -1)[:, apart] = -1
        whole = b"%d %d " % (period, count) + self.content(start, end)
        blocks: tuple[RepeatedBlock, ...] = ()
        if period > 1:
            content = self._signature(start, start + period, wires, everywhere)
            inside = self._within(start, start + period, known)
            near = tuple(replace(e, start=e.start - start, end=e.end - start) for e in inside)
            blocks = tuple(
                RepeatedBlock(at, at + period, GroupSource.BLOCK, 1, content, near)
                for at in range(0, end - start, period)
            )
        unshared = tuple(apart.tolist())
        return RepeatedBlock(start, end, GroupSource.REPEAT, count, whole, blocks, unshared)

    def _block_starts(self, start: int, end: int, period: int) -> list[int]:
        """Return possible starts of blocks, thinnest cut first, then most blocks, then the last."""
        if period == 1:
            return [0]
        rows = (end - start) // period
        offsets = np.arange(period)
        cuts = self.sequence.crossing[start : start + rows * period].reshape(rows, period)
        thick = cuts[1:].sum(axis=0)
        count = (end - start - offsets) // period
        order = np.lexsort((-offsets, -self._outer[start : start + period], -count, thick))
        best = order[: _OFFSETS_TRIED + 1]
        starts: list[int] = best[count[best] > 1][:_OFFSETS_TRIED].tolist()
        return starts

    def _least_run_length(self, begin: int, period: int, wires: Ints) -> int:
        slot = self.sequence.slot
        behind = int(slot[begin + 1] - slot[begin])
        second = wires[behind:]
        # Both operators of a block read the same: a branch.
        branches = period == 2 and bool(((second < 0) & (second >= -behind)).any())
        return FEWEST if period == 1 or branches else _FEWEST_IN_CHAINS

    def _wires(self, begin: int, period: int, count: int) -> tuple[Ints, Bools]:
        """Return the source of each operand by block, and which operands a block owns."""
        # From inside: place and output after the start; others: the first equal operand, negative.
        sequence = self.sequence
        low, high = int(sequence.slot[begin]), int(sequence.slot[begin + period * count])
        each = (high - low) // count
        shape = (count, each)
        starts = (begin + period * np.arange(count))[:, None]
        near = sequence.source[low:high].reshape(shape) - starts
        entry = sequence.entry[low:high].reshape(shape)
        if each and count * each * each <= _MOST_PAIRS:
            same = (entry[:, :, None] == entry[:, None, :]).argmax(axis=2)
        else:
            same = _first_equal_columns(entry)
        wires = np.where(
            near >= 0, near * _OUTPUTS + sequence.output[low:high].reshape(shape), -1 - same
        )
        own = (self._own_from[low:high].reshape(shape) >= starts) & (
            self.last_reader[low:high].reshape(shape) < starts + period
        )
        return wires, own

    def _signature(self, start: int, end: int, wires: Ints, own: Bools) -> bytes:
        return self.sequence.letters[start:end].tobytes() + wires.tobytes() + own.tobytes()


class _DisjointIntervals:
    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        at = bisect_left(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)

    def free(self, start: int, end: int) -> list[tuple[int, int]]:
        at = bisect_right(self._ends, start)
        free: list[tuple[int, int]] = []
        while at < len(self._starts) and self._starts[at] < end:
            if self._starts[at] > start:
                free.append((start, self._starts[at]))
            start = self._ends[at]
            at += 1
        return [*free, (start, end)] if start < end else free


def _clipped(known: PeriodicRuns, low: int, high: int) -> list[tuple[int, int, int]]:
    start, end = np.maximum(known.start, low), np.minimum(known.end, high)
    keep = end - start >= np.maximum(2 * known.period, FEWEST)
    start, end, period = start[keep], end[keep], known.period[keep]
    order = np.lexsort((start, period, -((end - start) // period * period)))
    return list(
        zip(start[order].tolist(), end[order].tolist(), period[order].tolist(), strict=True)
    )


def _runs_of_true(alike: Bools) -> list[tuple[int, int]]:
    steps = np.diff(alike.astype(np.int8), prepend=0, append=0)
    first, last = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0) + 1
    return list(zip(first.tolist(), last.tolist(), strict=True))


def _first_equal_columns(rows: Ints) -> Ints:
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    new = np.ones(rows.shape, np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    begun = np.maximum.accumulate(np.where(new, np.arange(rows.shape[1]), 0), axis=1)
    columns = np.empty_like(rows)
    np.put_along_axis(columns, order, np.take_along_axis(order, begun, axis=1), axis=1)
    return columns


_FEWEST = 3
_MOST = 256


def branching(sequence: Sequence, low: int, high: int) -> list[tuple[int, int]]:
    """Return the stretches of an interval that branch and join again, with one value between."""
    if high - low < _FEWEST:
        return []
    slots = slice(int(sequence.slot[low]), int(sequence.slot[high]))
    source, entry = sequence.source[slots], sequence.entry[slots]
    reader, last = sequence.reader[slots], sequence.last[slots]
    from_before = (source >= 0) & (source < low)
    _, first_at, group = np.unique(entry[from_before], return_index=True, return_inverse=True)
    count = high - low + 1
    # Values from before count from their first to their last reader in the interval.
    first = reader[from_before][first_at]
    final = np.zeros(len(first), np.int64)
    np.maximum.at(final, group, reader[from_before])
    steps = np.bincount(first + 1 - low, minlength=count + 1) - np.bincount(
        final + 1 - low, minlength=count + 1
    )
    ends = last[from_before][first_at]
    ended = np.cumsum(np.bincount(ends[ends < high] + 1 - low, minlength=count + 1))
    made = sequence.crossing[low : high + 1] - sequence.crossing[low] + ended[:count]
    thick = made + np.cumsum(steps)[:count]
    thin = thick <= 1
    thin[[0, -1]] = True
    cuts = (np.flatnonzero(thin) + low).tolist()
    return [(start, end) for start, end in pairwise(cuts) if _FEWEST <= end - start <= _MOST]


_MOST_LETTERS = 1 << 20  # limit for packing two ranks and a place in one number
_MOST_DISTANCES = 96  # distances tried per octave, the most frequent first
FEWEST = 4  # shortest run of letters


@dataclass(frozen=True)
class PeriodicRuns:
    """Stretches that repeat with a period, the longest first."""

    start: Ints
    end: Ints
    period: Ints


def runs(letters: Ints) -> PeriodicRuns:
    """Return the stretches of a sequence that repeat immediately, in O(n log n)."""
    stretches: list[tuple[Ints, Ints, Ints]] = []
    count = len(letters)
    if 1 < count < _MOST_LETTERS:
        rank, places, width = letters, np.arange(count), 1
        while len(places) > 1 and width <= count // 2:
            rank, places, distance = _repeated_windows(rank, places)
            octave = distance[(distance >= width) & (distance < 2 * width)]
            values, counts = np.unique(octave, return_counts=True)
            frequent = values[np.lexsort((values, -counts))[:_MOST_DISTANCES]]
            stretches += [
                _periodic_stretches(letters, period) for period in sorted(frequent.tolist())
            ]
            rank, places = _doubled_windows(rank, places, width, count)
            width *= 2
    columns = list(zip(*stretches, strict=True)) or [(np.zeros(0, np.int64),)] * 3
    start, end, period = map(np.concatenate, columns)
    covered = (end - start) // np.maximum(period, 1) * period
    order = np.lexsort((start, period, -covered))
    return PeriodicRuns(start[order], end[order], period[order])


def _repeated_windows(rank: Ints, places: Ints) -> tuple[Ints, Ints, Ints]:
    bits = _MOST_LETTERS.bit_length()
    merged = np.sort((np.unique(rank, return_inverse=True)[1].astype(np.int64) << bits) | places)
    place, text = merged & ((1 << bits) - 1), merged >> bits
    same = np.zeros(len(text) + 1, np.bool_)
    same[1:-1] = text[1:] == text[:-1]
    distance = np.zeros(len(text), np.int64)
    distance[1:] = np.where(same[1:-1], place[1:] - place[:-1], 0)
    keep = same[1:] | same[:-1]
    return text[keep], place[keep], distance[keep]


def _doubled_windows(rank: Ints, places: Ints, width: int, count: int) -> tuple[Ints, Ints]:
    table = np.full(count + width, -1, np.int64)
    table[places] = rank
    places = np.sort(places)
    second = table[places + width]
    both = second >= 0
    places = places[both]
    return (table[places] << 31) | second[both], places


def _periodic_stretches(letters: Ints, period: int) -> tuple[Ints, Ints, Ints]:
    same = np.zeros(len(letters) - period + 2, np.int8)
    same[1:-1] = letters[period:] == letters[:-period]
    steps = np.diff(same)
    start, stop = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    long = (stop - start >= period) & (stop + period - start >= FEWEST)
    start, stop = start[long], stop[long]
    return start, stop + period, np.full(len(start), period, np.int64)
