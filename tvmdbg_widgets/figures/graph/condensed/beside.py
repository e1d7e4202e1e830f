"""Two graphs beside each other: compact boxes in one column each, level where they match."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph.boxes import (
    FRAME_PADDING,
    GAP,
    HEADER,
    PADDING,
    SHEETS,
    TAG,
    TEXT_START,
    VALUE,
    Arrangement,
    BoxSizes,
    capped,
    frame_headers,
    laid_out,
)
from tvmdbg_widgets.figures.graph.cuts import ends_of
from tvmdbg_widgets.figures.graph.fold import Folded, fold
from tvmdbg_widgets.figures.layout import Spacing
from tvmdbg_widgets.figures.layout.align import aligned
from tvmdbg_widgets.figures.svg import LARGE
from tvmdbg_widgets.figures.texts import width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tvmdbg_widgets.figures.graph.label import Labels
    from tvmdbg_widgets.figures.graph.nesting import GroupWords
    from tvmdbg_widgets.figures.graph.scene import Scene

_HIGH, _LEAST = 24.0, 110.0
_TIGHT = Spacing(
    node_gap=10,
    line_gap=8,
    track_gap=6,
    layer_gap=13,
    component_gap=18,
    frame_header=HEADER,
    frame_padding=FRAME_PADDING,
)


def compact_sizes(scene: Scene, labels: Labels, words: GroupWords) -> BoxSizes:
    """Return boxes with a title, and what the colors say beside it."""
    wanted = []
    for node, group in zip(scene.nodes, scene.group, strict=True):
        title = labels.title(node) if group < 0 else words.title(group)
        beside = TEXT_START + PADDING if group < 0 else TAG + 2 * PADDING + SHEETS
        wanted.append(width(title, LARGE) + GAP + VALUE + beside)
    heights = [_HIGH + (SHEETS if group >= 0 else 0) for group in scene.group]
    headers = frame_headers(scene, words)
    return BoxSizes("compact", heights, _LEAST, (340.0,), _TIGHT, wanted, headers)


def arrange_beside(
    scenes: Sequence[Scene],
    sizes: Sequence[BoxSizes],
    pairs: Iterable[tuple[int, int]],
    limits: tuple[float, float],
) -> list[Arrangement] | None:
    """Place the boxes of two graphs within ``limits`` px each; None where they do not fit.

    Parameters
    ----------
    pairs
        Boxes of both that match.
    """
    room, tall = limits
    widths, layouts = [], []
    for scene, size in zip(scenes, sizes, strict=True):
        if sum(size.heights) * size.least > room * tall:
            return None
        plain = laid_out(scene, size.wanted, size, "down")
        cap = capped(scene, plain, size, room, size.widest[0])
        if min(cap, default=size.least) < size.least:
            return None
        widths.append([min(each, most) for each, most in zip(size.wanted, cap, strict=True)])
        layouts.append(laid_out(scene, widths[-1], size, "down"))
    both = aligned(layouts[0], layouts[1], pairs)
    starts = [ends_of(each)[0] for each in both]
    found = []
    for scene, size, wide, placed, start in zip(scenes, sizes, widths, both, starts, strict=True):
        folded = fold(scene, placed, (wide, size.heights, size.headers), 1)
        folded = _lowered(folded, start - min(starts))
        if folded.width > room or folded.height > tall:
            return None
        found.append(Arrangement(size.detail, "down", wide, size.heights, folded))
    return found


def _lowered(folded: Folded, by: float) -> Folded:
    return replace(
        folded,
        y=[y + by for y in folded.y],
        strokes=[
            replace(each, points=tuple((x, y + by) for x, y in each.points))
            for each in folded.strokes
        ],
        height=folded.height + by,
        frames=[replace(each, y=each.y + by) for each in folded.frames],
    )
