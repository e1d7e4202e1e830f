"""The final shape of every level, innermost first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.layout.coordinates import gap_of
from tvmdbg_widgets.figures.layout.levels import ENTRY, EXIT
from tvmdbg_widgets.figures.layout.pack import Packing, pack_components
from tvmdbg_widgets.figures.layout.ports import PortPlacer
from tvmdbg_widgets.figures.layout.routing import StrokeDrawer
from tvmdbg_widgets.figures.layout.vertical import stack_layers

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.layout.initial import Order
    from tvmdbg_widgets.figures.layout.layering import Layering
    from tvmdbg_widgets.figures.layout.levels import Levels
    from tvmdbg_widgets.figures.layout.result import Direction
    from tvmdbg_widgets.figures.layout.spacing import Spacing
    from tvmdbg_widgets.figures.layout.trunks import Expanded, Trunks


@dataclass(slots=True)
class Geometry:
    """Where everything is, each level by itself: x from its main line, y from its first layer.

    Attributes
    ----------
    x, nominal, layer
        Per item; nominal: x as if all frames were closed.
    y, left, right, height
        Per node: the middle along the flow, the extents to both sides of x, and along the flow.
    layer_top, layer_bottom
        Layers of all levels: those of a frame are its rows, the root's come first.
    above
        Per level: from the upper border of its frame to its first layer.
    """

    x: list[float]
    nominal: list[float]
    layer: list[int]
    y: list[float]
    left: list[float]
    right: list[float]
    height: list[float]
    layer_top: list[float]
    layer_bottom: list[float]
    above: list[float]


@dataclass(frozen=True, slots=True)
class FrameSizes:
    """Frames as closed boxes, px: `header` is the least width of an open one, too."""

    header: list[float]
    closed_height: list[float]

    def across(self, frame: int, direction: Direction) -> float:
        """Return how wide its neighbors take a frame to be."""
        return (self.closed_height if direction == "right" else self.header)[frame]


class Placer:
    """Gives levels their final shape: a frame must have its size before its parent is stacked."""

    def __init__(
        self,
        graph: Expanded,
        levels: Levels,
        layering: Layering,
        order: Order,
        *,
        main: list[int],
        trunks: Trunks,
        geometry: Geometry,
        width: list[float],
        sizes: FrameSizes | None,
        direction: Direction,
        spacing: Spacing,
    ) -> None:
        self.graph = graph
        self.levels = levels
        self.layering = layering
        self.order = order
        self.main = main
        self.geometry = geometry
        self.sizes = sizes
        self.direction = direction
        self.spacing = spacing
        self.ports = PortPlacer(graph, trunks, levels, x=geometry.x, width=width)
        self.strokes = StrokeDrawer(self.ports, geometry)
        outside = levels.item_start[1]
        component = layering.component
        self.root_components = (
            component[graph.row[outside]] if outside < graph.nodes else layering.components
        )
        self.crowded = {graph.row[v] for v in range(graph.nodes) if levels.frame[v] >= 0}

    def place(self) -> tuple[Packing, float]:
        """Place all levels; return how the root's components are packed, and where it ends."""
        levels, layering, g = self.levels, self.layering, self.geometry
        packing = Packing([], [], 0, [])
        bottom = 0.0
        for level in range(len(levels.item_start) - 2, -1, -1):
            items = range(levels.item_start[level], levels.item_start[level + 1])
            edges = range(levels.edge_start[level], levels.edge_start[level + 1])
            if level == 0:
                rows = range(layering.row_start[self.root_components])
            elif items:
                c = layering.component[self.graph.row[items.start]]
                rows = range(layering.row_start[c], layering.row_start[c + 1])
            else:
                rows = range(0)
            for row in rows:
                if row in self.crowded:
                    self._push(row)
            if level == 0:
                packing = self._pack()
            bottom = stack_layers(
                self.graph,
                levels,
                self.order,
                g,
                rows=rows,
                edges=edges,
                layer_gap=self.spacing.layer_gap,
            )
            if level > 0:
                self._frame(level, items, rows, bottom)
            self.ports.place(items)
            self.strokes.draw(edges)
        return packing, bottom

    def _push(self, row: int) -> None:
        """Make room for open frames: in their row what is beside them gives way outwards."""
        g, graph = self.geometry, self.graph
        items = self.order.rows[row]
        middle = self.order.position[self.main[row]]

        def apart(u: int, v: int) -> float:
            right = g.right[u] if u < graph.nodes else 0.0
            left = g.left[v] if v < graph.nodes else 0.0
            return math.ceil(right + left + gap_of(graph, u, v, self.spacing))

        for u, v in zip(items[middle:], items[middle + 1 :], strict=False):
            g.x[v] = max(g.x[v], g.x[u] + apart(u, v))
        for i in range(middle - 1, -1, -1):
            v, u = items[i], items[i + 1]
            g.x[v] = min(g.x[v], g.x[u] - apart(v, u))

    def _pack(self) -> Packing:
        g, layering, spacing, graph = self.geometry, self.layering, self.spacing, self.graph
        heights = [g.height[v] for v in range(graph.nodes) if self.levels.box[v] >= 0]
        total = 0.0
        for tall in heights:
            total += tall
        pitch = total / len(heights) + spacing.layer_gap if heights else 1.0
        packing = pack_components(
            graph,
            layering,
            self.root_components,
            g,
            layer_pitch=pitch,
            gap=spacing.component_gap,
        )
        framed = self.sizes is not None and self.root_components > 0
        zero = packing.shift[packing.sequence[0]] if framed else 0.0
        for v, row in enumerate(graph.row):
            c = layering.component[row]
            if c >= self.root_components:
                continue
            g.layer[v] = packing.first_layer[c] + row - layering.row_start[c]
            g.x[v] += packing.shift[c] - zero
            if g.nominal is not g.x:
                g.nominal[v] += packing.shift[c] - zero
        return packing

    def _frame(self, level: int, items: range, rows: range, length: float) -> None:
        """Size a frame; where the flow runs down, no line runs through its header."""
        assert self.sizes is not None  # noqa: S101
        g, port, nodes, padding = (
            self.geometry,
            self.levels.port,
            self.graph.nodes,
            self.spacing.frame_padding,
        )
        header = self.sizes.header[level - 1]
        inside = [v for row in rows for v in self.order.rows[row]]
        ends = [(g.left[v], g.right[v]) if v < nodes else (0.0, 0.0) for v in inside]
        least = min([g.x[v] - left for v, (left, _) in zip(inside, ends, strict=True)] + [0.0])
        most = max([g.x[v] + right for v, (_, right) in zip(inside, ends, strict=True)] + [0.0])
        entries = [g.x[v] for v in items if port[v] == ENTRY]
        below = 0.0 if any(port[v] == EXIT for v in items) else padding
        item = self.levels.item_of_frame[level - 1]
        if self.direction == "right":
            above = padding
            g.left[item] = math.ceil(padding + self.spacing.frame_header - least)
            g.right[item] = math.ceil(most + padding)
            g.height[item] = max(header, padding + length + below)
        else:
            above = self.spacing.frame_header
            clear = header + padding - min(entries) if entries else 0.0
            g.left[item] = math.ceil(max(padding - least, clear))
            g.right[item] = math.ceil(max(most + padding, header - g.left[item]))
            g.height[item] = above + length + below
        g.above[level] = above
        for v in items:
            if port[v] == ENTRY:
                g.y[v] = -above
            elif port[v] == EXIT:
                g.y[v] = g.height[item] - above
