"""A fused function of one graph against the nodes that compute its parts in the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tvmdbg_widgets.analysis.matching.found import MatchedPairs
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide

#: Where more nodes read one, which of them goes on is not looked for.
_MOST_READERS = 64


def match_fused(
    a: GraphSide, b: GraphSide, flow_a: GraphSide, flow_b: GraphSide, found: MatchedPairs
) -> list[tuple[int, int, Certainty]]:
    """Match functions to the nodes that compute the same operators, producers first."""
    new: list[tuple[int, int, Certainty]] = []
    for swap in (False, True):
        sides = (b, a, flow_b, flow_a) if swap else (a, b, flow_a, flow_b)
        walk = _FusedWalk(*sides, found, swap)
        for node in walk.flow.order:
            if not walk.flow.anchor[node] and walk.flow.tokens[node]:
                new += walk.step(node)
    return new


@dataclass
class _FusedWalk:
    """From the functions of one side to chains of nodes on the other."""

    one: GraphSide
    other: GraphSide
    flow: GraphSide
    other_flow: GraphSide
    found: MatchedPairs
    swap: bool

    def step(self, node: int) -> list[tuple[int, int, Certainty]]:
        partner = self.found.partner_a if self.swap else self.found.partner_b
        images = {
            image
            for source, _output in self.flow.reads[node]
            if source >= 0 and (image := partner(source)) >= 0
        }
        chain = self._chain(node, images)
        if chain is None:
            return []
        sure = Certainty.LIKELY
        if len(_outside(self.other_flow, chain)) != len(set(self.flow.reads[node])):
            sure = Certainty.POSSIBLE
        if len(chain) == 1:
            self.found.add(*self._pair(node, chain[0]), sure, Reason.NEIGHBORS)
        else:
            self.found.add_parts(node, chain, self.swap, sure)
        new = [(*self._pair(node, chain[-1]), sure)]
        mine = [source for source, _output in self.one.reads[node]]
        outside = _outside(self.other, chain)
        if len(mine) == len(outside):
            new += self._operands(mine, outside, sure)
        return new

    def _pair(self, node: int, other: int) -> tuple[int, int]:
        return (other, node) if self.swap else (node, other)

    def _chain(self, node: int, images: set[int]) -> list[int] | None:
        """Return the nodes that compute the function, if there is just one such chain."""
        anchor = self.other.anchor
        starts = {
            reader
            for image in images
            if len(self.other_flow.read_by[image]) <= _MOST_READERS
            for reader, _at, _output in self.other_flow.read_by[image]
            if not anchor[reader]
        }
        chains = [chain for start in sorted(starts) if (chain := self._grow(node, start))]
        chains = [chain for chain in chains if self._fits(node, chain, images)]
        if len(chains) > 1:
            chains = [chain for chain in chains if self._has_parameters(node, chain)]
        return chains[0] if len(chains) == 1 else None

    def _grow(self, node: int, start: int) -> list[int] | None:
        """Follow the parts of a function from one node on, as long as each step is the only one."""
        function, tokens = self.flow.tokens[node], self.other_flow.tokens
        read_by, anchor = self.other_flow.read_by, self.other.anchor
        chain = [start]
        done = len(tokens[start])
        if not done or tokens[start] != function[:done]:
            return None
        while done < len(function):
            if len(read_by[chain[-1]]) > _MOST_READERS:
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

    def _fits(self, node: int, chain: list[int], images: set[int]) -> bool:
        """Whether only the last part is read from outside, and the same matched nodes are read."""
        inside = set(chain)
        flow = self.other_flow
        for part in chain[:-1]:
            if flow.heads[part] or any(use[0] not in inside for use in flow.read_by[part]):
                return False
        if self.flow.heads[node] != flow.heads[chain[-1]]:
            return False
        return {each for each in _outside(flow, chain) if flow.anchor[each]} == images

    def _has_parameters(self, node: int, chain: list[int]) -> bool:
        """Whether the chain reads at least parameters of as many numbers as the function."""
        mine = _open(self.one, [source for source, _output in self.one.reads[node]])
        return not mine - _open(self.other, _outside(self.other, chain))

    def _operands(
        self, mine: list[int], outside: list[int], sure: Certainty
    ) -> list[tuple[int, int, Certainty]]:
        """Match what is left of the operands, which both name in the order of their first use."""
        new = []
        for source, image in zip(mine, outside, strict=True):
            if source < 0 or image < 0 or self.one.anchor[source] or self.other.anchor[image]:
                continue
            if self.one.keys[source] == self.other.keys[image]:
                pair = self._pair(source, image)
                self.found.add(*pair, sure, Reason.NEIGHBORS)
                new.append((*pair, sure))
        return new


def _outside(side: GraphSide, chain: list[int]) -> list[int]:
    """Return what the parts read from outside, each once, in the order of its first use."""
    inside = set(chain)
    reads = (source for part in chain for source, _output in side.reads[part])
    return list(dict.fromkeys(source for source in reads if source not in inside))


def _open(side: GraphSide, sources: list[int]) -> Counter[int]:
    """Count the unmatched among these by how many numbers they hold."""
    return Counter(
        side.elements[each] for each in set(sources) if each >= 0 and not side.anchor[each]
    )
