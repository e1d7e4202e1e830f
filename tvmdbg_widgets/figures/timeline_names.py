"""What nodes and slices are called in a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.svg import SMALL
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.model.labels import label

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph import Graph


def node_label(graph: Graph | None, node: int, name: str) -> str:
    """Return the operators of a node; where it is unknown, the name the timeline gives."""
    if graph is None or node < 0:
        return name
    return label(graph.func_names[node]) or graph.names[node] or name


def numbered(node: int, said: str, room: float) -> str:
    """Return what fits of a label, with the number of its node where it is cut."""
    shown = fit(said, room, SMALL)
    if shown == said or node < 0:
        return shown
    id_ = f"#{node}"
    longer = fit(f"{id_} {said}", room, SMALL)
    return longer if len(longer) > len(id_) + 4 else fit(id_, room, SMALL)


def node_kind(graph: Graph | None, node: int) -> str:
    """Return the op kind of a node; ``"other"`` where it is unknown."""
    return "other" if graph is None or node < 0 else graph.nodes[node].op_kind


def output_shapes(graph: Graph, node: int) -> str:
    """Shapes of the node's outputs, ``"1×64×8×8"``."""
    shapes = graph.nodes[node].shapes
    return ", ".join(
        "?" if each is None else "×".join(map(str, each)) or "scalar" for each in shapes
    )
