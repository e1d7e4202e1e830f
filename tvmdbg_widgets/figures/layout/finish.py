"""Back to the names of the input, turned into the direction asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.layout.result import Direction, Floats, Ints, Layout, Routes

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.layering import Layering
    from tvmdbg_widgets.figures.layout.pack import Packing
    from tvmdbg_widgets.figures.layout.routing import Placed, Point


@dataclass(slots=True)
class Drawn:
    """The strokes as they were routed."""

    routes: list[list[Point]]
    owners: list[int]
    stubs: list[int]
    reversed: list[int]


def _sorted_nodes(
    order: Order, layering: Layering, packing: Packing, layer: list[int], node_of: list[int]
) -> tuple[list[int], list[int]]:
    """Return the nodes by layer, then from left to right, and where each layer starts."""
    by_layer: list[list[int]] = [[] for _ in range(packing.layers)]
    for c in packing.sequence:
        for r in range(layering.row_start[c], layering.row_start[c + 1]):
            for v in order.rows[r]:
                if v < len(node_of):
                    by_layer[layer[v]].append(node_of[v])
    start = [0]
    for nodes in by_layer:
        start.append(start[-1] + len(nodes))
    return [v for nodes in by_layer for v in nodes], start


def _back(values: list[float], node_of: list[int]) -> Floats:
    named = np.zeros(len(node_of))
    named[node_of] = values[: len(node_of)]
    return named


def _points(routes: list[list[Point]]) -> tuple[Ints, Floats]:
    offsets = np.zeros(len(routes) + 1, np.int32)
    np.cumsum([len(route) for route in routes], out=offsets[1:])
    flat = [point for route in routes for point in route]
    return offsets, np.array(flat, np.float64).reshape(-1, 2)


def finish(
    direction: Direction,
    order: Order,
    layering: Layering,
    packing: Packing,
    *,
    node_of: list[int],
    placed: Placed,
    drawn: Drawn,
) -> Layout:
    """Assemble the result."""
    x = _back(placed.x, node_of)
    y = _back(placed.y, node_of)
    half = _back(placed.width, node_of) / 2
    offsets, points = _points(drawn.routes)
    sides = np.concatenate([x - half, x + half, points[:, 0]]) if node_of else np.zeros(1)
    left, right = float(sides.min()), float(sides.max())
    bottom = placed.layer_bottom[-1] if placed.layer_bottom else 0.0
    bounds = (left, 0.0, right, bottom)
    if direction == "right":
        x, y = y, x
        points = np.ascontiguousarray(points[:, ::-1])
        bounds = (0.0, left, bottom, right)
    nodes, layer_start = _sorted_nodes(order, layering, packing, placed.layer, node_of)
    return Layout(
        direction=direction,
        x=x,
        y=y,
        layer=_back([float(at) for at in placed.layer], node_of).astype(np.int32),
        layers=packing.layers,
        layer_top=np.array(placed.layer_top, np.float64),
        layer_bottom=np.array(placed.layer_bottom, np.float64),
        order=np.array(nodes, np.int32),
        layer_start=np.array(layer_start, np.int32),
        bounds=bounds,
        routes=Routes(offsets, points, np.array(drawn.owners, np.int32)),
        stubs=np.array(drawn.stubs, np.int32),
        reversed=np.array(drawn.reversed, np.int32),
        components=layering.components,
    )
