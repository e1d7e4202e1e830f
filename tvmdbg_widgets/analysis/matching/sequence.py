"""Runs of operators between matched nodes, aligned by their longest common subsequence."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.analysis.matching.align import aligned, rising
from tvmdbg_widgets.analysis.matching.found import MatchedPairs, agree
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide

#: An edited graph: so many operators left, and so many of these stand in the same sequence.
_MANY, _MOSTLY = 1_000, 0.9


def match_sequences(
    a: GraphSide, b: GraphSide, found: MatchedPairs
) -> list[tuple[int, int, Certainty]]:
    """Match operators of gaps between matched ones, both graphs in the order of their wiring."""
    return _match(a, b, found, _pairs(a, b, *_open(a, b)))


def match_edited(
    a: GraphSide, b: GraphSide, found: MatchedPairs
) -> list[tuple[int, int, Certainty]]:
    """Match what stands in the same sequence if that is nearly all that is left of large graphs."""
    left, right = _open(a, b)
    most = max(len(left), len(right))
    if most < _MANY:
        return []
    pairs = _pairs(a, b, left, right)
    return _match(a, b, found, pairs) if len(pairs) > _MOSTLY * most else []


def _open(a: GraphSide, b: GraphSide) -> tuple[set[int], set[int]]:
    """Return the unmatched operators of both sides."""
    left, right = ({node for node in side.unmatched() if side.tokens[node]} for side in (a, b))
    return left, right


def _pairs(a: GraphSide, b: GraphSide, left: set[int], right: set[int]) -> list[tuple[int, int]]:
    """Return the pairs of unmatched operators that stand in the same sequence."""
    if {a.keys[node] for node in left}.isdisjoint([b.keys[node] for node in right]):
        return []
    found: list[tuple[int, int]] = []
    for gap_a, gap_b in _gaps(a, b):
        keys_a = np.array([a.keys[node] for node in gap_a])
        keys_b = np.array([b.keys[node] for node in gap_b])
        found += [(gap_a[at], gap_b[to]) for at, to in aligned(keys_a, keys_b)]
    return found


def _match(
    a: GraphSide, b: GraphSide, found: MatchedPairs, pairs: list[tuple[int, int]]
) -> list[tuple[int, int, Certainty]]:
    new: list[tuple[int, int, Certainty]] = []
    for node_a, node_b in pairs:
        if not agree(a, b, node_a, node_b):
            continue
        touches = _touches(a, b, node_a, node_b)
        sure = Certainty.LIKELY if touches else Certainty.POSSIBLE
        found.add(node_a, node_b, sure, Reason.SEQUENCE)
        new.append((node_a, node_b, sure))
    return new


def _touches(a: GraphSide, b: GraphSide, node_a: int, node_b: int) -> bool:
    """Whether the same matched node is read in the same position."""
    return any(
        source_a >= 0 and source_b >= 0 and a.anchor[source_a] == b.anchor[source_b] != 0
        for (source_a, _), (source_b, _) in zip(a.reads[node_a], b.reads[node_b], strict=False)
    )


def _gaps(a: GraphSide, b: GraphSide) -> list[tuple[list[int], list[int]]]:
    """Return the runs of unmatched operators between matched ones that keep their order."""
    left, right = np.array(a.line, np.intp), np.array(b.line, np.intp)
    anchors_a, anchors_b = np.array(a.anchor)[left], np.array(b.anchor)[right]
    _, at_a, at_b = np.intersect1d(anchors_a, anchors_b, return_indices=True)
    known = anchors_a[at_a] != 0
    at_a, at_b = at_a[known], at_b[known]
    along = np.argsort(at_a)
    at_a, at_b = at_a[along], at_b[along]
    kept = rising(at_b)
    at_a, at_b = at_a[kept], at_b[kept]
    ends_a, ends_b = np.append(at_a, len(left)), np.append(at_b, len(right))
    begins_a, begins_b = np.append(0, at_a + 1), np.append(0, at_b + 1)
    gaps = []
    for gap in np.flatnonzero((ends_a > begins_a) & (ends_b > begins_b)).tolist():
        in_a, in_b = slice(begins_a[gap], ends_a[gap]), slice(begins_b[gap], ends_b[gap])
        gap_a = left[in_a][anchors_a[in_a] == 0].tolist()
        gap_b = right[in_b][anchors_b[in_b] == 0].tolist()
        if gap_a and gap_b:
            gaps.append((gap_a, gap_b))
    return gaps
