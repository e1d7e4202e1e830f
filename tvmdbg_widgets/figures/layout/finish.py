"""Back to the names of the input, turned into the direction asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.layout.result import Direction, Floats, Frames, Ints, Layout, Routes

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.acyclic import Acyclic
    from tvmdbg_widgets.figures.layout.assemble import Drawn
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.layering import Layering
    from tvmdbg_widgets.figures.layout.levels import Levels
    from tvmdbg_widgets.figures.layout.pack import Packing
    from tvmdbg_widgets.figures.layout.place import Geometry
    from tvmdbg_widgets.figures.layout.routing import Point


class Layers:
    """The layers, and the nodes by layer, then across it."""

    def __init__(self) -> None:
        self.members: list[list[int]] = []
        self.top: list[float] = []
        self.bottom: list[float] = []

    def of(self, count: int) -> Ints:
        """Return the layer of each node."""
        layer = np.zeros(count, np.int32)
        for i, members in enumerate(self.members):
            layer[members] = i
        return layer


def layers_of_rows(
    order: Order, layering: Layering, packing: Packing, g: Geometry, node_of: list[int]
) -> Layers:
    """Return the rows of a graph without frames."""
    layers = Layers()
    layers.members = [[] for _ in range(packing.layers)]
    layers.top = g.layer_top[: packing.layers]
    layers.bottom = g.layer_bottom[: packing.layers]
    for c in packing.sequence:
        for r in range(layering.row_start[c], layering.row_start[c + 1]):
            for v in order.rows[r]:
                if v < len(node_of):
                    layers.members[g.layer[v]].append(node_of[v])
    return layers


def layers_of_boxes(x: Floats, y: Floats, height: list[float]) -> Layers:
    """Return the clusters of boxes whose extents along the flow overlap."""
    layers = Layers()
    tops = [middle - tall / 2 for middle, tall in zip(y.tolist(), height, strict=True)]
    end = -np.inf
    for v in sorted(range(len(tops)), key=tops.__getitem__):
        if tops[v] >= end:
            layers.members.append([])
            layers.top.append(tops[v])
            layers.bottom.append(tops[v])
            end = tops[v]
        layers.members[-1].append(v)
        end = max(end, float(y[v]) + height[v] / 2)
        layers.bottom[-1] = end
    for members in layers.members:
        members.sort(key=lambda v: float(x[v]))
    return layers


def _points(routes: list[list[Point]]) -> tuple[Ints, Floats]:
    offsets = np.zeros(len(routes) + 1, np.int32)
    np.cumsum([len(route) for route in routes], out=offsets[1:])
    flat = [point for route in routes for point in route]
    return offsets, np.array(flat, np.float64).reshape(-1, 2)


def place_boxes(
    item_of_box: list[int], node_of: list[int], levels: Levels, g: Geometry, origins: list[Point]
) -> tuple[Floats, Floats]:
    """Return the centers of the boxes by their names in the input."""
    x, y = np.zeros(len(node_of)), np.zeros(len(node_of))
    for v, item in zip(node_of, item_of_box, strict=True):
        left, top = origins[levels.level_of[item]]
        x[v], y[v] = left + g.x[item], top + g.y[item]
    return x, y


def place_frames(levels: Levels, g: Geometry, origins: list[Point]) -> Frames:
    """Return where the frames are."""
    found = np.zeros((4, len(levels.item_of_frame)))
    for f, item in enumerate(levels.item_of_frame):
        left, top = origins[levels.level_of[item]]
        found[:, f] = (
            left + g.x[item] - g.left[item],
            top + g.y[item] - g.height[item] / 2,
            g.left[item] + g.right[item],
            g.height[item],
        )
    return Frames(*found)


def finish(
    direction: Direction,
    centers: tuple[Floats, Floats],
    width: list[float],
    frames: Frames,
    *,
    layers: Layers,
    drawn: Drawn,
    acyclic: Acyclic,
    bottom: float,
    components: int,
) -> Layout:
    """Assemble the result; `width` is across the flow, by the names of the input."""
    x, y = centers
    half = np.array(width, np.float64) / 2
    offsets, points = _points(drawn.routes)
    sides = [x - half, x + half, points[:, 0], frames.x, frames.x + frames.width]
    spread = np.concatenate(sides) if len(x) else np.zeros(1)
    left, right = float(spread.min()), float(spread.max())
    bounds = (left, 0.0, right, bottom)
    if direction == "right":
        x, y = y, x
        points = np.ascontiguousarray(points[:, ::-1])
        bounds = (0.0, left, bottom, right)
        frames = Frames(frames.y, frames.x, frames.height, frames.width)
    start = np.zeros(len(layers.members) + 1, np.int32)
    np.cumsum([len(members) for members in layers.members], out=start[1:])
    return Layout(
        direction=direction,
        x=x,
        y=y,
        layer=layers.of(len(x)),
        layers=len(layers.members),
        layer_top=np.array(layers.top, np.float64),
        layer_bottom=np.array(layers.bottom, np.float64),
        order=np.array([v for members in layers.members for v in members], np.int32),
        layer_start=start,
        bounds=bounds,
        frames=frames,
        routes=Routes(offsets, points, np.array(drawn.owners, np.int32)),
        stubs=np.array(drawn.stubs, np.int32),
        reversed=np.array(acyclic.reversed, np.int32),
        components=components,
    )
