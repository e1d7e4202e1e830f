"""What a layout is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Direction = Literal["down", "right"]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Routes:
    """The strokes, each drawn once.

    The edge to the farthest reader of a tensor (its trunk) has the whole polyline from the source's
    border to the target's; an edge that leaves that trunk on the way has only the piece from there.

    Attributes
    ----------
    offsets
        int32, shape (edges + 1,): edge e is ``points[offsets[e]:offsets[e + 1]]``.
    points
        float64, shape (n, 2), px.
    trunk
        int32, shape (edges,): the edge whose polyline an edge leaves; -1 where its own is whole.
    """

    offsets: Ints
    points: Floats
    trunk: Ints


@dataclass(frozen=True, slots=True)
class Frames:
    """Rectangles around boxes, px: float64, shape (frames,), upper left corners and sizes."""

    x: Floats
    y: Floats
    width: Floats
    height: Floats


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, px.

    Attributes
    ----------
    direction
        Where edges lead.
    x, y
        float64, shape (nodes,): box centers.
    layer
        int32, shape (nodes,).
    layers
        Number of layers.
    layer_top, layer_bottom
        float64, shape (layers,): extent of each layer along the flow, sorted, disjoint. With
        frames, a layer is a cluster of boxes whose extents overlap.
    order, layer_start
        int32: the nodes by layer, then across it; layer l is
        ``order[layer_start[l]:layer_start[l + 1]]``.
    bounds
        min x, min y, max x, max y.
    frames
        Where the frames are.
    routes
        The strokes.
    stubs
        int32: edges too long to be drawn; of their four points only the first two and the last two
        are joined.
    reversed
        int32: edges that close a cycle; they are drawn against the flow.
    components
        Number of connected components.
    """

    direction: Direction
    x: Floats
    y: Floats
    layer: Ints
    layers: int
    layer_top: Floats
    layer_bottom: Floats
    order: Ints
    layer_start: Ints
    bounds: tuple[float, float, float, float]
    frames: Frames
    routes: Routes
    stubs: Ints
    reversed: Ints
    components: int

    def edge_path(self, edge: int) -> Floats:
        """Return the whole polyline of one edge, shape (n, 2), from border to border."""
        offsets, points = self.routes.offsets, self.routes.points
        own = points[offsets[edge] : offsets[edge + 1]]
        owner = self.routes.trunk[edge]
        if owner < 0:
            return own
        along = 1 if self.direction == "down" else 0
        whole = self.edge_path(int(owner))
        end = int(np.argmax(whole[:, along] >= own[0, along]))
        # On a horizontal line it leaves the trunk between two points.
        if (
            whole[end, along] == own[0, along]
            and (whole[end + 1 : end + 2, along] == own[0, along]).any()
        ):
            end += 1
        return np.concatenate([whole[:end], own])
