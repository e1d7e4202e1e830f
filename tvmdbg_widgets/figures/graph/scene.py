"""What is drawn of a graph: boxes with their words, and the edges between boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tvmdbg_widgets.figures.graph.nesting import Nesting
    from tvmdbg_widgets.model.graph.bridges import Bridge
    from tvmdbg_widgets.model.graph.graph import Graph

DATA, AMBIGUOUS, CONTROL, BRIDGE = 0, 1, 2, 3
EDGE_STYLES = ("data", "ambiguous", "control", "bridge")
#: Edges of one style from one box to another that are drawn; more would be a black area.
_MOST_BETWEEN = 200


@dataclass
class Scene:
    """Boxes, each a node with those folded into it, and edges between boxes.

    Attributes
    ----------
    nodes : list of int
        The node of each box; of a closed group the first, in the order that groups are intervals
        of.
    group : list of int
        The closed group that a box stands for, -1 for a node.
    members : list of list of int
        The nodes that a box stands for, those folded into it apart.
    outside : list of int
        Per box, how many outputs of the graph its group has: no closed group hides one.
    folded : list of list of int
        Parameters drawn inside each box.
    frames : list of (int, int)
        Open groups that hold something: their numbers, and the frame around each, -1 for none.
    frame_of : list of int
        The frame that each box is in, -1 for none.
    source, target, slot, style : list of int
        Per drawn edge its boxes, what it reads, and ``DATA``, ``AMBIGUOUS``, ``CONTROL`` or
        ``BRIDGE`` over hidden nodes.
    outputs : list of int
        Per drawn edge which output it reads; how many hidden nodes a bridge leads over.
    dangling, cut_into, cut_out_of : list of int
        Per box: operands that name no node, and edges from and to nodes that are left out.
    spared : int
        Edges that are not drawn because too many lead from one box to one other.
    """

    nodes: list[int] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    members: list[list[int]] = field(default_factory=list)
    outside: list[int] = field(default_factory=list)
    folded: list[list[int]] = field(default_factory=list)
    frames: list[tuple[int, int]] = field(default_factory=list)
    frame_of: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    slot: list[int] = field(default_factory=list)
    style: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    dangling: list[int] = field(default_factory=list)
    cut_into: list[int] = field(default_factory=list)
    cut_out_of: list[int] = field(default_factory=list)
    spared: int = 0


def badge(folded: int) -> str:
    """Say how many parameters are inside."""
    return "" if not folded else "1 param" if folded == 1 else f"{folded} params"


def build_scene(
    graph: Graph,
    *,
    fold: bool,
    only: Collection[int] | None = None,
    bridges: Collection[Bridge] = (),
    nesting: Nesting | None = None,
) -> Scene:
    """Return boxes and edges of a graph, or of some of its nodes; without nesting, no groups."""
    chosen = None if only is None else frozenset(only)

    def shown(node: int) -> bool:
        return node >= 0 and (chosen is None or node in chosen)

    inside = _folded_parameters(graph, chosen) if fold else frozenset[int]()
    candidates = range(graph.num_nodes) if chosen is None else sorted(chosen)
    heads = frozenset(graph.heads[:, 0].tolist())
    scene, own = _boxes([node for node in candidates if node not in inside], heads, nesting)
    count = len(scene.nodes)
    scene.dangling, scene.cut_into, scene.cut_out_of = [0] * count, [0] * count, [0] * count
    for nodes in scene.members:
        sources = np.concatenate([graph.edge_source[graph.in_edges(node)] for node in nodes])
        read = (each for each in sources.tolist() if each in inside)
        scene.folded.append(list(dict.fromkeys(read)))
    touched: npt.NDArray[np.bool_] | slice = slice(None)
    if chosen is not None:
        marked = np.zeros(graph.num_nodes + 1, bool)  # the last for a source of -1
        marked[list(chosen)] = True
        touched = marked[graph.edge_source] | marked[graph.edge_target]
    edges = _Edges(graph, scene, own)
    edges.add_data(shown, touched)
    edges.add_control()
    edges.add_bridges(bridges)
    return scene


def _boxes(
    shown: list[int], heads: frozenset[int], nesting: Nesting | None
) -> tuple[Scene, dict[int, int]]:
    """Return boxes and frames of these nodes, ascending, and the box of each.

    No closed group hides an output of the graph, which ``heads`` are.
    """
    count = len(shown)
    if nesting is None:
        own = {node: box for box, node in enumerate(shown)}
        alone = [-1] * count, [[node] for node in shown], [0] * count
        return Scene(shown, *alone, frame_of=[-1] * count), own
    groups, closed, held = nesting.groups, nesting.closed_by.tolist(), nesting.held(shown)
    hidden = nesting.held([node for node in shown if node not in heads])
    within = groups.node_group.tolist()
    scene, own = Scene(), {}
    box_of: dict[int, int] = {}
    for node in shown:
        by = closed[within[node]] if within[node] >= 0 else -1
        if by >= 0 and (node in heads or hidden[by] < 2):
            by = -1
        own[node] = box_of.setdefault(by, len(scene.group)) if by >= 0 else len(scene.group)
        if own[node] == len(scene.group):
            scene.group.append(by)
            scene.members.append([])
    for node in groups.order.tolist():
        if node in own:
            scene.members[own[node]].append(node)
    scene.nodes = [nodes[0] for nodes in scene.members]
    scene.outside = [held[by] - hidden[by] if by >= 0 else 0 for by in scene.group]
    frame_in: list[int] = []
    for group, around in enumerate(groups.parent.tolist()):
        frame_in.append(frame_in[around] if around >= 0 else -1)
        if closed[group] < 0 and held[group] >= 2:
            scene.frames.append((group, frame_in[group]))
            frame_in[group] = len(scene.frames) - 1
    for node, group in zip(scene.nodes, scene.group, strict=True):
        around = int(groups.parent[group]) if group >= 0 else within[node]
        scene.frame_of.append(frame_in[around] if around >= 0 else -1)
    return scene, own


def count_boxes(graph: Graph, fold: bool) -> int:
    """Return how many boxes the whole graph takes, without making them."""
    return graph.num_nodes - (int(np.count_nonzero(foldable(graph))) if fold else 0)


def foldable(graph: Graph) -> npt.NDArray[np.bool_]:
    """Mark the parameters that something reads, unless they are outputs of the graph themselves."""
    found = np.zeros(graph.num_nodes, bool)
    found[graph.edge_source[graph.edge_source >= 0]] = True
    found[graph.heads[:, 0]] = False
    found &= graph.kinds == NodeKind.PARAMETER
    return found


def _folded_parameters(graph: Graph, chosen: frozenset[int] | None) -> frozenset[int]:
    """Return the parameters that something shown reads."""
    nodes = np.flatnonzero(foldable(graph)).tolist()
    if chosen is None:
        return frozenset(nodes)
    return frozenset(
        node
        for node in nodes
        if node in chosen
        and not chosen.isdisjoint(graph.edge_target[graph.out_edges(node)].tolist())
    )


class _Edges:
    """The edges of a scene while they are found; those of closed groups are drawn once a tensor."""

    def __init__(self, graph: Graph, scene: Scene, own: dict[int, int]) -> None:
        self._graph, self._scene, self._own = graph, scene, own
        self._drawn: set[tuple[int, int, int]] = set()
        self._slots: dict[int, dict[int, int]] = {}
        self._between: dict[tuple[int, int, int], int] = {}

    def _add(self, source: int, target: int, output: int, style: int, entry: int) -> None:
        """Draw an edge; ``entry`` tells what it carries."""
        scene, slot = self._scene, output
        if scene.group[source] >= 0 or scene.group[target] >= 0:
            if source == target or (entry, style, target) in self._drawn:
                return
            self._drawn.add((entry, style, target))
        between = (source, target, style)
        self._between[between] = count = self._between.get(between, 0) + 1
        if count > _MOST_BETWEEN:
            scene.spared += 1
            return
        if scene.group[source] >= 0 and style != CONTROL:
            slots = self._slots.setdefault(source, {})
            slot = slots.setdefault(entry, len(slots))
        scene.source.append(source)
        scene.target.append(target)
        scene.outputs.append(output)
        scene.slot.append(len(EDGE_STYLES) * slot + style)
        scene.style.append(style)

    def add_data(
        self, shown: Callable[[int], bool], touched: npt.NDArray[np.bool_] | slice
    ) -> None:
        graph, scene, own = self._graph, self._scene, self._own
        columns = (graph.edge_source, graph.edge_target, graph.edge_output, graph.edge_trust)
        rows = zip(*(each[touched].tolist() for each in columns), strict=True)
        for source, target, output, trust in rows:
            if any(each not in own and shown(each) for each in (source, target)):
                continue  # a parameter inside its reader
            if not shown(target):
                if shown(source):
                    scene.cut_out_of[own[source]] += 1
            elif source < 0:
                scene.dangling[own[target]] += 1
            elif not shown(source):
                scene.cut_into[own[target]] += 1
            else:
                style = AMBIGUOUS if trust == Trust.AMBIGUOUS else DATA
                entry = int(graph.entry_offsets[source]) + output
                self._add(own[source], own[target], output, style, entry)

    def add_control(self) -> None:
        graph, own = self._graph, self._own
        pairs = zip(graph.control_source.tolist(), graph.control_target.tolist(), strict=True)
        for source, target in pairs:
            if source in own and target in own:
                entry = graph.num_entries + own[source]
                self._add(own[source], own[target], 0, CONTROL, entry)

    def add_bridges(self, bridges: Collection[Bridge]) -> None:
        """Draw what leads over hidden nodes, in place of the loose ends on both sides of them."""
        graph, scene, own = self._graph, self._scene, self._own
        drawn = [
            (own[each.source], own[each.target], each.through)
            for each in bridges
            if each.source in own and each.target in own
        ]
        for source, target, through in drawn:
            scene.cut_out_of[source] = scene.cut_into[target] = 0
            before = len(scene.outputs)
            if source != target:
                self._add(source, target, 0, BRIDGE, graph.num_entries + source)
            scene.outputs[before:] = [through] * (len(scene.outputs) - before)
