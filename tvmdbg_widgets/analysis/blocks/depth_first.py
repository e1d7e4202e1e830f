"""An order of the operators that keeps together what one value needs."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.analysis.blocks.sequence import Ints
from tvmdbg_widgets.model.graph.graph import Graph


def depth_first(graph: Graph, operators: Ints) -> Ints:
    """Return the operators in a topological order, each right behind what it alone needs.

    Depth first from the outputs of the graph, then from what else nothing reads; operands by
    position, control dependencies last.
    """
    wanted = np.zeros(graph.num_nodes + 1, np.bool_)
    wanted[operators] = True
    keep = wanted[graph.edge_source] & wanted[graph.edge_target]
    source = np.concatenate([graph.edge_source[keep], graph.control_source])
    target = np.concatenate([graph.edge_target[keep], graph.control_target])
    both = wanted[source] & wanted[target]
    source, target = source[both], target[both]
    by_target = np.argsort(target, kind="stable")
    offsets = np.searchsorted(target[by_target], np.arange(graph.num_nodes + 1)).tolist()
    # The last operand is put on the stack first.
    before: list[int] = source[by_target][::-1].tolist()
    count = len(before)
    read = np.zeros(graph.num_nodes, np.bool_)
    read[source] = True
    heads = [node for node in graph.heads[:, 0].tolist() if wanted[node]]
    roots = [*dict.fromkeys(heads), *operators[~read[operators]].tolist()]
    state = bytearray(graph.num_nodes)
    order: list[int] = []
    stack = roots[::-1]
    while stack:
        node = stack[-1]
        if state[node]:
            stack.pop()
            if state[node] == 1:
                state[node] = 2
                order.append(node)
            continue
        state[node] = 1
        for other in before[count - offsets[node + 1] : count - offsets[node]]:
            if not state[other]:
                stack.append(other)
    return np.array(order, np.int64)
