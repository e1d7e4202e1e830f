"""Answers about a range of time: slices, sums, search hits, and memory in use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.analysis.memory.sentences import loss_sentences
from tvmdbg_widgets.analysis.timeline.lod import matching
from tvmdbg_widgets.analysis.timeline.merged_tree import Frames, merge
from tvmdbg_widgets.analysis.times.area import area as area_of
from tvmdbg_widgets.analysis.times.keys import BY, OF_SLICES, Key
from tvmdbg_widgets.analysis.times.sums import SummedRows, TimedSlices, slices_within
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline, Searched, lod_columns
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.engine import without_rows
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.ranges import checked_range, flat_ranges
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


#: Rows of a table at the top, and as many below them.
_ROWS = 20_000


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
    """Answer sums over the slices of a range, as ``run.area``; ``track`` or ``row``: of its own."""
    kept = context.kept_timeline
    begin, end = _range(question)
    by = question.choice("by", BY)
    own, rows = kept.timeline, kept.rows
    slices, tracks = slices_within(own, checked_range((begin, end))), range(len(own.tracks))
    if question.has("row"):
        row = question.integer("row", 0, len(rows.track) - 1)
        number = kept.numbers[slices.slices]
        slices = slices.only((number >= rows.first[row]) & (number < rows.first[row + 1]))
        tracks = range(rows.track[row], rows.track[row] + 1)
    elif question.has("track"):
        track = question.integer("track", 0, len(own.tracks) - 1)
        slices, tracks = (
            slices.only(own.slice_track[slices.slices] == track),
            range(track, track + 1),
        )
    context.watch()
    sums = area_of(context.run.parts, lambda: context.run.groups, begin, end, slices)
    context.watch()
    columns, info = without_rows("area"), None
    if by is not None:
        timed = TimedSlices(context.run.parts, by, (begin, end), slices)
        columns, info = sum_columns(context, timed, below=False)
    cut = slices.only(~slices.whole)
    columns["cutSlice"] = kept.numbers[cut.slices]
    columns["cutSelf"] = cut.self_ns
    spread = {
        "min": sums.minimum,
        "mean": sums.mean,
        "p50": sums.p50,
        "p90": sums.p90,
        "max": sums.maximum,
    }
    return Reply.of(
        "area",
        columns,
        {
            "count": sums.count,
            "instants": sums.instants,
            "sum": sums.ns,
            "whole": {"count": sums.whole, **{key: _known(ns) for key, ns in spread.items()}},
            "tracks": [
                {
                    "track": number,
                    "busy": sums.tracks[number].busy_ns,
                    "gaps": sums.tracks[number].gaps,
                    "idle": sums.tracks[number].idle_ns,
                    "longestGap": sums.tracks[number].longest_gap_ns,
                }
                for number in (() if own.synthetic else tracks)
            ],
            "by": info,
        },
    )


def sums(context: Context, question: Question) -> Reply:
    """Answer a table of times, of all time or of a range, as ``run.times``; rows hold rows."""
    context.kept_timeline  # noqa: B018 (refuses a run without times)
    by = question.choice("by", BY)
    if by is None:
        raise ValueError(f"by must be one of {', '.join(BY)}")
    within = _range(question) if question.has("from") else None
    most = question.integer("most", 1, _ROWS) if question.has("most") else _ROWS
    context.watch()
    # Callers of a node are paths of the answer `paths`.
    timed = TimedSlices(context.run.parts, "node" if by == "callers" else by, within)
    return Reply.of("sums", *sum_columns(context, timed, most))


def sum_columns(
    context: Context, timed: TimedSlices, most: int = _ROWS, *, below: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return columns of rows, those below others behind them, and what is said of the table."""
    kept, groups = context.kept_timeline, lambda: context.run.groups
    context.watch()
    top = timed.rows(groups)
    held = top.keys[: min(top.num_work, most)]
    place: dict[Key, int] = {key: row for row, key in enumerate(held)}
    columns = [_row_columns(kept, top, np.arange(min(len(top), most)), None)]
    count = len(columns[0]["ns"])
    for rows, holders in timed.rows_below(top, groups) if below else ():
        context.watch()
        around = np.array([place.get(holder, -1) for holder in holders], np.int32)
        shown = np.flatnonzero(around >= 0)[: max(0, 2 * most - count)]
        place |= {rows.keys[row]: count + at for at, row in enumerate(shown.tolist())}
        columns.append(_row_columns(kept, rows, shown, around))
        count += len(shown)
    sizes = np.concatenate([part.pop("sizes") for part in columns])
    texts = {
        name: StringColumn.from_strings(text for part in columns for text in part.pop(name))
        for name in ("label", "kind")
    }
    joined = {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}
    joined["nodeStart"] = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    info = {
        "total": timed.total,
        "idle": timed.idle,
        "alone": timed.alone,
        "overlap": top.overlap,
        "rows": len(top),
    }
    return {**joined, **texts}, info


