"""Which groups of a graph are open where nobody has chosen, in a second implementation."""

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.nodes import NodeKind

Flags = npt.NDArray[np.bool_]

FIRST_LOOK = 30


def opened(graph: Graph, groups: Groups) -> list[int]:
    """The groups of one depth together, from the outside in, up to 30 boxes."""
    count = len(groups)
    is_box = _boxes(graph)
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
    depths = 0
    while depths < len(more) and boxes + more[depths] <= FIRST_LOOK:
        boxes += more[depths]
        depths += 1
    return [group for group in range(count) if depth[group] < depths]


def _boxes(graph: Graph) -> Flags:
    """Return the nodes that are no parameter folded into its reader."""
    is_box = np.ones(graph.num_nodes, bool)
    sources = graph.edge_source[graph.edge_source >= 0]
    is_box[sources[graph.kinds[sources] == NodeKind.PARAMETER]] = False
    heads = graph.heads[:, 0]
    is_box[heads[heads >= 0]] = True
    return is_box
