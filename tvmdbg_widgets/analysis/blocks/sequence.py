"""The operators of a graph one after the other, as letters with wires."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.graph import structure
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Letters:
    """What each operator is, whatever the order."""

    is_operator: Bools
    code: Ints
    first_edge: Ints

    @classmethod
    def of(cls, graph: Graph) -> Letters:
        """Return the letters of a graph."""
        known = graph.edge_source >= 0
        entry = graph.entry_offsets[graph.edge_source] + graph.edge_output
        kinds = np.zeros(graph.num_edges, np.uint64)
        entries = structure.entry_signatures(graph)
        kinds[known] = entries[entry[known]]
        first = np.searchsorted(graph.edge_target, np.arange(graph.num_nodes + 1))
        read = structure.segment_sums(structure.mixed(kinds, graph.edge_position), first)
        whole = structure.mixed(structure.signatures(graph, entries), read)
        code = np.unique(whole, return_inverse=True)[1]
        return cls(graph.kinds >= NodeKind.OPERATOR, code.astype(np.int64), first.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Sequence:
    """The n operators of a graph in a topological order, with their S operands."""

    nodes: Ints
    letters: Ints
    slot: Ints
    source: Ints
    entry: Ints
    output: Ints
    outer: Ints
    reader: Ints
    last: Ints
    crossing: Ints

    @classmethod
    def of(cls, graph: Graph, letters: Letters, nodes: Ints) -> Sequence:
        """Return the sequence of these operators, which must be in a topological order."""
        place = np.full(graph.num_nodes + 1, -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        counts = (letters.first_edge[1:] - letters.first_edge[:-1])[nodes]
        slot = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(counts, out=slot[1:])
        edge = np.repeat(letters.first_edge[nodes] - slot[:-1], counts) + np.arange(slot[-1])
        node = graph.edge_source[edge].astype(np.int64)
        output = graph.edge_output[edge].astype(np.int64)
        source = place[node]
        entry = np.where(node >= 0, graph.entry_offsets[node] + output, -2 - np.arange(len(edge)))
        outer = np.where((node >= 0) & ~letters.is_operator[node], node, -1)
        reader = np.repeat(np.arange(len(nodes)), counts)
        return cls(
            nodes,
            letters.code[nodes],
            slot,
            source,
            entry,
            output,
            outer,
            reader,
            *_lifetimes(source, entry, reader, len(nodes)),
        )


def _lifetimes(source: Ints, entry: Ints, reader: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the last reader of each operand's entry, and the entries that cross each border."""
    inside = source >= 0
    last = np.full(int(entry.max(initial=0)) + 1, -1, np.int64)
    # Operands come by reader: the last one written stays.
    last[entry[inside]] = reader[inside]
    final = np.where(inside, last[np.maximum(entry, 0)], -1)
    ends = inside & (final == reader)
    made = np.full(len(last), -1, np.int64)
    made[entry[ends]] = source[ends]
    alive = made >= 0
    steps = np.bincount(made[alive] + 1, minlength=count + 2) - np.bincount(
        last[alive] + 1, minlength=count + 2
    )
    return final, np.cumsum(steps)[: count + 1].astype(np.int64)
