"""Parameters of matched operators, by shape and order."""

from __future__ import annotations

from collections import Counter

from tvmdbg_widgets.analysis.matching.found import MatchedPairs
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide


def match_parameters(
    a: GraphSide, b: GraphSide, found: MatchedPairs
) -> list[tuple[int, int, Certainty]]:
    """Match what matched operators read and nobody computes: same number of elements, same order.

    A quantised operator reads more of one shape, its scales behind its bias: what comes first is
    then only a possible match.
    """
    new: list[tuple[int, int, Certainty]] = []
    readers_a, readers_b = _readers(a), _readers(b)
    for node_a, node_b in list(found.pairs):
        if node_a not in readers_a or node_b not in readers_b:
            continue
        mine, theirs = _open(a, node_a), _open(b, node_b)
        if not mine or not theirs:
            continue
        many_a = Counter(a.elements[node] for node in mine)
        many_b = Counter(b.elements[node] for node in theirs)
        for node in mine:
            elements = a.elements[node]
            other = next((each for each in theirs if b.elements[each] == elements), None)
            if other is None:
                continue
            theirs.remove(other)
            sure = Certainty.LIKELY
            if many_a[elements] != many_b[elements]:
                sure = Certainty.POSSIBLE
            found.add(node, other, sure, Reason.NEIGHBORS)
            new.append((node, other, sure))
    return new


def _readers(side: GraphSide) -> set[int]:
    """Return what reads unmatched parameters."""
    return {
        reader
        for node in side.unmatched()
        if not (side.tokens[node] or side.reads[node])
        for reader, _position, _output in side.read_by[node]
    }


def _open(side: GraphSide, node: int) -> list[int]:
    """Return the unmatched parameters that a node reads, each once, in order."""
    sources = dict.fromkeys(source for source, _output in side.reads[node])
    return [
        source
        for source in sources
        if source >= 0 and not (side.anchor[source] or side.tokens[source] or side.reads[source])
    ]
