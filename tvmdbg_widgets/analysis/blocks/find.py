"""The groups of a graph."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.analysis.blocks.delegates import delegate_calls, gathered
from tvmdbg_widgets.analysis.blocks.depth_first import depth_first
from tvmdbg_widgets.analysis.blocks.placing import placed
from tvmdbg_widgets.analysis.blocks.repeats import BlockSearch, RepeatedBlock
from tvmdbg_widgets.analysis.blocks.sequence import Ints, Letters, Sequence
from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups

#: Share of the operators that blocks must hold for the order of execution to be kept.
_ENOUGH = 0.5


def groups(graph: Graph) -> Groups:
    """Return the nested groups of a graph: runs of blocks of the same structure, and scopes.

    Blocks are looked for in the order of execution, and depth first from the outputs where that
    order interleaves what belongs together. Names and the kinds of inputs play no part.
    """
    with collector_paused():
        return _groups(graph)


def _groups(graph: Graph) -> Groups:
    letters = Letters.of(graph)
    ordered = _settled(graph)
    operators = ordered[letters.is_operator[ordered]].astype(np.int64)
    calls = delegate_calls(graph)
    operators = gathered(graph, operators, calls)
    search, found = _searched(graph, letters, operators)
    if not calls and _held(found) < _ENOUGH * len(operators):
        other = depth_first(graph, operators)
        second, more = _searched(graph, letters, other)
        if _held(more) > _held(found):
            search, found = second, more
    return placed(graph, search, found, len(ordered))


def _settled(graph: Graph) -> Ints:
    """Return the nodes that are neither on nor behind a cycle, in execution order."""
    order = graph.order
    return order.nodes[: order.settled].astype(np.int64)


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


def _held(found: tuple[RepeatedBlock, ...]) -> int:
    """Return how many operators are in blocks of several."""
    return sum(each.end - each.start for each in found if each.inside or each.repeats == 1)
