"""Sums of times by key: exact sums, order statistics, confidence intervals, ranges of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.times.keys import (
    OF_SLICES,
    Key,
    KeyedSlices,
    Keys,
    keys_of,
    levels,
    with_others,
    within_keys,
)
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.model.base.ranges import (
    Range,
    Spread,
    checked_range,
    flat_ranges,
    group_spread,
    group_sums,
    total,
)
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import family
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.node_sets import node_statistics
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import times_notes, work_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RepeatInterval:
    """95 % interval of the mean over repeats of G groups; NaN, and 0 repeats, if unknown."""

    low: Floats
    high: Floats
    noisy: Flags
    repeats: Ints

    def at(self, order: Ints) -> RepeatInterval:
        """Return the groups in an order."""
        return RepeatInterval(
            self.low[order], self.high[order], self.noisy[order], self.repeats[order]
        )


_NONE: Ints = np.zeros(0, np.int64)


def _no_groups() -> Groups:
    raise AssertionError("op kinds need no groups")


class TimedSlices:
    """Slices of a range to be summed: work, then nodes without slices, then what is no work."""

    def __init__(
        self, run: RunParts, by: str, within: object = None, slices: SlicesInRange | None = None
    ) -> None:
        timeline, graph = run.timeline, run.graph
        if timeline is None:
            raise ValueError(how_to_get("timeline", run))
        self.run, self.by, self.timeline = run, by, timeline
        self.range = None if within is None else checked_range(within)
        touching = slices_within(timeline, self.range) if slices is None else slices
        touched, self.idle = _without_idle(touching, timeline, graph)
        alone = _NONE
        if self.range is None:
            alone = _nodes_without_slices(timeline, graph, touched.slices)
        self.alone, self.unnamed = len(alone), len(alone) if by in OF_SLICES else 0
        is_work = timeline.slice_role[touched.slices] == SliceRole.WORK
        work, other = touched.only(is_work), touched.only(~is_work)
        shown = _NONE if self.unnamed else alone
        self.work = KeyedSlices(timeline, work.slices, graph, shown)
        self.others = KeyedSlices(timeline, other.slices, graph, _NONE)
        self.given = len(self.work.node)
        self.slices = np.concatenate((work.slices, np.full(len(shown), -1), other.slices))
        self.own = np.concatenate((work.self_ns, timeline.node_ns[shown], other.self_ns))
        self._whole = np.concatenate((work.whole, np.zeros(len(shown), np.bool_), other.whole))
        self.total = total(self.own[: self.given])
        if self.unnamed:
            self.total += total(timeline.node_ns[alone])

    @cached_property
    def kinds(self) -> tuple[Sequence[str], Ints]:
        """Op kinds, and that of each slice."""
        keys = keys_of("kind", self.work, _no_groups, None)
        keys = with_others(keys, "kind", self.others, self.given)
        return keys.labels, keys.codes[np.argsort(keys.items)]

    def rows(self, groups: Callable[[], Groups], level: int | None = None) -> SummedRows:
        """Return the rows of the table; what is no work comes last."""
        keys = keys_of(self.by, self.work, groups, level)
        others = with_others(keys, self.by, self.others, self.given)
        return self._summed(self.by, others, len(keys.keys))

    def rows_below(
        self, above: SummedRows, groups: Callable[[], Groups]
    ) -> Iterator[tuple[SummedRows, list[Key]]]:
        """Yield the rows below the rows of a table, with the key of the row above each."""
        if self.by in ("node", *OF_SLICES):
            return
        outer = Keys(above.codes, above.items, above.keys, above.labels, above.overlap)
        outer = outer.only(outer.items < self.given)
        if self.by == "group":
            parent = groups().parent.tolist()
            depth = levels(groups().parent)
            for level in range(1, int(depth.max(initial=0)) + 1):
                keys = keys_of("group", self.work, groups, level)
                deep = [isinstance(key, int) and depth[key] == level for key in keys.keys]
                inner = keys.only(np.array(deep, np.bool_)[keys.codes]).used()
                if inner.keys:
                    rows = self._summed("group", inner, len(inner.keys))
                    yield rows, [parent[key] for key in rows.keys if isinstance(key, int)]
            outer = keys_of("group", self.work, groups, -1)
        inner, holders = within_keys(outer, keys_of("node", self.work, groups, None))
        if inner.keys:
            rows = self._summed("node", inner, len(inner.keys))
            yield rows, [holders[at] for at in rows.order.tolist()]

    def _led(self, keys: Keys) -> Floats:
        """Return the time of functions by the operator that leads them: conv2d of conv2d + add."""
        words, kind = self.kinds
        number = {word: at for at, word in enumerate(words)}
        own = np.array([number.get(family(label), -1) for label in keys.labels], np.int64)
        leads = own[keys.codes] == kind[keys.items]
        return group_sums(keys.codes[leads], self.own[keys.items[leads]], len(keys.keys))

    def _summed(self, by: str, keys: Keys, num_work: int) -> SummedRows:
        """Sum by keys, the first of which are work."""
        timeline, size = self.timeline, len(keys.keys)
        ns = group_sums(keys.codes, self.own[keys.items], size)
        slices = self.slices[keys.items]
        is_slice = slices >= 0
        duration = timeline.slice_duration_ns[slices] if len(slices) else self.own
        inside = self._whole[keys.items] & is_slice & (duration > 0)
        spread = group_spread(keys.codes[inside], duration[inside], size)
        offsets, ids = _nodes_by_key(keys, self.work, np.full(len(self.others.slices), -1))
        sure = confidence(timeline, offsets, ids, overlap=keys.overlap, part=self.range is not None)
        led = self._led(keys) if by == "part" and keys.overlap else np.zeros(size)
        order = np.lexsort((-ns, -led))
        order = np.concatenate((order[order < num_work], order[order >= num_work]))
        place = np.empty(size, np.int64)
        place[order] = np.arange(size)
        sizes = np.diff(offsets)[order]
        return SummedRows(
            of=self,
            by=by,
            keys=[keys.keys[i] for i in order.tolist()],
            labels=[keys.labels[i] for i in order.tolist()],
            order=order,
            codes=place[keys.codes],
            items=keys.items,
            num_work=num_work,
            overlap=keys.overlap,
            slices=np.bincount(keys.codes[is_slice], minlength=size)[order],
            ns=ns[order],
            spread=spread.at(order),
            sure=sure.at(order),
            node_offsets=np.concatenate(([0], np.cumsum(sizes))),
            node_ids=ids[flat_ranges(offsets[:-1][order], sizes)],
        )


@dataclass(frozen=True, eq=False)
class SummedRows:
    """Sums by key, the largest first; of fused operators first those that lead functions.

    ``codes`` are the rows of ``items`` of the slices.
    """

    of: TimedSlices
    by: str
    keys: list[Key]
    labels: list[str]
    order: Ints
    codes: Ints
    items: Ints
    num_work: int
    overlap: bool
    slices: Ints
    ns: Floats
    spread: Spread
    sure: RepeatInterval
    node_offsets: Ints
    node_ids: Ints

    def __len__(self) -> int:
        return len(self.ns)

    def member(self) -> Ints:
        """Return one item of each row."""
        items = np.zeros(len(self), np.int64)
        items[self.codes] = self.items
        return items

    def kinds(self) -> list[str]:
        """Return the op kind of each row; "" for several."""
        words, kind = self.of.kinds
        own = kind[self.items]
        first = np.full(len(self), -1)
        first[self.codes] = own
        several = np.bincount(self.codes[first[self.codes] != own], minlength=len(self)) > 0
        return [
            "" if many else words[at]
            for at, many in zip(first.tolist(), several.tolist(), strict=True)
        ]


def times(
    run: RunParts,
    groups: Callable[[], Groups],
    by: str,
    within: object = None,
    level: int | None = None,
) -> TimeTable:
    """Sum the times of a run; see :class:`TimeTable`."""
    timed = TimedSlices(run, by, within)
    return table_of(timed, timed.rows(groups, level))


def table_of(timed: TimedSlices, rows: SummedRows) -> TimeTable:
    """Return rows as a table with shares and words."""
    timeline, graph = timed.timeline, timed.run.graph
    share = rows.ns / timed.total if 0 < timed.total < math.inf else np.full(len(rows), np.nan)
    share[rows.num_work :] = np.nan
    cumulative = np.full(len(rows), np.nan) if rows.overlap else np.minimum(np.cumsum(share), 1.0)
    return TimeTable(
        by=timed.by,
        within=timed.range,
        keys=rows.keys,
        labels=rows.labels,
        slices=rows.slices,
        ns=rows.ns,
        share=share,
        cumulative=cumulative,
        minimum=rows.spread.minimum,
        mean=rows.spread.mean,
        p50=rows.spread.p50,
        p90=rows.spread.p90,
        maximum=rows.spread.maximum,
        low=rows.sure.low,
        high=rows.sure.high,
        noisy=rows.sure.noisy,
        total_ns=timed.total,
        overlap=rows.overlap,
        idle=timed.idle,
        title=timed.run.title,
        of=work_of(timeline) if timed.range is None else "in all slices",
        notes=times_notes(
            timeline,
            several_outputs=graph is not None
            and bool(np.any(np.diff(graph.entry_offsets)[graph.kinds >= NodeKind.OPERATOR] > 1)),
            by=timed.by,
            overlap=rows.overlap,
            part=timed.range is not None,
            alone=timed.alone - timed.unnamed,
            unnamed=timed.unnamed,
        ),
        node_offsets=rows.node_offsets,
        node_ids=rows.node_ids,
        rounding_ns=timeline.rounding_ns,
    )


def _without_idle(
    slices: SlicesInRange, timeline: Timeline, graph: Graph | None
) -> tuple[SlicesInRange, int]:
    if graph is None:
        return slices, 0
    node = timeline.slice_node[slices.slices]
    known = (node >= 0) & (node < graph.num_nodes)
    given = graph.kinds[np.where(known, node, 0)] < NodeKind.OPERATOR if graph.num_nodes else known
    ran = ~(known & given & (timeline.slice_duration_ns[slices.slices] == 0))
    return slices.only(ran), int(np.count_nonzero(~ran))


def _nodes_without_slices(timeline: Timeline, graph: Graph | None, slices: Ints) -> Ints:
    if graph is None or not timeline.num_nodes:
        return _NONE
    missing = timeline.node_ns > 0
    nodes = timeline.slice_node[slices]
    missing[nodes[nodes >= 0]] = False
    return np.flatnonzero(missing[: graph.num_nodes])


def _nodes_by_key(keys: Keys, named: KeyedSlices, others: Ints) -> tuple[Ints, Ints]:
    own = np.concatenate((named.node, others))[keys.items]
    known = own >= 0
    codes, own = keys.codes[known], own[known]
    shared = named.timeline.shared
    if shared is not None:
        call = np.concatenate((named.call, others))[keys.items]
        pairs = np.unique(np.stack((keys.codes, call), 1)[call >= 0], axis=0)
        sizes = np.diff(shared.offsets)[pairs[:, 1]]
        inside = shared.nodes[flat_ranges(shared.offsets[pairs[:, 1]], sizes)]
        codes = np.concatenate((codes, np.repeat(pairs[:, 0], sizes)))
        own = np.concatenate((own, inside.astype(np.int64)))
    count = int(own.max(initial=-1)) + 1
    pairs = codes * count + own
    if count * len(keys.keys) <= 4 * len(pairs) + 65_536:
        seen = np.zeros(count * len(keys.keys), np.bool_)
        seen[pairs] = True
        pairs = np.flatnonzero(seen)
    else:
        pairs = np.unique(pairs)
    used, ids = np.divmod(pairs, max(count, 1))
    return np.searchsorted(used, np.arange(len(keys.keys) + 1)), ids


def confidence(
    timeline: Timeline, offsets: Ints, nodes: Ints, *, overlap: bool, part: bool
) -> RepeatInterval:
    """Return 95 % intervals of the mean over repeats summed by group of nodes."""
    size = len(offsets) - 1
    counts = np.diff(timeline.repeats_offsets)
    nothing, none = np.full(size, np.nan), np.zeros(size, np.int64)
    unknown = RepeatInterval(nothing, nothing, np.zeros(size, np.bool_), none)
    if part or not len(nodes) or counts.max(initial=0) < 2:
        return unknown
    group = np.repeat(np.arange(size), np.diff(offsets))
    timed = (counts[nodes] > 0) | (timeline.node_ns[nodes] != 0)
    group, nodes = group[timed], nodes[timed]
    most = np.zeros(size, np.int64)
    np.maximum.at(most, group, counts[nodes])
    least = np.full(size, counts.max())
    np.minimum.at(least, group, counts[nodes])
    usable = (least == most) & (most >= 2)
    if not overlap:
        shared = np.bincount(nodes)[nodes] > 1
        usable[group[shared]] = False
    own = np.where(usable, most, 0)
    at = np.concatenate(([0], np.cumsum(own)))
    sums = np.zeros(at[-1])
    kept = usable[group]
    length, first = counts[nodes[kept]], timeline.repeats_offsets[nodes[kept]]
    repeats = timeline.repeats_ns[flat_ranges(first, length)]
    np.add.at(sums, flat_ranges(at[group[kept]], length), repeats)
    stats = node_statistics(at, sums, np.full(size, np.nan))
    unsure = usable & (stats.n < most)
    low, high = np.where(unsure, np.nan, stats.low), np.where(unsure, np.nan, stats.high)
    return RepeatInterval(
        low, high, stats.noisy & ~unsure, np.where(np.isfinite(low), stats.n, 0).astype(np.int64)
    )


@dataclass(frozen=True, eq=False)
class SlicesInRange:
    """K slices that touch a range."""

    slices: Ints
    self_ns: Floats
    whole: npt.NDArray[np.bool_]

    def only(self, kept: npt.NDArray[np.bool_]) -> SlicesInRange:
        """Return some of them."""
        return SlicesInRange(self.slices[kept], self.self_ns[kept], self.whole[kept])


def slices_within(timeline: Timeline, within: Range | None) -> SlicesInRange:
    """Return the slices that touch a range, or all without a range."""
    start, duration = timeline.slice_start_ns, timeline.slice_duration_ns
    own, parent = timeline.rows.self_ns, timeline.rows.parent
    drawn = np.isfinite(own)
    if within is None:
        every = np.flatnonzero(drawn)
        return SlicesInRange(every, own[every], np.ones(len(every), np.bool_))
    low, high = within
    with np.errstate(invalid="ignore", over="ignore"):
        end = start + duration
        touching = (start < high) & (end > low) & (duration > 0)
        touching |= (duration == 0) & (start >= low) & (start <= high)
    slices = np.flatnonzero(touching & drawn)
    inside = (start[slices] >= low) & (end[slices] <= high)
    shares = own[slices]
    cut = slices[~inside]
    place = np.full(timeline.num_slices, -1, np.int64)
    place[cut] = np.arange(len(cut))
    held = slices[parent[slices] >= 0]
    held = held[place[parent[held]] >= 0]
    begin = np.maximum(start[held], low)
    until = np.minimum(np.minimum(end[held], end[parent[held]]), high)
    shared = np.minimum(end[cut], high) - np.maximum(start[cut], low)
    covered = _covered_time(place[parent[held]], begin, until, len(cut))
    shares[~inside] = np.maximum(0.0, shared - covered)
    return SlicesInRange(slices, shares, inside)


def _covered_time(group: Ints, begin: Floats, until: Floats, size: int) -> Floats:
    covered = np.zeros(size)
    order = np.lexsort((begin, group))
    group, begin, until = group[order], begin[order], until[order]
    edges = np.concatenate(([0], np.flatnonzero(np.diff(group)) + 1, [len(group)]))
    if not len(group):
        return covered
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        reached = np.maximum.accumulate(until[first:last])
        before = np.concatenate(([-np.inf], reached[:-1]))
        parts = np.maximum(0.0, until[first:last] - np.maximum(begin[first:last], before))
        covered[group[first]] = math.fsum(parts.tolist())
    return covered
