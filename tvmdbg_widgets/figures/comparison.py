"""Two graphs beside each other, and a table of what differs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tvmdbg_widgets.analysis.compare_times.as_column import NAME as CHANGE
from tvmdbg_widgets.analysis.compare_times.as_column import SPEED
from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.figures.choices import one_of, usable_width
from tvmdbg_widgets.figures.graph import GraphOptions, graph_panel
from tvmdbg_widgets.figures.graph_view import GraphPanels
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.figures.theme import Theme, theme_of
from tvmdbg_widgets.model.node_columns import NodeColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare import Comparison, Group
    from tvmdbg_widgets.analysis.matching import Matching
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.graph_boxes import Direction
    from tvmdbg_widgets.run import DebugRun

_ROWS, _TIMES = 24, 5
_ROW = 17.0
#: Bytes of each graph, of a figure that is asked for and of one in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 180 * 1024, 18 * 1024
_MARKED, _MOST_BOXES = 2_000, 120


def comparison_figure(
    runs: tuple[DebugRun, DebugRun],
    comparison: Comparison,
    *,
    color_by: str | None = None,
    fold_parameters: bool = True,
    direction: str = "down",
    kind: str | None = None,
    selected: tuple[Sequence[int], Sequence[int]] = ((), ()),
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
) -> Figure:
    """Draw the graphs of two runs with what has no counterpart marked, and list what differs.

    Both have their groups open to the same depth and boxes of the same size, so that what matches
    is arranged alike. Large graphs are condensed; a figure that is too narrow for two has the
    table alone.

    Parameters
    ----------
    runs : tuple of DebugRun
        Those that were compared.
    comparison : Comparison
    color_by : str or None
        ``"speed"``, how many times slower or faster a node is in `b`, ``"time change"``, the same
        in nanoseconds, ``"match"``, match quality, or as of a figure of one graph. None for the
        speed where both runs have times, else the match quality.
    fold_parameters : bool
        Draw parameters as a count on what reads them.
    direction : str
        ``"down"`` or ``"right"``.
    kind : str or None
        The only kind of difference that is listed.
    selected : tuple of sequence of int
        Nodes of `a` and of `b` that are marked, too.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.
    saved : bool
        Take no more than a saved notebook has room for.

    Raises
    ------
    ValueError
        A value that is none of these.
    """
    if kind is not None:
        one_of("kind", kind, tuple(each.label for each in DifferenceKind))
    wide, look = usable_width(width), theme_of(theme)
    matching = comparison.matching
    panel = Panel(wide, f"Comparison, {comparison.title}", comparison.sentence, look)
    y = panel.heading("Comparison", comparison.title)
    y = panel.paragraph(comparison.sentence, y, lines=4, fill=look.text)
    said = matching.sentence
    if wide >= NARROW and len(matching.only_a) + len(matching.only_b):
        said += "; unmatched nodes are outlined"
    y = panel.paragraph(said, y, lines=2, fill=look.muted) + 4
    graphs: list[Panel] = []
    if wide >= NARROW:
        options = [
            GraphOptions(
                _coloring(comparison, side, color_by),
                fold_parameters=fold_parameters,
                direction=cast("Direction", direction),
                selected=(*only.tolist()[:_MARKED], *selected[side]),
            )
            for side, only in enumerate((matching.only_a, matching.only_b))
        ]
        most = _MOST_SAVED_BYTES if saved else _MOST_BYTES
        graphs = _alike(runs, options, (wide / 2, look), most) or [
            graph_panel(run, wide / 2, look, each, most)
            for run, each in zip(runs, options, strict=True)
        ]
        y = _beside(panel, graphs, y)
    groups = [each for each in comparison.groups if kind is None or each.kind.label == kind]
    panel.height = _table(panel, comparison, groups, y, look) + MARGIN
    panel.text = repr(comparison)
    panel.description = _description(comparison, groups, graphs)
    return panel.figure()


def _coloring(comparison: Comparison, side: int, color_by: str | None) -> str | NodeColumn:
    """Return what a graph is coloured by; both have the same range of differences."""
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
    sizes = [np.abs(each.rows[~np.isnan(each.rows)]) for each in columns]
    most = float(np.concatenate(sizes).max(initial=0))
    return replace(columns[side], range=(-most, most)) if most > 0 else columns[side]


def certainty_column(matching: Matching, side: int) -> NodeColumn:
    """Return how surely each node of a graph is matched, 0 for that of `a`, as classes."""
    graph = (matching.graph_a, matching.graph_b)[side]
    codes = np.full(graph.num_nodes, -1, np.int32)
    np.maximum.at(codes, matching.pairs[:, side], matching.certainty.astype(np.int32))
    # The colour of this place is the farthest from those of what is matched, in both themes.
    alone = Certainty.LIKELY + 1
    codes[codes >= alone] += 1
    codes[codes < 0] = alone
    classes = [each.label for each in Certainty]
    classes.insert(alone, "unmatched")
    return NodeColumn(
        "match", "nodes", codes=codes, classes=tuple(classes), ordered=True, hatched=alone
    )


def _alike(
    runs: tuple[DebugRun, DebugRun],
    options: list[GraphOptions],
    look: tuple[float, Theme],
    most_bytes: int,
) -> list[Panel]:
    """Return both graphs with as many depths of groups open as both have room for; or none."""
    if any(run.graph is None or not run.graph.num_nodes for run in runs):
        return []
    depths = [[group.depth for group in run.groups] for run in runs]
    for opened in range(max(map(max, filter(None, depths)), default=-1) + 1, -1, -1):
        views = [
            GraphPanels(
                run,
                run.graph,
                replace(each, open_groups=tuple(i for i, at in enumerate(depth) if at < opened)),
                *look,
            )
            for run, each, depth in zip(runs, options, depths, strict=True)
            if run.graph is not None
        ]
        for details in (("full", "low"), ("low",)):
            found = []
            for view in views:
                view.details = details
                found.append(view.whole(_MOST_BOXES, most_bytes, exact=True))
            if None not in found and views[0].drawn_as == views[1].drawn_as:
                return [each for each in found if each is not None]
    return []


def _beside(panel: Panel, graphs: list[Panel], y: float) -> float:
    for at, graph in enumerate(graphs):
        x = at * panel.width / 2
        panel.marks.add(
            f'<g transform="translate({number(x)} {number(y)})">{graph.marks.body()}</g>'
        )
    end = y + max(graph.height for graph in graphs)
    middle, across = f"M{number(panel.width / 2)} {number(y)}V{number(end)}", number(panel.width)
    panel.marks.path(f"{middle}M0 {number(end)}H{across}", stroke=panel.theme.line)
    return end + 4


def _table(
    panel: Panel, comparison: Comparison, groups: list[Group], y: float, look: Theme
) -> float:
    """Write what differs, at which nodes, and how."""
    marks, end = panel.marks, panel.width - MARGIN
    if not groups:
        return panel.paragraph("Nothing differs.", y, fill=look.muted)
    room = end - MARGIN
    columns = (MARGIN, MARGIN + min(92.0, 0.2 * room), MARGIN + 0.55 * room)
    y += LINE_HEIGHT
    for x, said in zip(columns, ("difference", "nodes", "A → B"), strict=True):
        marks.text(said, x, y - 4, fill=look.muted)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=look.line)
    shown = _shown(groups)
    for group in shown:
        y += _ROW
        alone = group.kind in (DifferenceKind.ONLY_A, DifferenceKind.ONLY_B)
        kind = fit(group.kind.label, columns[1] - columns[0] - 4, SMALL)
        marks.text(kind, columns[0], y - 4, fill=look.error if alone else look.text)
        nodes = fit(comparison.nodes(group), columns[2] - columns[1] - 8, SMALL)
        marks.text(nodes, columns[1], y - 4)
        marks.text(fit(group.change, end - columns[2], SMALL), columns[2], y - 4)
    if len(shown) < len(groups):
        y = panel.paragraph(f"… and {len(groups) - len(shown):,} more", y, fill=look.muted)
    return y


def _shown(groups: list[Group]) -> list[Group]:
    """Return the first rows: of times, of which there are as many as nodes, only some."""
    timed = [each for each in groups if each.kind is DifferenceKind.TIME][:_TIMES]
    others = [each for each in groups if each.kind is not DifferenceKind.TIME]
    return [*timed, *others[: _ROWS - len(timed)]]


def _description(
    comparison: Comparison, groups: list[Group], graphs: list[Panel]
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
            for group in _shown(groups)
        ],
        "graphs": [graph.description for graph in graphs],
    }
