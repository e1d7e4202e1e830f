"""Boxes of a graph that is too large even with its groups closed: fewer, of neighbors.

A figure cannot be opened, so a run of blocks is drawn by the parts of one of them, each standing
for its counterparts in all; and what is in no run must become few boxes, too.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.groups import GroupSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.model.graph.groups import Groups

_MOST_CELLS = 12

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Boxes that are drawn as one.

    Attributes
    ----------
    boxes : tuple of int
        Places in the sequence, ascending.
    repeats : int
        How many blocks the run has that it belongs to; 1 where it belongs to none.
    frame : int
        Number of that run where its parts are drawn apart, else -1.
    unit : int
        Boxes of one block that are inside.
    """

    boxes: tuple[int, ...]
    repeats: int = 1
    frame: int = -1
    unit: int = 1


@dataclass(frozen=True)
class Stretch:
    """``count`` occurrences of ``period`` boxes from ``start`` on; ``group`` is the run."""

    start: int
    period: int
    count: int
    group: int


@dataclass
class Grouping:
    """Groups in order, and the stretches that frames stand for."""

    groups: list[Group] = field(default_factory=list)
    frames: dict[int, Stretch] = field(default_factory=dict)

    def occurrence(self, frame: int, box: int) -> int:
        """Return in which occurrence of a frame's stretch a box is."""
        stretch = self.frames[frame]
        return (box - stretch.start) // stretch.period


def group(runs: Runs, weights: Floats, most: int) -> Grouping:
    """Put a sequence into at most so many groups.

    Runs of blocks become one block, drawn by its parts; then neighbors are joined, the lightest
    first. Groups hold neighbors of the sequence alone, or the same parts of neighboring
    blocks, so that edges between groups lead forward if those between boxes do.

    Parameters
    ----------
    runs : Runs
    weights : float64 [n]
        What makes a box worth its own group.
    most : int
        At least 1.
    """
    found = Grouping()
    at = 0
    for stretch in runs.outermost():
        found.groups += [Group((box,)) for box in range(at, stretch.start)]
        cells = _cells(runs, weights, stretch)
        frame = stretch.group if len(cells) > 1 else -1
        for cell in cells:
            rows = range(stretch.count)
            boxes = sorted(
                stretch.start + row * stretch.period + each for row in rows for each in cell
            )
            found.groups.append(Group(tuple(boxes), stretch.count, frame, len(cell)))
        if frame >= 0:
            found.frames[frame] = stretch
        at = stretch.start + stretch.count * stretch.period
    found.groups += [Group((box,)) for box in range(at, len(weights))]
    _join(found, weights, most)
    return found


def _cells(runs: Runs, weights: Floats, stretch: Stretch) -> list[list[int]]:
    """Return the parts of one occurrence, offsets of boxes; of a long one, runs are one."""
    if stretch.period <= _MOST_CELLS:
        return [[each] for each in range(stretch.period)]
    cells: list[list[int]] = []
    at = 0
    for inner in runs.inside(stretch):
        start = inner.start - stretch.start
        cells += [[each] for each in range(at, start)]
        at = start + inner.period * inner.count
        cells.append(list(range(start, at)))
    cells += [[each] for each in range(at, stretch.period)]
    while len(cells) > _MOST_CELLS:
        heavy = [float(weights[[stretch.start + each for each in cell]].sum()) for cell in cells]
        low = min(range(len(cells) - 1), key=lambda i: (heavy[i] + heavy[i + 1], i))
        cells[low : low + 2] = [cells[low] + cells[low + 1]]
    return cells


class Runs:
    """The runs of blocks of a graph as stretches of a sequence of boxes.

    Parameters
    ----------
    groups : Groups
    nodes : sequence of int
        The node of each box, in the order that groups are intervals of.
    symbols : sequence
        Boxes of one symbol may stand for each other.
    """

    def __init__(self, groups: Groups, nodes: list[int], symbols: list[str]) -> None:
        self._groups, self._symbols = groups, symbols
        place = np.empty(len(groups.order), np.int64)
        place[groups.order] = np.arange(len(groups.order))
        at = place[nodes]
        self._start = np.searchsorted(at, groups.start).tolist()
        self._end = np.searchsorted(at, groups.end).tolist()
        self._children: dict[int, list[int]] = {}
        for each, around in enumerate(groups.parent.tolist()):
            self._children.setdefault(around, []).append(each)

    def outermost(self) -> Iterator[Stretch]:
        """Return the runs that are in no other, in order."""
        return self._in(self._children.get(-1, []))

    def inside(self, stretch: Stretch) -> Iterator[Stretch]:
        """Return the runs inside the first block of a run."""
        return self._in(self._children.get(self._children[stretch.group][0], []))

    def _in(self, groups: list[int]) -> Iterator[Stretch]:
        for each in groups:
            found = self._stretch(each)
            if found is not None:
                yield found
            else:
                yield from self._in(self._children.get(each, []))

    def _stretch(self, run: int) -> Stretch | None:
        """Return the stretch of a run of blocks; None where these are not drawn alike."""
        if self._groups.source[run] != GroupSource.REPEAT:
            return None
        start, end = self._start[run], self._end[run]
        count = len(self._children.get(run, [])) or end - start
        period = (end - start) // count if count else 0
        first = self._symbols[start : start + period]
        if period == 0 or self._symbols[start:end] != first * count:
            return None
        return Stretch(start, period, count, run)


def _join(found: Grouping, weights: Floats, most: int) -> None:
    """Join neighbors, the lightest pair first, until there are few enough."""
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
