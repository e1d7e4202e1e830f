"""Which nodes of a graph go out, and the groups around them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Group, Groups
from tvmdbg_widgets.model.graph.subgraph import Subgraph

__all__ = ["around_nodes", "cut", "entry_text", "part"]


def part(graph: Graph, nodes: Any) -> Subgraph:
    """Return the nodes that are meant: all for None, else a selection, a group, ids or nodes."""
    if nodes is None:
        return graph.subgraph(range(graph.num_nodes))
    if isinstance(nodes, Subgraph):
        return graph.subgraph(nodes.node_ids.tolist())
    if isinstance(nodes, Group):
        return graph.subgraph(nodes.nodes.tolist())
    if isinstance(nodes, int | str) or not hasattr(nodes, "__iter__"):
        raise TypeError(f"nodes are ids, run.select(query) or a subgraph, not {nodes!r:.80}")
    ids = [getattr(node, "id", node) for node in nodes]
    if not all(isinstance(node, int | np.integer) for node in ids):
        wrong = next(node for node in ids if not isinstance(node, int | np.integer))
        raise TypeError(f"a node is meant by its id, not by {wrong!r:.80}")
    return graph.subgraph(ids)


def around_nodes(groups: Groups, nodes: list[int]) -> list[int]:
    """Return the groups around any of the nodes, parents before their children."""
    used = np.zeros(len(groups), np.bool_)
    inner = groups.node_group[nodes]
    used[inner[inner >= 0]] = True
    for group in range(len(groups) - 1, -1, -1):
        if used[group] and groups.parent[group] >= 0:
            used[groups.parent[group]] = True
    found: list[int] = np.flatnonzero(used).tolist()
    return found


def cut(text: str, most: int) -> str:
    """Return a text of at most so many letters, and say how long it was where it is cut."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({counted(len(text), 'letter')})"


def entry_text(dtype: str | None, shape: tuple[int, ...] | None) -> str:
    """Return an entry in words: ``"float32[1, 64]"``, ``"float32?"``."""
    return f"{cut(dtype or '?', 60)}{'?' if shape is None else list(shape[:16])}"
