"""Answers about a whole run's times: operators, merged slices, repeats, longest path, roofline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.timeline.longest_path import why_not
from tvmdbg_widgets.analysis.timeline.merged import merged as merged_of
from tvmdbg_widgets.analysis.timeline.repeat_matrix import (
    RepeatMatrix,
    repeat_matrix,
    why_no_repeats,
)
from tvmdbg_widgets.analysis.timeline.roofline import CONVENTION, Point, Roofline, roofline_of
from tvmdbg_widgets.analysis.times.keys import has_modules, no_modules
from tvmdbg_widgets.analysis.times.operator_rows import operators as operators_of
from tvmdbg_widgets.analysis.times.operators import OperatorRow, Operators
from tvmdbg_widgets.analysis.times.sums import times as times_of
from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds, shape_text
from tvmdbg_widgets.model.graph.operators import OP_KINDS, family, label
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import (
    PRINTED_ONCE_AN_OUTPUT,
    TimelineWords,
    left_out,
    timeline_words,
)

Ints = npt.NDArray[np.integer[Any]]

BY = ("node", "kind", "part", "group", "module", "device", "name", "callers")
_MOST_LISTED = 1_000
#: Places of a merged tree; an answer leaves out the smallest of more.
_MOST_PLACES = 200_000
_NOT_DRAWN = 8
#: As in ``model/timeline/statistics.py``.
_NOISY, _NOISY_FROM = 1.2, 5


def table(context: Context, question: Question) -> Reply:
    """Answer a figure's table: operators ``by`` node, or the largest rows of ``run.times``."""
    run, timeline = context.run, context.run.timeline
    if timeline is None:
        return Reply(None)
    by, most = question.choice("by", BY) or "node", question.integer("most", 1, _MOST_LISTED)
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
    said = f"{which.format(counted(len(rows), words.row))}, of {len(every):,}; "
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
        "facts": {"total_ns": _known(total), "total_text": duration_text(total)},
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
            "time_ns": _known(row.time_ns),
            "time_text": row.text(row.time_ns),
            "share": _known(row.share),
            "repeats": row.repeats,
            "p10_ns": _known(row.p10_ns),
            "p90_ns": _known(row.p90_ns),
            "noisy": row.noisy,
            "trust": row.trust.label,
            "slices": row.slices,
            "within_ns": _known(row.within_ns),
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
            "total_ns": _known(times.total_ns),
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
            "share": _known(row.share),
            "low_ns": _known(row.low),
            "high_ns": _known(row.high),
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


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def merged(context: Context, question: Question) -> Reply:
    """Answer the slices of all time or a range, merged by path; null without times."""
    run, timeline = context.run, context.run.timeline
    if timeline is None:
        return Reply(None)
    within = None
    if question.has("from"):
        within = question.number("from"), question.number("to")
    context.watch()
    tree = merged_of(run.parts, lambda: run.groups, within)
    context.watch()
    most = question.integer("most", 1, _MOST_PLACES) if question.has("most") else _MOST_PLACES
    # A place comes after the one around it and is no larger.
    kept = np.sort(np.argsort(-tree.total_ns, kind="stable")[:most])
    place = np.full(len(tree) + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    columns = {
        **_items(
            timeline, run.parts.graph, tree.node[kept], [tree.names[at] for at in kept.tolist()]
        ),
        "group": tree.group[kept].astype(np.int32),
        "parent": place[tree.parent[kept]].astype(np.int32),
        "depth": tree.depth[kept].astype(np.int32),
        "count": tree.count[kept].astype(np.int32),
        "start": tree.start_ns[kept],
        "total": tree.total_ns[kept],
        "self": tree.self_ns[kept],
    }
    whole = float(tree.total_ns[tree.depth == 0].sum())
    return Reply.of("merged", columns, {"said": tree.said, "whole": whole, "paths": len(tree)})


def _items(
    timeline: Timeline, graph: Graph | None, nodes: Ints, names: Sequence[str]
) -> dict[str, Any]:
    """Return nodes, names, labels and op kinds of rows."""
    kinds = dict(zip(timeline.slice_names.unique, name_kinds(timeline, graph), strict=True))
    short = timeline.slice_labels
    return {
        "node": nodes.astype(np.int32),
        "names": StringColumn.from_strings(names),
        "labels": StringColumn.from_strings(short.get(name, name) for name in names),
        "kinds": StringColumn.from_strings(kinds.get(name, "other") for name in names),
    }


def repeats(context: Context, question: Question) -> Reply:
    """Answer the repeats of operators, or of slices by name, in order; or why there are none.

    ``most`` is the number of the slowest rows; of slices it selects those of several.
    """
    run, timeline = context.run, context.run.timeline
    why = why_no_repeats(run.parts)
    if why or timeline is None:
        return Reply({"missing": why})
    context.watch()
    matrix = repeat_matrix(run.parts)
    folded = matrix.folded()
    rows = np.arange(len(matrix))
    if question.has("most"):
        order = np.argsort(-folded.p50, kind="stable")
        if matrix.of_slices:
            order = order[np.isfinite(matrix.ns[order]).sum(axis=1) > 1]
        rows = np.sort(order[: question.integer("most", 1, _MOST_LISTED)])
    ns = matrix.ns[rows]
    known = np.isfinite(ns)
    here = np.flip(np.maximum.accumulate(np.flip(known, 1), 1), 1)
    p10, p90 = folded.p10[rows], folded.p90[rows]
    columns = {
        **_items(
            timeline, run.graph, matrix.nodes[rows], [matrix.names[at] for at in rows.tolist()]
        ),
        "offsets": np.cumsum([0, *here.sum(axis=1)]).astype(np.int32),
        "ns": ns[here],
        "start": folded.start_ns[rows],
        "p10": p10,
        "p50": folded.p50[rows],
        "p90": p90,
        "noisy": ((known.sum(axis=1) >= _NOISY_FROM) & (p90 > _NOISY * p10)).astype(np.uint8),
        "totals": matrix.totals,
    }
    info = {
        "rows": len(matrix),
        "repeats": matrix.repeats,
        "ofSlices": matrix.of_slices,
        "warm": matrix.warm_up.cut,
        "why": matrix.warm_up.why,
        "folded": folded.total_ns,
        "said": _said(matrix),
        "foldedSaid": [folded.said, _folded_said(matrix, folded.total_ns)],
    }
    return Reply.of("repeats", columns, info)


def _said(matrix: RepeatMatrix) -> str:
    """Describe the matrix in a sentence or two."""
    if matrix.of_slices:
        return (
            "No repeats are known: each row holds the slices of one name in order of start, so a "
            "column is not one pass."
        )
    size = f"{counted(len(matrix), 'operator')} in {counted(matrix.repeats, 'repeat')}"
    why = matrix.warm_up.why
    return f"{size}, each over the median of its operator. {why[:1].upper()}{why[1:]}."


def _folded_said(matrix: RepeatMatrix, total: float) -> str:
    text = f"Sum of the medians {duration_text(total)}."
    if len(matrix.totals):
        ends = matrix.totals.min(), matrix.totals.max()
        low, high = (duration_text(float(end)) for end in ends)
        repeats = counted(len(matrix.totals), "repeat")
        text += f" All operators together took {low} to {high} in {repeats}."
    if matrix.warm_up:
        steady = duration_text(matrix.steady().folded().total_ns)
        text += (
            f" This includes the warm-up ({matrix.warm_up.why}); without it the medians add up to "
            f"{steady}."
        )
    return text


def critical(context: Context, _question: Question) -> Reply:
    """Answer the critical path and the slack of nodes, or why there is none."""
    why = why_not(context.run.parts)
    if why:
        return Reply({"missing": why})
    path = context.run.critical_path
    columns: dict[str, Any] = {"path": path.nodes, "slack": path.slack_ns}
    info = {
        "said": list(path.said),
        "length": path.length_ns,
        "total": path.total_ns,
        "sequential": path.sequential,
    }
    return Reply.of("critical", columns, info)


def roofline(context: Context, question: Question) -> Reply:
    """Answer operations and bytes of all operators, or why they are unknown.

    ``told`` asks also for sentences and facts, under the given ceilings.
    """
    run = context.run
    why = why_not(run.parts).replace("critical path", "roofline")
    if why:
        return Reply({"missing": why})
    work = run.work
    nodes = work.operators
    columns: dict[str, Any] = {
        "node": nodes.astype(np.int32),
        "flops": work.flops[nodes],
        "bytes": work.bytes[nodes],
        "exact": work.exact[nodes],
        "dtypes": StringColumn.from_strings(work.dtypes[node] for node in nodes.tolist()),
        "why": StringColumn.from_strings(
            "; ".join(work.why.get(node, ())) for node in nodes.tolist()
        ),
    }
    info: dict[str, Any] = {"convention": CONVENTION}
    if question.flag("told"):
        ceilings = (
            question.number(name) if question.has(name) else None for name in ("flops", "bytes")
        )
        line = roofline_of(run.parts, lambda: work, *ceilings)
        info |= {"said": list(line.said), "notDrawn": _not_drawn(line), "points": _points(line)}
    return Reply.of("roofline", columns, info)


def _not_drawn(line: Roofline) -> list[str]:
    left = [point for point in line if not (point.intensity > 0 and point.flops_per_s > 0)]
    left.sort(key=lambda point: -np.nan_to_num(point.time_ns))
    told = [_why_not_drawn(line, point) for point in left[:_NOT_DRAWN]]
    if len(left) > _NOT_DRAWN:
        told.append(f"… and {counted(len(left) - _NOT_DRAWN, 'operator')} more")
    return told


def _why_not_drawn(line: Roofline, point: Point) -> str:
    name = label(line.work.graph.func_names[point.node]) or point.name
    why = "; ".join(point.why) or "no arithmetic: 0 operations"
    time = duration_text(point.time_ns, line.rounding_ns)
    return f"not in the chart: {name[:200]} #{point.node}, {time}: {why}"


def _points(line: Roofline) -> list[dict[str, Any]]:
    return [
        {
            "node": point.node,
            "op_kind": point.op_kind,
            **{name: _known(getattr(point, name)) for name in ("time_ns", "flops", "bytes")},
            "bound": point.bound,
            "why": list(point.why),
        }
        for point in line[:_MOST_LISTED]
    ]


CHART_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "table": table,
    "merged": merged,
    "repeats": repeats,
    "critical": critical,
    "roofline": roofline,
}
