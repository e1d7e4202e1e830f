"""Layered layout of a graph for figures: the same phases, the same numbers, as the live view.

The live view's is js/src/graph/layout; both are held to the same recorded answers.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.layout.acyclic import make_acyclic
from tvmdbg_widgets.figures.layout.adjacency import group_by
from tvmdbg_widgets.figures.layout.blocks import align_blocks
from tvmdbg_widgets.figures.layout.coordinates import place_blocks
from tvmdbg_widgets.figures.layout.finish import Drawn, finish
from tvmdbg_widgets.figures.layout.initial import initial_order
from tvmdbg_widgets.figures.layout.layering import assign_layers
from tvmdbg_widgets.figures.layout.order import improve_order
from tvmdbg_widgets.figures.layout.pack import pack_components
from tvmdbg_widgets.figures.layout.ports import place_ports
from tvmdbg_widgets.figures.layout.result import Direction, Layout, Routes
from tvmdbg_widgets.figures.layout.routing import Placed, route_edges
from tvmdbg_widgets.figures.layout.spacing import Spacing
from tvmdbg_widgets.figures.layout.trunks import expand, find_trunks
from tvmdbg_widgets.figures.layout.vertical import stack_layers

__all__ = ["Direction", "Layout", "Routes", "Spacing", "layout"]

_FREE_POINTS = 1024


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
    widths = [across[v] for v in acyclic.node_of]
    heights = [along[v] for v in acyclic.node_of]
    outgoing = group_by(count, acyclic.source)
    layering = assign_layers(count, acyclic.source, acyclic.target, outgoing)
    trunks = find_trunks(acyclic.source, outgoing, slot, acyclic.flipped)
    budget = spacing.trunk_budget * count + _FREE_POINTS
    graph = expand(layering, trunks, acyclic.source, acyclic.target, budget)
    order = initial_order(graph)
    improve_order(graph, order, layering.row_start, spacing.sweeps)
    blocks = align_blocks(graph, order, layering)
    x = place_blocks(graph, order, blocks, widths, spacing)

    total = 0.0
    for h in heights:
        total += h
    pitch = total / count + spacing.layer_gap if count else 1.0
    packing = pack_components(
        graph, layering, x, widths, layer_pitch=pitch, gap=spacing.component_gap
    )
    component = [layering.component[row] for row in graph.row]
    layer = [
        packing.first_layer[c] + row - layering.row_start[c]
        for row, c in zip(graph.row, component, strict=True)
    ]
    x = [at + packing.shift[c] for at, c in zip(x, component, strict=True)]
    top, bottom = stack_layers(
        graph, layer, packing.layers, heights, x, layer_gap=spacing.layer_gap
    )
    y = [(top[at] + bottom[at]) / 2 for at in layer[:count]]
    ports = place_ports(graph, trunks, acyclic.target, x, widths)
    placed = Placed(x, layer, y, widths, heights, top, bottom)
    routes, owners, stubs = route_edges(graph, trunks, acyclic, ports, placed)
    drawn = Drawn(routes, owners, stubs, acyclic.reversed)
    return finish(
        direction, order, layering, packing, node_of=acyclic.node_of, placed=placed, drawn=drawn
    )
