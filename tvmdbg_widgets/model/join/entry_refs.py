"""An entry as users name it: ``38``, ``"conv2d"``, ``(38, 1)``, ``("conv2d", 1)`` or a tensor."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.tensors.tensor import Tensor

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.tensors.tensors import Tensors


def entry_ref(given: Any, graph: Graph | None, tensors: Tensors | None) -> tuple[int, int]:
    """Return the entry that is meant, the first output where none is named.

    Raises
    ------
    KeyError
        A name that no node, or more than one, has.
    IndexError
        A node or output that the run does not have.
    TypeError
        It names no entry.
    """
    if isinstance(given, Tensor):
        given = (given.node, given.output)
    node, output = given if isinstance(given, list | tuple) and len(given) == 2 else (given, 0)
    if isinstance(node, str):
        node = _named(node, graph, tensors)
    if any(isinstance(each, bool) or not hasattr(each, "__index__") for each in (node, output)):
        raise TypeError(f"an entry is a node or (node, output), not {given!r:.200}")
    entry = operator.index(node), operator.index(output)
    if graph is not None:
        _require(entry, graph)
    elif min(entry) < 0:
        raise IndexError(f"nodes and outputs start at 0, found {entry}")
    return entry


def _named(name: str, graph: Graph | None, tensors: Tensors | None) -> int:
    if graph is not None:
        return int(graph.node(name).id)
    if tensors is None:
        raise KeyError(f"no graph to look up {name!r:.200} in; name nodes by id")
    return int(tensors[name].node)


def _require(entry: tuple[int, int], graph: Graph) -> None:
    node, output = entry
    if not 0 <= node < graph.num_nodes:
        raise IndexError(f"no node {node}; the graph has nodes 0 to {graph.num_nodes - 1}")
    outputs = int(graph.entry_offsets[node + 1] - graph.entry_offsets[node])
    # A node without outputs can be looked at all the same.
    if not 0 <= output < max(1, outputs):
        raise IndexError(f"no output {output} of node {node}; its outputs are 0 to {outputs - 1}")
