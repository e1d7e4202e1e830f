"""One of two graphs to be matched as plain lists: keys, operands and readers of nodes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import Adjacency, parts
from tvmdbg_widgets.model.tensors.dtypes import canonical

#: Numbers of keys, shared by both graphs so that equal numbers mean equal keys.
Table: TypeAlias = dict[Hashable, int]

#: Operators of a function that only change how a tensor is stored.
_TRANSPARENT = frozenset({"cast", "layout_transform", "__copy", "copy", "device_copy"})
#: Operators that a quantiser adds to a function, always including the last two.
_QUANTISING = frozenset({"divide", "multiply", "round", "clip"})
_SAME = {
    "nn.contrib_conv2d_NCHWc": "nn.conv2d",
    "nn.contrib_dense_pack": "nn.dense",
    "__nop": "reshape",
    "nn.batch_flatten": "reshape",
}


def plain_parts(func_name: str, modules: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the operators of a function without casts, layouts and quantisation."""
    operators = [_SAME.get(part, part) for part in parts(func_name, modules)]
    if "round" in operators and "clip" in operators:
        operators = [part for part in operators if part not in _QUANTISING]
    return tuple(part for part in operators if part not in _TRANSPARENT)


@dataclass
class GraphSide:
    """One graph of N nodes as matching sees it; nodes of equal keys may match."""

    keys: list[int]
    reads: list[tuple[tuple[int, int], ...]]
    read_by: list[list[tuple[int, int, int]]]
    heads: list[list[int]]
    order: list[int]
    place: list[int]
    anchor: list[int]
    tokens: list[tuple[str, ...]]
    is_input: list[bool]
    elements: list[int]
    table: Table
    cyclic: bool
    whole: GraphSide | None = None

    @cached_property
    def sources(self) -> list[tuple[int, ...]]:
        """Sources of operands by position; -1 for sources that come later in the order."""
        sources: list[tuple[int, ...]] = [()] * len(self.reads)
        reads, place = self.reads, self.place
        for node in self.order:
            sources[node] = tuple([source for source, _output in reads[node]])
        if self.cyclic:
            for node in self.order:
                sources[node] = tuple(
                    each if each >= 0 and place[each] < place[node] else -1
                    for each in sources[node]
                )
        return sources

    @cached_property
    def roles(self) -> list[int]:
        """Key and read outputs per node, as numbers shared by both sides."""
        table, roles, all_reads = self.table, list(self.keys), self.reads
        for node in self.order:
            outputs = [output for _source, output in all_reads[node]]
            if any(outputs):
                key = self.keys[node], "reads", *outputs
                roles[node] = table.setdefault(key, len(table))
        return roles

    @cached_property
    def given(self) -> list[int]:
        """Key and produced graph outputs per node."""
        table, keys = self.table, list(self.keys)
        for node, heads in enumerate(self.heads):
            if heads:
                keys[node] = table.setdefault((self.keys[node], "gives", *heads), len(table))
        return keys

    @cached_property
    def readers(self) -> list[list[tuple[int, int]]]:
        """Readers of each node, with a number for position and output."""
        readers: list[list[tuple[int, int]]] = [[]] * len(self.read_by)
        read_by, place = self.read_by, self.place
        for node in self.order:
            readers[node] = [
                (reader, position << 16 | output & 0xFFFF)
                for reader, position, output in read_by[node]
            ]
        if self.cyclic:
            for node in self.order:
                readers[node] = [
                    (reader if place[reader] > place[node] else -1, role)
                    for reader, role in readers[node]
                ]
        return readers

    @cached_property
    def grounded_up(self) -> list[bool]:
        """Whether an input of the graph leads to a node: otherwise its past says little."""
        if self.whole is not None:
            return self.whole.grounded_up
        grounded, sources = [*self.is_input, False], self.sources
        for node in self.order:
            grounded[node] = grounded[node] or any(grounded[source] for source in sources[node])
        return grounded

    @cached_property
    def grounded_down(self) -> list[bool]:
        """Whether a node leads to an output of the graph."""
        if self.whole is not None:
            return self.whole.grounded_down
        grounded, sources = [*map(bool, self.heads), False], self.sources
        for node in reversed(self.order):
            if grounded[node]:
                for source in sources[node]:
                    grounded[source] = True
        grounded[-1] = False
        return grounded

    def unmatched(self) -> list[int]:
        """Return the unmatched nodes that take part, in order."""
        anchor = self.anchor
        self._left = [node for node in self._left if not anchor[node]]
        return list(self._left)

    @cached_property
    def _left(self) -> list[int]:
        return self.order

    def reopen(self) -> None:
        """Reset the unmatched nodes, since some matches were removed."""
        self.__dict__.pop("_left", None)

    @cached_property
    def line(self) -> list[int]:
        """Operators in an order that only wiring decides: operands first, by position.

        It starts from the outputs of the graph, independent of numbers and names; nodes that lead
        to no output are left out. All views of one graph share it.
        """
        if self.whole is not None:
            return self.whole.line
        sources, tokens = self.sources, self.tokens
        heads = [(head, node) for node, given in enumerate(self.heads) for head in given]
        seen = bytearray(len(self.keys) + 1)
        seen[-1] = 1  # read for a source of -1
        order: list[int] = []
        for _head, root in sorted(heads):
            if seen[root]:
                continue
            seen[root] = 1
            stack = [(root, iter(sources[root]))]
            while stack:
                node, left = stack[-1]
                for source in left:
                    if not seen[source]:
                        seen[source] = 1
                        stack.append((source, iter(sources[source])))
                        break
                else:
                    stack.pop()
                    if tokens[node]:
                        order.append(node)
        return order


