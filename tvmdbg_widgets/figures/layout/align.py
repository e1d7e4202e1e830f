"""Two layouts beside each other: room left so that matches stand at the same height.

The live comparison's is js/src/comparison/align.ts; both are held to the same recorded answers.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.figures.layout.result import Floats, Layout

#: A layer of each of two layouts that are to begin at the same place.
Rung = tuple[int, int]


def aligned(a: Layout, b: Layout, pairs: Iterable[tuple[int, int]]) -> tuple[Layout, Layout]:
    """Return two layouts that run down, with boxes that match at the same height.

    What would have to cross something else stays where it is.

    Parameters
    ----------
    pairs
        Boxes of both that match.
    """
    layouts = a, b
    shifts = np.zeros(a.layers), np.zeros(b.layers)
    for rung in _rungs(a, b, pairs):
        tops = [
            each.layer_top[layer] + shift[layer]
            for each, shift, layer in zip(layouts, shifts, rung, strict=True)
        ]
        for shift, layer, top in zip(shifts, rung, tops, strict=True):
            shift[layer:] += max(tops) - top
    return _moved(a, shifts[0]), _moved(b, shifts[1])


def _rungs(a: Layout, b: Layout, pairs: Iterable[tuple[int, int]]) -> list[Rung]:
    """Return layers of both that match, as many as there are in the order of both."""
    first: dict[int, int] = {}
    for one, other in pairs:
        layer, match = int(a.layer[one]), int(b.layer[other])
        first[layer] = min(match, first.get(layer, match))
    return _longest_rising(sorted(first.items()))


def _longest_rising(every: list[Rung]) -> list[Rung]:
    """Return the longest part of some rungs, in the order of A, that is in the order of B, too."""
    ends: list[int] = []
    layers: list[int] = []
    before: list[int] = []
    for row, (_, layer) in enumerate(every):
        at = bisect_left(layers, layer)
        before.append(ends[at - 1] if at else -1)
        ends[at : at + 1], layers[at : at + 1] = [row], [layer]
    found: list[Rung] = []
    row = ends[-1] if ends else -1
    while row >= 0:
        found.append(every[row])
        row = before[row]
    return found[::-1]


def _moved(layout: Layout, shift: Floats) -> Layout:
    """Return a layout with each layer so much lower; lines and frames are drawn out."""
    if not layout.layers:
        return layout
    top, bottom, last = layout.layer_top, layout.layer_bottom, layout.layers - 1

    def place(at: Floats) -> Floats:
        layer = np.minimum(last, np.searchsorted(bottom, at))
        above = np.maximum(0, layer - 1)
        share = (at - bottom[above]) / np.maximum(1e-9, top[layer] - bottom[above])
        between = shift[above] + (shift[layer] - shift[above]) * share
        return at + np.where((at >= top[layer]) | (layer == 0), shift[layer], between)

    points = layout.routes.points.copy()
    points[:, 1] = place(points[:, 1])
    frames = layout.frames
    starts = frames.y + shift[np.minimum(last, np.searchsorted(bottom, frames.y))]
    ends = frames.y + frames.height
    inside = np.maximum(0, np.searchsorted(top, ends) - 1)
    low, left, high, right = layout.bounds
    return replace(
        layout,
        y=layout.y + shift[layout.layer],
        layer_top=top + shift,
        layer_bottom=bottom + shift,
        bounds=(low, left, high, float(right + shift[-1])),
        frames=replace(frames, y=starts, height=ends + shift[inside] - starts),
        routes=replace(layout.routes, points=points),
    )
