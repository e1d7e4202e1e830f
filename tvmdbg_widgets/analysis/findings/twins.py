"""Twins of operators: those at the same place in other instances of the same block.

Instances of equal structure have the same operators, attributes, shapes and wiring, so their
operators should take the same time. Magnitudes of values may also be compared where only the sizes
differ, as in the stages of a convolutional network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree
from tvmdbg_widgets.model.graph.graph import Graph, node_labels
from tvmdbg_widgets.model.graph.groups import Groups, GroupSource
from tvmdbg_widgets.model.graph.nodes import NodeKind

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
#: Labels of a block's operators in order, and their operands: reader, position, source, output.
_Wiring: TypeAlias = tuple[tuple[int, ...], tuple[tuple[int, int, int, int], ...]]

LEAST: Final = 2  # with a single twin nothing says which of the two is unusual
_LETTERS_SHOWN = 3
_OUTSIDE, _PARAMETER = -1, -2


class TwinSet(NamedTuple):
    """Twins of one operator."""

    nodes: tuple[int, ...]
    blocks: tuple[str, ...]
    same_sizes: bool

    def where(self) -> str:
        """``"the same place in blocks A, C and E (sizes differ)"``."""
        *first, last = self.blocks[:_LETTERS_SHOWN]
        if len(self.blocks) > _LETTERS_SHOWN:
            letters = f"{', '.join([*first, last])} …"
        else:
            letters = f"{', '.join(first)} and {last}" if first else last
        noun = agree(len(self.blocks), "block", "blocks")
        return f"the same place in {noun} {letters}{'' if self.same_sizes else ' (sizes differ)'}"


@dataclass(frozen=True)
class Structure:
    """Operators of all instances of one structure (int64 [instances, places])."""

    number: int
    nodes: Ints


@dataclass(eq=False)
class Twins:
    """Search for twins in the groups of a graph; blocks are compared when asked for."""

    graph: Graph
    groups: Groups
    _known: dict[int, Structure] = field(default_factory=dict, init=False)
    _wirings: dict[int, _Wiring] = field(default_factory=dict, init=False)

    def exact(self, node: int) -> TwinSet | None:
        """Return the twins with the same shapes and attributes; None for fewer than two."""
        for group in self._around(node):
            found = self._at_place(node, [int(self.groups.alike[group])])
            if len(found) >= LEAST:
                return TwinSet(found, (self.groups.tag(group),), same_sizes=True)
        return None

    def similar(self, node: int) -> TwinSet | None:
        """Return the twins whose sizes may differ; None for fewer than two."""
        for group in self._around(node):
            own = int(self.groups.alike[group])
            numbers = self._of_same_wiring(own)
            found = self._at_place(node, numbers)
            if len(found) >= LEAST:
                firsts = sorted(int(self._rows_of(number)[0]) for number in numbers)
                letters = tuple(dict.fromkeys(map(self.groups.tag, firsts)))
                return TwinSet(found, letters, same_sizes=len(numbers) == 1)
        return None

    def structures(self) -> Iterator[Structure]:
        """Yield the structures with three instances or more, outer ones first."""
        numbers, counts = np.unique(self.groups.alike[self._is_block], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            if count > LEAST or self._is_run_of_single(int(self._rows_of(number)[0])):
                structure = self._structure(number)
                if len(structure.nodes) > LEAST:
                    yield structure

    def _around(self, node: int) -> Iterator[int]:
        """Yield the blocks around a node, the innermost first."""
        group = int(self.groups.node_group[node])
        while group >= 0:
            if self._is_block[group]:
                yield group
            group = int(self.groups.parent[group])

    @cached_property
    def _is_block(self) -> Bools:
        """Groups that are one instance, or a run of single operators."""
        groups = self.groups
        holds = np.zeros(len(groups) + 1, np.bool_)
        holds[groups.parent] = True
        is_block: Bools = (groups.source != GroupSource.REPEAT) | ~holds[:-1]
        return is_block

    def _is_run_of_single(self, group: int) -> bool:
        return bool(self.groups.source[group] == GroupSource.REPEAT)

    @cached_property
    def _operators(self) -> tuple[Ints, Ints]:
        """The operators in the order of groups, and how many come before each place of it."""
        order = self.groups.order.astype(np.int64)
        is_operator = self.graph.kinds[order] >= NodeKind.OPERATOR
        before = np.concatenate([[0], np.cumsum(is_operator)]).astype(np.int64)
        return order[is_operator], before

    @cached_property
    def _counts(self) -> Ints:
        """Number of operators by group."""
        before = self._operators[1]
        return before[self.groups.end] - before[self.groups.start]

    @cached_property
    def _rows_by_number(self) -> tuple[Ints, Ints]:
        rows = np.flatnonzero(self._is_block)
        order = np.argsort(self.groups.alike[rows], kind="stable")
        return rows[order], self.groups.alike[rows][order].astype(np.int64)

    def _rows_of(self, number: int) -> Ints:
        rows, numbers = self._rows_by_number
        first, end = np.searchsorted(numbers, [number, number + 1])
        return rows[first:end]

    def _structure(self, number: int) -> Structure:
        known = self._known.get(number)
        if known is None:
            rows = self._rows_of(number)
            operators, before = self._operators
            first = before[self.groups.start[rows]]
            places = first[:, None] + np.arange(int(self._counts[rows[0]]))
            nodes = operators[places]
            if self._is_run_of_single(int(rows[0])):
                nodes = nodes.reshape(-1, 1)
            known = self._known[number] = Structure(number, nodes)
        return known

    def _at_place(self, node: int, numbers: Sequence[int]) -> tuple[int, ...]:
        """Return the operators at the place of a node in structures of equal wiring."""
        column = -1
        for number in numbers:
            at = np.argwhere(self._structure(number).nodes == node)
            column = int(at[0, 1]) if len(at) else column
        if column < 0:
            return ()
        found = np.concatenate([self._structure(number).nodes[:, column] for number in numbers])
        return tuple(sorted(set(found.tolist()) - {node}))

    def _of_same_wiring(self, number: int) -> list[int]:
        first = int(self._rows_of(number)[0])
        single, count = self._is_run_of_single(first), self._counts[first]
        is_run = self.groups.source == GroupSource.REPEAT
        # Runs of single operators are compared by one of these.
        near = self._is_block & (is_run == single) & (single | (self._counts == count))
        wanted = self._wiring(number)
        others = np.unique(self.groups.alike[near]).tolist()
        return [other for other in others if other == number or self._wiring(other) == wanted]

    def _wiring(self, number: int) -> _Wiring:
        known = self._wirings.get(number)
        if known is None:
            nodes = self._structure(number).nodes[0].tolist()
            known = self._wirings[number] = self._wiring_of(nodes)
        return known

    def _wiring_of(self, nodes: list[int]) -> _Wiring:
        graph = self.graph
        place = {node: at for at, node in enumerate(nodes)}
        wires = []
        for at, node in enumerate(nodes):
            edges = graph.in_edges(node)
            for position, source, output in zip(
                graph.edge_position[edges].tolist(),
                graph.edge_source[edges].tolist(),
                graph.edge_output[edges].tolist(),
                strict=True,
            ):
                given = source >= 0 and graph.kinds[source] == NodeKind.PARAMETER
                outside = _PARAMETER if given else _OUTSIDE
                wires.append((at, position, place.get(source, outside), output))
        return tuple(self._labels.codes[nodes].tolist()), tuple(wires)

    @cached_property
    def _labels(self) -> StringColumn:
        return node_labels(self.graph)
