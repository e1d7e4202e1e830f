"""Slices merged by their path as bars of an SVG: the heaviest first, each inside what holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, Panel
from tvmdbg_widgets.figures.timeline_names import numbered, titled
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tvmdbg_widgets.analysis.timeline.merged import CallTree
    from tvmdbg_widgets.figures.slice_paint import SlicePaint
    from tvmdbg_widgets.model.graph.graph import Graph

_HIGH = 20.0
_LEAST = 0.6
_LABEL_FROM = 30
_MOST_PLACES = 400
_MOST_LEVELS = 14
_TOLD = 40


def draw_merged(
    panel: Panel,
    tree: CallTree,
    graph: Graph | None,
    y: float,
    selected: Collection[int] = (),
    *,
    paint: SlicePaint,
    kinds: Mapping[str, str],
    short: Mapping[str, str],
) -> float:
    """Draw the places from ``y`` down; return the y below them.

    ``kinds`` are the op kinds of names, and ``short`` what they read, for places of no node.
    """
    marks, theme, room = panel.marks, panel.theme, panel.width - 2 * MARGIN
    whole = _whole(tree)
    said = f"total {duration_text(whole)}, merged by path ({tree.said}), heaviest first"
    y = panel.paragraph(f"{said}, not in order of time.", y, lines=3, fill=theme.muted) + 4
    wide = tree.total_ns / whole * room if whole else np.zeros(len(tree))
    shown = np.flatnonzero((wide >= _LEAST) & (tree.depth < _MOST_LEVELS))
    if len(shown) > _MOST_PLACES:
        shown = np.sort(shown[np.argsort(-wide[shown], kind="stable")[:_MOST_PLACES]])
    for place in shown.tolist():
        x = MARGIN + float(tree.start_ns[place]) / whole * room
        top = y + int(tree.depth[place]) * (_HIGH + 1)
        node, size = int(tree.node[place]), float(wide[place])
        is_group = tree.group[place] >= 0
        name = tree.names[place]
        fill = theme.surface
        if not is_group:
            known = node >= 0 and graph is not None
            fill = paint.node(node) if known else paint.name(name, kinds.get(name, "other"))
        if node < 0 and not is_group:
            name = short.get(name, name)
        share = percent(float(tree.total_ns[place]) / whole)
        title = f"{titled(node, name)}: {duration_text(float(tree.total_ns[place]))}, {share}"
        if tree.count[place] > 1:
            title += f", {counted(int(tree.count[place]), 'slice')}"
        bar = max(_LEAST, size - (0.6 if size > 3 else 0))
        stroke = theme.line if is_group else "none"
        marks.rect(x, top, bar, _HIGH, title=title, fill=fill, stroke=stroke)
        if node >= 0 and node in selected:
            accent = theme.accent
            marks.rect(x, top, bar, _HIGH, z=3, fill="none", stroke=accent, stroke_width=2)
        if size > _LABEL_FROM:
            ink = theme.text if is_group else theme.ink_on(fill)
            marks.text(numbered(node, name, size - 6), x + 3, top + _HIGH / 2 + 4, fill=ink)
    levels = int(tree.depth[shown].max()) + 1 if len(shown) else 0
    y += levels * (_HIGH + 1)
    if len(shown) < len(tree):
        y += LINE_HEIGHT
        more = f"{counted(len(tree) - len(shown), 'more path')} too small to be drawn"
        marks.text(more, MARGIN, y - 3, fill=theme.muted)
    return y + 4


def described(tree: CallTree) -> dict[str, Any]:
    """Return the largest places as facts."""
    largest = np.argsort(-tree.total_ns, kind="stable")[:_TOLD]
    return {
        "said": tree.said,
        "total_ns": _whole(tree),
        "paths": len(tree),
        "places": [
            {
                "path": list(tree.path(i)),
                "node": int(tree.node[i]),
                "total_ns": float(tree.total_ns[i]),
                "self_ns": float(tree.self_ns[i]),
                "slices": int(tree.count[i]),
                "start_ns": float(tree.start_ns[i]),
            }
            for i in largest.tolist()
        ],
    }


def _whole(tree: CallTree) -> float:
    return float(tree.total_ns[tree.depth == 0].sum())
