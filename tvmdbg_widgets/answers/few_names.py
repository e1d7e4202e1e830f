"""Graph and timeline of huge runs with few names, for figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.condensed import boxes_of_nodes, condensed, edges_between
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.node_columns import known_column
from tvmdbg_widgets.analysis.view_columns import graph_columns, group_columns
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.node_columns import asked_column, column_info
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.answers.timeline import first_of_timeline
from tvmdbg_widgets.engine import without_rows
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.model.graph.nodes import NodeKind

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

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


#: Boxes of a condensed graph, slowest nodes that it names, outputs that have boxes of their own.
_MOST_BOXES, _SLOWEST, _MOST_HEADS = 2_000, 8, 8
#: First boxes of a graph, which a figure lists if it can draw nothing.
_LISTED = 150
#: Colors by outputs, with their columns; all that rows for several nodes can show.
_OF_OUTPUTS = {
    "dtype": "dtypes",
    "device": "deviceTypes",
    "storage": "storageIds",
    "bytes": "entryBytes",
    "layout": "entryLayouts",
}
_COLORS = ("kind", "time", *_OF_OUTPUTS)
#: Decades of a logarithmic scale, as in ``js/src/graph/data/number_colors.ts``.
_LOG_DECADES = 6
#: Boxes by bits of one number.
_BITS = 40


def condensed_columns(
    run: RunFacts, graph: Graph, held: Ints, question: Question
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the graph with groups that leave at most so many boxes, and edges between those.

    The second tells the open groups, and of which column of colors the graph has rows.
    """
    timeline, most = run.timeline, question.integer("most", 2, _MOST_BOXES)
    heads = graph.heads if len(graph.heads) <= _MOST_HEADS else graph.heads[:0]
    groups, opened = condensed(graph, run.groups, timeline, most - len(heads))
    columns = graph_columns(graph, timeline) | group_columns(groups, timeline)
    box = boxes_of_nodes(graph, groups, opened, heads[:, 0])
    between = edges_between(graph, groups, box)
    columns |= {name: columns[name][between] for name in columns if name.startswith("edge")}
    columns |= {"headNode": heads[:, 0], "headOutput": heads[:, 1], "hasTensor": held}
    if graph.num_nodes > MOST_NODES:
        column = None
        if question.has("name") or question.has("number"):
            column = asked_column(run, question)
        color = None if column is not None else question.choice("color", _COLORS)
        if color == "layout" or question.flag("layouts"):
            best = known_column(run.parts, "layout")
            codes = np.where(best.rows < 0, len(best.classes), best.rows)
            columns["entryLayouts"] = StringColumn((*best.classes, ""), codes.astype(np.int32))
        ns = np.where(graph.kinds == NodeKind.PARAMETER, 0.0, np.nan_to_num(columns["nodeNs"]))
        slowest = np.argsort(-ns, kind="stable")[:_SLOWEST]
        is_shared = color is not None or (column is not None and column.terms is None)
        if is_shared and "callNs" not in columns:
            judged = run.search.health().columns()["node"] if question.flag("judged") else ()
            own = _drawn_alone(columns, box, len(groups))
            own[slowest] = True
            own[np.array(judged, np.int64)] = True
            limits: Sequence[float] = ()
            if question.has("limits"):
                limits = question.numbers("limits", -np.inf, np.inf, 2)
            few = _shared_rows(columns, box, own, column or color or "", limits)
            about = {} if column is None else {"column": column_info(column)}
            return few, {"open": opened} | about
        alone = (box >= len(groups)) & (graph.kinds != NodeKind.PARAMETER)
        named = np.concatenate([slowest, np.flatnonzero(alone)[:most]])
        for name in ("names", "labels", "funcNames"):
            columns[name] = _words(columns[name], named, others=False)
    return columns, {"open": opened}


