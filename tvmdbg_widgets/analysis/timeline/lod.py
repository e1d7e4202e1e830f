"""Slices of a timeline searched by name, aggregated in bins of time, and colored.

Bins are exact at any zoom: busy time comes from prefix sums, the dominant slice from a pyramid of
the longest slice of every 8, 64, … ``js/src/timeline/data/slices.ts`` computes the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query import Fits, fitting
from tvmdbg_widgets.analysis.times.keys import row_kinds
from tvmdbg_widgets.model.base.ranges import flat_ranges
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.timeline.rows import RowKind
from tvmdbg_widgets.model.timeline.timeline import Timeline

Flags = npt.NDArray[np.bool_]

_WORD = re.compile(r'"([^"]+)"?|[^\s"]+')  # A word, or several in quotes
_NODE = re.compile(r"(#?)([0-9]{1,9})", re.ASCII)
_BLOCK = 20_000  # texts searched between two checks for cancellation


@dataclass(frozen=True, eq=False)
class Hits:
    """Slices that match a search."""

    numbers: npt.NDArray[np.int64]
    self_ns: float


def matching(
    graph: Graph | None,
    timeline: Timeline,
    text: str,
    *,
    regex: bool = False,
    watch: Callable[[], None] = lambda: None,
) -> Hits:
    """Find slices by ``#12``, or by all words of a text; quotes make a phrase."""
    rows = timeline.rows
    if not text:
        return Hits(np.zeros(0, np.int64), 0.0)
    node = None if regex else _NODE.fullmatch(text)
    matches = np.zeros(timeline.num_slices, np.bool_)
    if node is None or not node[1]:
        words = (match[1] or match[0] for match in _WORD.finditer(text.lower()))
        patterns = [fitting("regex", text)] if regex else [fitting("has", word) for word in words]
        matches[:] = bool(patterns)
        for has in patterns:
            matches &= _slices_that_fit(graph, timeline, has, watch)
    if node is not None:
        matches |= timeline.slice_node == int(node[2])
    watch()
    numbers = np.flatnonzero(matches[rows.order])
    return Hits(numbers, float(rows.self_ns[rows.order[numbers]].sum()))


def _slices_that_fit(
    graph: Graph | None, timeline: Timeline, has: Fits, watch: Callable[[], None]
) -> Flags:
    names = timeline.slice_names.unique
    short = [timeline.slice_labels[name] for name in names]
    fits = _searched(names, has, watch) | _searched(short, has, watch)
    slices: Flags = fits[timeline.slice_names.codes]
    if graph is not None:
        of_node = np.zeros(timeline.num_nodes + 1, np.bool_)
        for column in (node_labels(graph), graph.names, graph.func_names, node_op_kinds(graph)):
            of_node[: graph.num_nodes] |= _searched(column.unique, has, watch)[column.codes]
        slices |= of_node[timeline.slice_node]
    return slices


def _searched(texts: Sequence[str], has: Fits, watch: Callable[[], None]) -> Flags:
    matches = np.zeros(len(texts), np.bool_)
    for first in range(0, len(texts), _BLOCK):
        watch()
        block = texts[first : first + _BLOCK]
        matches[first : first + len(block)] = has([text.lower() for text in block])
    return matches


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_BASE = 8
_FEW = 32  # values compared individually rather than in blocks, per range
_STRIDE = 64


@dataclass(frozen=True, eq=False)
class TimeBins:
    """Contents of B bins of time in R rows."""

    busy: npt.NDArray[np.float32]
    slice: npt.NDArray[np.int32]


