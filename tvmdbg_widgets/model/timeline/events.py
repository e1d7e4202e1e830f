"""Timelines of observed intervals on several tracks, joined to nodes by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.builders import occurrences, per_node
from tvmdbg_widgets.model.timeline.timeline import WALL, Timeline
from tvmdbg_widgets.model.timeline.trace_extras import TraceExtras

_NODES_SHOWN = 20

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def from_events(
    names: StringColumn,
    start_ns: Floats,
    duration_ns: Floats,
    track: npt.NDArray[np.int32],
    tracks: tuple[str, ...],
    *,
    graph: Graph | None,
    source: str,
    issues: Iterable[Issue] = (),
    extras: TraceExtras | None = None,
) -> Timeline:
    """Make the timeline of S observed intervals, by start, outer before inner.

    A slice is joined to the one operator of its name (node name or function name). Where several
    have it, its slices are given to them in turn and marked ambiguous. Each slice is a measured
    repeat of its node.
    """
    count = 0 if graph is None else graph.num_nodes
    node = np.full(len(names), -1, np.int64)
    trust = np.full(len(names), Trust.ABSENT, np.uint8)
    found = list(issues)
    if graph is not None:
        _join(graph, names, node, trust)
        found += _match_issues(graph, node, trust, source)
    known = node >= 0
    counts, node_trust = per_node(node, trust, count)
    order = np.argsort(node[known], kind="stable")
    repeats = duration_ns[known][order]
    sums = np.bincount(node[known], weights=duration_ns[known], minlength=count)
    return Timeline(
        slice_node=node.astype(np.int32),
        slice_start_ns=start_ns,
        slice_duration_ns=duration_ns,
        slice_track=track,
        slice_names=names,
        slice_trust=trust,
        slice_occurrence=occurrences(node),
        tracks=tracks,
        repeats_offsets=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        repeats_ns=repeats,
        node_ns=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        node_trust=node_trust,
        synthetic=False,
        clock=WALL,
        sources=(source,),
        issues=Issues(found),
        extras=extras,
    )


def _join(graph: Graph, names: StringColumn, node: Ints, trust: npt.NDArray[np.uint8]) -> None:
    named: dict[str, list[int]] = defaultdict(list)
    for each in np.flatnonzero(np.asarray(graph.kinds) >= NodeKind.OPERATOR).tolist():
        for name in {graph.names[each], graph.func_names[each]} - {""}:
            named[name].append(each)
    rows = np.argsort(names.codes, kind="stable")
    first = np.searchsorted(names.codes[rows], np.arange(len(names.unique) + 1))
    for code, name in enumerate(names.unique):
        fitting = named.get(name, [])
        if not fitting:
            continue
        own = [each for each in fitting if graph.names[each] == name]
        fitting = own if len(own) == 1 else fitting
        mine = rows[first[code] : first[code + 1]]
        node[mine] = np.asarray(fitting, np.int64)[np.arange(len(mine)) % len(fitting)]
        trust[mine] = Trust.BY_NAME if len(fitting) == 1 else Trust.AMBIGUOUS


def _match_issues(
    graph: Graph, node: Ints, trust: npt.NDArray[np.uint8], source: str
) -> list[Issue]:
    found = []
    unsure = np.unique(node[trust == Trust.AMBIGUOUS])
    if len(unsure):
        slices = int(np.count_nonzero(trust == Trust.AMBIGUOUS))
        found.append(
            Issue(
                "slices-ambiguous",
                IssueSeverity.WARNING,
                f"{counted(slices, 'slice')} {agree(slices, 'has')} a name that several of "
                f"{counted(len(unsure), 'operator')} share; slices are given to operators in "
                "turn, which the trace cannot confirm",
                nodes=tuple(int(i) for i in unsure[:_NODES_SHOWN]),
                file=source,
            )
        )
    if len(node) and not (node >= 0).any():
        found.append(
            Issue(
                "slices-not-joined",
                IssueSeverity.WARNING,
                "no slice of the trace has the name of one of the graph's "
                f"{counted(graph.num_nodes, 'node')} or of their functions: none is matched",
                file=source,
            )
        )
    return found