def _folded(columns: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Return the flags of parameters inside the boxes of their readers."""
    folded = np.zeros(len(columns["kinds"]), np.bool_)
    folded[columns["edgeSource"]] = True
    folded[columns["headNode"]] = False
    folded &= columns["kinds"] == NodeKind.PARAMETER
    return folded


def _drawn_alone(columns: Mapping[str, Any], box: Ints, groups: int) -> npt.NDArray[np.bool_]:
    """Return the flags of nodes that a figure draws or names."""
    folded, order = _folded(columns), columns["groupOrder"]
    own = (box >= groups) & ~folded
    own[:_LISTED] = own[np.flatnonzero(~folded)[:_LISTED]] = True
    drawn = ~folded[columns["edgeSource"]]
    own[columns["edgeSource"][drawn]] = own[columns["edgeTarget"][drawn]] = True
    for nodes in (order[~folded[order]], np.flatnonzero(~folded)):
        listed = nodes[np.argsort(box[nodes], kind="stable")]
        change = np.diff(box[listed], prepend=-1, append=-1) != 0
        own[listed[change[:-1] | change[1:]]] = True
    return own


def _shared_rows(
    columns: Mapping[str, Any],
    box: Ints,
    own: npt.NDArray[np.bool_],
    color: str | NodeColumn,
    limits: Sequence[float],
) -> dict[str, Any]:
    """Return a graph in which nodes that a figure does not tell apart share a row.

    Their times, bytes and numbers are means; the largest number, where boxes show the largest.
    ``nodeId`` is the first of the nodes, ``nodeCount`` their number.
    """
    folded, ns, offsets = _folded(columns), columns["nodeNs"], columns["entryOffsets"]
    source, target = columns["edgeSource"], columns["edgeTarget"]
    keys = [
        np.where(folded, -1, columns["nodeGroup"]),
        *_readers(source[folded[source]], box[target[folded[source]]], len(ns)),
        columns["kinds"],
        columns["opKinds"].codes,
        np.isnan(ns) + 2 * (ns > 0),
    ]
    value, own, shown = _of_color(columns, own, color, limits)
    keys += shown
    numbers = np.where(own, -1 - np.arange(len(ns)), _numbered(keys))
    _, first, at, count = np.unique(
        numbers, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    nodes, count, row = first[order], count[order], np.argsort(order)[at]

    def mean(values: Floats) -> Floats:
        sums = np.bincount(row, np.nan_to_num(values), len(nodes))
        return np.where((count > 1) & ~np.isnan(values[nodes]), sums / count, values[nodes])

    few = {name: _taken(columns[name], nodes) for name in _OF_NODES if name in columns}
    few["nodeNs"] = mean(ns)
    few["entryOffsets"], entries_ = _ranges(offsets, nodes)
    few["shapeOffsets"], dims = _ranges(columns["shapeOffsets"], entries_)
    few["shapeDims"] = columns["shapeDims"][dims]
    few |= {n: _taken(columns[n], entries_) for n in _OF_ENTRIES if len(columns.get(n, ()))}
    if color == "bytes":
        shared = np.flatnonzero(count > 1)
        few["entryBytes"][few["entryOffsets"][shared]] = mean(value)[shared]
    if isinstance(color, NodeColumn):
        of_nodes = color.of == "nodes"
        told = color.rows[nodes if of_nodes else entries_]
        if color.values is not None:
            shared = np.flatnonzero(count > 1)
            combined = _largest(value, row) if color.together == "largest" else mean(value)
            told[shared if of_nodes else few["entryOffsets"][shared]] = combined[shared]
        few["columnValues" if color.codes is None else "columnCodes"] = told
    place = np.argsort(columns["groupOrder"])[nodes]
    few["groupOrder"] = np.argsort(place).astype(np.int32)
    for name in ("groupStart", "groupEnd"):
        few[name] = np.searchsorted(np.sort(place), columns[name]).astype(np.int32)
    # Parameters in one row have the same readers.
    readers = row[source] * (2 * len(box)) + box[target]
    readers = np.where(folded[source], readers, -1 - np.arange(len(source)))
    edges = np.sort(np.unique(readers, return_index=True)[1])
    edges = edges[np.argsort(row[target[edges]], kind="stable")]
    few |= {name: columns[name][edges] for name in columns if name.startswith("edge")}
    for name in ("edgeSource", "edgeTarget", "headNode", "controlSource", "controlTarget"):
        few[name] = row[few.get(name, columns[name])].astype(np.int32)
    pairs = few["controlSource"].astype(np.int64) * len(nodes) + few["controlTarget"]
    controls = np.sort(np.unique(pairs, return_index=True)[1])
    few |= {name: few[name][controls] for name in ("controlSource", "controlTarget")}
    few["nodeId"], few["nodeCount"], few["nodeRow"] = (
        ints.astype(np.int32) for ints in (nodes, count, row)
    )
    return dict(columns) | few


def _of_color(
    columns: Mapping[str, Any],
    own: npt.NDArray[np.bool_],
    color: str | NodeColumn,
    limits: Sequence[float],
) -> tuple[Floats, npt.NDArray[np.bool_], list[Ints]]:
    """Return numbers that colors show, nodes with rows of their own, and keys of the others."""
    ns, offsets = columns["nodeNs"], columns["entryOffsets"]
    first = np.minimum(offsets[:-1], max(0, int(offsets[-1]) - 1))
    of_nodes = color.of == "nodes" if isinstance(color, NodeColumn) else color not in _OF_OUTPUTS
    own = own.copy() if of_nodes else own | (np.diff(offsets) != 1)
    value, keys = np.full(len(ns), np.nan), []
    if isinstance(color, NodeColumn):
        rows = color.rows if of_nodes else np.append(color.rows, color.rows[:1])[first]
        if color.codes is None:
            value, limits = rows, limits or color.range or ()
            finite = np.flatnonzero(np.isfinite(value))
            for some in (finite, finite[value[finite] > 0]):
                ordered = some[np.argsort(value[some], kind="stable")]
                own[[*ordered[:1], *ordered[-1:]]] = True
            if color.scale == "log" and not limits:
                most = np.max(value[finite], initial=0.0)
                keys.append(value < most / 10**_LOG_DECADES)
                keys.append(value <= 0)
            rows = np.isnan(value) + 2 * np.isposinf(value) + 4 * np.isneginf(value)
        keys.append(rows)
    elif color == "time":
        value = ns
    elif color == "bytes":
        value = np.append(columns["entryBytes"], np.nan)[first]
        own[np.nan_to_num(value, nan=-1.0).argmax()] = True
        keys.append(np.isnan(value))
    elif color in _OF_OUTPUTS and len(codes := columns[_OF_OUTPUTS[color]]):
        keys.append(getattr(codes, "codes", codes)[first])
    if limits:
        keys.append(np.searchsorted([limits[0]], value, "right") + 2 * (value > limits[-1]))
    return value, own, keys


def _largest(values: Floats, row: Ints) -> Floats:
    """Return the value of the largest magnitude of each row."""
    ordered = np.lexsort((np.abs(values), row))
    largest: Floats = values[ordered[np.append(np.diff(row[ordered]) > 0, True)]]
    return largest


_OF_NODES = (
    *("names", "labels", "funcNames", "opKinds", "kinds", "roles"),
    *("nodeTrust", "nodeShare", "nodeGroup"),
)
_OF_ENTRIES = (
    *("shapeKnown", "dtypes", "entryLayouts", "entryBytes", "storageIds", "deviceTypes"),
    "hasTensor",
)


def _readers(parameter: Ints, box: Ints, nodes: int) -> Iterator[Ints]:
    """Yield numbers that are equal for parameters with readers in the same boxes."""
    boxes, at = np.unique(box, return_inverse=True)
    for first in range(0, len(boxes), _BITS):
        bits = np.zeros(nodes, np.int64)
        some = (at >= first) & (at < first + _BITS)
        np.bitwise_or.at(bits, parameter[some], np.int64(1) << (at[some] - first))
        yield bits


def _numbered(keys: Iterable[Ints]) -> Ints:
    """Return one number per row that tells apart what any key does."""
    numbers: Ints = np.zeros(1, np.int64)
    size = 1
    for key in keys:
        low, high = int(key.min()), int(key.max())
        if size * (high - low + 1) >= 1 << 62:
            numbers = np.unique(numbers, return_inverse=True)[1]
            size = int(numbers.max()) + 1
        size *= high - low + 1
        numbers = numbers * (high - low + 1) + (key - low)
    return numbers


def _taken(column: Any, rows: Ints) -> Any:
    if not isinstance(column, StringColumn):
        return column[rows]
    kept, codes = np.unique(column.codes[rows], return_inverse=True)
    return StringColumn([column.unique[code] for code in kept.tolist()], codes)


def _ranges(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return offsets of some rows alone, and what lies in their ranges."""
    start, size = offsets[rows], offsets[rows + 1] - offsets[rows]
    kept = np.append(0, np.cumsum(size))
    return kept.astype(np.int32), np.repeat(start - kept[:-1], size) + np.arange(kept[-1])


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
