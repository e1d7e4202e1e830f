"""Which operators of the edge program the nodes of delegates' graphs come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

#: Instruction of a delegate's call, and index of a node in that delegate's graph.
DelegateNodeId: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EdgeNode:
    """The operator of the edge program that a delegate's node comes from."""

    node: int
    alternatives: int = 1


@dataclass(frozen=True, eq=False)
class DelegateEdges:
    """The operators of the edge program that delegates' nodes come from."""

    of: Mapping[DelegateNodeId, EdgeNode]
    part_of: Mapping[int, tuple[DelegateNodeId, ...]]
    beside: Mapping[int, tuple[DelegateNodeId, ...]]
    contradicted: frozenset[int] = frozenset()

    @cached_property
    def _parts(self) -> Mapping[DelegateNodeId, tuple[int, ...]]:
        found: dict[DelegateNodeId, list[int]] = {}
        for node, owners in self.part_of.items():
            for owner in owners:
                found.setdefault(owner, []).append(node)
        return {owner: tuple(nodes) for owner, nodes in found.items()}

    def nodes_of(self, instruction: int, index: int) -> tuple[int, ...]:
        """Return the edge nodes that a delegate's node computes: its own and its parts."""
        own, parts = self.of.get((instruction, index)), self._parts.get((instruction, index), ())
        return tuple(sorted({*parts, own.node} if own is not None else parts))
