"""Nodes and entries as users name them: ids, names, a group, ``("conv2d", 1)``, a tensor."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Group
from tvmdbg_widgets.model.graph.nodes import Node
from tvmdbg_widgets.model.graph.subgraph import Subgraph
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.model.tensors.tensors import Tensors


def node_ref(given: Any, graph: Graph | None, tensors: Tensors | None = None) -> int:
    """Return the id of the node that is meant."""
    if isinstance(given, str):
        return _named(given, graph, tensors)
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise TypeError(f"pass a node's id or name, not {given!r:.200}")
    node = operator.index(given)
    if node < 0 and graph is None:
        raise IndexError(f"no node {node}; node ids start at 0")
    if graph is not None and not 0 <= node < graph.num_nodes:
        raise IndexError(f"no node {node}; the graph has nodes 0 to {graph.num_nodes - 1}")
    return node


def entry_ref(given: Any, graph: Graph | None, tensors: Tensors | None = None) -> tuple[int, int]:
    """Return the entry that is meant, the first output where none is named."""
    if isinstance(given, Tensor):
        given = (given.node, given.output)
    named, output = given if isinstance(given, list | tuple) and len(given) == 2 else (given, 0)
    numbers = (output,) if isinstance(named, str) else (named, output)
    if any(isinstance(each, bool) or not hasattr(each, "__index__") for each in numbers):
        raise TypeError(f"an entry is a node or (node, output), not {given!r:.200}")
    node, output = node_ref(named, graph, tensors), operator.index(output)
    if graph is None:
        if output < 0:
            raise IndexError(f"no output {output} of node {node}; outputs start at 0")
        return node, output
    outputs = int(graph.entry_offsets[node + 1] - graph.entry_offsets[node])
    # A node without outputs can be looked at all the same.
    if not 0 <= output < max(1, outputs):
        raise IndexError(f"no output {output} of node {node}; its outputs are 0 to {outputs - 1}")
    return node, output


def listed(given: Any) -> Any:
    """Return what names nodes as a list; what does not is left as it is."""
    if isinstance(given, Group):
        return given.nodes.tolist()
    if isinstance(given, Subgraph):
        return given.node_ids.tolist()
    if isinstance(given, np.ndarray):
        return given.tolist()
    if isinstance(given, list | tuple | set | frozenset | range):
        return [_id(each) for each in given]
    return [_id(given)] if isinstance(given, int | np.integer | Node) else given


def _named(name: str, graph: Graph | None, tensors: Tensors | None) -> int:
    if graph is not None:
        return int(graph.node(name).id)
    if tensors is None:
        raise KeyError(f"no graph to look up {name!r:.200} in; name nodes by id")
    return int(tensors[name].node)


def _id(given: Any) -> Any:
    if isinstance(given, Node):
        return given.id
    return int(given) if isinstance(given, np.integer) else given
