"""Layered layout of a graph for figures: the same phases, the same numbers, as the live view.

The live view's is js/src/graph/layout; both are held to the same recorded answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.layout.acyclic import make_acyclic
from tvmdbg_widgets.figures.layout.adjacency import group_by
from tvmdbg_widgets.figures.layout.assemble import join_strokes, origins_of
from tvmdbg_widgets.figures.layout.blocks import align_blocks
from tvmdbg_widgets.figures.layout.coordinates import place_blocks
from tvmdbg_widgets.figures.layout.finish import (
    finish,
    layers_of_boxes,
    layers_of_rows,
    place_boxes,
    place_frames,
)
from tvmdbg_widgets.figures.layout.initial import initial_order
from tvmdbg_widgets.figures.layout.layering import assign_layers
from tvmdbg_widgets.figures.layout.levels import Levels, one_level, part_levels
from tvmdbg_widgets.figures.layout.order import improve_order
from tvmdbg_widgets.figures.layout.place import FrameSizes, Geometry, Placer
from tvmdbg_widgets.figures.layout.result import Direction, Frames, Layout, Routes
from tvmdbg_widgets.figures.layout.spacing import Spacing
from tvmdbg_widgets.figures.layout.trunks import expand, find_stubs, find_trunks, spread_stubs

__all__ = ["Direction", "FrameInput", "Frames", "Layout", "Routes", "Spacing", "layout"]

if TYPE_CHECKING:
    from collections.abc import Sequence

_FREE_POINTS = 1024


@dataclass(frozen=True)
class FrameInput:
    """Frames around boxes.

    Attributes
    ----------
    of
        Innermost frame of each box, -1 for none, shape (count,).
    parent
        The frame around each frame, -1 for none, shape (frames,); parents come first.
    min_width, closed_height
        Size of each closed box, px: a frame is at least as wide as its header, and its neighbors
        are placed as if it were closed.
    """

    of: Sequence[int]
    parent: Sequence[int]
    min_width: Sequence[float]
    closed_height: Sequence[float]

    def check(self, count: int) -> None:
        """Raise ValueError where frames are not what they should be."""
        if len(self.of) != count or not all(-1 <= f < len(self.parent) for f in self.of):
            raise ValueError(f"{count} nodes are not all in -1 or one of {len(self.parent)} frames")
        if not all(-1 <= up < f for f, up in enumerate(self.parent)):
            raise ValueError("a frame must come after the frame it is in")


def _sizes(values: npt.ArrayLike, count: int, name: str) -> list[float]:
    sizes = np.asarray(values, np.float64)
    if sizes.shape != (count,):
        raise ValueError(f"{count} nodes but {name} has shape {sizes.shape}")
    if not np.all(np.isfinite(sizes) & (sizes >= 0)):
        raise ValueError(f"{name} must be finite and not negative")
    return cast("list[float]", sizes.tolist())


def _ints(values: npt.ArrayLike, edges: int, name: str) -> list[int]:
    ints = np.asarray(values, np.int64)
    if ints.shape != (edges,):
        raise ValueError(f"{edges} edges but {name} has shape {ints.shape}")
    return cast("list[int]", ints.tolist())


def layout(
    count: int,
    width: npt.ArrayLike,
    height: npt.ArrayLike,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    *,
    source_slot: npt.ArrayLike | None = None,
    frames: FrameInput | None = None,
    direction: Direction = "down",
    spacing: Spacing | None = None,
) -> Layout:
    """Lay out a directed graph in layers.

    Parameters
    ----------
    count
        Number of nodes.
    width, height
        Box sizes, shape (count,), px.
    source, target
        Ends of the edges, node positions, shape (edges,). The order of the edges of one target is
        the order of its operands.
    source_slot
        The output each edge reads, shape (edges,); edges of one (source, slot) share a line.
    frames
        Boxes in frames: each frame's inside is laid out by itself, and stands in its parent as one
        box, so that opening one moves only what is beside or below it.
    direction
        Where edges lead.
    spacing
        Distances to keep.

    Returns
    -------
    Layout

    Raises
    ------
    ValueError
        An edge leads out of the graph, a size is not a size, or lengths differ.
    """
    spacing = spacing or Spacing()
    edges = np.size(source)
    inputs, outputs = _ints(source, edges, "source"), _ints(target, edges, "target")
    for e, (s, t) in enumerate(zip(inputs, outputs, strict=True)):
        if not (0 <= s < count and 0 <= t < count):
            raise ValueError(f"edge {e} runs from {s} to {t}; there are {count} nodes")
    slot = None if source_slot is None else _ints(source_slot, edges, "source_slot")
    across, along = _sizes(width, count, "width"), _sizes(height, count, "height")
    if direction == "right":
        across, along = along, across

    acyclic = make_acyclic(count, inputs, outputs)
    sizes: FrameSizes | None = None
    if frames is None:
        levels = one_level(count, acyclic, slot)
    else:
        frames.check(count)
        sizes = FrameSizes(list(frames.min_width), list(frames.closed_height))
        levels = part_levels(acyclic, slot, list(frames.of), list(frames.parent))
    item_of_box = [0] * count
    for v, box in enumerate(levels.box):
        if box >= 0:
            item_of_box[box] = v
    outgoing = group_by(levels.count, levels.source)
    layering = assign_layers(levels, outgoing)
    trunks = find_trunks(levels.source, outgoing, levels.slot, levels.flipped)
    stub = find_stubs(layering, trunks, levels, spacing.trunk_budget * count + _FREE_POINTS)
    stub, hidden = (stub, stub) if frames is None else spread_stubs(levels, stub)
    graph = expand(layering, trunks, levels, hidden)
    order = initial_order(graph)
    improve_order(graph, order, layering.row_start, spacing.sweeps)
    blocks = align_blocks(graph, order, layering)

    node_of = acyclic.node_of
    widths = [across[node_of[box]] if box >= 0 else 0.0 for box in levels.box]
    nominal = widths if sizes is None else _nominal(levels, widths, sizes, direction)
    x = place_blocks(graph, order, blocks, nominal, spacing)
    half = [w / 2 for w in widths]
    geometry = Geometry(
        x=x,
        nominal=x if frames is None else list(x),
        layer=list(graph.row),
        y=[0.0] * levels.count,
        left=half,
        right=list(half),
        height=[along[node_of[box]] if box >= 0 else 0.0 for box in levels.box],
        layer_top=[0.0] * layering.rows,
        layer_bottom=[0.0] * layering.rows,
        above=[0.0] * (len(levels.item_start) - 1),
    )
    placer = Placer(
        graph,
        levels,
        layering,
        order,
        main=blocks.main,
        trunks=trunks,
        geometry=geometry,
        width=widths,
        sizes=sizes,
        direction=direction,
        spacing=spacing,
    )
    packing, bottom = placer.place()
    origins = origins_of(levels, geometry)
    centers = place_boxes(item_of_box, node_of, levels, geometry, origins)
    return finish(
        direction,
        centers,
        across,
        place_frames(levels, geometry, origins),
        layers=layers_of_rows(order, layering, packing, geometry, node_of)
        if frames is None
        else layers_of_boxes(*centers, along),
        drawn=join_strokes(placer, acyclic, item_of_box, origins, stub),
        acyclic=acyclic,
        bottom=bottom,
        components=len(packing.sequence),
    )


def _nominal(
    levels: Levels, widths: list[float], sizes: FrameSizes, direction: Direction
) -> list[float]:
    """Return how wide the neighbors take each item to be."""
    return [
        sizes.across(frame, direction) if frame >= 0 else width
        for frame, width in zip(levels.frame, widths, strict=True)
    ]
