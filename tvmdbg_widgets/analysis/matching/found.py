"""The pairs found so far, and how one pair leads to the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide

if TYPE_CHECKING:
    from tqdm.auto import tqdm


_FIRST_ANCHOR = -2
#: Of so many times fewer pairs than there are unmatched nodes each is looked at.
_FAR = 4


class MatchedPairs:
    """Pairs of nodes of two sides, with certainty and reason."""

    def __init__(self, a: GraphSide, b: GraphSide, bar: tqdm[Any]) -> None:
        self.pairs: dict[tuple[int, int], tuple[Certainty, Reason]] = {}
        self._anchor_a, self._anchor_b = a.anchor, b.anchor
        self._step = bar.update
        self._next = _FIRST_ANCHOR
        self.node_b: dict[int, int] = {}
        self.node_a: dict[int, int] = {}

    def add(self, a: int, b: int, certainty: Certainty, reason: Reason) -> None:
        """Match two nodes that are not matched yet."""
        self._anchor(a, b)
        self.pairs[a, b] = certainty, reason

    def add_parts(self, one: int, many: Sequence[int], swap: bool, sure: Certainty) -> None:
        """Match a fused function to its parts, of which the last gives its value."""
        for part in many:
            pair = (part, one) if swap else (one, part)
            self.pairs[pair] = sure, Reason.PARTS
        for part in many[:-1]:
            (self._anchor_a if swap else self._anchor_b)[part] = self._next
            self._next -= 1
        last = many[-1]
        self._anchor(*((last, one) if swap else (one, last)))

    def _anchor(self, a: int, b: int) -> None:
        self._anchor_a[a] = self._anchor_b[b] = self._next
        self.node_a[self._next], self.node_b[self._next] = a, b
        self._next -= 1
        self._step()

    def partner_b(self, a: int) -> int:
        """Return the node of `b` that gives what a matched node of `a` gives, -1 for none."""
        return self.node_b.get(self._anchor_a[a], -1)

    def partner_a(self, b: int) -> int:
        """Return the node of `a` that gives what a matched node of `b` gives, -1 for none."""
        return self.node_a.get(self._anchor_b[b], -1)


def agree(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> bool:
    """Whether no two operands of the same position are matched to others than each other."""
    reads_a, reads_b = a.reads[node_a], b.reads[node_b]
    if len(reads_a) != len(reads_b):
        return True
    for (source_a, _), (source_b, _) in zip(reads_a, reads_b, strict=True):
        if source_a < 0 or source_b < 0:
            continue
        anchor_a, anchor_b = a.anchor[source_a], b.anchor[source_b]
        if anchor_a and anchor_b and anchor_a != anchor_b:
            return False
    return True


def spread(
    a: GraphSide,
    b: GraphSide,
    pairs: Iterable[tuple[int, int, Certainty]],
    add: Callable[[int, int, Certainty], None],
) -> None:
    """Match what stands in one role only beside matched nodes, and so on from there."""
    waiting = _beside_open(a, b, list(pairs))
    while waiting:
        node_a, node_b, sure = waiting.pop()
        for next_a, next_b in (*_operands(a, b, node_a, node_b), *_readers(a, b, node_a, node_b)):
            if a.anchor[next_a] or b.anchor[next_b] or not agree(a, b, next_a, next_b):
                continue
            add(next_a, next_b, sure)
            waiting.append((next_a, next_b, sure))


def _beside_open(
    a: GraphSide, b: GraphSide, pairs: list[tuple[int, int, Certainty]]
) -> list[tuple[int, int, Certainty]]:
    """Return the pairs that have unmatched nodes beside them on both sides."""
    for side, at in ((a, 0), (b, 1)):
        left = side.unmatched()
        if len(pairs) * _FAR < len(left):
            continue
        near = {source for node in left for source, _output in side.reads[node]}
        near.update(reader for node in left for reader, _at, _output in side.read_by[node])
        pairs = [pair for pair in pairs if pair[at] in near]
    return pairs


def _operands(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> list[tuple[int, int]]:
    reads_a, reads_b = a.reads[node_a], b.reads[node_b]
    if len(reads_a) == len(reads_b) and agree(a, b, node_a, node_b):
        return [
            (source_a, source_b)
            for (source_a, output_a), (source_b, output_b) in zip(reads_a, reads_b, strict=True)
            if source_a >= 0
            and source_b >= 0
            and output_a == output_b
            and not a.anchor[source_a]
            and not b.anchor[source_b]
            and a.keys[source_a] == b.keys[source_b]
        ]
    mine, theirs = _computed(a, reads_a), _computed(b, reads_b)
    return [(node, theirs[role]) for role, node in mine.items() if role in theirs]


def _computed(side: GraphSide, reads: tuple[tuple[int, int], ...]) -> dict[Hashable, int]:
    """Return what is read and alone in its role; parameters go by order, not by looks."""
    return _roles(
        side,
        (
            ((side.keys[source], output), source)
            for source, output in reads
            if source >= 0 and (side.reads[source] or side.is_input[source])
        ),
    )


def _readers(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> list[tuple[int, int]]:
    mine = _roles(a, (((a.keys[node], at, out), node) for node, at, out in a.read_by[node_a]))
    theirs = _roles(b, (((b.keys[node], at, out), node) for node, at, out in b.read_by[node_b]))
    return [(node, theirs[role]) for role, node in mine.items() if role in theirs]


def _roles(side: GraphSide, beside: Iterable[tuple[Hashable, int]]) -> dict[Hashable, int]:
    """Return the unmatched nodes that are alone in their role."""
    found: dict[Hashable, int] = {}
    for role, node in beside:
        if node >= 0 and not side.anchor[node]:
            found[role] = node if found.get(role, node) == node else -1
    return {role: node for role, node in found.items() if node >= 0}
