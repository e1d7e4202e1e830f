"""Names as nodes: a graph without edges, and slices joined to its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.builders import occurrences
from tvmdbg_widgets.model.timeline.events import from_events
from tvmdbg_widgets.model.timeline.timeline import Timeline


def named_graph(names: Sequence[str], works: npt.NDArray[np.bool_] | None = None) -> Graph:
    """Return a graph of operators of which nothing but the names is known."""
    count = len(names)
    column = StringColumn.from_strings(names)
    nothing = np.zeros(0, np.int32)
    named = np.array([bool(name) for name in names], np.bool_)
    works = named if works is None else named & works
    return Graph(
        names=column,
        func_names=column,
        kinds=np.where(works, NodeKind.OPERATOR, NodeKind.INPUT).astype(np.uint8),
        parameter_trust=np.full(count, Trust.ABSENT, np.uint8),
        entry_offsets=np.zeros(count + 1, np.int64),
        edge_source=nothing,
        edge_output=nothing,
        edge_target=nothing,
        edge_position=nothing,
        edge_trust=np.zeros(0, np.uint8),
        heads=np.zeros((0, 2), np.int32),
        arg_nodes=nothing,
        shape_offsets=np.zeros(1, np.int64),
        shape_dims=np.zeros(0, np.int64),
        shape_known=np.zeros(0, np.bool_),
        dtypes=StringColumn((), nothing),
        attrs=({},) * count,
    )


def timed(graph: Graph, timeline: Timeline) -> Graph:
    """Return a graph of which only the nodes that have a time are operators."""
    silent = ~np.isfinite(timeline.node_ns) & (graph.kinds >= NodeKind.OPERATOR)
    return replace(graph, kinds=np.where(silent, NodeKind.INPUT, graph.kinds).astype(np.uint8))


def joined(timeline: Timeline, graph: Graph) -> Timeline:
    """Return a timeline of observed slices joined to the operators of a graph by name.

    What has no duration is no repeat, whatever it is called.
    """
    lasting = timeline.slice_duration_ns > 0
    names = timeline.slice_names
    found = from_events(
        StringColumn((*names.unique, ""), np.where(lasting, names.codes, len(names.unique))),
        timeline.slice_start_ns,
        np.where(lasting, timeline.slice_duration_ns, 0.0),
        timeline.slice_track,
        timeline.tracks,
        graph=graph,
        source=", ".join(timeline.sources),
    )
    return replace(
        timeline,
        slice_node=found.slice_node,
        slice_trust=found.slice_trust,
        slice_occurrence=found.slice_occurrence,
        repeats_offsets=found.repeats_offsets,
        repeats_ns=found.repeats_ns,
        node_ns=found.node_ns,
        node_trust=found.node_trust,
    )


def by_calls(timeline: Timeline) -> Timeline:
    """Return a timeline of calls whose nodes no file names with these calls as nodes."""
    sets = timeline.shared
    if sets is None or timeline.num_nodes:
        return timeline
    bare = [name.partition(", instruction")[0] for name in sets.names]
    known = timeline.slice_names
    codes = np.where(sets.slice_set >= 0, len(known.unique) + sets.slice_set, known.codes)
    return replace(
        timeline,
        slice_node=sets.slice_set,
        slice_names=StringColumn((*known.unique, *bare), codes.astype(np.int64)),
        slice_trust=np.where(sets.slice_set >= 0, Trust.EXACT, timeline.slice_trust),
        slice_occurrence=occurrences(sets.slice_set.astype(np.int64)),
        repeats_offsets=sets.repeats_offsets,
        repeats_ns=sets.repeats_ns,
        node_ns=sets.own_ns,
        node_trust=np.full(len(sets), Trust.EXACT, np.uint8),
        shared=None,
    )


def own_times(timeline: Timeline) -> Timeline:
    """Return a timeline whose repeats are the slices of each node without those inside them."""
    known = np.flatnonzero(timeline.slice_node >= 0)
    known = known[np.argsort(timeline.slice_node[known], kind="stable")]
    own = timeline.nesting.self_ns[known]
    sums = np.bincount(
        timeline.slice_node[known], weights=np.nan_to_num(own), minlength=timeline.num_nodes
    )
    counts = np.diff(timeline.repeats_offsets)
    return replace(
        timeline,
        repeats_ns=own,
        node_ns=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
    )
