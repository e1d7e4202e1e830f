"""Answers with the tables of a timeline's figure: operators, and times by kind and others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.times.keys import has_modules, no_modules
from tvmdbg_widgets.analysis.times.operator_rows import operators as operators_of
from tvmdbg_widgets.analysis.times.operators import OperatorRow, Operators
from tvmdbg_widgets.analysis.times.sums import times as times_of
from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds, shape_text
from tvmdbg_widgets.model.graph.operators import OP_KINDS, family
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import (
    PRINTED_ONCE_AN_OUTPUT,
    TimelineWords,
    left_out,
    timeline_words,
)

BY = ("node", "kind", "part", "group", "module", "device", "name", "callers")
#: Rows of one answer.
MOST_LISTED = 1_000


def table(context: Context, question: Question) -> Reply:
    """Answer a figure's table: operators ``by`` node, or the largest rows of ``run.times``."""
    run, timeline = context.run, context.run.timeline
    if timeline is None:
        return Reply(None)
    by, most = question.choice("by", BY) or "node", question.integer("most", 1, MOST_LISTED)
    context.watch()
    if by == "node":
        return Reply(_operators(run, timeline, most, in_order=question.flag("inOrder")))
    return Reply(_times(run, by, most))


def _operators(run: RunFacts, timeline: Timeline, most: int, *, in_order: bool) -> dict[str, Any]:
    """Return the slowest operators, or the first in execution order."""
    words = timeline_words(timeline, run.graph is not None)
    every = operators_of(run.parts)
    rows = every[:most] if in_order else operators_of(run.parts, top=most)
    which = f"The first {{}} in {words.order}" if in_order else "The slowest {}"
    total = timeline.total_ns
    took = "no times known" if math.isnan(total) else f"{duration_text(total)} {words.together}"
    if words.by_name and timeline.num_slices:
        took = f"{duration_text(timeline.span_ns)} from first to last"
    slices = counted(int((timeline.slice_duration_ns > 0).sum()), "slice")
    known = min(int(timeline.account.operators.sum()), len(every)) or len(every)
    said = f"{which.format(counted(len(rows), words.row))}, of {known:,}; "
    beside = "p10 – p90 of the repeats" if words.repeats else ""
    if words.by_name:
        beside = "total time" if words.time == "self time" else ""
    largest = max((row.time_ns for row in rows if row.time_ns > 0), default=0.0) or 1.0
    return {
        "detail": f"{slices}, {took}",
        "caption": rows.caption,
        "said": said + _basis(rows, run.graph, words),
        "heads": ["slices" if words.by_name else "#", words.row, words.time, "share", beside],
        "rows": [_row(row, run.graph, words, largest) for row in rows],
        "below": [],
        "facts": {"total_ns": finite(total), "total_text": duration_text(total)},
    }


def _basis(rows: Operators, graph: Graph | None, words: TimelineWords) -> str:
    """Return what shares are of, and how times were joined to nodes."""
    text = f"shares are {words.shares}"
    if graph is None:
        return f"{text}."
    trusts = {row.trust for row in rows} - {Trust.EXACT, Trust.ABSENT}
    text += "".join(f"; times matched {trust.label}" for trust in sorted(trusts))
    outputs = np.diff(graph.entry_offsets)
    several = words.repeats and any(row.node >= 0 and outputs[row.node] > 1 for row in rows)
    return f"{text}. {PRINTED_ONCE_AN_OUTPUT}" if several else f"{text}."


def _row(
    row: OperatorRow, graph: Graph | None, words: TimelineWords, largest: float
) -> dict[str, Any]:
    shapes: Sequence[tuple[int, ...] | None] = ()
    if graph is not None and row.node >= 0:
        shapes = graph.nodes[row.node].shapes
    more = row.spread_text.replace("…", "–") or "–"
    known = not math.isnan(row.share)
    return {
        "lead": f"{row.slices:,}" if words.by_name else f"#{row.node}" if row.node >= 0 else "–",
        "node": row.node,
        "label": row.name,
        "kind": row.op_kind,
        "aside": ", ".join("?" if shape is None else shape_text(shape) for shape in shapes),
        "time": row.time_text,
        "share": row.share_text,
        "bar": max(0.0, float(np.nan_to_num(row.time_ns))) / largest if known else 0.0,
        "more": row.text(row.within_ns) if words.by_name else more + " noisy" * row.noisy,
        "facts": {
            "node": row.node,
            "name": row.name,
            "kind": row.op_kind,
            "time_ns": finite(row.time_ns),
            "time_text": row.text(row.time_ns),
            "share": finite(row.share),
            "repeats": row.repeats,
            "p10_ns": finite(row.p10_ns),
            "p90_ns": finite(row.p90_ns),
            "noisy": row.noisy,
            "trust": row.trust.label,
            "slices": row.slices,
            "within_ns": finite(row.within_ns),
        },
    }


