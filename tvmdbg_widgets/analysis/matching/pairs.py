"""Pairs of matched nodes, and propagation to neighbors, fused parts and parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide

if TYPE_CHECKING:
    from tqdm.auto import tqdm


Key = TypeVar("Key", bound=Hashable)
NewPairs: TypeAlias = list[tuple[int, int, Certainty]]

_FIRST_ANCHOR = -2
_FAR = 4  # ratio of unmatched nodes to pairs above which every pair is followed


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
        """Match a fused function to its parts; the last part computes its value."""
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
        """Return the node of `b` that computes the value of a matched node of `a`, -1 for none."""
        return self.node_b.get(self._anchor_a[a], -1)

    def partner_a(self, b: int) -> int:
        """Return the node of `a` that computes the value of a matched node of `b`, -1 for none."""
        return self.node_a.get(self._anchor_b[b], -1)


def unique_nodes(keyed: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    """Return nodes by key, without keys of several nodes."""
    node_of: dict[Key, int] = {}
    for key, node in keyed:
        node_of[key] = node if node_of.get(key, node) == node else -1
    return {key: node for key, node in node_of.items() if node >= 0}


def paired(a: dict[Key, int], b: dict[Key, int]) -> dict[int, int]:
    """Return for nodes of `a` the node of `b` with the same key."""
    return {node: b[key] for key, node in a.items() if key in b}


def read_equally(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> bool:
    """Return whether two nodes read the same matched node in the same position."""
    return any(
        source_a >= 0 and source_b >= 0 and a.anchor[source_a] == b.anchor[source_b] != 0
        for (source_a, _), (source_b, _) in zip(a.reads[node_a], b.reads[node_b], strict=False)
    )


def agree(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> bool:
    """Return whether no operands of equal position are matched elsewhere."""
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


def spread(a: GraphSide, b: GraphSide, matches: MatchedPairs, pairs: NewPairs) -> None:
    """Match nodes that are alone in their role next to a match; repeat."""
    waiting = _pairs_beside_unmatched(a, b, pairs) if len(pairs) > 1 else list(pairs)
    while waiting:
        node_a, node_b, sure = waiting.pop()
        for next_a, next_b in (
            *_operand_pairs(a, b, node_a, node_b),
            *_readers(a, b, node_a, node_b),
        ):
            if a.anchor[next_a] or b.anchor[next_b] or not agree(a, b, next_a, next_b):
                continue
            matches.add(next_a, next_b, sure, Reason.NEIGHBORS)
            waiting.append((next_a, next_b, sure))


def _pairs_beside_unmatched(a: GraphSide, b: GraphSide, pairs: NewPairs) -> NewPairs:
    for side, at in ((a, 0), (b, 1)):
        left = side.unmatched()
        if len(pairs) * _FAR < len(left):
            continue
        near = {source for node in left for source, _output in side.reads[node]}
        near.update(reader for node in left for reader, _at, _output in side.read_by[node])
        pairs = [pair for pair in pairs if pair[at] in near]
    return pairs


def _operand_pairs(
    a: GraphSide, b: GraphSide, node_a: int, node_b: int
) -> Iterable[tuple[int, int]]:
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
    return paired(_single_operands(a, reads_a), _single_operands(b, reads_b)).items()


def _single_operands(side: GraphSide, reads: tuple[tuple[int, int], ...]) -> dict[Hashable, int]:
    return _unmatched_in_own_role(
        side,
        (
            ((side.keys[source], output), source)
            for source, output in reads
            if source >= 0 and (side.reads[source] or side.is_input[source])
        ),
    )


def _readers(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> Iterable[tuple[int, int]]:
    mine, theirs = (
        _unmatched_in_own_role(
            side, (((side.keys[to], at, out), to) for to, at, out in side.read_by[node])
        )
        for side, node in ((a, node_a), (b, node_b))
    )
    return paired(mine, theirs).items()


def _unmatched_in_own_role(side: GraphSide, beside: Iterable[tuple[Key, int]]) -> dict[Key, int]:
    return unique_nodes(
        (role, node) for role, node in beside if node >= 0 and not side.anchor[node]
    )


MOST_READERS = 64  # followed per node


def match_fused(
    a: GraphSide, b: GraphSide, flow_a: GraphSide, flow_b: GraphSide, matches: MatchedPairs
) -> NewPairs:
    """Match functions to nodes that compute the same operators, producers first."""
    new: NewPairs = []
    for swap in (False, True):
        sides = (b, a, flow_b, flow_a) if swap else (a, b, flow_a, flow_b)
        walk = _FusedWalk(*sides, matches, swap)
        for node in walk.flow.order:
            if not walk.flow.anchor[node] and walk.flow.tokens[node]:
                new += walk.step(node)
    return new


@dataclass
class _FusedWalk:
    one: GraphSide
    other: GraphSide
    flow: GraphSide
    other_flow: GraphSide
    found: MatchedPairs
    swap: bool

    def step(self, node: int) -> NewPairs:
        partner = self.found.partner_a if self.swap else self.found.partner_b
        images = {
            image
            for source, _output in self.flow.reads[node]
            if source >= 0 and (image := partner(source)) >= 0
        }
        chain = self._only_chain(node, images)
        if chain is None:
            return []
        sure = Certainty.LIKELY
        if len(_outside_operands(self.other_flow, chain)) != len(set(self.flow.reads[node])):
            sure = Certainty.POSSIBLE
        if len(chain) == 1:
            self.found.add(*self._pair(node, chain[0]), sure, Reason.NEIGHBORS)
        else:
            self.found.add_parts(node, chain, self.swap, sure)
        new = [(*self._pair(node, chain[-1]), sure)]
        mine = [source for source, _output in self.one.reads[node]]
        outside = _outside_operands(self.other, chain)
        if len(mine) == len(outside):
            new += self._match_operands(mine, outside, sure)
        return new

    def _pair(self, node: int, other: int) -> tuple[int, int]:
        return (other, node) if self.swap else (node, other)

    def _only_chain(self, node: int, images: set[int]) -> list[int] | None:
        anchor = self.other.anchor
        starts = {
            reader
            for image in images
            if len(self.other_flow.read_by[image]) <= MOST_READERS
            for reader, _at, _output in self.other_flow.read_by[image]
            if not anchor[reader]
        }
        chains = [chain for start in sorted(starts) if (chain := self._grow(node, start))]
        chains = [chain for chain in chains if self._chain_fits(node, chain, images)]
        if len(chains) > 1:
            # The chain reads parameters of at least as many elements as the function.
            mine = _unmatched_counts(self.one, [source for source, _output in self.one.reads[node]])
            chains = [
                c
                for c in chains
                if not mine - _unmatched_counts(self.other, _outside_operands(self.other, c))
            ]
        return chains[0] if len(chains) == 1 else None

    def _grow(self, node: int, start: int) -> list[int] | None:
        function, tokens = self.flow.tokens[node], self.other_flow.tokens
        read_by, anchor = self.other_flow.read_by, self.other.anchor
        chain = [start]
        done = len(tokens[start])
        if not done or tokens[start] != function[:done]:
            return None
        while done < len(function):
            if len(read_by[chain[-1]]) > MOST_READERS:
                return None
            ahead = {
                reader
                for part in chain
                for reader, _at, _output in read_by[part]
                if not anchor[reader]
                and tokens[reader]
                and reader not in chain
                and function[done : done + len(tokens[reader])] == tokens[reader]
            }
            if len(ahead) != 1:
                return None
            chain.append(ahead.pop())
            done += len(tokens[chain[-1]])
        return chain

    def _chain_fits(self, node: int, chain: list[int], images: set[int]) -> bool:
        inside = set(chain)
        flow = self.other_flow
        for part in chain[:-1]:
            if flow.heads[part] or any(use[0] not in inside for use in flow.read_by[part]):
                return False
        if self.flow.heads[node] != flow.heads[chain[-1]]:
            return False
        return {
            operand for operand in _outside_operands(flow, chain) if flow.anchor[operand]
        } == images

    def _match_operands(self, mine: list[int], outside: list[int], sure: Certainty) -> NewPairs:
        new = []
        for source, image in zip(mine, outside, strict=True):
            if source < 0 or image < 0 or self.one.anchor[source] or self.other.anchor[image]:
                continue
            if self.one.keys[source] == self.other.keys[image]:
                pair = self._pair(source, image)
                self.found.add(*pair, sure, Reason.NEIGHBORS)
                new.append((*pair, sure))
        return new


def _outside_operands(side: GraphSide, chain: list[int]) -> list[int]:
    inside = set(chain)
    reads = (source for part in chain for source, _output in side.reads[part])
    return list(dict.fromkeys(source for source in reads if source not in inside))


def _unmatched_counts(side: GraphSide, sources: list[int]) -> Counter[int]:
    return Counter(
        side.elements[source] for source in set(sources) if source >= 0 and not side.anchor[source]
    )


def match_parameters(a: GraphSide, b: GraphSide, matches: MatchedPairs) -> NewPairs:
    """Match unmatched parameters of matched operators by element count and order."""
    new: NewPairs = []
    readers_a, readers_b = _readers_of_unmatched(a), _readers_of_unmatched(b)
    for node_a, node_b in list(matches.pairs):
        if node_a not in readers_a or node_b not in readers_b:
            continue
        mine, theirs = _unmatched_parameters(a, node_a), _unmatched_parameters(b, node_b)
        many_a = Counter(a.elements[node] for node in mine)
        many_b = Counter(b.elements[node] for node in theirs)
        for node in mine:
            elements = a.elements[node]
            other = next(
                (candidate for candidate in theirs if b.elements[candidate] == elements), None
            )
            if other is None:
                continue
            theirs.remove(other)
            alike = many_a[elements] == many_b[elements]
            sure = Certainty.LIKELY if alike else Certainty.POSSIBLE
            matches.add(node, other, sure, Reason.NEIGHBORS)
            new.append((node, other, sure))
    return new


def _readers_of_unmatched(side: GraphSide) -> set[int]:
    return {
        reader
        for node in side.unmatched()
        if not (side.tokens[node] or side.reads[node])
        for reader, _position, _output in side.read_by[node]
    }


def _unmatched_parameters(side: GraphSide, node: int) -> list[int]:
    sources = dict.fromkeys(source for source, _output in side.reads[node])
    return [
        source
        for source in sources
        if source >= 0 and not (side.anchor[source] or side.tokens[source] or side.reads[source])
    ]
