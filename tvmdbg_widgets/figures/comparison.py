"""Two graphs beside each other, and a table of what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tvmdbg_widgets.analysis.differences import DifferenceKind
from tvmdbg_widgets.figures.choices import one_of, usable_width
from tvmdbg_widgets.figures.graph import GraphOptions, graph_panel
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.figures.theme import Theme, theme_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare import Comparison, Group
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.graph_boxes import Direction
    from tvmdbg_widgets.run import DebugRun

_ROWS, _TIMES = 24, 5
_ROW = 17.0
#: Bytes of each graph, of a figure that is asked for and of one in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 180 * 1024, 18 * 1024
_MARKED = 2_000


def comparison_figure(
    runs: tuple[DebugRun, DebugRun],
    comparison: Comparison,
    *,
    color_by: str = "kind",
    fold_parameters: bool = True,
    direction: str = "down",
    kind: str | None = None,
    selected: tuple[Sequence[int], Sequence[int]] = ((), ()),
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
) -> Figure:
    """Draw the graphs of two runs with what has no counterpart marked, and list what differs.

    Large graphs are condensed to groups; a figure that is too narrow for two has the table alone.

    Parameters
    ----------
    runs : tuple of DebugRun
        Those that were compared.
    comparison : Comparison
    color_by : str
        ``"kind"``, ``"time"`` or ``"health"``.
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
    panel = Panel(wide, f"Comparison, {comparison.title}", matching.sentence, look)
    y = panel.heading("Comparison", comparison.title)
    said = matching.sentence
    if wide >= NARROW and len(matching.only_a) + len(matching.only_b):
        said += "; those are outlined"
    y = panel.paragraph(said, y, fill=look.text) + 4
    graphs = []
    if wide >= NARROW:
        alone = matching.only_a.tolist(), matching.only_b.tolist()
        for run, only, marked in zip(runs, alone, selected, strict=True):
            options = GraphOptions(
                color_by,
                fold_parameters=fold_parameters,
                direction=cast("Direction", direction),
                selected=(*only[:_MARKED], *marked),
            )
            most = _MOST_SAVED_BYTES if saved else _MOST_BYTES
            graphs.append(graph_panel(run, wide / 2, look, options, most))
        y = _beside(panel, graphs, y)
    groups = [each for each in comparison.groups if kind is None or each.kind.label == kind]
    panel.height = _table(panel, comparison, groups, y, look) + MARGIN
    panel.text = repr(comparison)
    panel.description = _description(comparison, groups, graphs)
    return panel.figure()


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
    """Write what differs, how often, where first, and how."""
    marks, end = panel.marks, panel.width - MARGIN
    if not groups:
        return panel.paragraph("Nothing differs.", y, fill=look.muted)
    columns = (MARGIN, MARGIN + 104.0, MARGIN + 146.0, MARGIN + 270.0)
    y += LINE_HEIGHT
    for x, said in zip(columns, ("difference", "times", "nodes", "a → b"), strict=True):
        marks.text(said, x, y - 4, fill=look.muted)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=look.line)
    shown = _shown(groups)
    for group in shown:
        y += _ROW
        alone = group.kind in (DifferenceKind.ONLY_A, DifferenceKind.ONLY_B)
        marks.text(group.kind.label, columns[0], y - 4, fill=look.error if alone else look.text)
        marks.text(f"{len(group.members):,}", columns[1], y - 4, fill=look.muted)
        nodes = fit(comparison.nodes(group), columns[3] - columns[2] - 8, SMALL)
        marks.text(nodes, columns[2], y - 4)
        marks.text(fit(group.change, end - columns[3], SMALL), columns[3], y - 4)
    if len(shown) < len(groups):
        y = panel.paragraph(f"… and {len(groups) - len(shown):,} more", y, fill=look.muted)
    return y


def _shown(groups: list[Group]) -> list[Group]:
    """Return the first rows: of times, of which there are as many as nodes, only some."""
    timed = [each for each in groups if each.kind is DifferenceKind.TIME]
    others = [each for each in groups if each.kind is not DifferenceKind.TIME]
    return [*others[: _ROWS - min(_TIMES, len(timed))], *timed[:_TIMES]]


def _description(
    comparison: Comparison, groups: list[Group], graphs: list[Panel]
) -> dict[str, Any]:
    matching = comparison.matching
    return {
        "view": "comparison",
        "title": comparison.title,
        "sentence": matching.sentence,
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
