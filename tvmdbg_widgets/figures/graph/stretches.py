"""A graph too large for the engine as a few stretches of its execution order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted, duration_text, time_share
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind, held_texts, roles_text
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

_STRETCHES = 24
#: Names in the title of a stretch.
_NAMED = 3


def stretches(
    graph: Graph,
    timeline: Timeline | None,
    selected: Sequence[int],
    hits: Sequence[int],
    together: str = "",
) -> dict[str, Any]:
    """Return what ``js/src/graph/figure/stretches.ts`` draws: sums over all nodes of a graph."""
    runs = graph.kinds > NodeKind.PARAMETER
    order = graph.topological_order
    order = order[runs[order]]
    parts = [each for each in np.array_split(order, _STRETCHES) if len(each)]
    place = np.full(graph.num_nodes, -1, np.int32)
    for at, nodes in enumerate(parts):
        place[nodes] = at
    ns = np.full(graph.num_nodes, np.nan) if timeline is None else timeline.node_ns
    shares = ns if timeline is None else timeline.account.node_shares(graph.num_nodes)
    rounding = 0.0 if timeline is None else timeline.rounding_ns
    labels, kinds = node_labels(graph), node_op_kinds(graph)
    read_at = _read_at(graph, place)
    marked = [_by_part(read_at, nodes, len(parts)) for nodes in (selected, hits)]
    rows = []
    for at, nodes in enumerate(parts):
        known = ~np.isnan(ns[nodes])
        took = float(ns[nodes][known].sum()) if known.any() else math.nan
        named, of_kind = (_most(column, nodes, ns) for column in (labels, kinds))
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        rows.append(
            {
                "title": ", ".join(named[:_NAMED]) + more,
                "kind": of_kind[0],
                "nodes": len(nodes),
                "first": int(nodes.min()),
                "last": int(nodes.max()),
                "time_ns": None if math.isnan(took) else took,
                "time_text": _time(
                    took, float(np.nansum(shares[nodes])), int((~known).sum()), rounding
                ),
                "unknown": int((~known).sum()),
                "selected": int(marked[0][at]),
                "hits": int(marked[1][at]),
            }
        )
    whole = math.nan
    summed = "no times known"
    if timeline is not None and not np.isnan(ns).all():
        whole = timeline.account.whole_ns
        summed = f"{duration_text(whole)} {together or 'summed over nodes'}"
    drawn = f"{counted(len(order), 'operator')} in {counted(len(rows), 'group')}"
    note = (
        f"Condensed: {drawn} of consecutive operators in execution order; times and shares are "
        "sums of single nodes. Lines are edges between groups, one for all of the same two."
    )
    note += _given_note(graph, read_at, np.union1d(_distinct(selected), _distinct(hits)))
    totals = ", ".join(held_texts(graph)), roles_text(graph), summed
    return {
        "totals": "; ".join(filter(None, totals)),
        "note": note,
        "stretches": rows,
        "edges": _edges(graph, place, len(parts)),
        "legend": _legend(kinds, ns, timeline),
        "total_ns": None if math.isnan(whole) else whole,
    }


def stretches_text(title: str, said: Mapping[str, Any]) -> str:
    """Return the same in words, a line a group."""
    lines = [f"{title}: {said['totals']}", said["note"]]
    lines += [
        "  " + "; ".join([_ends(row), row["title"], row["time_text"], *_marks(row)])
        for row in said["stretches"]
    ]
    return "\n".join(lines)


def _ends(row: Mapping[str, Any]) -> str:
    """Return how many nodes a group has, with the least and the greatest of their ids."""
    return f"{counted(row['nodes'], 'node')} #{row['first']} … #{row['last']}"


def _marks(row: Mapping[str, Any]) -> list[str]:
    """Return how many nodes of a group are marked."""
    told = [(row["selected"], "selected"), (row["hits"], "found")]
    return [f"{count:,} {what}" for count, what in told if count]


def _read_at(graph: Graph, place: Ints) -> Ints:
    """Return the part of each node; of an input or parameter the first that reads it, else -1."""
    nowhere = np.iinfo(place.dtype).max
    first = np.full(graph.num_nodes, nowhere, place.dtype)
    known = (graph.edge_source >= 0) & (place[graph.edge_target] >= 0)
    np.minimum.at(first, graph.edge_source[known], place[graph.edge_target[known]])
    first[first == nowhere] = -1
    return np.where(place >= 0, place, first)


def _given_note(graph: Graph, read_at: Ints, marked: Ints) -> str:
    """Return where marked inputs and parameters are counted, in a sentence; "" without any."""
    given = marked[graph.kinds[marked] <= NodeKind.PARAMETER]
    unread = int((read_at[given] < 0).sum())
    lost = f"; {counted(unread, 'marked one')} that none reads in no group" if unread else ""
    said = f" Marked inputs and parameters count to the group that reads them first{lost}."
    return said if len(given) else ""


def _distinct(nodes: Sequence[int]) -> Ints:
    return np.unique(np.asarray(nodes, np.int64))


def _by_part(read_at: Ints, nodes: Sequence[int], count: int) -> Ints:
    """Return how many of some nodes are in each part."""
    at = read_at[_distinct(nodes)]
    return np.bincount(at[at >= 0], minlength=count)


def _most(column: StringColumn, nodes: Ints, ns: Floats) -> list[str]:
    """Return the different words of some nodes: those that take longest, then the commonest."""
    codes, at, counts = np.unique(column.codes[nodes], return_inverse=True, return_counts=True)
    took = np.bincount(at, np.nan_to_num(ns[nodes]), len(codes))
    return [column.unique[code] for code in codes[np.lexsort((codes, -counts, -took))].tolist()]


def _time(ns: float, share: float, unknown: int, rounding_ns: float) -> str:
    if math.isnan(ns):
        return "time unknown"
    said = time_share(ns, share, between=" · ") if ns > 0 else duration_text(0, rounding_ns)
    return f"{said} + {unknown:,} unknown" if unknown else said


def _edges(graph: Graph, place: Ints, count: int) -> list[list[int]]:
    """Return source, target and number of the edges between parts."""
    known = graph.edge_source >= 0
    source, target = place[graph.edge_source[known]], place[graph.edge_target[known]]
    between = (source >= 0) & (target >= 0) & (source != target)
    pairs, counts = np.unique(
        source[between].astype(np.int64) * count + target[between], return_counts=True
    )
    return [
        [pair // count, pair % count, edges]
        for pair, edges in zip(pairs.tolist(), counts.tolist(), strict=True)
    ]


def _legend(kinds: StringColumn, ns: Floats, timeline: Timeline | None) -> list[dict[str, Any]]:
    """Return kinds of operators with their nodes and times, the longest first."""
    nodes = np.bincount(kinds.codes, minlength=len(kinds.unique)).tolist()
    took = np.bincount(kinds.codes, np.nan_to_num(ns), len(kinds.unique)).tolist()
    sums = {
        kind: {"kind": kind, "nodes": count, "time_ns": time}
        for kind, count, time in zip(kinds.unique, nodes, took, strict=True)
        if count
    }
    if timeline is not None and timeline.shared is not None:
        for kind, time in zip(timeline.shared.kinds, timeline.shared.own_ns, strict=True):
            if time > 0:
                row = sums.setdefault(kind, {"kind": kind, "nodes": 0, "time_ns": 0.0})
                row["time_ns"] += float(time)
    return sorted(sums.values(), key=lambda row: (-row["time_ns"], -row["nodes"]))
