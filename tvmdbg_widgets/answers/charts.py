"""Answers with the charts of a timeline: merged slices, repeats, longest path, roofline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.timeline.longest_path import why_not
from tvmdbg_widgets.analysis.timeline.merged import merged as merged_of
from tvmdbg_widgets.analysis.timeline.repeat_matrix import (
    RepeatMatrix,
    repeat_matrix,
    why_no_repeats,
)
from tvmdbg_widgets.analysis.timeline.roofline import CONVENTION, Point, Roofline, roofline_of
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.answers.time_tables import MOST_LISTED, finite, table
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.graph.graph import Graph, node_title
from tvmdbg_widgets.model.graph.operators import label
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.node_sets import NOISY_RATIO, NOISY_REPEATS
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.integer[Any]]

#: Places of a merged tree; an answer leaves out the smallest of more.
_MOST_PLACES = 200_000
_NOT_DRAWN = 8


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
        rows = np.sort(order[: question.integer("most", 1, MOST_LISTED)])
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
        "noisy": ((known.sum(axis=1) >= NOISY_REPEATS) & (p90 > NOISY_RATIO * p10)).astype(
            np.uint8
        ),
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
    return f"not in the chart: {node_title(name[:200], point.node)}, {time}: {why}"


def _points(line: Roofline) -> list[dict[str, Any]]:
    return [
        {
            "node": point.node,
            "op_kind": point.op_kind,
            **{name: finite(getattr(point, name)) for name in ("time_ns", "flops", "bytes")},
            "bound": point.bound,
            "why": list(point.why),
        }
        for point in line[:MOST_LISTED]
    ]


CHART_ANSWERS: dict[str, Callable[[Context, Question], Reply]] = {
    "table": table,
    "merged": merged,
    "repeats": repeats,
    "critical": critical,
    "roofline": roofline,
}
