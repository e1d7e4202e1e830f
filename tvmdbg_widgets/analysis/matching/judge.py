"""Certainty of pairs once all pairs are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.matching.pairs import MOST_READERS, MatchedPairs, read_equally
from tvmdbg_widgets.analysis.matching.result import Certainty, Reason
from tvmdbg_widgets.analysis.matching.side import GraphSide
from tvmdbg_widgets.analysis.view_columns import mixed, segment_sums
from tvmdbg_widgets.model.base.ranges import flat_ranges
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.operators import Adjacency

_Numbers = npt.NDArray[np.int64]
_Flags = npt.NDArray[np.bool_]


def prune(a: GraphSide, b: GraphSide, matches: MatchedPairs) -> None:
    """Remove pairs that only fell into a common sequence: no neighbor is matched likewise."""
    removed = False
    for (node_a, node_b), (_sure, reason) in list(matches.pairs.items()):
        if reason is not Reason.SEQUENCE or read_equally(a, b, node_a, node_b):
            continue
        if _neighboring_anchors(a, node_a) & _neighboring_anchors(b, node_b):
            continue
        del matches.pairs[node_a, node_b]
        a.anchor[node_a] = b.anchor[node_b] = 0
        removed = True
    if removed:
        a.reopen()
        b.reopen()


def _neighboring_anchors(side: GraphSide, node: int) -> set[int]:
    nodes = [source for source, _output in side.reads[node] if source >= 0]
    nodes += [reader for reader, _at, _output in side.read_by[node]]
    return {side.anchor[neighbor] for neighbor in nodes} - {0}


def judged(
    a: GraphSide, b: GraphSide, matches: MatchedPairs, graphs: tuple[Graph, Graph]
) -> npt.NDArray[np.uint8]:
    """Return the certainty by pair (uint8 [P]), exact where all around agrees."""
    count = len(matches.pairs)
    nodes = np.array(list(matches.pairs), np.int64).reshape(-1, 2).T
    sure = np.fromiter((pair[0] for pair in matches.pairs.values()), np.uint8, count)
    if rivals := disputed(a, b, matches):
        sure[[pair in rivals for pair in matches.pairs]] = Certainty.POSSIBLE
    left, right = _Wires.of(a, graphs[0]), _Wires.of(b, graphs[1])
    agrees, reads_alike = _operands_agree(left, right, nodes)
    uses_alike = _readers_agree(left, right, nodes)
    guessed = np.zeros(len(a.keys), bool)
    guessed[nodes[0][sure == Certainty.POSSIBLE]] = True
    alike = reads_alike & uses_alike & ~left.beside(guessed)[nodes[0]]
    alike &= left.keys[nodes[0]] == right.keys[nodes[1]]
    gives = (a.heads[one] == b.heads[other] for one, other in matches.pairs)
    alike &= np.fromiter(gives, bool, count)
    sure[(sure == Certainty.EXACT) & ~alike] = Certainty.LIKELY
    undisputed = agrees & _same_place(left, right, nodes)
    sizes = left.elements[nodes[0]] == right.elements[nodes[1]]
    undisputed &= left.computes[nodes[0]] | sizes
    sure[(sure == Certainty.LIKELY) & ~undisputed] = Certainty.POSSIBLE
    doubted = np.zeros(len(a.keys), bool)
    doubted[nodes[0]] = sure == Certainty.POSSIBLE
    sure[left.only_for(doubted)[nodes[0]]] = Certainty.POSSIBLE
    return sure


class _Wires(NamedTuple):
    """One graph of N nodes and M edges as columns; node -1 is unknown."""

    source: _Numbers
    output: _Numbers
    target: _Numbers
    position: _Numbers
    begin: _Numbers  # [N + 1]
    uses: Adjacency
    anchor: _Numbers  # [N + 1]
    keys: _Numbers
    elements: npt.NDArray[np.float64]
    computes: _Flags

    @classmethod
    def of(cls, side: GraphSide, graph: Graph) -> _Wires:
        count = graph.num_nodes
        return cls(
            graph.edge_source.astype(np.int64),
            graph.edge_output.astype(np.int64),
            graph.edge_target.astype(np.int64),
            graph.edge_position.astype(np.int64),
            np.searchsorted(graph.edge_target, np.arange(count + 1)),
            Adjacency.by(graph.edge_source, count),
            np.array([*side.anchor, 0], np.int64),
            np.array(side.keys, np.int64),
            np.array(side.elements, np.float64),
            np.fromiter(map(bool, side.tokens), bool, count),
        )

    def beside(self, flags: _Flags) -> _Flags:
        known = self.source >= 0
        source, target = self.source[known], self.target[known]
        neighbors = np.zeros(len(flags), bool)
        neighbors[target[flags[source]]] = True
        neighbors[source[flags[target]]] = True
        return neighbors

    def only_for(self, flags: _Flags) -> _Flags:
        known = self.source >= 0
        others = np.bincount(self.source[known][~flags[self.target[known]]], minlength=len(flags))
        read = np.diff(self.uses.offsets) > 0
        parameters: _Flags = read & (others == 0) & ~self.computes & (np.diff(self.begin) == 0)
        return parameters


def _operands_agree(a: _Wires, b: _Wires, nodes: _Numbers) -> tuple[_Flags, _Flags]:
    counts = np.diff(a.begin)[nodes[0]]
    as_many = counts == np.diff(b.begin)[nodes[1]]
    of_pair, kept = np.repeat(np.flatnonzero(as_many), counts[as_many]), nodes[:, as_many]
    in_a = flat_ranges(a.begin[kept[0]], counts[as_many])
    in_b = flat_ranges(b.begin[kept[1]], counts[as_many])
    from_a, from_b = a.source[in_a], b.source[in_b]
    known = (from_a >= 0) & (from_b >= 0)
    anchor_a, anchor_b = a.anchor[from_a], b.anchor[from_b]
    others = known & (anchor_a != 0) & (anchor_b != 0) & (anchor_a != anchor_b)
    alike = (a.output[in_a] == b.output[in_b]) & (anchor_a == anchor_b) & (anchor_a != 0)
    alike = np.where(known, alike, from_a == from_b)
    count = nodes.shape[1]
    agrees = np.bincount(of_pair[others], minlength=count) == 0
    return agrees, as_many & (np.bincount(of_pair[~alike], minlength=count) == 0)


def _readers_agree(a: _Wires, b: _Wires, nodes: _Numbers) -> _Flags:
    columns = []
    for side, of in ((a, nodes[0]), (b, nodes[1])):
        edges, offsets = side.uses.edges, side.uses.offsets
        reader = side.anchor[side.target[edges]]
        role = mixed(reader, mixed(side.position[edges], side.output[edges]))
        unmatched = np.cumsum([0, *(reader == 0)])
        counts = np.diff(offsets), segment_sums(role, offsets), np.diff(unmatched[offsets])
        columns.append([column[of] for column in counts])
    (many_a, roles_a, open_a), (many_b, roles_b, _open_b) = columns
    same: _Flags = (many_a == many_b) & (roles_a == roles_b) & (open_a == 0)
    return same


def _same_place(a: _Wires, b: _Wires, nodes: _Numbers) -> _Flags:
    first = []
    for side, of in ((a, nodes[0]), (b, nodes[1])):
        begin = side.uses.offsets[:-1][of]
        one = np.diff(side.uses.offsets)[of] == 1
        edge = np.append(side.uses.edges, -1)[np.where(one, begin, -1)]
        single = (np.append(column, -1)[edge] for column in (side.target, side.position))
        first.append((one, *single))
    (one_a, reader_a, at_a), (one_b, reader_b, at_b) = first
    anchor_a, anchor_b = a.anchor[reader_a], b.anchor[reader_b]
    single = one_a & one_b & (anchor_a != 0) & (anchor_b != 0)
    single &= np.append(a.keys, -1)[reader_a] == np.append(b.keys, -1)[reader_b]
    same: _Flags = ~single | ((anchor_a == anchor_b) & (at_a == at_b))
    return same


_MOST_IN_A_ROW = 200
_MOST_STEPS = 200_000  # total limit of visited nodes


def disputed(a: GraphSide, b: GraphSide, matches: MatchedPairs) -> set[tuple[int, int]]:
    """Return the pairs for which another choice along a row of equals keeps as many edges."""
    rivals: set[tuple[int, int]] = set()
    for swap in (False, True):
        one, other = (b, a) if swap else (a, b)
        rows = _RivalRows(one, other, matches.partner_a if swap else matches.partner_b)
        back = matches.partner_b if swap else matches.partner_a
        for node in one.unmatched():
            if one.tokens[node]:
                rivals.update(
                    (other_node, mine) if swap else (mine, other_node)
                    for mine, other_node in rows.rivals(node, back)
                )
    return rivals


class _RivalRows:
    """Rows of equal nodes, starting at unmatched nodes of one side."""

    def __init__(self, one: GraphSide, other: GraphSide, image: Callable[[int], int]) -> None:
        self._one, self._other, self._image = one, other, image
        self._steps = 0

    def rivals(self, node: int, back: Callable[[int], int]) -> list[tuple[int, int]]:
        rivals: list[tuple[int, int]] = []
        for ahead in (True, False):
            for start in self._equal_candidates(node, ahead, self._image):
                takers, row = self._displaced_row(node, start, ahead, back)
                if row and self._keeps_as_many(takers, row):
                    rivals += row
        return rivals

    def _displaced_row(
        self, node: int, start: int, ahead: bool, back: Callable[[int], int]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        takers: list[int] = []
        row: list[tuple[int, int]] = []
        seen: set[int] = set()
        taker, at = node, start
        while at >= 0 and at not in seen and len(row) < _MOST_IN_A_ROW:
            partner = back(at)
            if partner in (-1, taker):
                break
            seen.add(at)
            takers.append(taker)
            row.append((partner, at))
            image = _single_image(taker, at)
            taken, at = at, -1
            for after in (*self._unmatched_neighbors(taker, ahead), partner):
                near = [
                    candidate
                    for candidate in self._equal_candidates(after, ahead, image)
                    if candidate != taken
                ]
                if near:
                    taker, at = after, near[0]
                    break
        return takers, row

    def _unmatched_neighbors(self, node: int, ahead: bool) -> list[int]:
        one = self._one
        if len(one.read_by[node]) > MOST_READERS:
            return []
        beside = (
            [neighbor for neighbor, _at, _output in one.read_by[node]]
            if ahead
            else [neighbor for neighbor, _output in one.reads[node] if neighbor >= 0]
        )
        return [
            neighbor for neighbor in beside if not one.anchor[neighbor] and one.tokens[neighbor]
        ]

    def _equal_candidates(self, node: int, ahead: bool, image: Callable[[int], int]) -> list[int]:
        one, other = self._one, self._other
        key = one.keys[node]
        candidates: dict[int, None] = {}
        if ahead:
            for at, (source, output) in enumerate(one.reads[node]):
                twin = image(source) if source >= 0 else -1
                if twin >= 0 and len(other.read_by[twin]) <= MOST_READERS:
                    candidates |= {
                        reader: None
                        for reader, position, out in other.read_by[twin]
                        if (position, out) == (at, output) and other.keys[reader] == key
                    }
        elif len(one.read_by[node]) <= MOST_READERS:
            for reader, at, output in one.read_by[node]:
                twin = image(reader)
                if twin >= 0 and at < len(other.reads[twin]):
                    source, out = other.reads[twin][at]
                    if source >= 0 and out == output and other.keys[source] == key:
                        candidates[source] = None
        self._steps += 1 + len(candidates)
        if self._steps > _MOST_STEPS:
            return []
        return [candidate for candidate in candidates if other.anchor[candidate]]

    def _keeps_as_many(self, takers: list[int], row: list[tuple[int, int]]) -> bool:
        moved = {mine: -1 for mine, _ in row}
        moved |= {taker: at for taker, (_, at) in zip(takers, row, strict=True)}
        now = sum(self._agreeing_edges(mine, at, self._image) for mine, at in row)
        then = sum(
            self._agreeing_edges(mine, at, lambda each: moved.get(each, self._image(each)))
            for mine, at in moved.items()
            if at >= 0
        )
        return then >= now

    def _agreeing_edges(self, mine: int, at: int, image: Callable[[int], int]) -> int:
        one, other = self._one, self._other
        theirs = other.reads[at]
        kept = int(bool(one.heads[mine]) and one.heads[mine] == other.heads[at])
        for place, (source, output) in enumerate(one.reads[mine][: len(theirs)]):
            # Parameters go with the operator that reads them.
            if source >= 0 and (one.tokens[source] or one.reads[source] or one.is_input[source]):
                kept += (image(source), output) == theirs[place]
        if len(one.read_by[mine]) <= MOST_READERS and len(other.read_by[at]) <= MOST_READERS:
            uses = set(other.read_by[at])
            kept += sum((image(node), *role) in uses for node, *role in one.read_by[mine])
        return kept


def _single_image(node: int, image: int) -> Callable[[int], int]:
    return lambda each: image if each == node else -1
