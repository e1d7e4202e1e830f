"""Boxes of a large graph put into groups: repeated stretches, and what follows each other."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_PERIOD = 2048
_MOST_PRODUCT = 60_000_000
_MOST_CELLS = 12

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """Boxes that are drawn as one.

    Attributes
    ----------
    boxes : tuple of int
        Places in the sequence, ascending.
    repeats : int
        How often the stretch it belongs to occurs; 1 where it is not repeated.
    frame : int
        Number of that stretch where its parts are drawn apart, else -1.
    unit : int
        Boxes of one occurrence that are inside.
    """

    boxes: tuple[int, ...]
    repeats: int = 1
    frame: int = -1
    unit: int = 1


@dataclass(frozen=True)
class Stretch:
    """``count`` occurrences of ``period`` boxes from ``start`` on."""

    start: int
    period: int
    count: int


@dataclass
class Grouping:
    """Groups in execution order, and the stretches that frames stand for."""

    groups: list[Group] = field(default_factory=list)
    frames: dict[int, Stretch] = field(default_factory=dict)

    def occurrence(self, frame: int, box: int) -> int:
        """Return in which occurrence of a frame's stretch a box is."""
        stretch = self.frames[frame]
        return (box - stretch.start) // stretch.period


def group(symbols: Ints, crossing: Ints, weights: npt.NDArray[np.float64], most: int) -> Grouping:
    """Put a sequence into at most so many groups.

    Stretches that occur several times in a row become one, drawn by its parts; then neighbours
    are joined, the lightest first. Groups hold neighbours of the sequence alone, or the same
    parts of neighbouring occurrences, so that edges between groups lead forward if those between
    boxes do.

    Parameters
    ----------
    symbols : int64 [n]
        Boxes of one symbol may stand for each other.
    crossing : int64 [n + 1]
        How many tensors are read across the border before each box; stretches start at low ones.
    weights : float64 [n]
        What makes a box worth its own group.
    most : int
        At least 1.
    """
    found = Grouping()
    at = 0
    for number, stretch in enumerate(stretches(symbols, crossing)):
        found.groups += [Group((box,)) for box in range(at, stretch.start)]
        cells = _cells(symbols, crossing, weights, stretch)
        frame = number if len(cells) > 1 else -1
        for cell in cells:
            rows = range(stretch.count)
            boxes = sorted(
                stretch.start + row * stretch.period + each for row in rows for each in cell
            )
            found.groups.append(Group(tuple(boxes), stretch.count, frame, len(cell)))
        if frame >= 0:
            found.frames[frame] = stretch
        at = stretch.start + stretch.count * stretch.period
    found.groups += [Group((box,)) for box in range(at, len(symbols))]
    _join(found, weights, most)
    return found


def _cells(
    symbols: Ints, crossing: Ints, weights: npt.NDArray[np.float64], stretch: Stretch
) -> list[list[int]]:
    """Return the parts of one occurrence, offsets of boxes; of a long one, repeats are one."""
    if stretch.period <= _MOST_CELLS:
        return [[each] for each in range(stretch.period)]
    own = slice(stretch.start, stretch.start + stretch.period)
    end = own.stop + 1
    cells: list[list[int]] = []
    at = 0
    for inner in stretches(symbols[own], crossing[own.start : end]):
        cells += [[each] for each in range(at, inner.start)]
        at = inner.start + inner.period * inner.count
        cells.append(list(range(inner.start, at)))
    cells += [[each] for each in range(at, stretch.period)]
    while len(cells) > _MOST_CELLS:
        heavy = [float(weights[[stretch.start + each for each in cell]].sum()) for cell in cells]
        low = min(range(len(cells) - 1), key=lambda i: (heavy[i] + heavy[i + 1], i))
        cells[low : low + 2] = [cells[low] + cells[low + 1]]
    return cells


