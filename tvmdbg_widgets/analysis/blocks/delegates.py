"""Operators that one call of a delegate ran, one after the other."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from tvmdbg_widgets.analysis.blocks.sequence import Ints
from tvmdbg_widgets.model.graph.graph import Graph

#: Attribute of a node that says which call of which delegate ran it.
ATTRIBUTE: Final = "delegate"
#: Attribute of a node that says which operator of the delegate computes it.
OPERATOR: Final = "delegate_node"


def delegate_calls(graph: Graph) -> dict[str, list[int]]:
    """Return the nodes of each call of a delegate that the graph tells of."""
    if ATTRIBUTE not in graph.attr_names:
        return {}
    found: dict[str, list[int]] = defaultdict(list)
    for node, attrs in enumerate(graph.attrs):
        if ATTRIBUTE in attrs:
            found[attrs[ATTRIBUTE]].append(node)
    return dict(found)


def operator_of(graph: Graph, node: int) -> str:
    """Return the operator of a delegate that computes a node, alone or with others; empty if none.

    What several of them compute belongs to none.
    """
    told = graph.attrs[node].get(OPERATOR, "").removeprefix("in ")
    return "" if " " in told else told


def gathered(graph: Graph, operators: Ints, calls: dict[str, list[int]]) -> Ints:
    """Return the operators in a topological order that keeps each call of a delegate together.

    Within a call the nodes of one operator of the delegate follow each other too. Otherwise they
    stay in the order given; so they do all where calls wait for each other.
    """
    if not calls:
        return operators
    parts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call, nodes in calls.items():
        for node in nodes:
            if operator := operator_of(graph, node):
                parts[call, operator].append(node)
    for sets in (parts.values(), calls.values()):
        operators = _together(graph, operators, sets)
    return operators


def _together(graph: Graph, operators: Ints, sets: Iterable[list[int]]) -> Ints:
    """Return the operators in a topological order that keeps each set of nodes together."""
    place = np.full(graph.num_nodes + 1, -1, np.int64)
    place[operators] = np.arange(len(operators))
    # The place of its first operator stands for a set, its own for any other operator.
    stands = np.arange(len(operators))
    for nodes in sets:
        held = place[nodes]
        held = held[held >= 0]
        if len(held):
            stands[held] = held.min()
    source, target = place[graph.edge_source], place[graph.edge_target]
    known = (source >= 0) & (target >= 0)
    source, target = stands[source[known]], stands[target[known]]
    pairs = np.unique(np.stack([source, target], axis=1)[source != target], axis=0)
    waits = np.bincount(pairs[:, 1], minlength=len(operators))
    readers: dict[int, list[int]] = defaultdict(list)
    for one, other in pairs.tolist():
        readers[one].append(other)
    members: dict[int, list[int]] = defaultdict(list)
    for at, leader in enumerate(stands.tolist()):
        members[leader].append(at)
    ready = [leader for leader in members if not waits[leader]]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        leader = heapq.heappop(ready)
        order += members[leader]
        for reader in readers[leader]:
            waits[reader] -= 1
            if not waits[reader]:
                heapq.heappush(ready, reader)
    return operators[order] if len(order) == len(operators) else operators