Ints = npt.NDArray[np.int64]


def _row_columns(
    kept: KeptTimeline, rows: SummedRows, shown: Ints, around: npt.NDArray[np.int32] | None
) -> dict[str, Any]:
    """Return the columns of some rows; ``around`` are the rows that hold them."""
    timed, own = rows.of, kept.timeline
    item = rows.member()[shown]
    source = timed.slices[item]
    is_node = source < 0
    key = np.where(is_node, 0, kept.operators(np.where(is_node, 0, source)))
    key[is_node] = timed.work.node[item[is_node]]
    is_single = rows.by == "node" or ((shown >= rows.num_work) & (rows.by not in OF_SLICES))
    key = np.where(is_single, key, -1)
    short = own.slice_labels if rows.by in ("node", "name") else {}
    labels = [rows.labels[row] for row in shown.tolist()]
    kinds = rows.kinds()
    number = np.full(len(rows), len(kept.numbers), np.int64)
    has = timed.slices[rows.items] >= 0
    np.minimum.at(number, rows.codes[has], kept.numbers[timed.slices[rows.items[has]]])
    number[number == len(kept.numbers)] = -1
    sizes = np.diff(rows.node_offsets)[shown]
    return {
        "around": np.full(len(shown), -1, np.int32) if around is None else around[shown],
        "key": key.astype(np.int32),
        "label": [short.get(label, label) or "no name" for label in labels],
        "kind": [kinds[row] for row in shown.tolist()],
        "work": shown < rows.num_work,
        "ns": rows.ns[shown],
        "count": rows.slices[shown].astype(np.int32),
        "slice": number[shown].astype(np.int32),
        "mean": rows.spread.mean[shown],
        "p50": rows.spread.p50[shown],
        "p90": rows.spread.p90[shown],
        "low": rows.sure.low[shown],
        "high": rows.sure.high[shown],
        "noisy": rows.sure.noisy[shown],
        "repeats": rows.sure.repeats[shown].astype(np.int32),
        "sizes": sizes,
        "nodes": rows.node_ids[flat_ranges(rows.node_offsets[:-1][shown], sizes)].astype(np.int32),
    }


def paths(context: Context, question: Question) -> Reply:
    """Answer the slices merged by their path from the top, as the views number operators."""
    kept = context.kept_timeline
    own = kept.timeline
    within = checked_range(_range(question)) if question.has("from") else None
    slices = slices_within(own, within)
    context.watch()
    place = np.full(own.num_slices + 1, -1, np.int64)
    place[slices.slices] = np.arange(len(slices.slices))
    parent = place[own.rows.parent[slices.slices]]
    each = np.ones(len(parent), np.int64)
    frames = Frames(parent, kept.operators(slices.slices), slices.self_ns, each)
    places = merge(frames, kept.num_operators)
    columns = {
        "parent": places.parent.astype(np.int32),
        "key": places.key.astype(np.int32),
        "self": places.self_ns,
        "count": places.count.astype(np.int32),
    }
    return Reply.of("paths", columns)


def find(context: Context, question: Question) -> Reply:
    """Answer the hits of a search: count, time, previous and next."""
    kept = context.kept_timeline
    text = (question.text("text", _TEXT) or "").strip()
    regex = question.flag("regex")
    at = question.number("at")
    last = kept.searched
    if last is None or (last.text, last.regex) != (text, regex):
        hits = matching(context.run.graph, kept.timeline, text, regex=regex, watch=context.watch)
        kept.searched = last = Searched(text, regex, hits)
    context.watch()
    current = question.integer("slice", -1, kept.count) if question.has("slice") else -1
    previous, next_ = kept.lod.beside(last.hits.numbers, at, current)
    return Reply(
        {
            "count": len(last.hits.numbers),
            "selfNs": last.hits.self_ns,
            "previous": _slice_json(kept, previous),
            "next": _slice_json(kept, next_),
        }
    )


def _range(question: Question) -> tuple[float, float]:
    begin, end = question.number("from"), question.number("to")
    if end < begin:
        raise ValueError(f"to must be at least from, found {end:g} < {begin:g}")
    return begin, end


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


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
    """Return a slice by number with its name and times; None for negative numbers."""
    if number < 0:
        return None
    own = kept.timeline
    source = int(own.rows.order[number])
    return {
        "slice": number,
        "name": own.slice_names[source],
        "start": float(own.slice_start_ns[source]),
        "duration": float(own.slice_duration_ns[source]),
    }
