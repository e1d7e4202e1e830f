"""Checks of the shown part of a graph; ``js/src/graph/data/links.ts`` finds its nodes."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.slips import fields_of, one_of
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import Neighbors

ISOLATIONS = ("upstream", "downstream", "around", "path")


def levels(
    graph: Graph,
    starts: Iterable[int],
    *,
    up: bool = False,
    down: bool = False,
) -> npt.NDArray[np.int32]:
    """Return the distance of each node from the nearest start, or -1."""
    known = graph.edge_source >= 0
    source, target = graph.edge_source[known], graph.edge_target[known]
    ways = [(target, source)] * up + [(source, target)] * down
    near = [Neighbors.of(*way, graph.num_nodes) for way in ways]
    ends = (graph.kinds == NodeKind.PARAMETER).tolist()
    distances = [-1] * graph.num_nodes
    front = sorted(set(starts))
    for node in front:
        distances[node] = 0
    level = 0
    while front:
        level += 1
        reached: list[int] = []
        for neighbors in near:
            for node in front:
                for other in neighbors[node]:
                    if distances[other] < 0:
                        distances[other] = level
                        if not ends[other]:
                            reached.append(other)
        front = reached
    return np.array(distances, np.int32)


def checked_isolation(graph: Graph | None, given: object) -> dict[str, Any] | None:
    """Return the wanted part of a graph as ``{"kind", "nodes", "hops"}``, nodes by id."""
    if given is None:
        return None
    if graph is None:
        raise ValueError("no graph to show a part of")
    fields = fields_of(given, "isolate", ("kind", "nodes", "hops"))
    kind = one_of("kind", fields.get("kind"), ISOLATIONS)
    named = fields.get("nodes")
    several = named if isinstance(named, list | tuple) else [named]
    nodes = list(dict.fromkeys(_node_id(graph, node) for node in several))
    if not nodes or (kind == "path" and len(nodes) != 2):
        wanted = "two nodes" if kind == "path" else "at least one node"
        raise ValueError(f"{kind} takes {wanted}, found {len(nodes)}")
    hops = fields.get("hops")
    if kind == "around":
        hops = 1 if hops is None else hops
        if isinstance(hops, bool) or not isinstance(hops, int) or hops < 0:
            raise ValueError(f"hops is a whole number from 0, found {hops!r}")
    elif hops is not None:
        raise ValueError(f"only around takes hops, not {kind}")
    if kind == "path" and not between(graph, *nodes).any():
        first, second = (f"#{node} {graph.names[node]!r}" for node in nodes)
        raise ValueError(f"no path between {first} and {second}, in either direction")
    return {"kind": kind, "nodes": nodes, "hops": hops}


def _node_id(graph: Graph, node: object) -> int:
    if isinstance(node, str):
        return graph.node(node).id
    if isinstance(node, bool) or not hasattr(node, "__index__"):
        raise TypeError(f"a node is named by its id or its name, not by {node!r}")
    number = operator.index(node)
    graph.entry_range(number)
    return number


def between(graph: Graph, start: int, end: int) -> npt.NDArray[np.bool_]:
    """Mark the nodes on all paths between two nodes, in either direction."""
    marked = np.zeros(graph.num_nodes, bool)
    for first, last in ((start, end), (end, start)):
        after = levels(graph, [first], down=True) >= 0
        if after[last]:
            marked |= after & (levels(graph, [last], up=True) >= 0)
    return marked
