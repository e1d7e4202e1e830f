"""Two graphs side by side with a table of differences; times of two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from tvmdbg_widgets.analysis.compare import Comparison, DifferenceGroup
from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.compare_times.result import NAME as CHANGE
from tvmdbg_widgets.analysis.compare_times.result import SPEED
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.matching import Certainty, Matching
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.few_names import MOST_NODES, has_many
from tvmdbg_widgets.figures.graph import GraphFigureOptions, graph_options
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure, note
from tvmdbg_widgets.figures.texts import Direction, usable_width
from tvmdbg_widgets.figures.timeline import Range, timeline_figure
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.graph.graph import node_label
from tvmdbg_widgets.model.graph.node_columns import NodeColumn

#: Below this width no graphs stand beside the lists.
_NARROW = 620
_ROWS, _TIMES = 24, 5
#: Bytes of a graph in a requested figure, and in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 180 * 1024, 18 * 1024
_MARKED = 2_000


def comparison_figure(
    runs: tuple[RunFacts, RunFacts],
    comparison: Comparison,
    *,
    color_by: str | None = None,
    fold_parameters: bool = True,
    direction: str = "down",
    grouped: bool = True,
    kind: str | None = None,
    selected: tuple[Sequence[int], Sequence[int]] = ((), ()),
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
) -> Figure:
    """Draw two graphs side by side, and list their differences below.

    As in the live view groups are closed and matched boxes are level. Large graphs are condensed; a
    narrow figure has only the table.
    """
    if kind is not None:
        one_of("kind", kind, tuple(one.label for one in DifferenceKind))
    wide, matching = usable_width(width), comparison.matching
    groups = [group for group in comparison.groups if kind is None or group.kind.label == kind]
    shown = _shown(groups)
    sides: list[dict[str, Any]] = []
    many = any(map(has_many, runs))
    graphs = all(run.graph is not None and run.graph.num_nodes for run in runs)
    if wide >= _NARROW and graphs and not many:
        for side, run in enumerate(runs):
            options = GraphFigureOptions(
                _coloring(comparison, side, color_by),
                fold_parameters=fold_parameters,
                direction=cast("Direction", direction),
                selected=tuple(selected[side]),
                open_groups=(),
                grouped=grouped,
            )
            most = _MOST_SAVED_BYTES if saved else _MOST_BYTES
            alone = (matching.only_a, matching.only_b)[side].tolist()[:_MARKED]
            given = graph_options(run, options, most_bytes=most) | {"outlined": alone}
            title = f"{'AB'[side]}  {comparison.titles[side]}"
            sides.append({"title": title, "options": given})
    matched = matching.sentence
    if sides and len(matching.only_a) + len(matching.only_b):
        matched += "; unmatched nodes are outlined"
    more = f"… and {len(groups) - len(shown):,} more" if len(shown) < len(groups) else ""
    below = [more if groups else "Nothing differs."]
    if many:
        below.append(f"Graphs of more than {MOST_NODES:,} nodes are not drawn beside each other.")
    data = {
        "title": f"Comparison, {comparison.title}",
        "sentence": comparison.sentence,
        "matched": matched,
        "graphs": sides,
        "pairs": _partners(matching) if sides else [],
        "rows": [_row(comparison, group) for group in shown],
        "below": [note(text, "muted") for text in below if text],
        "text": repr(comparison),
    }
    answers = {"ab"[side]: Answers(run) for side, run in enumerate(runs)}
    description = _description(comparison, shown, runs if sides else ())
    return RunFigure(
        runs[0],
        "comparison",
        (),
        data,
        description=description,
        answer=lambda question: answers[question["run"]].answer(question),
    ).figure(width=width, theme=theme)


def _coloring(comparison: Comparison, side: int, color_by: str | None) -> str | NodeColumn:
    """Return the column that colors a graph; both graphs share the range of differences."""
    matching, times = comparison.matching, comparison.times
    by = color_by or ("match" if times is None else SPEED)
    if by == "match":
        return certainty_column(matching, side)
    if by not in (SPEED, CHANGE):
        return by
    if times is None:
        raise ValueError(f"{by!r} needs the times of both runs, and one of them has none")
    graphs = matching.graph_a, matching.graph_b
    if by == SPEED:
        return times.speed_of(graphs[side])
    columns = [times.column_of(graph) for graph in graphs]
    sizes = [np.abs(column.rows[~np.isnan(column.rows)]) for column in columns]
    most = float(np.concatenate(sizes).max(initial=0))
    return replace(columns[side], range=(-most, most)) if most > 0 else columns[side]


def certainty_column(matching: Matching, side: int) -> NodeColumn:
    """Return the certainties of matches as classes of nodes; unmatched nodes are hatched."""
    graph = (matching.graph_a, matching.graph_b)[side]
    codes = np.full(graph.num_nodes, -1, np.int32)
    np.maximum.at(codes, matching.pairs[:, side], matching.certainty.astype(np.int32))
    # In both themes this class has the color farthest from matched nodes.
    alone = Certainty.LIKELY + 1
    codes[codes >= alone] += 1
    codes[codes < 0] = alone
    classes = [certainty.label for certainty in Certainty]
    classes.insert(alone, "unmatched")
    return NodeColumn(
        "match", "nodes", codes=codes, classes=tuple(classes), ordered=True, hatched=alone
    )


def _partners(matching: Matching) -> list[tuple[int, int]]:
    """Return pairs of matched nodes; a node of A with several partners gets the last."""
    partner: dict[int, int] = {}
    for one, other in matching.pairs.tolist():
        partner[one] = max(other, partner.get(one, other))
    return [*partner.items()]


def _row(comparison: Comparison, group: DifferenceGroup) -> dict[str, Any]:
    a, b = _nodes(comparison, group)
    return {
        "kind": group.kind.label,
        "alone": group.kind in (DifferenceKind.ONLY_A, DifferenceKind.ONLY_B),
        "a": a,
        "b": b,
        "change": group.change,
    }


def _nodes(
    comparison: Comparison, group: DifferenceGroup
) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return label and suffix (``" #38 +2"``) of a group's first nodes in A and B."""
    first, more = group.members[0], len(group.members) - 1
    matching = comparison.matching
    sides = ((matching.graph_a, first.a), (matching.graph_b, first.b))
    a, b = (
        ("–", "") if node < 0 else (node_label(graph, node), f" #{node}") for graph, node in sides
    )
    return a, (b[0], f"{b[1]} +{more:,}" if more else b[1])


