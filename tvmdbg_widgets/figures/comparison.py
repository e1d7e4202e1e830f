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
from tvmdbg_widgets.figures.graph.condensed.beside import arrange_beside, compact_sizes
from tvmdbg_widgets.figures.graph.figure import GraphOptions, graph_panel
from tvmdbg_widgets.figures.graph.view import GraphPanels
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.theme import Theme, theme_of
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.model.graph.node_words import node_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare import Comparison, Group
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.matching import Matching
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.graph.boxes import Direction
    from tvmdbg_widgets.figures.graph.scene import Scene

_ROWS, _TIMES = 24, 5
_ROW = 17.0
#: Bytes of each graph, of a figure that is asked for and of one in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 180 * 1024, 18 * 1024
_MARKED, _MOST_BOXES = 2_000, 240
_TALL = 2_400.0


def comparison_figure(
    runs: tuple[Derived, Derived],
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
    """Say what differs between two runs, draw their graphs beside each other, and list it.

    As in the live view groups are closed, and boxes that match stand at the same height. Large
    graphs are condensed; a figure that is too narrow for two has the table alone.

    Parameters
    ----------
    runs : tuple of Derived
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
    grouped : bool
        Draw groups at all.
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
    y = panel.heading("Comparison")
    y = panel.paragraph(comparison.sentence, y, lines=4, fill=look.text, font_weight=600)
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
                open_groups=(),
                grouped=grouped,
            )
            for side, only in enumerate((matching.only_a, matching.only_b))
        ]
        most = _MOST_SAVED_BYTES if saved else _MOST_BYTES
        graphs = _level(runs, comparison, options, (wide / 2, look), most) or [
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
    """Return what a graph is colored by; both have the same range of differences."""
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
    # The color of this place is the farthest from those of what is matched, in both themes.
    alone = Certainty.LIKELY + 1
    codes[codes >= alone] += 1
    codes[codes < 0] = alone
    classes = [each.label for each in Certainty]
    classes.insert(alone, "unmatched")
    return NodeColumn(
        "match", "nodes", codes=codes, classes=tuple(classes), ordered=True, hatched=alone
    )


def _level(
    runs: tuple[Derived, Derived],
    comparison: Comparison,
    options: list[GraphOptions],
    look: tuple[float, Theme],
    most_bytes: int,
) -> list[Panel]:
    """Return both graphs with what matches at the same height; none where they do not fit so."""
    if options[0].direction != "down":
        return []
    views = [
        GraphPanels(run, run.graph, each, *look)
        for run, each in zip(runs, options, strict=True)
        if run.graph is not None and run.graph.num_nodes
    ]
    if len(views) < len(runs):
        return []
    scenes = [view.closed() for view in views]
    if sum(len(scene.nodes) for scene in scenes) > _MOST_BOXES:
        return []
    sizes = [
        compact_sizes(scene, view.labels, view.words)
        for view, scene in zip(views, scenes, strict=True)
    ]
    pairs = _pairs(comparison.matching, *scenes)
    placed = arrange_beside(scenes, sizes, pairs, (look[0] - 2 * MARGIN, _TALL))
    if placed is None:
        return []
    begun = []
    for letter, title, view, scene in zip("AB", comparison.titles, views, scenes, strict=True):
        view.title = f"{letter}  {title}"
        begun.append(view.begin(scene, counts_parameters=False))
    top = max(y for _, y in begun)
    drawn = [panel for panel, _ in begun]
    for view, panel, scene, each in zip(views, drawn, scenes, placed, strict=True):
        view.draw(panel, top, scene, each, titled=False)
    return drawn if all(len(panel.svg.encode()) <= most_bytes for panel in drawn) else []


def _pairs(matching: Matching, a: Scene, b: Scene) -> list[tuple[int, int]]:
    """Return boxes of two scenes of which the first nodes match."""
    partner: dict[int, int] = {}
    for one, other in matching.pairs.tolist():
        partner[one] = max(other, partner.get(one, other))
    box_of: dict[int, int] = {}
    for held in (b.folded, b.members):
        box_of |= {node: box for box, nodes in enumerate(held) for node in nodes}
    matches = ((box, box_of.get(partner.get(node, -1))) for box, node in enumerate(a.nodes))
    return [(box, other) for box, other in matches if other is not None]


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
    columns = [MARGIN + share * room for share in (0, 0.1, 0.38, 0.66)]
    y += LINE_HEIGHT
    for x, said in zip(columns, ("difference", "A", "B", "A → B"), strict=True):
        marks.text(said, x, y - 4, fill=look.muted)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=look.line)
    shown = _shown(groups)
    for group in shown:
        y += _ROW
        alone = group.kind in (DifferenceKind.ONLY_A, DifferenceKind.ONLY_B)
        kind = fit(group.kind.label, columns[1] - columns[0] - 4, SMALL)
        marks.text(kind, columns[0], y - 4, fill=look.error if alone else look.text)
        for at, node in enumerate(_nodes(comparison, group), 1):
            marks.text(_named(node, columns[at + 1] - columns[at] - 8), columns[at], y - 4)
        marks.text(fit(group.change, end - columns[3], SMALL), columns[3], y - 4)
    if len(shown) < len(groups):
        y = panel.paragraph(f"… and {len(groups) - len(shown):,} more", y, fill=look.muted)
    return y


def _nodes(comparison: Comparison, group: Group) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return what the first nodes are called in A and B, and what follows the name, as it must."""
    first, more = group.members[0], len(group.members) - 1
    matching = comparison.matching
    sides = ((matching.graph_a, first.a), (matching.graph_b, first.b))
    a, b = (
        ("–", "") if node < 0 else (node_label(graph, node), f" #{node}") for graph, node in sides
    )
    return a, (b[0], f"{b[1]} +{more:,}" if more else b[1])


def _named(node: tuple[str, str], room: float) -> str:
    """Return a name with what follows it; only the name is cut."""
    name, rest = node
    return fit(name, room - width(rest, SMALL), SMALL) + rest


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
