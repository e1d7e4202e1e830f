"""Answers about a range of time: slices, sums, search hits, and memory in use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.analysis.memory.sentences import loss_sentences
from tvmdbg_widgets.analysis.timeline.lod import matching
from tvmdbg_widgets.analysis.times.area import area as area_of
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline, Searched, lod_columns
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.graph.graph import device_name
from tvmdbg_widgets.model.graph.nodes import roles_text


def memory(context: Context, _question: Question) -> Reply:
    """Answer the memory plan, or why there is none."""
    why = why_not(context.run.parts)
    if why:
        return Reply({"missing": why})
    plan = context.run.memory_plan
    planned = plan.graph.planned_memory
    lost = np.array([(*loss.entry, loss.writer, loss.reader) for loss in plan.losses], np.int32)
    lost = lost.reshape(-1, 4)
    columns: dict[str, Any] = {
        "order": plan.order,
        "live": plan.live.astype(np.float64),
        "entryBytes": plan.entry_bytes.astype(np.float64),
        "entrySlot": plan.entry_slot,
        "first": plan.first,
        "last": plan.last,
        "slotStorage": plan.slot_storage_ids,
        "slotDevice": plan.slot_devices,
        "slotBytes": plan.slot_bytes.astype(np.float64),
        "slotParameter": plan.slot_is_parameter,
        "slotBuffer": plan.slot_buffers,
        "slotOffset": plan.slot_offsets.astype(np.float64),
        "lostNode": lost[:, 0],
        "lostOutput": lost[:, 1],
        "lostWriter": lost[:, 2],
        "lostReader": lost[:, 3],
    }
    info = {
        "said": plan.said,
        "wrong": loss_sentences(plan),
        "allocated": plan.allocated,
        "parameters": plan.parameter_bytes,
        "roles": roles_text(plan.graph),
        "buffers": 0 if planned is None else planned.num_buffers,
        "peak": plan.peak.bytes,
        "peakNodes": list(plan.peak.nodes),
        "devices": {
            str(device): device_name(device)
            for device in np.unique(plan.slot_devices).tolist()
            if device >= 0
        },
    }
    return Reply.of("memory", columns, info)


#: Slices in one window.
_WINDOW = 200_000


_TEXT = 1000


_BY = ("node", "kind", "part", "group", "module", "device", "name", "callers")


#: Listed rows of an area, and nodes of a row.
_LISTED = 1000


_FIND_BINS = 4096


_HIT_CELLS = 1 << 20


def window(context: Context, question: Question) -> Reply:
    """Answer the slices that touch ``from`` … ``to``, or bins if there are too many."""
    kept = context.kept_timeline
    begin, end = _range(question)
    bins = question.integer("bins", 1, kept.most_bins) if question.has("bins") else kept.num_bins
    lod = kept.lod
    low, high = lod.touching(begin, end)
    count = int((high - low).sum())
    context.watch()
    if count > _WINDOW:
        merged = lod.bins(begin, (end - begin) / bins or 1.0, bins)
        return Reply.of("bins", _named(kept, lod_columns(kept, merged), "lodName"), {"bins": bins})
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
    return Reply.of("window", _named(kept, columns, "name"))


def area(context: Context, question: Question) -> Reply:
    """Answer sums over the slices from ``from`` to ``to``, as ``run.area``."""
    context.kept_timeline  # noqa: B018 (refuses a run without times)
    begin, end = _range(question)
    by = question.choice("by", _BY)
    context.watch()
    sums = area_of(context.run.parts, lambda: context.run.groups, begin, end)
    context.watch()
    table = None if by is None else sums.by(by)
    spread = {
        "min": sums.minimum,
        "mean": sums.mean,
        "p50": sums.p50,
        "p90": sums.p90,
        "max": sums.maximum,
    }
    return Reply(
        {
            "count": sums.count,
            "instants": sums.instants,
            "sum": sums.ns,
            "whole": {"count": sums.whole, **{key: _known(ns) for key, ns in spread.items()}},
            "tracks": [
                {
                    "track": number,
                    "busy": track.busy_ns,
                    "gaps": track.gaps,
                    "idle": track.idle_ns,
                    "longestGap": track.longest_gap_ns,
                }
                for number, track in enumerate(sums.tracks)
            ],
            "by": [
                {
                    "label": row.label,
                    "nodes": list(row.nodes[:_LISTED]),
                    "count": row.slices,
                    "sum": row.ns,
                    "share": _known(row.share),
                }
                for row in (table or ())[:_LISTED]
            ],
            "rows": 0 if table is None else len(table),
            "overlap": table is not None and table.overlap,
        }
    )


def find(context: Context, question: Question) -> Reply:
    """Answer the hits of a search: count, bins, previous and next."""
    kept = context.kept_timeline
    text = (question.text("text", _TEXT) or "").strip()
    regex = question.flag("regex")
    at = question.number("at")
    last = kept.searched
    if last is None or (last.text, last.regex) != (text, regex):
        hits = matching(context.run.graph, kept.timeline, text, regex=regex, watch=context.watch)
        kept.searched = last = Searched(text, regex, hits)
    context.watch()
    begin, step, bins = _find_bins(question, kept)
    lod = kept.lod
    marks = lod.holding(last.hits.numbers, begin, step, bins)
    current = question.integer("slice", -1, kept.count) if question.has("slice") else -1
    previous, next_ = lod.beside(last.hits.numbers, at, current)
    result = {
        "count": len(last.hits.numbers),
        "selfNs": last.hits.self_ns,
        "previous": _slice_json(kept, previous),
        "next": _slice_json(kept, next_),
        "bins": bins,
    }
    headers, buffer = pack({"hits": marks.ravel()}, "find")
    return Reply({**result, "columns": headers}, (buffer,))


def slice_(context: Context, question: Question) -> Reply:
    """Answer the details of a slice by timeline index; null if it is not drawn."""
    kept = context.kept_timeline
    source = question.integer("source", 0, max(0, kept.timeline.num_slices - 1))
    numbers = np.flatnonzero(kept.timeline.rows.order == source)
    return Reply(_slice_json(kept, int(numbers[0])) if len(numbers) else None)


def _range(question: Question) -> tuple[float, float]:
    begin, end = question.number("from"), question.number("to")
    if end < begin:
        raise ValueError(f"to must be at least from, found {end:g} < {begin:g}")
    return begin, end


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _find_bins(question: Question, kept: KeptTimeline) -> tuple[float, float, int]:
    """Return begin, step and number of the bins that mark hits."""
    if not question.has("bins"):
        return kept.ready.first, kept.ready.step, kept.num_bins
    most = max(1, min(_FIND_BINS, _HIT_CELLS // max(1, len(kept.timeline.rows.track))))
    bins = question.integer("bins", 1, most)
    begin, end = _range(question)
    return begin, (end - begin) / bins or 1.0, bins


def _named(kept: KeptTimeline, columns: dict[str, Any], by: str) -> dict[str, Any]:
    """Add the names in a column that the page may not have yet."""
    if kept.names.first == kept.names.count:
        return columns
    numbers, place = np.unique(columns[by], return_inverse=True)
    idle = int(np.searchsorted(numbers, 0))
    place = np.maximum(place - idle, -1).astype(columns[by].dtype)
    return {**columns, by: place, **kept.names.columns(numbers[idle:].tolist())}


def _local(parent: npt.NDArray[np.int32], source: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the rows of the slices' parents among the given slices, -1 for none."""
    by_source = np.argsort(source, kind="stable")
    ordered = source[by_source]
    at = np.minimum(np.searchsorted(ordered, parent), max(0, len(source) - 1))
    rows = by_source[at] if len(source) else at
    here = (parent >= 0) & (ordered[at] == parent) if len(source) else np.zeros(0, np.bool_)
    return np.where(here, rows, -1).astype(np.int32)


def _slice_json(kept: KeptTimeline, number: int) -> dict[str, Any] | None:
    """Return the details of a slice by number; None for negative numbers."""
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
