"""Answers about the timeline of a run: first of all, slices in parts, bins, windows, searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.timeline_find import matching
from tvmdbg_widgets.model.strings import StringColumn
from tvmdbg_widgets.model.timeline_words import Measured, timeline_words
from tvmdbg_widgets.widgets.answering import Context, Reply
from tvmdbg_widgets.widgets.columns import pack
from tvmdbg_widgets.widgets.timeline_kept import KeptTimeline, Searched

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tvmdbg_widgets.analysis.timeline_lod import Bins
    from tvmdbg_widgets.model.timeline import Timeline
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.messages import Question

#: Bytes of one part of the slices.
_PART = 1 << 20
_TILE_BINS = 512
_LEVELS = 62
#: Bins of all rows that one answer has, but for one tile, which may always be asked for.
_TILE_CELLS = 1 << 16
#: Slices in one window.
_WINDOW = 200_000
_TEXT = 1000
_FIND_BINS = 4096
_HIT_CELLS = 1 << 20


def timeline(context: Context, _question: Question) -> Reply:
    """Answer what a view of the timeline needs first."""
    kept = context.timeline()
    if kept is None:
        return Reply(None)
    run, own = context.run, kept.timeline
    context.watch()
    columns = {**_rows(own), **_node_columns(own)}
    info = _info(run, kept)
    context.watch()
    if kept.along:
        names = range(kept.names.count)
        columns |= kept.table.columns(own.rows.order)
        columns |= _lod(kept, None)
    else:
        names = range(kept.names.first)
        columns |= _lod(kept, kept.top)
    return _packed({**columns, **kept.names.columns(names)}, info)


def slices(context: Context, question: Question) -> Reply:
    """Answer slices ``first`` … ``last - 1`` in row order, as many as fit one part."""
    kept = _kept(context)
    first = question.integer("first", 0, kept.count)
    last = question.integer("last", first, min(kept.count, first + _PART // kept.table.width))
    return _packed(kept.table.columns(kept.timeline.rows.order[first:last]))


def names(context: Context, question: Question) -> Reply:
    """Answer the names of slices from ``first`` on, as many as fit one part."""
    kept = _kept(context)
    first = question.integer("first", 0, kept.names.count)
    return _packed(kept.names.columns(range(first, kept.names.most(first, _PART))))


def tiles(context: Context, question: Question) -> Reply:
    """Answer tiles ``first`` … ``last - 1``: 512 bins each of 2 ** ``level`` ns, from 0 on."""
    kept = _kept(context)
    most = tiles_at_once(kept.timeline)
    level = question.integer("level", 0, _LEVELS)
    farthest = 2**53 // _TILE_BINS
    first = question.integer("first", -farthest, farthest)
    last = question.integer("last", first + 1, first + most)
    step = float(2**level)
    lod = kept.lod
    context.watch()
    bins = lod.bins(first * _TILE_BINS * step, step, (last - first) * _TILE_BINS)
    info = {"level": level, "first": first, "last": last, "bins": (last - first) * _TILE_BINS}
    return _packed(_named(kept, _lod(kept, bins), "lodName"), info)


def window(context: Context, question: Question) -> Reply:
    """Answer the slices that touch ``from`` … ``to``, or how many, where they are too many."""
    kept = _kept(context)
    begin, end = _range(question)
    low, high = kept.lod.touching(begin, end)
    count = int((high - low).sum())
    if count > _WINDOW:
        return Reply({"count": count})
    context.watch()
    own = kept.timeline
    first = np.concatenate(([0], np.cumsum(high - low)))
    numbers = np.arange(count) + np.repeat(low - first[:-1], high - low)
    source = own.rows.order[numbers]
    columns: dict[str, Any] = {
        "rowFirst": first.astype(np.int32),
        "rowNumber": low.astype(np.int32),
        "parent": _local(own.rows.parent[source], source),
        **kept.table.columns(source),
    }
    columns["source"] = source
    if "node" in columns:
        columns["occurrence"] = own.slice_occurrence[source]
    return _packed(_named(kept, columns, "name"))


def find(context: Context, question: Question) -> Reply:
    """Answer how many slices a search finds, where, and which is next."""
    kept = _kept(context)
    text = (question.text("text", _TEXT) or "").strip()
    regex = question.flag("regex")
    at = question.number("at")
    last = kept.searched
    if last is None or (last.text, last.regex) != (text, regex):
        hits = matching(context.run.graph, kept.timeline, text, regex=regex, watch=context.watch)
        kept.searched = last = Searched(text, regex, hits)
    context.watch()
    begin, step, bins = _find_bins(question, kept)
    found = kept.lod.holding(last.hits.numbers, begin, step, bins)
    current = question.integer("slice", -1, kept.count) if question.has("slice") else -1
    previous, next_ = kept.lod.beside(last.hits.numbers, at, current)
    result = {
        "count": len(last.hits.numbers),
        "selfNs": last.hits.self_ns,
        "previous": _told(kept, previous),
        "next": _told(kept, next_),
        "bins": bins,
    }
    headers, buffer = pack({"hits": found.ravel()})
    return Reply({**result, "columns": headers}, (buffer,))


def slice_(context: Context, question: Question) -> Reply:
    """Answer everything about the slice of an index in the timeline; null where it is not drawn."""
    kept = _kept(context)
    source = question.integer("source", 0, max(0, kept.timeline.num_slices - 1))
    numbers = np.flatnonzero(kept.timeline.rows.order == source)
    return Reply(_told(kept, int(numbers[0])) if len(numbers) else None)


def _kept(context: Context) -> KeptTimeline:
    kept = context.timeline()
    if kept is None:
        raise LookupError("this run has no timeline")
    return kept


def tiles_at_once(own: Timeline) -> int:
    """Return how many tiles one answer has at most."""
    return max(1, _TILE_CELLS // _TILE_BINS // max(1, len(own.rows.track)))


def _range(question: Question) -> tuple[float, float]:
    begin, end = question.number("from"), question.number("to")
    if end < begin:
        raise ValueError(f"to must be at least from, found {end:g} < {begin:g}")
    return begin, end


def _find_bins(question: Question, kept: KeptTimeline) -> tuple[float, float, int]:
    """Return the begin, the step and the number of the bins that hits are marked in."""
    if not question.has("bins"):
        return kept.lod.first, kept.step, kept.num_bins
    most = max(1, min(_FIND_BINS, _HIT_CELLS // max(1, len(kept.timeline.rows.track))))
    bins = question.integer("bins", 1, most)
    begin, end = _range(question)
    return begin, (end - begin) / bins or 1.0, bins


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


def _info(run: DebugRun, kept: KeptTimeline) -> dict[str, Any]:
    own = kept.timeline
    nesting = own.nesting
    return {
        "synthetic": own.synthetic,
        "clock": own.clock,
        "totalNs": own.total_ns if np.isfinite(own.total_ns) else None,
        "sources": list(own.sources),
        "notes": [
            issue.message
            for issue in own.issues
            # the words say so
            if own.measured is not Measured.CALL or issue.rule != "report-one-pass"
        ],
        "nested": list(nesting.nested),
        "overlapping": list(nesting.overlapping),
        "words": timeline_words(own, run.graph is not None).to_json(),
        "slices": kept.count,
        "unusable": own.rows.unusable,
        "first": kept.lod.first,
        "last": kept.lod.last,
        "bins": 0 if kept.along else kept.num_bins,
        "whole": kept.whole,
        "binsOnly": None,
        "tiles": tiles_at_once(own),
        "exact": own.exact,
        "warmUp": own.warm_up.to_json(),
        "trust": kept.table.trust,
        "names": kept.names.count,
        "columns": kept.table.kinds,
    }


def _lod(kept: KeptTimeline, bins: Bins | None) -> dict[str, Any]:
    """Return the columns of bins; node and name are those of the dominant slice."""
    if bins is None:
        nothing = np.zeros(0, np.int32)
        found = dict.fromkeys(("lodSlice", "lodNode", "lodName"), nothing)
        return {"lodBusy": np.zeros(0, np.float32), **found}
    own = kept.timeline
    number = bins.slice.ravel()
    source = own.rows.order[number]
    idle = number < 0
    return {
        "lodBusy": bins.busy.ravel(),
        "lodSlice": number,
        "lodNode": np.where(idle, -1, own.slice_node[source]).astype(np.int32),
        "lodName": np.where(idle, -1, kept.names.codes[source]).astype(np.int32),
    }


def _named(kept: KeptTimeline, columns: dict[str, Any], by: str) -> dict[str, Any]:
    """Add the names that a column speaks of, where the page does not know all of them.

    The column then counts among these.
    """
    if kept.names.first == kept.names.count:
        return columns
    numbers, place = np.unique(columns[by], return_inverse=True)
    idle = int(np.searchsorted(numbers, 0))
    place = np.maximum(place - idle, -1).astype(columns[by].dtype)
    return {**columns, by: place, **kept.names.columns(numbers[idle:].tolist())}


def _local(parent: npt.NDArray[np.int32], source: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return where the parents of slices stand among them; -1 for none."""
    by_source = np.argsort(source, kind="stable")
    ordered = source[by_source]
    at = np.minimum(np.searchsorted(ordered, parent), max(0, len(source) - 1))
    found = by_source[at] if len(source) else at
    here = (parent >= 0) & (ordered[at] == parent) if len(source) else np.zeros(0, np.bool_)
    return np.where(here, found, -1).astype(np.int32)


def _told(kept: KeptTimeline, number: int) -> dict[str, Any] | None:
    """Tell everything about a slice by its number; None of none."""
    if number < 0:
        return None
    own = kept.timeline
    rows = own.rows
    source = int(rows.order[number])
    parent = int(rows.parent[source])
    row = int(np.searchsorted(rows.first, number, "right")) - 1
    return {
        "slice": number,
        "source": source,
        "row": row,
        "track": int(rows.track[row]),
        "node": int(own.slice_node[source]),
        "occurrence": int(own.slice_occurrence[source]),
        "name": own.slice_names[source],
        "start": float(own.slice_start_ns[source]),
        "duration": float(own.slice_duration_ns[source]),
        "self": float(rows.self_ns[source]),
        "trust": int(own.slice_trust[source]),
        "parent": int(np.flatnonzero(rows.order == parent)[0]) if parent >= 0 else -1,
    }


def _packed(columns: dict[str, Any], info: Any = None) -> Reply:
    headers, buffer = pack(columns)
    return Reply({"columns": headers, "info": info}, (buffer,))


TIMELINE_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "timeline": timeline,
    "slices": slices,
    "names": names,
    "tiles": tiles,
    "window": window,
    "find": find,
    "slice": slice_,
}
