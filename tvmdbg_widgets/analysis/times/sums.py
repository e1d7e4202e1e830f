"""Sums of times by key: exact sums, order statistics, confidence intervals, ranges of time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.times.keys import OF_SLICES, KeyedSlices, Keys, keys_of, with_others
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.model.base.ranges import Range, checked_range, flat_ranges
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.node_sets import node_statistics
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import times_notes, work_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_EXACT: Final = 2.0**53
_KEYS: Final = 2.0**62
_NARROW: Final = 2**32


@dataclass(frozen=True, eq=False)
class Spread:
    """Order statistics of G groups, interpolated linearly; NaN for an empty group."""

    count: Ints
    minimum: Floats
    mean: Floats
    p50: Floats
    p90: Floats
    maximum: Floats


def group_sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of values per group, rounded once."""
    if whole_numbers(values):
        return np.bincount(codes, weights=values, minlength=size).astype(np.float64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=size)).tolist()
    sorted_ = values[order].tolist()
    starts = [0, *ends[:-1]]
    return np.array([math.fsum(sorted_[a:b]) for a, b in zip(starts, ends, strict=True)])


def total(values: Floats) -> float:
    """Return the sum of values, rounded once."""
    return float(values.sum()) if whole_numbers(values) else math.fsum(values.tolist())


def group_spread(codes: Ints, values: Floats, size: int) -> Spread:
    """Return order statistics of values per group; arguments as of :func:`group_sums`."""
    count = np.bincount(codes, minlength=size)
    ordered = _sorted_by_group(codes, values, size)
    first = np.cumsum(count) - count
    some = count > 0
    start, last = first[some], (first + count)[some] - 1
    columns = {name: np.full(size, np.nan) for name in ("minimum", "p50", "p90", "maximum")}
    columns["minimum"][some], columns["maximum"][some] = ordered[start], ordered[last]
    for name, share in (("p50", 0.5), ("p90", 0.9)):
        columns[name][some] = _between(
            ordered, start, np.asarray((count[some] - 1) * share, np.float64)
        )
    with np.errstate(invalid="ignore"):
        mean = np.where(some, group_sums(codes, values, size) / count, np.nan)
    return Spread(count=count, mean=mean, **columns)


def _between(ordered: Floats, first: Ints, place: Floats) -> Floats:
    low = np.floor(place)
    share = place - low
    a = ordered[first + low.astype(np.int64)]
    b = ordered[first + np.ceil(place).astype(np.int64)]
    return np.where(share < 0.5, a + (b - a) * share, b - (b - a) * (1 - share))


def _sorted_by_group(codes: Ints, values: Floats, size: int) -> Floats:
    largest = float(values.max(initial=0.0))
    if size * (largest + 1) < _KEYS and whole_numbers(values):
        step = int(largest) + 1
        keys = codes * step + values.astype(np.int64)
        if size * step <= _NARROW:
            keys = keys.astype(np.uint32)
        keys.sort()
        return (keys % step).astype(np.float64)
    return values[np.lexsort((values, codes))]


def whole_numbers(values: Floats) -> bool:
    """Return whether all values are integers with a sum that a double holds exactly."""
    if not len(values):
        return True
    if float(values.sum()) >= _EXACT / 2:
        return False
    return bool((values == np.floor(values)).all())


_NONE: Ints = np.zeros(0, np.int64)


def times(
    run: RunParts,
    groups: Callable[[], Groups],
    by: str,
    within: object = None,
    level: int | None = None,
) -> TimeTable:
    """Sum the times of a run; see :class:`TimeTable`."""
    timeline, graph = run.timeline, run.graph
    if timeline is None:
        raise ValueError(how_to_get("timeline", run))
    area = None if within is None else checked_range(within)
    touched, idle = _without_idle(slices_within(timeline, area), timeline, graph)
    alone = _nodes_without_slices(timeline, graph, touched.slices) if area is None else _NONE
    unnamed = len(alone) if by in OF_SLICES else 0
    alone = _NONE if unnamed else alone
    is_work = timeline.slice_role[touched.slices] == SliceRole.WORK
    work, other = touched.only(is_work), touched.only(~is_work)
    named = KeyedSlices(timeline, work.slices, graph, alone)
    keys = keys_of(by, named, groups, level)
    given, num_work = len(named.node), len(keys.keys)
    keys = with_others(keys, by, KeyedSlices(timeline, other.slices, graph, _NONE), given)
    slices = np.concatenate((work.slices, alone, other.slices))
    is_slice = np.ones(len(slices), np.bool_)
    is_slice[len(work.slices) : given] = False
    size = len(keys.keys)
    own = np.concatenate((work.self_ns, timeline.node_ns[alone], other.self_ns))
    ns = group_sums(keys.codes, own[keys.items], size)
    duration = timeline.slice_duration_ns[np.where(is_slice, slices, 0)] if len(slices) else own
    lies = np.concatenate((work.whole, np.zeros(len(alone), np.bool_), other.whole))
    inside = (lies & is_slice & (duration > 0))[keys.items]
    spread = group_spread(keys.codes[inside], duration[keys.items[inside]], size)
    offsets, ids = _nodes_by_key(keys, named, np.full(len(other.slices), -1))
    low, high, noisy = confidence(
        timeline, offsets, ids, overlap=keys.overlap, part=area is not None
    )
    order = np.argsort(-ns, kind="stable")
    order = np.concatenate((order[order < num_work], order[order >= num_work]))
    whole = total(own[:given])
    if area is None and unnamed:
        whole += total(timeline.node_ns[_nodes_without_slices(timeline, graph, touched.slices)])
    share = ns[order] / whole if whole > 0 else np.full(size, np.nan)
    share[order >= num_work] = np.nan
    sizes = np.diff(offsets)[order]
    return TimeTable(
        by=by,
        within=area,
        keys=[keys.keys[i] for i in order.tolist()],
        labels=[keys.labels[i] for i in order.tolist()],
        slices=np.bincount(keys.codes[is_slice[keys.items]], minlength=size)[order],
        ns=ns[order],
        share=share,
        cumulative=np.full(size, np.nan) if keys.overlap else np.minimum(np.cumsum(share), 1.0),
        minimum=spread.minimum[order],
        mean=spread.mean[order],
        p50=spread.p50[order],
        p90=spread.p90[order],
        maximum=spread.maximum[order],
        low=low[order],
        high=high[order],
        noisy=noisy[order],
        total_ns=whole,
        overlap=keys.overlap,
        idle=idle,
        title=run.title,
        of=work_of(timeline) if area is None else "in all slices",
        notes=times_notes(
            timeline,
            several_outputs=graph is not None
            and bool(np.any(np.diff(graph.entry_offsets)[graph.kinds >= NodeKind.OPERATOR] > 1)),
            by=by,
            overlap=keys.overlap,
            part=area is not None,
            alone=len(alone),
            unnamed=unnamed,
        ),
        node_offsets=np.concatenate(([0], np.cumsum(sizes))),
        node_ids=ids[flat_ranges(offsets[:-1][order], sizes)],
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


Flags = npt.NDArray[np.bool_]


def confidence(
    timeline: Timeline, offsets: Ints, nodes: Ints, *, overlap: bool, part: bool
) -> tuple[Floats, Floats, Flags]:
    """Return 95 % interval of the mean and noisiness, by group of nodes.

    A group's repeats are sums of its nodes' repeats, paired by number.
    """
    size = len(offsets) - 1
    counts = np.diff(timeline.repeats_offsets)
    unknown = np.full(size, np.nan), np.full(size, np.nan), np.zeros(size, np.bool_)
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
    return low, high, stats.noisy & ~unsure


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