def side_of(graph: Graph, table: Table) -> GraphSide:
    """Return a graph unchanged; keys hold kind, operators, and dtypes and shapes of outputs."""
    count = graph.num_nodes
    order: list[int] = graph.topological_order.tolist()
    place = [0] * count
    for at, node in enumerate(order):
        place[node] = at
    ends = list(zip(graph.edge_source.tolist(), graph.edge_output.tolist(), strict=True))
    offsets = np.searchsorted(graph.edge_target, np.arange(count + 1)).tolist()
    grouped = Adjacency.by(graph.edge_source, count)
    edges = grouped.edges
    columns = graph.edge_target, graph.edge_position, graph.edge_output
    uses = list(zip(*(column[edges].tolist() for column in columns), strict=True))
    starts = grouped.offsets.tolist()
    heads: list[list[int]] = [[] for _ in range(count)]
    for at, (node, _output) in enumerate(graph.heads.tolist()):
        heads[node].append(at)
    plain = [plain_parts(name, graph.module_prefixes) for name in graph.func_names.unique]
    functions = graph.func_names.codes.tolist()
    computes = (graph.kinds >= NodeKind.OPERATOR).tolist()
    return GraphSide(
        keys=_keys(graph, table),
        reads=[tuple(ends[offsets[i] : offsets[i + 1]]) for i in range(count)],
        read_by=[uses[starts[i] : starts[i + 1]] for i in range(count)],
        heads=heads,
        order=order,
        place=place,
        anchor=[0] * count,
        tokens=[
            plain[code] if is_operator else ()
            for code, is_operator in zip(functions, computes, strict=True)
        ],
        is_input=(graph.kinds == NodeKind.INPUT).tolist(),
        elements=_elements(graph),
        table=table,
        cyclic=bool(graph.order.cycles),
    )


def _elements(graph: Graph) -> list[int]:
    if not graph.num_entries:
        return [-1] * graph.num_nodes
    dims, bounds = graph.shape_dims.tolist(), graph.shape_offsets.tolist()
    firsts = np.minimum(graph.entry_offsets[:-1], graph.num_entries - 1)
    known = graph.shape_known[firsts] & (np.diff(graph.entry_offsets) > 0)
    return [
        math.prod(dims[bounds[entry] : bounds[entry + 1]]) if is_known else -1
        for entry, is_known in zip(firsts.tolist(), known.tolist(), strict=True)
    ]


