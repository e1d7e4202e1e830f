"""Graph and timeline of huge runs with few names, for figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.condensed import condensed, edges_between
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.view_columns import graph_columns, group_columns
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.answers.timeline import first_of_timeline
from tvmdbg_widgets.engine import without_rows
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind

Ints = npt.NDArray[np.integer[Any]]

#: Nodes up to which all names are sent to the engine.
MOST_NODES = 100_000


def has_many(run: RunFacts) -> bool:
    """Whether a run has too many nodes to send all names to the engine."""
    return run.graph is not None and run.graph.num_nodes > MOST_NODES


def graph_of_few(graph: Graph, named: Ints) -> Reply:
    """Answer the graph to a figure without edges that names only these nodes."""
    named = np.unique(named[(named >= 0) & (named < graph.num_nodes)])
    first = graph.entry_offsets[named]
    first = first[first < graph.entry_offsets[named + 1]]
    known = np.zeros(graph.num_entries, np.bool_)
    known[first] = graph.shape_known[first]
    ranks = np.diff(graph.shape_offsets)
    columns: dict[str, Any] = {
        "names": _words(graph.names, named, others=False),
        "labels": _words(node_labels(graph), named, others=True),
        "opKinds": node_op_kinds(graph),
        "kinds": graph.kinds,
        "entryOffsets": graph.entry_offsets.astype(np.int32),
        "shapeKnown": known,
        "shapeOffsets": np.cumsum([0, *np.where(known, ranks, 0)]).astype(np.int32),
        "shapeDims": graph.shape_dims[np.repeat(known, ranks)].astype(np.float64),
    }
    info = {"devices": {}, "wrong": [], "wrongCount": 0, "together": ""}
    return Reply.of("graph", without_rows("graph") | columns, info)


#: Slowest nodes that a condensed graph names, and outputs that have boxes of their own.
_SLOWEST, _MOST_HEADS = 8, 8


def condensed_columns(
    run: RunFacts, graph: Graph, most: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the graph with groups that leave at most so many boxes, and edges between those.

    The second are the open groups.
    """
    timeline = run.timeline
    heads = graph.heads if len(graph.heads) <= _MOST_HEADS else graph.heads[:0]
    groups, opened = condensed(graph, run.groups, timeline, most - len(heads))
    columns = graph_columns(graph, timeline) | group_columns(groups, timeline)
    between = edges_between(graph, groups, opened, heads[:, 0])
    columns |= {name: columns[name][between] for name in columns if name.startswith("edge")}
    columns |= {"headNode": heads[:, 0], "headOutput": heads[:, 1]}
    if graph.num_nodes > MOST_NODES:
        ns = np.nan_to_num(columns["nodeNs"])
        slowest = np.argsort(-ns, kind="stable")[:_SLOWEST]
        apart = (groups.node_group < 0) | np.isin(groups.node_group, opened)
        apart[heads[:, 0]] = True
        alone = np.flatnonzero(apart & (graph.kinds != NodeKind.PARAMETER))[:most]
        named = np.concatenate([slowest, alone])
        for name in ("names", "labels", "funcNames"):
            columns[name] = _words(columns[name], named, others=False)
    return columns, {"open": opened}


def timeline_of_few(run: RunFacts, kept: KeptTimeline, most: int) -> Reply:
    """Answer the timeline without repeats and with few ranked nodes."""
    columns, info = first_of_timeline(run, kept, repeats=False)
    node, ns = columns["rankNode"], columns["rankNs"]
    rows = np.flatnonzero(node >= 0)
    ranked = np.ones(len(node), np.bool_)
    ranked[rows[np.argsort(-ns[rows], kind="stable")[most:]]] = False
    for name in [name for name in columns if name.startswith("rank")]:
        column = columns[name]
        is_text = isinstance(column, StringColumn)
        words = StringColumn(column.unique, column.codes[ranked]) if is_text else column[ranked]
        columns[name] = words
    return Reply.of("timeline", without_rows("timeline") | columns, info)


def _words(column: StringColumn, named: Ints, *, others: bool) -> StringColumn:
    """Return the words of ``named`` rows, else ""; ``others`` also fills rows with equal words."""
    kept = np.unique(column.codes[named])
    number = np.full(len(column.unique), len(kept), np.int32)
    number[kept] = np.arange(len(kept), dtype=np.int32)
    codes = np.full(len(column), len(kept), np.int32)
    rows = slice(None) if others else named
    codes[rows] = number[column.codes[rows]]
    return StringColumn((*(column.unique[code] for code in kept.tolist()), ""), codes)