def stretches(symbols: Ints, crossing: Ints) -> list[Stretch]:
    """Return what occurs at least twice in a row, in order; of those that overlap, the largest."""
    count = len(symbols)
    runs: list[tuple[int, int, int, int]] = []
    longest = min(count // 2, _MOST_PERIOD, _MOST_PRODUCT // max(1, count))
    for period in range(1, longest + 1):
        same = np.flatnonzero(symbols[period:] != symbols[:-period])
        edges = np.concatenate([[-1], same, [count - period]])
        lengths = np.diff(edges) - 1
        for at in np.flatnonzero(lengths >= period).tolist():
            start = int(edges[at]) + 1
            whole = int(lengths[at]) + period
            saved = (whole // period - 1) * period
            runs.append((-saved, period, start, start + whole))
    taken = np.zeros(count, bool)
    found: list[Stretch] = []
    for _, period, start, end in sorted(runs):
        for low, high in _free(taken, start, end):
            if high - low < 2 * period:
                continue
            best = _phase(crossing, low, high, period)
            found.append(best)
            taken[best.start : best.start + best.count * period] = True
    return sorted(found, key=lambda each: each.start)


def _phase(crossing: Ints, low: int, high: int, period: int) -> Stretch:
    """Return where occurrences begin, so that few tensors cross their borders.

    One occurrence may be given up for that.
    """

    def cost(stretch: Stretch) -> tuple[float, int, int]:
        borders = crossing[stretch.start : high + 1 : period][: stretch.count + 1]
        return float(borders.mean()), -stretch.count, stretch.start

    last = min(low + period - 1, high - 2 * period)
    starts = range(low, last + 1)
    return min((Stretch(at, period, (high - at) // period) for at in starts), key=cost)


def _free(taken: npt.NDArray[np.bool_], start: int, end: int) -> list[tuple[int, int]]:
    inside = taken[start:end]
    if not inside.any():
        return [(start, end)]
    edges = np.flatnonzero(np.diff(np.concatenate([[True], inside, [True]]).astype(np.int8)))
    return [(start + int(low), start + int(high)) for low, high in edges.reshape(-1, 2)]


def _join(found: Grouping, weights: npt.NDArray[np.float64], most: int) -> None:
    """Join neighbours, the lightest pair first, until there are few enough."""
    groups: list[Group | None] = list(found.groups)
    heavy = [float(weights[list(each.boxes)].sum()) for each in found.groups]
    before = list(range(-1, len(groups) - 1))
    after = list(range(1, len(groups) + 1))
    left = len(groups)
    members: dict[int, int] = {}
    for each in found.groups:
        members[each.frame] = members.get(each.frame, 0) + 1
    heap: list[tuple[float, int, int, float, float]] = []

    def offer(low: int) -> None:
        high = after[low] if low >= 0 else len(groups)
        if low < 0 or high >= len(groups):
            return
        one, two = groups[low], groups[high]
        if one is not None and two is not None and one.frame == two.frame:
            heapq.heappush(heap, (heavy[low] + heavy[high], low, high, heavy[low], heavy[high]))

    for low in range(len(groups) - 1):
        offer(low)
    while left > most and heap:
        _, low, high, *known = heapq.heappop(heap)
        one, two = groups[low], groups[high]
        if one is None or two is None or known != [heavy[low], heavy[high]] or after[low] != high:
            continue
        frame = one.frame
        framed = frame >= 0
        joined = Group(
            tuple(sorted(one.boxes + two.boxes)),
            one.repeats if framed else 1,
            frame,
            one.unit + two.unit if framed else len(one.boxes) + len(two.boxes),
        )
        groups[low], groups[high] = joined, None
        heavy[low] += heavy[high]
        after[low] = after[high]
        if after[low] < len(groups):
            before[after[low]] = low
        left -= 1
        members[frame] -= 1
        if framed and members[frame] == 1:
            groups[low] = Group(joined.boxes, joined.repeats, -1, joined.unit)
            del found.frames[frame]
        offer(before[low])
        offer(low)
    found.groups = [each for each in groups if each is not None]


def crossings(count: int, source: Sequence[int], target: Sequence[int]) -> Ints:
    """Return how many boxes before each place are read at or after it, int64 [count + 1]."""
    last = np.full(count, -1, np.int64)
    for one, two in zip(source, target, strict=True):
        last[one] = max(last[one], two)
    change = np.zeros(count + 2, np.int64)
    own = np.arange(count)
    read = last > own
    np.add.at(change, own[read] + 1, 1)
    np.add.at(change, last[read] + 1, -1)
    return np.cumsum(change)[: count + 1]