def _shown(groups: list[DifferenceGroup]) -> list[DifferenceGroup]:
    """Return the rows to list; at most a few of them compare times of nodes."""
    timed = [group for group in groups if group.kind is DifferenceKind.TIME][:_TIMES]
    others = [group for group in groups if group.kind is not DifferenceKind.TIME]
    return [*timed, *others[: _ROWS - len(timed)]]


def _description(
    comparison: Comparison, shown: list[DifferenceGroup], drawn: Sequence[RunFacts]
) -> dict[str, Any]:
    matching = comparison.matching
    return {
        "view": "comparison",
        "title": comparison.title,
        "sentence": comparison.sentence,
        "match_quality": matching.sentence,
        "matched": matching.counts(),
        "only_a": matching.only_a.tolist()[:_MARKED],
        "only_b": matching.only_b.tolist()[:_MARKED],
        "differences": [
            {
                "kind": group.kind.label,
                "times": len(group.members),
                "nodes": comparison.nodes(group),
                "change": group.change,
            }
            for group in shown
        ],
        "graphs": [{"title": run.title} for run in drawn],
    }


def time_comparison_figure(
    compared: TimeComparison,
    *,
    show: str = "both",
    time_range: Range | None = None,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw the slices of two runs, aligned at time zero, and the largest changes."""
    how: dict[str, Any] = {"show": show, "time_range": time_range, "selected": selected}
    look: dict[str, Any] = {"table_by": "change", "slice_color": "kind"}
    return timeline_figure(compared.run, **how, **look, width=width, theme=theme)