def _times(run: RunFacts, by: str, most: int) -> dict[str, Any]:
    """Return times by kind, group, …; or why there are none."""
    empty = {"detail": "", "caption": "", "heads": [], "rows": [], "below": [], "facts": {}}
    if why := why_no_times(run.graph, by):
        return empty | {"said": why}
    times = times_of(run.parts, lambda: run.groups, by)
    rows = times[:most]
    said = f"Time by {times.head}"
    if len(rows) < len(times):
        said += f": the largest {counted(len(rows), 'row')} of {len(times):,}"
    said += f"; shares are of {duration_text(times.total_ns)} {times.of}"
    sure = bool(np.isfinite(times.low).any())
    largest = float(times.ns[0]) if len(times) and times.ns[0] > 0 else 1.0
    more = [f"{len(times) - len(rows):,} more"] if len(rows) < len(times) else []
    return empty | {
        "said": f"{said}; {left_out(times.idle)}." if times.idle else f"{said}.",
        "heads": ["slices", times.head, "time", "share", "mean, 95 % CI" if sure else ""],
        "rows": [_summed(row, times, run.graph, largest) for row in rows],
        "below": more + list(times.notes[: 1 if times.overlap else 0]),
        "facts": {
            "by": by,
            "total_ns": finite(times.total_ns),
            "overlap": times.overlap,
            "notes": list(times.notes),
        },
    }


def why_no_times(graph: Graph | None, by: str) -> str:
    """Return why there is no table of times; empty where there is."""
    if by == "group" and graph is None:
        return "Groups come from the graph, and this run has none."
    if by == "module" and not has_modules(graph):
        return f"Modules are not known: {no_modules(graph)}"
    return ""


def _summed(row: TimeRow, table: TimeTable, graph: Graph | None, largest: float) -> dict[str, Any]:
    alone = isinstance(row.key, int) and graph is not None and row.nodes == (row.key,)
    interval = ""
    if math.isfinite(row.low):
        interval = f"{row.text(row.low)} … {row.text(row.high)}" + " noisy" * row.noisy
    return {
        "lead": f"{row.slices:,}",
        "node": row.key if alone else -1,
        "label": row.label,
        "kind": _kind_of(row, table, graph),
        "aside": "",
        "time": row.text(row.ns),
        "share": row.share_text,
        "bar": 0.0 if math.isnan(row.share) else max(0.0, row.ns / largest),
        "more": interval,
        "facts": {
            "key": row.key if isinstance(row.key, (int, str)) else list(row.key),
            "label": row.label,
            "nodes": list(row.nodes),
            "slices": row.slices,
            "ns": row.ns,
            "share": finite(row.share),
            "low_ns": finite(row.low),
            "high_ns": finite(row.high),
            "noisy": row.noisy,
        },
    }


def _kind_of(row: TimeRow, table: TimeTable, graph: Graph | None) -> str:
    """Return the op kind that colors a row; ``"other"`` if it has several."""
    if table.by == "kind":
        return row.label if row.label in OP_KINDS else "other"
    if table.by == "part":
        return family(row.label)
    if graph is None or not row.nodes or table.by in ("group", "device"):
        return "other"
    of_nodes = node_op_kinds(graph)
    kinds = {of_nodes[node] for node in row.nodes}
    return kinds.pop() if len(kinds) == 1 else "other"


def finite(value: float) -> float | None:
    """Return a number as JSON has it; None for infinities and NaN."""
    return value if math.isfinite(value) else None
