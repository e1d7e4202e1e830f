"""Which groups of a graph are open in a picture where nobody has chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.groups import Groups

Flags = npt.NDArray[np.bool_]

#: Groups are opened up to so many boxes: as many as can be read at one look.
FIRST_LOOK = 30


def open_by_itself(graph: Graph, groups: Groups, shown: Flags | None = None) -> Flags:
    """Return which groups may be open, as the browser decides (js/src/graph/data/groups.ts).

    The groups of one depth are opened together, from the outside in, as long as the picture has
    at most 30 boxes with them. A box is a node, other than a parameter that some node reads and
    that is no output of the graph, or a closed group, which holds no output of the graph. A view
    that has not the room to show them legibly opens fewer.

    Parameters
    ----------
    shown : bool [N], optional
        Nodes that are drawn; all by default.

    Returns
    -------
    bool [G]
    """
    count = len(groups)
    is_box = _boxes(graph)
    if shown is not None:
        is_box &= shown
    is_head = np.zeros(graph.num_nodes, bool)
    is_head[graph.heads[graph.heads[:, 0] >= 0, 0]] = True
    around = np.where(is_head, -1, groups.node_group)[is_box]
    boxes = int((around < 0).sum())
    inside = np.bincount(around[around >= 0], minlength=count).tolist()
    parent = groups.parent.tolist()
    depth = [0] * count
    for group in range(count - 1, -1, -1):
        if inside[group] == 0:
            continue
        if parent[group] < 0:
            boxes += 1
        else:
            inside[parent[group]] += 1
    more: list[int] = []
    for group, around in enumerate(parent):
        depth[group] = 0 if around < 0 else depth[around] + 1
        if depth[group] == len(more):
            more.append(0)
        more[depth[group]] += max(0, inside[group] - 1)
    opened = 0
    while opened < len(more) and boxes + more[opened] <= FIRST_LOOK:
        boxes += more[opened]
        opened += 1
    return np.array(depth) < opened


def _boxes(graph: Graph) -> Flags:
    """Return the nodes that are no parameter folded into its reader."""
    is_box = np.ones(graph.num_nodes, bool)
    sources = graph.edge_source[graph.edge_source >= 0]
    is_box[sources[graph.kinds[sources] == NodeKind.PARAMETER]] = False
    heads = graph.heads[:, 0]
    is_box[heads[heads >= 0]] = True
    return is_box
