"""Runs of blocks that are wired alike, and the blocks inside them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.blocks.branching import branching
from tvmdbg_widgets.analysis.blocks.runs import FEWEST, PeriodicRuns, runs
from tvmdbg_widgets.analysis.blocks.sequence import Sequence
from tvmdbg_widgets.model.graph.groups import GroupSource

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: Stretches that are looked at closely, the longest first.
_MOST_TRIED = 4_000
#: Operators that blocks of a run have together at least where each is a mere chain.
_FEWEST_IN_CHAINS = 6
_OFFSETS_TRIED = 3
#: Pairs of operands that are compared each with each.
_MOST_PAIRS = 100_000
_OUTPUTS = 1 << 20


@dataclass(frozen=True, slots=True)
class RepeatedBlock:
    """A group by the places of its operators."""

    start: int
    end: int
    source: GroupSource
    repeats: int
    content: bytes
    inside: tuple[RepeatedBlock, ...] = ()
    apart: tuple[int, ...] = ()


@dataclass(eq=False)
class BlockSearch:
    """Looks for runs of blocks in a sequence."""

    sequence: Sequence
    first_reader: Ints
    last_reader: Ints
    _tried: int = field(default=0, init=False)
    _outer: Ints = field(init=False)
    _own_from: Ints = field(init=False)

    def __post_init__(self) -> None:
        self._own_from = self.first_reader.copy()
        owned = np.concatenate([[0], np.cumsum(self.sequence.outer >= 0)])
        slot = self.sequence.slot
        self._outer = (owned[slot[1:]] - owned[slot[:-1]] > 0).astype(np.int64)

    def all(self) -> tuple[RepeatedBlock, ...]:
        """Return the groups at the top, in order; between runs what branches and joins again."""
        count = len(self.sequence.nodes)
        found = self._within(0, count, runs(self.sequence.letters))
        gaps = zip(
            [0, *(run.end for run in found)], [*(run.start for run in found), count], strict=True
        )
        single = [
            RepeatedBlock(start, end, GroupSource.BLOCK, 1, self.content(start, end))
            for low, high in gaps
            for start, end in branching(self.sequence, low, high)
            if end - start < count
        ]
        return tuple(sorted([*found, *single], key=lambda each: each.start))

    def content(self, start: int, end: int) -> bytes:
        """Return what tells the structure of the operators from `start` to `end`."""
        wires, own = self._wires(start, end - start, 1)
        return self._signature(start, end, wires[0], own[0])

    def _within(self, low: int, high: int, known: PeriodicRuns) -> tuple[RepeatedBlock, ...]:
        taken = _Taken()
        found: list[RepeatedBlock] = []
        for start, end, period in _clipped(known, low, high):
            for first, last in taken.free(start, end):
                if last - first < max(2 * period, FEWEST) or self._tried >= _MOST_TRIED:
                    continue
                self._tried += 1
                for run in self._repeated(first, last, period, known):
                    found.append(run)
                    taken.add(run.start, run.end)
        return tuple(sorted(found, key=lambda each: each.start))

    def _repeated(
        self, start: int, end: int, period: int, known: PeriodicRuns
    ) -> Iterator[RepeatedBlock]:
        """Yield the runs of blocks in a stretch of letters that repeats itself."""
        for offset in self._offsets(start, end, period):
            begin = start + offset
            count = (end - begin) // period
            wires, own = self._wires(begin, period, count)
            alike = (wires[1:] == wires[:-1]).all(axis=1)
            some = False
            for first, last in _stretches(alike):
                if (last - first) * period >= self._fewest(begin, period, wires[first]):
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
        # Nor do they belong to what is inside one of the blocks.
        self._own_from[low:high].reshape(count, -1)[:, apart] = -1
        whole = b"%d %d " % (period, count) + self.content(start, end)
        blocks: tuple[RepeatedBlock, ...] = ()
        if period > 1:
            content = self._signature(start, start + period, wires, everywhere)
            inside = self._within(start, start + period, known)
            near = tuple(_moved(each, -start) for each in inside)
            blocks = tuple(
                RepeatedBlock(at, at + period, GroupSource.BLOCK, 1, content, near)
                for at in range(0, end - start, period)
            )
        unshared = tuple(apart.tolist())
        return RepeatedBlock(start, end, GroupSource.REPEAT, count, whole, blocks, unshared)

    def _offsets(self, start: int, end: int, period: int) -> list[int]:
        """Return where blocks may begin, the thinnest cut first.

        Among equals those that make the most blocks, then an operator with parameters, then the
        last, so that what is left over comes before.
        """
        if period == 1:
            return [0]
        rows = (end - start) // period
        offsets = np.arange(period)
        cuts = self.sequence.crossing[start : start + rows * period].reshape(rows, period)
        thick = cuts[1:].sum(axis=0)
        count = (end - start - offsets) // period
        order = np.lexsort((-offsets, -self._outer[start : start + period], -count, thick))
        best = order[: _OFFSETS_TRIED + 1]
        found: list[int] = best[count[best] > 1][:_OFFSETS_TRIED].tolist()
        return found

    def _fewest(self, begin: int, period: int, wires: Ints) -> int:
        """Return how many operators the blocks of a run have at least, where they are wired so."""
        slot = self.sequence.slot
        behind = int(slot[begin + 1] - slot[begin])
        second = wires[behind:]
        # Both operators of a block read the same: a branch.
        branches = period == 2 and bool(((second < 0) & (second >= -behind)).any())
        return FEWEST if period == 1 or branches else _FEWEST_IN_CHAINS

    def _wires(self, begin: int, period: int, count: int) -> tuple[Ints, Bools]:
        """Return where each operand of each block comes from, and which it has to itself.

        Of an operand from inside the block the place and output, counted from the block's start;
        of another one the first operand of the block that reads the same, as a negative number.
        Both have a row for each block.
        """
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
            same = _first_equal(entry)
        wires = np.where(
            near >= 0, near * _OUTPUTS + sequence.output[low:high].reshape(shape), -1 - same
        )
        own = (self._own_from[low:high].reshape(shape) >= starts) & (
            self.last_reader[low:high].reshape(shape) < starts + period
        )
        return wires, own

    def _signature(self, start: int, end: int, wires: Ints, own: Bools) -> bytes:
        return self.sequence.letters[start:end].tobytes() + wires.tobytes() + own.tobytes()


class _Taken:
    """Intervals that share no place."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        at = bisect_left(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)

    def free(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return what of an interval is not taken."""
        at = bisect_right(self._ends, start)
        found: list[tuple[int, int]] = []
        while at < len(self._starts) and self._starts[at] < end:
            if self._starts[at] > start:
                found.append((start, self._starts[at]))
            start = self._ends[at]
            at += 1
        return [*found, (start, end)] if start < end else found


def _moved(group: RepeatedBlock, by: int) -> RepeatedBlock:
    return RepeatedBlock(
        group.start + by,
        group.end + by,
        group.source,
        group.repeats,
        group.content,
        group.inside,
        group.apart,
    )


def _clipped(known: PeriodicRuns, low: int, high: int) -> list[tuple[int, int, int]]:
    """Return the stretches inside an interval, what reaches out of it cut off, longest first."""
    start, end = np.maximum(known.start, low), np.minimum(known.end, high)
    keep = end - start >= np.maximum(2 * known.period, FEWEST)
    start, end, period = start[keep], end[keep], known.period[keep]
    order = np.lexsort((start, period, -((end - start) // period * period)))
    return list(
        zip(start[order].tolist(), end[order].tolist(), period[order].tolist(), strict=True)
    )


def _stretches(alike: Bools) -> list[tuple[int, int]]:
    """Return ``[first, last)`` of the blocks in a row that are alike; ``alike[i]``: i and i + 1."""
    found: list[tuple[int, int]] = []
    first = 0
    for row, same in enumerate(alike.tolist()):
        if not same:
            if row > first:
                found.append((first, row + 1))
            first = row + 1
    if len(alike) > first:
        found.append((first, len(alike) + 1))
    return found


def _first_equal(rows: Ints) -> Ints:
    """Return for each value of each row the first column that holds the same."""
    order = np.argsort(rows, axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    new = np.ones(rows.shape, np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    begun = np.maximum.accumulate(np.where(new, np.arange(rows.shape[1]), 0), axis=1)
    found = np.empty_like(rows)
    np.put_along_axis(found, order, np.take_along_axis(order, begun, axis=1), axis=1)
    return found
