"""What a view of the timeline is told first, and the slices in parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.timeline.slice_colors import slice_colors
from tvmdbg_widgets.analysis.times.modules import has_modules, modules
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.kept_timeline import (
    KeptTimeline,
    lod_columns,
)
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.slices import RANKED_NAMES, parts_column
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.student_t import student_t
from tvmdbg_widgets.model.timeline.gaps import extents
from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import timeline_words

#: Bytes of one part of the slices.
_PART = 1 << 20
_ARROWS = 60_000


def timeline(context: Context, _question: Question) -> Reply:
    """Answer what a view of the timeline needs first."""
    kept = context.timeline
    if kept is None:
        return Reply(None)
    context.watch()
    return Reply.of("timeline", *first_of_timeline(context.run, kept, watch=context.watch))


def first_of_timeline(
    run: Derived,
    kept: KeptTimeline,
    *,
    repeats: bool = True,
    watch: Callable[[], None] = lambda: None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of that answer, without those of repeats where so asked, and its info."""
    own = kept.timeline
    columns = {**_rows(own), **_shared(own)}
    if repeats:
        functions = () if run.graph is None else run.graph.func_names.unique
        columns |= {**_node_columns(own), "functionParts": parts_column(functions)}
    else:
        columns["nodeNs"] = own.node_ns
    colors = slice_colors(own, run.graph, run.groups if run.graph is not None else None)
    columns["nodeBlock"] = colors.block
    if run.graph is not None and has_modules(run.graph):
        columns["nodeModules"], columns["setModules"] = modules(run.graph, own.shared)
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
    """Answer slices ``first`` … ``last - 1`` in row order, as many as fit one part."""
    kept = context.kept_timeline
    first = question.integer("first", 0, kept.count)
    last = question.integer("last", first, min(kept.count, first + _PART // kept.table.width))
    return Reply.of("slices", kept.table.columns(kept.timeline.rows.order[first:last]))


def names(context: Context, question: Question) -> Reply:
    """Answer the names of slices from ``first`` on, as many as fit one part."""
    kept = context.kept_timeline
    first = question.integer("first", 0, kept.names.count)
    return Reply.of("names", kept.names.columns(range(first, kept.names.most(first, _PART))))


def flows(context: Context, _question: Question) -> Reply:
    """Answer the arrows between slices, as many as fit one part; the first to begin come first."""
    kept = context.timeline
    if kept is None:
        return Reply(None)
    own = kept.timeline
    context.watch()
    found = own.flows
    first = slice(_ARROWS)
    number = np.full(own.num_slices, -1, np.int32)
    number[own.rows.order] = np.arange(kept.count, dtype=np.int32)
    columns = {
        "flowFrom": number[found.flow_from[first]],
        "flowTo": number[found.flow_to[first]],
        "flowNames": found.names[first],
    }
    return Reply.of("flows", columns, {"count": len(found), "unjoined": found.unjoined})


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
        "nodeMinimum": statistics.min,
        "nodeP10": statistics.p10,
        "nodeP50": statistics.p50,
        "nodeP90": statistics.p90,
        "nodeMaximum": statistics.max,
        "nodeSd": statistics.sd,
        "nodeNoisy": statistics.noisy,
        "nodeLow": statistics.low,
        "nodeHigh": statistics.high,
    }


def _shared(own: Timeline) -> dict[str, Any]:
    """Return what slices of several nodes are of, and what the source tells of slices."""
    found: dict[str, Any] = {}
    if own.shared is not None:
        found["setOffsets"] = own.shared.offsets.astype(np.int32)
        found["setNodes"] = own.shared.nodes
        found["setNs"] = own.shared.own_ns
        rest = np.array([kind == "delegate" for kind in own.shared.kinds], np.bool_)
        found["setApart"] = np.where(own.shared.apart, np.where(rest, 1, 2), 0).astype(np.uint8)
    if own.slice_about is not None:
        texts = own.slice_about.unique
        found["abouts"] = StringColumn(texts, np.arange(len(texts)))
    return found


def _info(run: Derived, kept: KeptTimeline) -> dict[str, Any]:
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
            # the words say so
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
        "bins": 0 if kept.along else kept.num_bins,
        "whole": kept.whole,
        "binsOnly": None,
        "mostBins": kept.most_bins,
        "exact": own.exact,
        "warmUp": own.warm_up.to_json(),
        "trust": kept.table.trust,
        "names": kept.names.count,
        "columns": kept.table.kinds,
        "studentT": {str(n): student_t(n - 1) for n in _repeats(own)},
    }


def _repeats(own: Timeline) -> list[int]:
    """Return how many repeats nodes have, two or more: each number once."""
    found = np.unique(np.diff(own.repeats_offsets))
    return [int(n) for n in found if n > 1]


TIMELINE_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "timeline": timeline,
    "slices": slices,
    "names": names,
    "flows": flows,
}
