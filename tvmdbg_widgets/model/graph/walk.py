"""Walks over edge columns: adjacency, reachability, order, cycles. None of them recurses."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Edges grouped by one end."""

    offsets: npt.NDArray[np.int64]
    edges: npt.NDArray[np.int32]

    @classmethod
    def by(cls, ends: npt.NDArray[np.int32], num_nodes: int) -> Adjacency:
        """Group edges by `ends` (int32 [M], the node at one end, -1 for none)."""
        order = np.argsort(ends, kind="stable").astype(np.int32)
        order = order[int((ends < 0).sum()) :]
        offsets = np.zeros(num_nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(ends[ends >= 0], minlength=num_nodes), out=offsets[1:])
        offsets.flags.writeable = False
        order.flags.writeable = False
        return cls(offsets, order)

    def __getitem__(self, node: int) -> npt.NDArray[np.int32]:
        return self.edges[self.offsets[node] : self.offsets[node + 1]]


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Neighbors of each node as plain lists, which pure Python walks fastest."""

    offsets: list[int]
    nodes: list[int]

    @classmethod
    def of(
        cls, near: npt.NDArray[np.int32], far: npt.NDArray[np.int32], num_nodes: int
    ) -> Neighbors:
        """Return the `far` ends of the edges of each `near` end (int32 [M] both, none -1)."""
        grouped = Adjacency.by(near, num_nodes)
        return cls(grouped.offsets.tolist(), far[grouped.edges].tolist())

    def __getitem__(self, node: int) -> list[int]:
        return self.nodes[self.offsets[node] : self.offsets[node + 1]]

    def reach(self, starts: Iterable[int]) -> frozenset[int]:
        """Return every node that can be reached from `starts` by at least one edge."""
        offsets, nodes = self.offsets, self.nodes
        seen: set[int] = set()
        stack = list(starts)
        while stack:
            node = stack.pop()
            for other in nodes[offsets[node] : offsets[node + 1]]:
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return frozenset(seen)


@dataclass(frozen=True, slots=True)
class TopologicalOrder:
    """A topological order and what stands in its way."""

    nodes: npt.NDArray[np.int32]
    cycles: tuple[tuple[int, ...], ...]
    settled: int


def topological(
    source: npt.NDArray[np.int32], target: npt.NDArray[np.int32], num_nodes: int
) -> TopologicalOrder:
    """Order nodes by Kahn's method; ids already in order are kept as they are."""
    if bool((source < target).all()):
        return TopologicalOrder(_frozen(np.arange(num_nodes, dtype=np.int32)), (), num_nodes)
    followers = Neighbors.of(source, target, num_nodes)
    waiting: list[int] = np.bincount(target, minlength=num_nodes).tolist()
    ready = deque(node for node, count in enumerate(waiting) if count == 0)
    done: list[int] = []
    while ready:
        node = ready.popleft()
        done.append(node)
        for other in followers[node]:
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    left = sorted(set(range(num_nodes)).difference(done)) if len(done) < num_nodes else []
    nodes = _frozen(np.array(done + left, dtype=np.int32))
    return TopologicalOrder(nodes, _cycles(followers, left), len(done))


def _cycles(followers: Neighbors, among: list[int]) -> tuple[tuple[int, ...], ...]:
    """Return the strongly connected groups of more than one node, and nodes that read themselves.

    A node's number in `place` is its position on the path; a node is on a cycle with all nodes
    behind the lowest place it reaches (path-based method of Gabow, with explicit stacks).
    """
    place: dict[int, int] = {}
    settled: set[int] = set()
    path: list[int] = []
    bounds: list[int] = []
    groups: list[tuple[int, ...]] = []
    for root in among:
        work = [] if root in place else [(root, iter([root]))]
        while work:
            node, ahead = work[-1]
            other = next(ahead, None)
            if other is None:
                work.pop()
                if bounds and len(work) > 0 and bounds[-1] == place[node]:
                    bounds.pop()
                    group = path[place[node] :]
                    del path[place[node] :]
                    settled.update(group)
                    if len(group) > 1 or node in followers[node]:
                        groups.append(tuple(sorted(group)))
            elif other not in place:
                place[other] = len(path)
                path.append(other)
                bounds.append(place[other])
                work.append((other, iter(followers[other])))
            elif other not in settled:
                while bounds[-1] > place[other]:
                    bounds.pop()
    return tuple(sorted(groups))


def _frozen(array: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    array.flags.writeable = False
    return array