class TimelineLod:
    """Slices of a timeline in row order, prepared for aggregation over any bins."""

    def __init__(self, timeline: Timeline) -> None:
        self._rows = timeline.rows
        order = self._rows.order
        self._duration = timeline.slice_duration_ns[order]
        self.start: Floats = timeline.slice_start_ns[order]
        self.end: Floats = self.start + self._duration
        self._before = np.concatenate(([0.0], np.cumsum(self._duration)))
        self.first = float(self.start.min()) if len(order) else 0.0
        self.last = float(self.end.max()) if len(order) else 0.0
        self._longest = LongestPyramid(self._duration)

    def bins(self, first: float, step: float, count: int) -> TimeBins:
        """Aggregate `count` bins of all rows; bin ``b`` is ``[first + b * step, … + step)``."""
        rows = self._rows
        busy = np.zeros((len(rows), count), np.float32)
        dominant = np.full((len(rows), count), -1, np.int32)
        edges: Floats = first + np.arange(count + 1, dtype=np.float64) * step
        after = self._first_starting(edges)
        low, high = self._ending_after(after[:, :-1], edges[:-1]), after[:, 1:]
        instants = rows.kind == RowKind.INSTANT
        if edges[-1] >= self.last:
            after[instants, -1] = rows.first[1:][instants]
        begun = after[instants]
        dominant[instants] = np.where(begun[:, 1:] > begun[:, :-1], begun[:, :-1], -1)
        low[instants] = high[instants]
        at = np.nonzero(high > low)
        ranges = low[at], high[at], edges[at[1]], edges[at[1] + 1]
        busy[at] = np.minimum(1.0, self._busy_ns(*ranges) / step)
        dominant[at] = self._dominant_slices(*ranges)
        return TimeBins(busy, dominant)

    def touching(self, begin: float, end: float) -> tuple[Ints, Ints]:
        """Return first and end of the slices by row that overlap a range of time (int64 [R])."""
        rows = self._rows
        low, high = (np.zeros(len(rows.track), np.int64) for _ in range(2))
        for row, kind in enumerate(rows.kind.tolist()):
            first, stop = int(rows.first[row]), int(rows.first[row + 1])
            instant = kind == RowKind.INSTANT
            ends, starts = self.end[first:stop], self.start[first:stop]
            low[row] = first + np.searchsorted(ends, begin, "left" if instant else "right")
            after = first + np.searchsorted(starts, end, "right" if instant else "left")
            high[row] = max(int(low[row]), int(after))
        return low, high

    def beside(self, numbers: Ints, at: float, current: int = -1) -> tuple[int, int]:
        """Return which of some slices are before and after a time; -1 for none."""
        start = self.start[numbers]
        after = (start > at) | ((start == at) & (numbers > current))
        before = (start < at) | ((start == at) & (numbers < current))
        neighbors = []
        for some, latest in ((before, True), (after, False)):
            those = numbers[some]
            if not len(those):
                neighbors.append(-1)
                continue
            starts = self.start[those]
            edge = starts.max() if latest else starts.min()
            neighbors.append(int(those[np.flatnonzero(starts == edge)[-1 if latest else 0]]))
        return neighbors[0], neighbors[1]

    def _first_starting(self, times: Floats) -> Ints:
        rows = self._rows
        first = np.empty((len(rows), len(times)), np.int64)
        for row in range(len(rows)):
            begin, stop = int(rows.first[row]), int(rows.first[row + 1])
            # a coarse search first, which stays in the processor's cache
            some = self.start[begin:stop:_STRIDE]
            first[row] = begin + np.searchsorted(some, times, "left") * _STRIDE
        low = np.maximum(rows.first[:-1, None], first - _STRIDE + 1)
        high = np.minimum(rows.first[1:, None], first)
        for _ in range(_STRIDE.bit_length()):
            middle = (low + high) >> 1
            open_ = low < high
            later = open_ & (self.start[np.minimum(middle, len(self.start) - 1)] >= times)
            high = np.where(later, middle, high)
            low = np.where(open_ & ~later, middle + 1, low)
        return low

    def _ending_after(self, first: Ints, times: Floats) -> Ints:
        low = first.copy()
        border = np.broadcast_to(self._rows.first[:-1, None], low.shape)
        while True:
            before = np.maximum(low - 1, 0)
            sooner = (low > border) & (self.end[before] > times) if len(self.end) else low < 0
            if not sooner.any():
                return low
            low -= sooner

    def _busy_ns(self, low: Ints, high: Ints, begin: Floats, stop: Floats) -> Floats:
        whole: Floats = self._before[high] - self._before[low]
        cut = np.maximum(0.0, begin - self.start[low])
        cut += np.maximum(0.0, self.end[high - 1] - stop)
        return np.maximum(0.0, whole - cut)

    def _dominant_slices(self, low: Ints, high: Ints, begin: Floats, stop: Floats) -> Ints:
        def inside(at: Ints) -> Floats:
            return np.minimum(self.end[at], stop) - np.maximum(self.start[at], begin)

        best, most = low.copy(), inside(low)
        within = np.flatnonzero(high - low > 2)
        if len(within):
            at = low.copy()
            at[within] = self._longest.argmax(low[within] + 1, high[within] - 1)
            share = inside(at)
            better = share > most
            best[better], most[better] = at[better], share[better]
        better = inside(high - 1) > most
        best[better] = high[better] - 1
        return best


