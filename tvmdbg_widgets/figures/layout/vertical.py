"""How tall the layers and the channels between them are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_SLANT = 0.06
_MOST = 3


def stack_layers(
    graph: Expanded,
    layer: list[int],
    layers: int,
    height: list[float],
    centre: list[float],
    *,
    layer_gap: float,
) -> tuple[list[float], list[float]]:
    """Return top and bottom of each layer: as tall as its tallest box.

    The channels are as tall as their edges need to be readable.
    """
    tall = [0.0] * layers
    reach = [0.0] * layers
    for v in range(graph.count):
        here = layer[v]
        if v < graph.nodes and height[v] > tall[here]:
            tall[here] = height[v]
        for w in graph.down[v]:
            sideways = abs(centre[w] - centre[v])
            reach[here] = max(reach[here], sideways)
    top: list[float] = []
    bottom: list[float] = []
    y = 0.0
    for t, r in zip(tall, reach, strict=True):
        top.append(y)
        bottom.append(y + t)
        y += t + layer_gap + min(_MOST * layer_gap, math.floor(_SLANT * r))
    return top, bottom
