"""Which groups of a graph are open in a picture where nobody has chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.groups import Groups

Flags = npt.NDArray[np.bool_]

#: A graph of at most so many boxes has all groups open.
ALL_OPEN = 150
#: Of a larger graph, groups are opened up to so many boxes.
FIRST_LOOK = 60


def open_by_itself(graph: Graph, groups: Groups, shown: Flags | None = None) -> Flags:
    """Return which groups are open; the browser decides by the same rule (js/src/graph/groups.ts).

    All, where the whole graph then has at most 150 boxes. Otherwise groups are opened from the
    outside in, those of the same structure (``groups.alike``) at the same depth together: the
    structures of one depth by their first group, the depths one after the other. A structure is
    opened only where the parents of all its groups are open and the picture has at most 60 boxes
    with them. A box is a node, other than a parameter that some node reads and that is no output
    of the graph, or a closed group. Groups without a box inside are open.

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
    if int(is_box.sum()) <= ALL_OPEN:
        return np.ones(count, bool)
    around = groups.node_group[is_box]
    boxes = int((around < 0).sum())
    inside = np.bincount(around[around >= 0], minlength=count).tolist()
    parent = groups.parent.tolist()
    opened = [False] * count
    for group in range(count - 1, -1, -1):
        if inside[group] == 0:
            opened[group] = True
        elif parent[group] < 0:
            boxes += 1
        else:
            inside[parent[group]] += 1
    for same in _structures(parent, groups.alike.tolist()):
        more = sum(inside[group] - 1 for group in same if inside[group])
        is_inside = any(parent[group] >= 0 and not opened[parent[group]] for group in same)
        if is_inside or boxes + more > FIRST_LOOK:
            continue
        boxes += more
        for group in same:
            opened[group] = True
    return np.array(opened, bool)


def _boxes(graph: Graph) -> Flags:
    """Return the nodes that are no parameter folded into its reader."""
    is_box = np.ones(graph.num_nodes, bool)
    sources = graph.edge_source[graph.edge_source >= 0]
    is_box[sources[graph.kinds[sources] == NodeKind.PARAMETER]] = False
    heads = graph.heads[:, 0]
    is_box[heads[heads >= 0]] = True
    return is_box


def _structures(parent: list[int], alike: list[int]) -> list[list[int]]:
    """Return the groups by depth and structure, outer ones first."""
    depth: list[int] = []
    found: dict[tuple[int, int], list[int]] = {}
    for group, around in enumerate(parent):
        depth.append(0 if around < 0 else depth[around] + 1)
        found.setdefault((depth[group], alike[group]), []).append(group)
    return [found[key] for key in sorted(found, key=lambda key: key[0])]