class LongestPyramid:
    """Range queries for the first position of the maximum of ``values[low:high]``."""

    def __init__(self, values: Floats) -> None:
        self._values = [values]
        self._at: list[npt.NDArray[np.int32]] = []
        while len(below := self._values[-1]) >= _BASE:
            blocks = below[: len(below) // _BASE * _BASE].reshape(-1, _BASE)
            at = blocks.argmax(axis=1) + np.arange(len(blocks)) * _BASE
            self._values.append(below[at])
            self._at.append((self._at[-1][at] if self._at else at).astype(np.int32))

    def argmax(self, low: Ints, high: Ints) -> Ints:
        """Return the positions of the maxima of non-empty ranges."""
        return self._argmax(0, low, high)[0]

    def _argmax(self, level: int, low: Ints, high: Ints) -> tuple[Ints, Floats]:
        up, down = -(-low // _BASE), high // _BASE
        if (
            level + 1 == len(self._values)
            or int((high - low).sum()) <= _FEW * len(low)
            or not np.any(up < down)
        ):
            return self._scan_all(level, low, high)
        whole = up < down
        ends = np.where(whole, up * _BASE, high)
        best, most = self._scan_all(level, low, ends)
        for at, value in (
            self._argmax(level + 1, up[whole], down[whole]),
            self._scan_all(level, down[whole] * _BASE, high[whole]),
        ):
            better = value > most[whole]
            rows = np.flatnonzero(whole)[better]
            best[rows], most[rows] = at[better], value[better]
        return best, most

    def _scan_all(self, level: int, low: Ints, high: Ints) -> tuple[Ints, Floats]:
        values = self._values[level]
        count = high - low
        best, most = np.full(len(low), -1, np.int64), np.full(len(low), -np.inf)
        rows = np.flatnonzero(count)
        if len(rows):
            first = np.cumsum(count[rows]) - count[rows]
            where = flat_ranges(low[rows], count[rows])
            maxima = values[where]
            highest = np.maximum.reduceat(maxima, first)
            equal = np.flatnonzero(maxima == np.repeat(highest, count[rows]))
            at = where[equal[np.searchsorted(equal, first)]]
            best[rows] = at if level == 0 else self._at[level - 1][at]
            most[rows] = highest
        return best, most


ColorBy = Literal["kind", "block", "share"]

_ONE_KIND = 0.9  # share of time above which a single op kind makes color by kind useless
_IN_BLOCKS = 0.5  # least share of time in blocks that makes color by block useful
_LEAST_BLOCKS = 2


@dataclass(frozen=True)
class SliceColors:
    """Default and available colors of slices."""

    by: ColorBy
    kind: str
    block: npt.NDArray[np.int32]
    titles: dict[int, str]

    def chosen(self, by: str) -> SliceColors:
        """Return the colors for a choice; unavailable ones and ``"auto"`` give the default."""
        known = by in ("kind", "share") or (by == "block" and self.titles)
        return replace(self, by=cast("ColorBy", by)) if known else self

    def to_json(self) -> dict[str, Any]:
        """Return the part for a page beside the blocks of nodes."""
        return {"by": self.by, "kind": self.kind, "blocks": sorted(self.titles.items())}


def slice_colors(timeline: Timeline, graph: Graph | None, groups: Groups | None) -> SliceColors:
    """Choose the default color of a timeline's slices."""
    none = np.zeros(0, np.int32)
    if graph is None or groups is None:
        kind = _single_kind(timeline, graph)
        return SliceColors("share" if kind else "kind", kind, none, {})
    ns = np.nan_to_num(timeline.node_ns[: graph.num_nodes])
    kind = _single_kind(timeline, graph)
    block, titles = _blocks(groups)
    by: ColorBy = "kind"
    if kind:
        inside = block[: len(ns)] >= 0
        of_kind = np.bincount(block[: len(ns)][inside], ns[inside], minlength=_LEAST_BLOCKS)
        several = int((of_kind > 0).sum()) >= _LEAST_BLOCKS
        by = "block" if several and of_kind.sum() >= _IN_BLOCKS * ns.sum() else "share"
    return SliceColors(by, kind, block, titles)


def _single_kind(timeline: Timeline, graph: Graph | None) -> str:
    sums: dict[str, float] = defaultdict(float)
    account = timeline.account
    for kind, share in zip(row_kinds(timeline, graph), account.share.tolist(), strict=True):
        if share > 0:
            sums[kind] += share
    most = max(sums, key=lambda kind: sums[kind], default="")
    return most if sums[most] >= _ONE_KIND * sum(sums.values()) > 0 else ""


def _blocks(groups: Groups) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    outermost: list[int] = []
    for group, around in enumerate(groups.parent.tolist()):
        outermost.append(outermost[around] if around >= 0 else group)
    kinds, titles = groups.kinds, dict[int, str]()
    for group in np.flatnonzero(groups.parent < 0).tolist():
        titles.setdefault(kinds[group], f"{groups.tag(group)} {groups.names[group]}")
    of_group = np.array([kinds[group] for group in outermost] + [-1], np.int32)
    return of_group[groups.node_group], titles
