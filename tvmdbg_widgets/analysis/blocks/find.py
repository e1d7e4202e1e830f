"""Search for groups of a graph, in execution order or depth first."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.analysis.blocks.placing import placed
from tvmdbg_widgets.analysis.blocks.repeats import BlockSearch, RepeatedBlock
from tvmdbg_widgets.analysis.blocks.sequence import (
    Ints,
    Letters,
    Sequence,
    delegate_calls,
    gathered,
)
from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups

_ENOUGH = 0.5  # least share of operators in blocks for which execution order is kept


def groups(graph: Graph) -> Groups:
    """Return the nested groups of a graph: runs of blocks of equal structure, and scopes."""
    with collector_paused():
        return _groups(graph)


def _groups(graph: Graph) -> Groups:
    letters = Letters.of(graph)
    # Nodes that are neither on nor behind a cycle.
    ordered = graph.order.nodes[: graph.order.settled].astype(np.int64)
    operators = ordered[letters.is_operator[ordered]].astype(np.int64)
    calls = delegate_calls(graph)
    operators = gathered(graph, operators, calls)
    search, blocks = _searched(graph, letters, operators)
    if not calls and _repeated_operators(blocks) < _ENOUGH * len(operators):
        other = depth_first(graph, operators)
        second, more = _searched(graph, letters, other)
        if _repeated_operators(more) > _repeated_operators(blocks):
            search, blocks = second, more
    return placed(graph, search, blocks, len(ordered))


def _searched(
    graph: Graph, letters: Letters, operators: Ints
) -> tuple[BlockSearch, tuple[RepeatedBlock, ...]]:
    sequence = Sequence.of(graph, letters, operators)
    place = np.full(graph.num_nodes, len(operators), np.int64)
    place[operators] = np.arange(len(operators))
    known = graph.edge_source >= 0
    source, reader = graph.edge_source[known], place[graph.edge_target[known]]
    first = np.full(graph.num_nodes + 1, len(operators), np.int64)
    last = np.full(graph.num_nodes + 1, -1, np.int64)
    np.minimum.at(first, source, reader)
    np.maximum.at(last, source, reader)
    first[-1], last[-1] = -1, len(operators)
    search = BlockSearch(sequence, first[sequence.outer], last[sequence.outer])
    return search, search.all()


def _repeated_operators(blocks: tuple[RepeatedBlock, ...]) -> int:
    return sum(block.end - block.start for block in blocks if block.inside or block.repeats == 1)


def depth_first(graph: Graph, operators: Ints) -> Ints:
    """Return the operators depth first from the outputs, with control dependencies last."""
    wanted = np.zeros(graph.num_nodes + 1, np.bool_)
    wanted[operators] = True
    keep = wanted[graph.edge_source] & wanted[graph.edge_target]
    source = np.concatenate([graph.edge_source[keep], graph.control_source])
    target = np.concatenate([graph.edge_target[keep], graph.control_target])
    both = wanted[source] & wanted[target]
    source, target = source[both], target[both]
    by_target = np.argsort(target, kind="stable")
    offsets = np.searchsorted(target[by_target], np.arange(graph.num_nodes + 1)).tolist()
    before: list[int] = source[by_target][::-1].tolist()  # the last operand is pushed first
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
