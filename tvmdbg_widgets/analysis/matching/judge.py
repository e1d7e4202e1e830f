"""How sure a pair is once all pairs are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.matching.found import agree
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.rivals import disputed

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.matching.found import Found
    from tvmdbg_widgets.analysis.matching.side import Side


def prune(a: Side, b: Side, found: Found) -> None:
    """Take back what only fell into a common sequence: nothing beside it is matched likewise."""
    for (node_a, node_b), (_sure, reason) in list(found.pairs.items()):
        if reason is not Reason.SEQUENCE or _beside(a, node_a) & _beside(b, node_b):
            continue
        del found.pairs[node_a, node_b]
        a.anchor[node_a] = b.anchor[node_b] = 0


def judged(a: Side, b: Side, found: Found) -> npt.NDArray[np.uint8]:
    """Return the certainty of each pair (uint8 [P]).

    Exact only where signature and wiring agree all around, and nothing there is merely possible;
    possible where something matched beside one node stands elsewhere beside the other, where
    another choice would be as good, or a parameter belongs to such a node.
    """
    sure = []
    doubted = bytearray(len(a.keys))
    rivals = disputed(a, b, found)
    guessed = {
        a.anchor[pair[0]]
        for pair, (certainty, _reason) in found.pairs.items()
        if certainty is Certainty.POSSIBLE or pair in rivals
    }
    for (node_a, node_b), (certainty, _reason) in found.pairs.items():
        known = Certainty.POSSIBLE if (node_a, node_b) in rivals else certainty
        if known is Certainty.EXACT and not (
            _wired_alike(a, b, node_a, node_b)
            and (not guessed or guessed.isdisjoint(_beside(a, node_a)))
        ):
            known = Certainty.LIKELY
        if known is Certainty.LIKELY and not _undisputed(a, b, node_a, node_b):
            known = Certainty.POSSIBLE
        doubted[node_a] = known is Certainty.POSSIBLE
        sure.append(known)
    for at, (node_a, _node_b) in enumerate(found.pairs):
        uses = a.read_by[node_a]
        is_parameter = bool(uses) and not (a.tokens[node_a] or a.reads[node_a])
        if is_parameter and all(doubted[use[0]] for use in uses):
            sure[at] = Certainty.POSSIBLE
    return np.array(sure, np.uint8)


def _beside(side: Side, node: int) -> set[int]:
    nodes = [source for source, _output in side.reads[node] if source >= 0]
    nodes += [reader for reader, _at, _output in side.read_by[node]]
    return {side.anchor[each] for each in nodes} - {0}


def _undisputed(a: Side, b: Side, node_a: int, node_b: int) -> bool:
    if not agree(a, b, node_a, node_b):
        return False
    if not a.tokens[node_a] and a.elements[node_a] != b.elements[node_b]:
        return False
    uses_a, uses_b = a.read_by[node_a], b.read_by[node_b]
    if len(uses_a) != 1 or len(uses_b) != 1:
        return True
    (one, at, _), (other, to, _) = uses_a[0], uses_b[0]
    if not a.anchor[one] or not b.anchor[other] or a.keys[one] != b.keys[other]:
        return True
    return a.anchor[one] == b.anchor[other] and at == to


def _wired_alike(a: Side, b: Side, node_a: int, node_b: int) -> bool:
    if a.keys[node_a] != b.keys[node_b] or a.heads[node_a] != b.heads[node_b]:
        return False
    reads_a, reads_b = a.reads[node_a], b.reads[node_b]
    uses_a, uses_b = a.read_by[node_a], b.read_by[node_b]
    if len(reads_a) != len(reads_b) or len(uses_a) != len(uses_b):
        return False
    for (source_a, output_a), (source_b, output_b) in zip(reads_a, reads_b, strict=True):
        if source_a < 0 or source_b < 0:
            if source_a != source_b:
                return False
        elif output_a != output_b or not _paired(a.anchor[source_a], b.anchor[source_b]):
            return False
    if len(uses_a) == 1:
        (one, at, out), (other, other_at, other_out) = uses_a[0], uses_b[0]
        same = (at, out) == (other_at, other_out)
        return same and _paired(a.anchor[one], b.anchor[other])
    mine = sorted((a.anchor[node], at, out) for node, at, out in uses_a)
    theirs = sorted((b.anchor[node], at, out) for node, at, out in uses_b)
    return mine == theirs and 0 not in {each[0] for each in mine}


def _paired(anchor_a: int, anchor_b: int) -> bool:
    return anchor_a == anchor_b and anchor_a != 0
