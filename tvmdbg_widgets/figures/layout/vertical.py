"""How tall the layers and the channels between them are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.levels import Levels
    from tvmdbg_widgets.figures.layout.place import Geometry
    from tvmdbg_widgets.figures.layout.trunks import Expanded

_SLANT = 0.06
_MOST = 1


def stack_layers(
    graph: Expanded,
    levels: Levels,
    order: Order,
    g: Geometry,
    *,
    rows: range,
    edges: range,
    layer_gap: float,
) -> float:
    """Stack the layers of a level from its top, return where the last one ends.

    Each is as tall as its tallest box, the channels as tall as their edges need to be readable;
    what open frames push aside below a channel does not count. Frames hang from the top of their
    layer, and where there are some, boxes do too; but what has no inputs stands at the foot.
    """
    items = [v for row in rows for v in order.rows[row]]
    base = rows.start
    layers = max((g.layer[v] - base + 1 for v in items), default=0)
    tall, plain, reach = [0.0] * layers, [0.0] * layers, [0.0] * layers
    for v in items:
        here = g.layer[v] - base
        if v < graph.nodes:
            tall[here] = max(tall[here], g.height[v])
            if levels.frame[v] < 0:
                plain[here] = max(plain[here], g.height[v])
        for w in graph.down[v]:
            reach[here] = max(reach[here], abs(g.nominal[w] - g.x[v]))
    for e in edges:
        v = graph.last[e]
        if v < 0 or v >= graph.nodes or levels.out_port[e] < 0:
            continue
        sideways = abs(g.nominal[levels.target[e]] - g.x[v] - g.x[levels.out_port[e]])
        here = g.layer[v] - base
        reach[here] = max(reach[here], sideways)
    top = bottom = 0.0
    for here in range(layers):
        bottom = top + tall[here]
        g.layer_top[base + here] = top
        g.layer_bottom[base + here] = bottom
        top += tall[here] + layer_gap
        top += min(_MOST * layer_gap, math.floor(_SLANT * reach[here]))
    for v in items:
        if v >= graph.nodes:
            continue
        here = g.layer[v] - base
        own = plain[here] if levels.frame[v] < 0 else g.height[v]
        source = own < tall[here] and not graph.up[v]
        start = g.layer_bottom[g.layer[v]] - own if source else g.layer_top[g.layer[v]]
        g.y[v] = (start + (start + own)) / 2
    return bottom
