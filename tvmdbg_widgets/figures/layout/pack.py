"""Where each component goes."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.layering import Layering
    from tvmdbg_widgets.figures.layout.place import Geometry
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_ASPECT = 1.6


@dataclass(slots=True)
class Packing:
    """What to add to the x of each component, its first layer, and the order left to right."""

    shift: list[float]
    first_layer: list[int]
    layers: int
    sequence: list[int]


def pack_components(
    graph: Expanded,
    layering: Layering,
    components: int,
    g: Geometry,
    *,
    layer_pitch: float,
    gap: float,
) -> Packing:
    """Stack the first components, tallest first, in columns no taller than the tallest or a page.

    Where a column is wide enough they stand one beside the other.
    """
    left = [math.inf] * components
    right = [-math.inf] * components
    for v in range(graph.count):
        c = layering.component[graph.row[v]]
        if c >= components:
            continue
        node = v < graph.nodes
        left[c] = min(left[c], g.x[v] - (g.left[v] if node else 0))
        right[c] = max(right[c], g.x[v] + (g.right[v] if node else 0))
    start = layering.row_start
    rows = [end - first for first, end in itertools.pairwise(start[: components + 1])]
    area = 0.0
    for c in range(components):
        area += (right[c] - left[c] + gap) * rows[c] * layer_pitch
    sequence = sorted(range(components), key=lambda c: -rows[c])
    page = math.ceil(math.sqrt(area / _ASPECT) / layer_pitch)
    limit = max(max(rows, default=0), page if components > 1 else 0)
    shift = [0.0] * components
    first_layer = [0] * components
    column = column_width = 0.0
    band_width = math.inf
    band_top = used = layers = 0
    for c in sequence:
        size = right[c] - left[c]
        if band_width + gap + size > column_width:
            if used > 0 and used + rows[c] > limit:
                column += column_width + gap
                column_width = 0.0
                used = 0
            band_top = used
            band_width = -gap
            used += rows[c]
            layers = max(layers, used)
        first_layer[c] = band_top
        shift[c] = column + band_width + gap - left[c]
        band_width += gap + size
        column_width = max(column_width, band_width)
    return Packing(shift, first_layer, layers, sequence)
