"""Nodes that some words find; js/src/graph/search.ts finds the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.texts import shape_text
from tvmdbg_widgets.model.labels import label

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph import Graph

_ID = re.compile(r"#[0-9]+")


def search(graph: Graph, query: str) -> list[int]:
    """Return node ids in ascending order; none for an empty query.

    Every word must occur in the id, name, func_name, operators, op kind, dtypes or shapes;
    ``#3`` is node 3 and no other.
    """
    words = query.lower().split()
    if not words:
        return []
    ids = [int(word[1:]) for word in words if _ID.fullmatch(word)]
    plain = [word for word in words if not _ID.fullmatch(word)]
    nodes = range(graph.num_nodes) if not ids else [ids[0]] if len({*ids}) == 1 else []
    return [
        node
        for node in nodes
        if node < graph.num_nodes and (not plain or _has(_text(graph, node), plain))
    ]


def _has(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)


def _text(graph: Graph, node: int) -> str:
    func_name = graph.func_names[node]
    parts = [f"#{node}", graph.names[node], func_name, label(func_name), graph.nodes[node].op_kind]
    for output in range(len(graph.entry_range(node))):
        parts.append(graph.dtype(node, output) or "")
        shape = graph.shape(node, output)
        if shape is not None:
            parts.append(shape_text(shape))
            parts += [by.join(map(str, shape)) for by in (",", "×", "x")]
    return "\n".join(parts).lower()