def _keys(graph: Graph, table: Table) -> list[int]:
    dims, bounds = graph.shape_dims.tolist(), graph.shape_offsets.tolist()
    known = graph.shape_known.tolist()
    dtypes = [canonical(text) for text in graph.dtypes.unique]
    entries = []
    for entry, code in enumerate(graph.dtypes.codes.tolist()):
        shape = tuple(dims[bounds[entry] : bounds[entry + 1]]) if known[entry] else None
        entries.append(table.setdefault((dtypes[code], shape), len(table)))
    split = [parts(name, graph.module_prefixes) for name in graph.func_names.unique]
    offsets = graph.entry_offsets.tolist()
    keys = []
    kinds = graph.kinds.tolist()
    for node, function in enumerate(graph.func_names.codes.tolist()):
        # Without a params file it is a guess which null nodes are parameters.
        computes = kinds[node] >= NodeKind.OPERATOR
        key = computes, split[function], tuple(entries[offsets[node] : offsets[node + 1]])
        keys.append(table.setdefault(key, len(table)))
    return keys


def plain_side(side: GraphSide, *, flow: bool = False) -> GraphSide:
    """Return the graph without casts, layouts and quantisation; with `flow` without parameters."""
    # Only unmatched nodes are complete; matched ones have the neighbors that are not matched.
    count, table = len(side.keys), side.table
    passes = _PassThroughNodes(side)
    reads, read_by, keys = list(side.reads), [list[tuple[int, int, int]]()] * count, list(side.keys)
    heads = list(side.heads)
    left = [node for node in side.unmatched() if not passes.through(node)]
    if flow:
        left = [node for node in left if side.tokens[node] or side.is_input[node]]
    concerned = set(left)
    for node in left:
        readers, given = passes.readers(node)
        concerned.update(readers)
        if given:
            heads[node] = sorted((*side.heads[node], *given))
    for node in sorted(concerned, key=side.place.__getitem__):
        if flow and not (side.tokens[node] or side.is_input[node]):
            continue
        reads[node] = tuple(passes.reads(node, flow))
        for position, (source, output) in enumerate(reads[node]):
            if source >= 0:
                if not read_by[source]:
                    read_by[source] = []
                read_by[source].append((node, position, output))
        size = "input" if side.is_input[node] else side.elements[node]
        keys[node] = table.setdefault(("plain", side.tokens[node] or size), len(table))
    return replace(
        side, keys=keys, reads=reads, read_by=read_by, heads=heads, order=left, whole=side
    )


class _PassThroughNodes:
    def __init__(self, side: GraphSide) -> None:
        self._side = side
        self._origin: dict[int, int] = {}

    def through(self, node: int) -> bool:
        side = self._side
        if side.tokens[node] or side.is_input[node] or not side.reads[node]:
            return False
        source = side.reads[node][0][0]
        return source >= 0 and side.place[source] < side.place[node]

    def origin(self, node: int) -> int:
        way, at = [], node
        while at not in self._origin and self.through(at):
            way.append(at)
            at = self._side.reads[at][0][0]
        origin = self._origin.get(at, at)
        for step in way:
            self._origin[step] = origin
        return origin

    def reads(self, node: int, flow: bool) -> Iterator[tuple[int, int]]:
        side = self._side
        for source, output in side.reads[node]:
            if source < 0:
                yield -1, 0
                continue
            origin = self.origin(source)
            if not flow or side.tokens[origin] or side.is_input[origin]:
                yield origin, output if origin == source else 0

    def readers(self, node: int) -> tuple[list[int], list[int]]:
        side = self._side
        readers: list[int] = []
        given: list[int] = []
        waiting, seen = [node], {node}
        while waiting:
            at = waiting.pop()
            for reader, position, _output in side.read_by[at]:
                if not self.through(reader):
                    readers.append(reader)
                elif position == 0 and reader not in seen:
                    seen.add(reader)
                    given += side.heads[reader]
                    waiting.append(reader)
        return readers, given
