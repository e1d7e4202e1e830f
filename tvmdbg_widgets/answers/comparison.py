"""Answer to the question of a comparison: matched nodes, and groups of differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.compare import Comparison
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, shape_text
from tvmdbg_widgets.model.graph.node_columns import NodeColumn


def comparison_answer(comparison: Comparison, message: object) -> Reply:
    """Answer all matched pairs and all differences as columns."""
    question = Question(message)
    if question.kind != "comparison":
        raise ValueError(f"unknown question {question.kind!r}; known is comparison")
    matching, groups = comparison.matching, comparison.groups
    members = [member for group in groups for member in group.members]
    columns: dict[str, Any] = {
        "pairA": np.ascontiguousarray(matching.pairs[:, 0]),
        "pairB": np.ascontiguousarray(matching.pairs[:, 1]),
        "certainty": matching.certainty,
        "reason": matching.reason,
        "groupKind": np.array([group.kind for group in groups], np.uint8),
        "groupStart": np.cumsum([0, *(len(group.members) for group in groups)]).astype(np.int32),
        "groupChange": StringColumn.from_strings(group.change for group in groups),
        "memberA": np.array([member.a for member in members], np.int32),
        "memberB": np.array([member.b for member in members], np.int32),
    }
    speeds, changes = _time_columns(comparison)
    for side, graph in zip("AB", (matching.graph_a, matching.graph_b), strict=True):
        columns[f"label{side}"] = node_labels(graph)
        columns[f"shape{side}"] = _shapes(graph)
    for side, column in zip("AB", speeds, strict=False):
        columns[f"speed{side}"] = column.rows
        for name, terms in zip(("before", "after"), column.terms or (), strict=False):
            columns[f"{name}{side}"] = terms
    columns |= {f"change{side}": column.rows for side, column in zip("AB", changes, strict=False)}
    headers, buffer = pack(columns, "comparison")
    info = {
        "titles": list(comparison.titles),
        "sentence": comparison.sentence,
        "matched": "; ".join(filter(None, (_without_speed(comparison), matching.sentence))),
        "kinds": [kind.label for kind in DifferenceKind],
        "certainties": [certainty.label for certainty in Certainty],
        "reasons": [reason.label for reason in Reason],
        "speedRange": None if not speeds else speeds[0].range,
        "speedNotes": [column.note for column in speeds],
        "changeNotes": [column.note for column in changes],
    }
    return Reply({"columns": headers, "info": info}, (buffer,))


def has_speeds(comparison: Comparison) -> bool:
    """Return whether the speed of any node is known."""
    times = comparison.times
    return times is not None and bool(
        np.isfinite(times.speed_of(comparison.matching.graph_a).rows).any()
    )


def _without_speed(comparison: Comparison) -> str:
    if comparison.times is None or has_speeds(comparison):
        return ""
    return "no node can be compared by its time"


def _time_columns(comparison: Comparison) -> tuple[list[NodeColumn], list[NodeColumn]]:
    """Return ratios and differences of times for both graphs; empty without times."""
    times = comparison.times
    if times is None:
        return [], []
    graphs = comparison.matching.graph_a, comparison.matching.graph_b
    return [times.speed_of(graph) for graph in graphs], [times.column_of(graph) for graph in graphs]


def _shapes(graph: Graph) -> StringColumn:
    counts = np.diff(graph.entry_offsets).tolist()
    shapes = (graph.shape(node) if count else None for node, count in enumerate(counts))
    return StringColumn.from_strings("" if shape is None else shape_text(shape) for shape in shapes)
