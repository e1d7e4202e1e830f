"""Runs of operators between matched nodes, aligned by their longest common subsequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.matching.align import aligned, rising
from tvmdbg_widgets.analysis.matching.found import agree
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.matching.found import Found
    from tvmdbg_widgets.analysis.matching.side import Side


def match_sequences(a: Side, b: Side, found: Found) -> list[tuple[int, int, Certainty]]:
    """Match operators of gaps between matched ones, both graphs in the order of their wiring."""
    left, right = _sequence(a), _sequence(b)
    new: list[tuple[int, int, Certainty]] = []
    for gap_a, gap_b in _gaps(a, b, left, right):
        keys_a = np.array([a.keys[node] for node in gap_a])
        keys_b = np.array([b.keys[node] for node in gap_b])
        for at, to in aligned(keys_a, keys_b):
            node_a, node_b = gap_a[at], gap_b[to]
            if not agree(a, b, node_a, node_b):
                continue
            touches = _touches(a, b, node_a, node_b)
            sure = Certainty.LIKELY if touches else Certainty.POSSIBLE
            found.add(node_a, node_b, sure, Reason.SEQUENCE)
            new.append((node_a, node_b, sure))
    return new


def _touches(a: Side, b: Side, node_a: int, node_b: int) -> bool:
    """Whether the same matched node is read in the same position."""
    mine = {(a.anchor[source], at) for at, (source, _) in enumerate(a.reads[node_a]) if source >= 0}
    return any(
        (b.anchor[source], at) in mine
        for at, (source, _) in enumerate(b.reads[node_b])
        if source >= 0 and b.anchor[source]
    )


def _sequence(side: Side) -> list[int]:
    """Return the operators in an order that only wiring decides: operands first, by position.

    It starts from the outputs of the graph, so that numbers and names of nodes play no part; what
    leads to none of them is left out.
    """
    heads = [(head, node) for node, given in enumerate(side.heads) for head in given]
    seen = bytearray(len(side.keys))
    found: list[int] = []
    for _head, root in sorted(heads):
        stack = [] if seen[root] else [(root, 0)]
        seen[root] = 1
        while stack:
            node, at = stack.pop()
            reads = side.reads[node]
            while at < len(reads) and (reads[at][0] < 0 or seen[reads[at][0]]):
                at += 1
            if at == len(reads):
                if side.tokens[node]:
                    found.append(node)
                continue
            stack.append((node, at + 1))
            seen[reads[at][0]] = 1
            stack.append((reads[at][0], 0))
    return found


def _gaps(a: Side, b: Side, left: list[int], right: list[int]) -> list[tuple[list[int], list[int]]]:
    """Return the runs of unmatched operators between matched ones that keep their order."""
    place = {b.anchor[node]: at for at, node in enumerate(right) if b.anchor[node]}
    fixed = [
        (at, place[a.anchor[node]])
        for at, node in enumerate(left)
        if a.anchor[node] and a.anchor[node] in place
    ]
    fixed = [fixed[at] for at in rising([to for _, to in fixed])]
    gaps = []
    begin_a = begin_b = 0
    for end_a, end_b in (*fixed, (len(left), len(right))):
        gap_a = [node for node in left[begin_a:end_a] if not a.anchor[node]]
        gap_b = [node for node in right[begin_b:end_b] if not b.anchor[node]]
        if gap_a and gap_b:
            gaps.append((gap_a, gap_b))
        begin_a, begin_b = end_a + 1, end_b + 1
    return gaps
