"""Nodes that stand in the same place though they compute something else."""

from __future__ import annotations

from tvmdbg_widgets.analysis.matching.found import MatchedPairs
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide


def match_places(
    a: GraphSide, b: GraphSide, found: MatchedPairs
) -> list[tuple[int, int, Certainty]]:
    """Match operators between the same matched operands and readers, alone there on both sides."""
    mine, theirs = _places(a), _places(b)
    new = []
    for place, node in mine.items():
        other = theirs.get(place, -1)
        if node < 0 or other < 0:
            continue
        found.add(node, other, Certainty.POSSIBLE, Reason.PLACE)
        new.append((node, other, Certainty.POSSIBLE))
    return new


def _places(side: GraphSide) -> dict[tuple[frozenset[int], frozenset[int], tuple[int, ...]], int]:
    """Return unmatched operators by what matched nodes they stand between, -1 for several."""
    found: dict[tuple[frozenset[int], frozenset[int], tuple[int, ...]], int] = {}
    for node in side.unmatched():
        if not side.tokens[node]:
            continue
        anchor = side.anchor
        above = frozenset(anchor[each] for each, _ in side.reads[node] if each >= 0) - {0}
        below = frozenset(anchor[each] for each, _, _ in side.read_by[node]) - {0}
        if above and (below or side.heads[node]):
            place = above, below, tuple(side.heads[node])
            found[place] = node if place not in found else -1
    return found
