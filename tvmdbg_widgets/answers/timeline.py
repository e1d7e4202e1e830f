"""Answers about the timeline: the first answer, slices in parts, and compared times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeChanges, TimeComparison
from tvmdbg_widgets.analysis.compare_times.aligned import NO_MATCH
from tvmdbg_widgets.analysis.compare_times.verdicts import TimeVerdict
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.analysis.timeline.lod import slice_colors
from tvmdbg_widgets.analysis.times.keys import has_modules
from tvmdbg_widgets.answers.kept_timeline import (
    RANKED_NAMES,
    KeptTimeline,
    lod_columns,
)
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.graph import node_labels
from tvmdbg_widgets.model.timeline.measured import TimeMeaning, executions_range, extents
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import timeline_words

#: Bytes of slices or names per answer.
_PART = 1 << 20
_ARROWS = 60_000


def timeline(context: Context, _question: Question) -> Reply:
    """Answer the data that a timeline's view needs first."""
    kept = context.timeline
    if kept is None:
        return Reply(None)
    context.watch()
    return Reply.of("timeline", *first_of_timeline(context.run, kept, watch=context.watch))


def first_of_timeline(
    run: RunFacts,
    kept: KeptTimeline,
    *,
    repeats: bool = True,
    watch: Callable[[], None] = lambda: None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return columns and info of the first answer, with or without repeats."""
    own = kept.timeline
    columns = {**_rows(own), **_shared(own)}
    if repeats:
        columns |= _node_columns(own)
    else:
        columns["nodeNs"] = own.node_ns
    colors = slice_colors(own, run.graph, run.groups if run.graph is not None else None)
    columns["nodeBlock"] = colors.block
    info = _info(run, kept) | {"colors": colors.to_json()}
    watch()
    if kept.along:
        names = range(kept.names.count)
        columns |= kept.table.columns(own.rows.order)
        columns |= lod_columns(kept, None)
    else:
        names = range(kept.names.first)
        columns |= lod_columns(kept, kept.ready.top)
        columns["lodName"][columns["lodName"] >= kept.names.first] = -1
    return {**columns, **kept.ready.sums, **kept.names.columns(names)}, info


def slices(context: Context, question: Question) -> Reply:
    """Answer slices ``first`` … ``last - 1`` in row order, as many as fit."""
    kept = context.kept_timeline
    first = question.integer("first", 0, kept.count)
    last = question.integer("last", first, min(kept.count, first + _PART // kept.table.width))
    return Reply.of("slices", kept.table.columns(kept.timeline.rows.order[first:last]))


def names(context: Context, question: Question) -> Reply:
    """Answer the names of slices from ``first`` on, as many as fit."""
    kept = context.kept_timeline
    first = question.integer("first", 0, kept.names.count)
    return Reply.of("names", kept.names.columns(range(first, kept.names.most(first, _PART))))


def flows(context: Context, _question: Question) -> Reply:
    """Answer arrows between slices, as many as fit, earliest first."""
    kept = context.timeline
    if kept is None:
        return Reply(None)
    own = kept.timeline
    context.watch()
    arrows = own.flows
    first = slice(_ARROWS)
    number = np.full(own.num_slices, -1, np.int32)
    number[own.rows.order] = np.arange(kept.count, dtype=np.int32)
    columns = {
        "flowFrom": number[arrows.flow_from[first]],
        "flowTo": number[arrows.flow_to[first]],
        "flowNames": arrows.names[first],
    }
    return Reply.of("flows", columns, {"count": len(arrows), "unjoined": arrows.unjoined})


def _rows(own: Timeline) -> dict[str, Any]:
    rows = own.rows
    return {
        "tracks": StringColumn.from_strings(own.tracks),
        "trackRun": own.track_run,
        "trackDevice": StringColumn.from_strings(own.track_device),
        "trackThread": StringColumn.from_strings(own.track_thread),
        "rowFirst": rows.first.astype(np.int32),
        "rowTrack": rows.track,
        "rowDepth": rows.depth,
        "rowKind": rows.kind,
    }


def _node_columns(own: Timeline) -> dict[str, Any]:
    statistics = own.statistics()
    return {
        "repeatsOffsets": own.repeats_offsets.astype(np.int32),
        "repeats": own.repeats_ns,
        "nodeNs": own.node_ns,
        "nodeTrust": own.node_trust,
        "nodeCount": statistics.n.astype(np.int32),
        "nodeP10": statistics.p10,
        "nodeP50": statistics.p50,
        "nodeP90": statistics.p90,
        "nodeSd": statistics.sd,
        "nodeNoisy": statistics.noisy,
        "nodeLow": statistics.low,
        "nodeHigh": statistics.high,
    }


def _shared(own: Timeline) -> dict[str, Any]:
    """Return the columns of node sets and of annotations of slices."""
    columns: dict[str, Any] = {}
    if own.shared is not None:
        columns["setOffsets"] = own.shared.offsets.astype(np.int32)
        columns["setNodes"] = own.shared.nodes
        columns["setNs"] = own.shared.own_ns
        rest = np.array([kind == "delegate" for kind in own.shared.kinds], np.bool_)
        columns["setApart"] = np.where(own.shared.apart, np.where(rest, 1, 2), 0).astype(np.uint8)
    if own.slice_about is not None:
        texts = own.slice_about.unique
        columns["abouts"] = StringColumn(texts, np.arange(len(texts)))
    return columns


def _info(run: RunFacts, kept: KeptTimeline) -> dict[str, Any]:
    own = kept.timeline
    nesting = own.nesting
    return {
        "synthetic": own.synthetic,
        "clock": own.clock,
        "roundingNs": own.rounding_ns,
        "totalNs": own.account.whole_ns if own.account.operators.any() else None,
        "rowsLeft": max(0, int(np.count_nonzero(own.account.name >= 0)) - RANKED_NAMES),
        "sources": list(own.sources),
        "notes": [
            issue.message
            for issue in own.issues
            # `words` has this sentence already
            if own.measured is not TimeMeaning.CALL or issue.rule != "report-one-pass"
        ],
        "nested": list(nesting.nested),
        "overlapping": list(nesting.overlapping),
        "words": timeline_words(own, run.graph is not None).to_json(),
        "slices": kept.count,
        "unusable": own.rows.unusable,
        "first": kept.ready.first,
        "last": kept.ready.last,
        "extents": extents(own, own.rows).tolist(),
        "opens": executions_range(own, own.rows),
        "bins": 0 if kept.along else kept.num_bins,
        "whole": kept.whole,
        "binsOnly": None,
        "mostBins": kept.most_bins,
        "exact": own.exact,
        "warmUp": own.warm_up.to_json(),
        "trust": kept.table.trust,
        "names": kept.names.count,
        "modules": has_modules(run.graph),
        "columns": kept.table.kinds,
    }


TIMELINE_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "slices": slices,
    "names": names,
    "flows": flows,
}


def change(context: Context, question: Question) -> Reply:
    """Answer the compared times by node and by op kind; null for a single run.

    A figure may ask for the ``longest`` differences alone.
    """
    compared = context.run.compared
    if compared is None:
        return Reply(None)
    most = question.integer("longest", 1) if question.has("longest") else len(compared)
    rows = list(compared[:most])
    graph_b = compared.matching.graph_b
    labels = node_labels(graph_b)
    a, b = [row.a for row in rows], [row.b for row in rows]
    places = np.empty(compared.matching.graph_a.num_nodes, np.int64)
    places[compared.matching.graph_a.topological_order] = np.arange(len(places))
    last = [max(nodes, key=places.__getitem__) if nodes else -1 for nodes in a]
    kinds = compared.by("kind")
    columns: dict[str, Any] = {
        **_columns(compared, rows, "node"),
        "node": np.array(last, np.int32),
        "aStart": _starts(a),
        "aNodes": _flat(a).astype(np.int32),
        "bStart": _starts(b),
        "bNodes": _flat(b).astype(np.int32),
        "bNames": StringColumn.from_strings(labels[node] for nodes in b for node in nodes),
        "bSlices": _first_slices(compared)[_flat(b).astype(np.int64)],
        **_sliced(compared),
        "match": np.array(
            [NO_MATCH if row.certainty is None else row.certainty for row in rows], np.uint8
        ),
        "reason": StringColumn.from_strings(row.reason for row in rows),
        "shape": StringColumn.from_strings(row.shape for row in rows),
        "repeatsAStart": _starts([row.repeats_a for row in rows]),
        "repeatsA": _flat([row.repeats_a for row in rows]).astype(np.float64),
        "repeatsBStart": _starts([row.repeats_b for row in rows]),
        "repeatsB": _flat([row.repeats_b for row in rows]).astype(np.float64),
        **{
            f"kind{name[0].upper()}{name[1:]}": column
            for name, column in _columns(kinds, list(kinds), "kind").items()
        },
    }
    return Reply.of("change", columns, _info_change(compared))


def _info_change(compared: TimeComparison) -> dict[str, Any]:
    total = compared.total
    return {
        "rows": len(compared),
        "counts": compared.counts(),
        "titles": list(compared.titles),
        "sentence": compared.sentence,
        "said": list(compared.caption[2:]),
        "verdicts": [verdict.label for verdict in TimeVerdict],
        "matches": [certainty.label for certainty in Certainty],
        "roundings": list(compared.columns.rounding_ns),
        "total": {
            "a": total.ns_a,
            "b": total.ns_b,
            "verdict": int(total.verdict),
            "why": total.why,
        },
    }


def _sliced(compared: TimeComparison) -> dict[str, StringColumn]:
    """Return names, labels and op kinds of slices of `b`."""
    rows = [(name, *words) for name, words in compared.slice_words.items()]
    return {
        name: StringColumn.from_strings(row[at] for row in rows)
        for at, name in enumerate(("sliceNames", "sliceLabels", "sliceKinds"))
    }


def _first_slices(compared: TimeComparison) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the first slices of the nodes of `b`, -1 for none."""
    a, b = compared.a.timeline, compared.b.timeline
    first_slice = np.full(compared.matching.graph_b.num_nodes, -1, np.int32)
    if a is None or b is None:
        return first_slice
    first = np.flatnonzero((b.slice_node >= 0) & (b.slice_occurrence == 0))
    first_slice[b.slice_node[first]] = first + a.num_slices
    return first_slice


def _columns(compared: TimeChanges, rows: list[TimeChange], what: str) -> dict[str, Any]:
    """Return the columns of rows by node or by kind; ``what`` chooses the texts."""
    numbers = {
        "nsA": [row.ns_a for row in rows],
        "nsB": [row.ns_b for row in rows],
        "p": [row.p for row in rows],
        "q": [row.q for row in rows],
        "shift": [row.shift_ns for row in rows],
        "low": [row.low_ns for row in rows],
        "high": [row.high_ns for row in rows],
    }
    texts = {"label": [row.label for row in rows], "why": [row.why for row in rows]}
    if what == "node":
        texts["kind"] = [row.kind for row in rows]
    shown = compared.columns.verdicts.shown[compared.columns.order][: len(rows)]
    return {
        **{name: StringColumn.from_strings(column) for name, column in texts.items()},
        **{name: np.array(column, np.float64) for name, column in numbers.items()},
        "verdict": np.array([row.verdict for row in rows], np.uint8),
        "shown": shown.view(np.uint8),
    }


def _starts(rows: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.cumsum([0, *map(len, rows)]).astype(np.int32)


def _flat(rows: list[Any]) -> np.ndarray[Any, Any]:
    return np.array([value for row in rows for value in row])
