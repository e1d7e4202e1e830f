"""Times of a run summed up by node, op kind, part, group, module, device, name or caller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.times.keys import OF_SLICES, KeyedSlices, Keys, keys_of, with_others
from tvmdbg_widgets.analysis.times.repeats import confidence
from tvmdbg_widgets.analysis.times.sums import group_spread, group_sums, total
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.analysis.times.within import SlicesInRange, slices_within
from tvmdbg_widgets.model.base.time_ranges import checked_range
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import times_notes, work_of

Ints = npt.NDArray[np.int64]

_NONE: Ints = np.zeros(0, np.int64)


def times(
    run: RunParts,
    groups: Callable[[], Groups],
    by: str,
    within: object = None,
    level: int | None = None,
) -> TimeTable:
    """Sum up the times of a run; see :class:`TimeTable`."""
    timeline, graph = run.timeline, run.graph
    if timeline is None:
        raise ValueError(how_to_get("timeline", run))
    area = None if within is None else checked_range(within)
    found, idle = _that_run(slices_within(timeline, area), timeline, graph)
    alone = _without_slices(timeline, graph, found.slices) if area is None else _NONE
    unnamed = len(alone) if by in OF_SLICES else 0
    alone = _NONE if unnamed else alone
    is_work = timeline.slice_role[found.slices] == SliceRole.WORK
    work, other = found.only(is_work), found.only(~is_work)
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
    offsets, ids = _nodes(keys, named, np.full(len(other.slices), -1))
    low, high, noisy = confidence(
        timeline, offsets, ids, overlap=keys.overlap, part=area is not None
    )
    order = np.argsort(-ns, kind="stable")
    order = np.concatenate((order[order < num_work], order[order >= num_work]))
    whole = total(own[:given])
    if area is None and unnamed:
        whole += total(timeline.node_ns[_without_slices(timeline, graph, found.slices)])
    share = ns[order] / whole if whole > 0 else np.full(size, np.nan)
    share[order >= num_work] = np.nan
    sizes = np.diff(offsets)[order]
    rows = np.repeat(offsets[:-1][order] - (np.cumsum(sizes) - sizes), sizes)
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
            several_outputs=_several_outputs(graph),
            by=by,
            overlap=keys.overlap,
            part=area is not None,
            alone=len(alone),
            unnamed=unnamed,
        ),
        node_offsets=np.concatenate(([0], np.cumsum(sizes))),
        node_ids=ids[rows + np.arange(len(rows))],
        rounding_ns=timeline.rounding_ns,
    )


def _that_run(
    found: SlicesInRange, timeline: Timeline, graph: Graph | None
) -> tuple[SlicesInRange, int]:
    """Return the slices without those of inputs and parameters that take no time; how many."""
    if graph is None:
        return found, 0
    node = timeline.slice_node[found.slices]
    known = (node >= 0) & (node < graph.num_nodes)
    given = graph.kinds[np.where(known, node, 0)] < NodeKind.OPERATOR if graph.num_nodes else known
    ran = ~(known & given & (timeline.slice_duration_ns[found.slices] == 0))
    return found.only(ran), int(np.count_nonzero(~ran))


def _without_slices(timeline: Timeline, graph: Graph | None, slices: Ints) -> Ints:
    """Nodes that have a time and no slice, as those that only a table knows."""
    if graph is None or not timeline.num_nodes:
        return _NONE
    missing = timeline.node_ns > 0
    nodes = timeline.slice_node[slices]
    missing[nodes[nodes >= 0]] = False
    return np.flatnonzero(missing[: graph.num_nodes])


def _nodes(keys: Keys, named: KeyedSlices, others: Ints) -> tuple[Ints, Ints]:
    """The distinct nodes of the slices of each key, as offsets and ids."""
    own = np.concatenate((named.node, others))[keys.items]
    known = own >= 0
    codes, own = keys.codes[known], own[known]
    shared = named.timeline.shared
    if shared is not None:
        call = np.concatenate((named.call, others))[keys.items]
        pairs = np.unique(np.stack((keys.codes, call), 1)[call >= 0], axis=0)
        sizes = np.diff(shared.offsets)[pairs[:, 1]]
        steps = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        inside = shared.nodes[np.repeat(shared.offsets[pairs[:, 1]], sizes) + steps]
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
    found, ids = np.divmod(pairs, max(count, 1))
    return np.searchsorted(found, np.arange(len(keys.keys) + 1)), ids


def _several_outputs(graph: Graph | None) -> bool:
    if graph is None:
        return False
    return bool(((np.diff(graph.entry_offsets) > 1) & (graph.kinds >= NodeKind.OPERATOR)).any())
