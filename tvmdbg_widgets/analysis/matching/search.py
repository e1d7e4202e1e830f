"""Search for matches between two graphs, from certain ones to equal places."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.matching.judge import judged, prune
from tvmdbg_widgets.analysis.matching.pairs import (
    MatchedPairs,
    NewPairs,
    agree,
    match_fused,
    match_parameters,
    paired,
    spread,
    unique_nodes,
)
from tvmdbg_widgets.analysis.matching.result import Certainty, Matching, Reason
from tvmdbg_widgets.analysis.matching.sequence import match_edited, match_sequences
from tvmdbg_widgets.analysis.matching.side import GraphSide, Table, plain_side, side_of
from tvmdbg_widgets.formats.family import collector_paused
from tvmdbg_widgets.model.graph.graph import Graph

_ROUNDS = 4  # rounds over unmatched nodes, with matched ones as fixed points
#: Another round is skipped if many nodes are left and few were matched in the last one.
_MANY, _STUCK = 2_000, 0.97


def match(a: Graph, b: Graph) -> Matching:
    """Match the nodes of two graphs, nearly linear in nodes and edges."""
    # First come unique pasts and futures, then neighbors, the same without casts, layouts and
    # shapes, fused functions, equal sequences and places. Names only decide between equal nodes.
    if _same(a, b):
        count = a.num_nodes
        both = np.repeat(np.arange(count, dtype=np.int32)[:, None], 2, axis=1)
        sure = np.full(count, Certainty.EXACT, np.uint8)
        return Matching(a, b, both, sure, np.full(count, Reason.SAME_ID, np.uint8))
    look = {"unit": "node", "unit_scale": True, "delay": 1, "leave": False}
    with (
        collector_paused(),
        tqdm(total=min(a.num_nodes, b.num_nodes), desc="matching", **look) as bar,
    ):
        return _matched(a, b, bar)


def _matched(a: Graph, b: Graph, bar: tqdm[Any]) -> Matching:
    table: Table = {}
    left, right = side_of(a, table), side_of(b, table)
    matches = MatchedPairs(left, right, bar)
    _match_until_stable(left, right, matches, Certainty.EXACT)
    if left.unmatched() or right.unmatched():
        spread(left, right, matches, match_edited(left, right, matches))
        plain = _match_differing(left, right, matches)
        _match_equals_by_name(left, right, matches, (a, b), Certainty.EXACT)
        _match_equals_by_name(*plain, matches, (a, b), Certainty.LIKELY)
    return _collected(a, b, left, right, matches)


def _same(a: Graph, b: Graph) -> bool:
    if a is b:
        return True
    if a.num_nodes != b.num_nodes or a.num_edges != b.num_edges:
        return False
    columns = (
        *("kinds", "entry_offsets", "edge_source", "edge_output", "edge_target", "edge_position"),
        *("heads", "shape_offsets", "shape_dims", "shape_known"),
    )
    return all(
        np.array_equal(getattr(a, column), getattr(b, column)) for column in columns
    ) and all(
        getattr(a, column) == getattr(b, column) for column in ("names", "func_names", "dtypes")
    )


def _match_differing(
    a: GraphSide, b: GraphSide, matches: MatchedPairs
) -> tuple[GraphSide, GraphSide]:
    plain = plain_side(a), plain_side(b)
    flow = plain_side(a, flow=True), plain_side(b, flow=True)
    views = (a, b), plain, flow
    for view in views[1:]:
        _match_until_stable(*view, matches, Certainty.LIKELY)
    for _ in range(_ROUNDS):
        for step, view in (
            (match_parameters, (a, b)),
            (partial(match_fused, a, b), flow),
            (match_sequences, (a, b)),
            (match_sequences, flow),
            (match_places, flow),
        ):
            new = step(*view, matches)
            if not new:
                continue
            for sides in views:
                spread(*sides, matches, new)
            for sides in views:
                _match_until_stable(*sides, matches, Certainty.LIKELY)
            if step is not match_parameters:
                break
        else:
            break
    return plain


def _match_until_stable(a: GraphSide, b: GraphSide, matches: MatchedPairs, sure: Certainty) -> None:
    for _ in range(_ROUNDS):
        before = len(a.unmatched())
        new = _by_cones(a, b, matches, sure)
        if not new or not a.unmatched() or not b.unmatched():
            return
        spread(a, b, matches, new)
        left = len(a.unmatched())
        if left > _MANY and left > _STUCK * before:
            return


def _by_cones(a: GraphSide, b: GraphSide, matches: MatchedPairs, sure: Certainty) -> NewPairs:
    left, right = a.unmatched(), b.unmatched()
    if not left or not right:
        return []
    of_a, of_b = cones(a), cones(b)
    new: NewPairs = []

    def add(node_a: int, node_b: int, certainty: Certainty, reason: Reason) -> None:
        if a.anchor[node_a] or b.anchor[node_b] or not agree(a, b, node_a, node_b):
            return
        matches.add(node_a, node_b, certainty, reason)
        new.append((node_a, node_b, certainty))

    # Nodes reachable from an input of the graph.
    placed_a = [node for node in left if a.grounded_up[node]]
    placed_b = [node for node in right if b.grounded_up[node]]

    def by_future(some: list[int], others: list[int]) -> dict[int, int]:
        return paired(
            unique_nodes((of_a.down[node], node) for node in some if a.grounded_down[node]),
            unique_nodes((of_b.down[node], node) for node in others if b.grounded_down[node]),
        )

    up = paired(
        unique_nodes((of_a.up[node], node) for node in placed_a),
        unique_nodes((of_b.up[node], node) for node in placed_b),
    )
    both = paired(
        unique_nodes(((of_a.up[node], of_a.down[node]), node) for node in placed_a),
        unique_nodes(((of_b.up[node], of_b.down[node]), node) for node in placed_b),
    )
    down = by_future(placed_a, placed_b)
    doubted = _conflicting(up, down)
    taken = {up[node_a] for node_a in doubted}
    surely = (
        (both, Reason.STRUCTURE),
        ({one: other for one, other in up.items() if one not in doubted}, Reason.UPSTREAM),
        (
            {one: to for one, to in down.items() if one not in doubted and to not in taken},
            Reason.DOWNSTREAM,
        ),
        # Nodes that no input reaches follow their readers if these are sure.
        ({} if doubted else by_future(left, right), Reason.DOWNSTREAM),
    )
    for pairs, reason in surely:
        for node_a, node_b in pairs.items():
            add(node_a, node_b, sure, reason)
    for node_a in doubted:
        add(node_a, up[node_a], Certainty.POSSIBLE, Reason.ALIKE)
    return new


def _conflicting(up: dict[int, int], down: dict[int, int]) -> dict[int, None]:
    back = {node_b: node_a for node_a, node_b in down.items()}
    return {
        node_a: None
        for node_a, node_b in up.items()
        if down.get(node_a, node_b) != node_b or back.get(node_b, node_a) != node_a
    }


def _match_equals_by_name(
    a: GraphSide, b: GraphSide, matches: MatchedPairs, names: tuple[Graph, Graph], alone: Certainty
) -> None:
    def take(node_a: int, node_b: int, sure: Certainty, reason: Reason) -> None:
        if a.anchor[node_a] or b.anchor[node_b] or not agree(a, b, node_a, node_b):
            return
        matches.add(node_a, node_b, sure, reason)
        spread(a, b, matches, [(node_a, node_b, sure)])

    for mine, theirs in _equal_cones(a, b):
        named_a, named_b = (
            unique_nodes((graph.names[node], node) for node in nodes if graph.names[node])
            for graph, nodes in zip(names, (mine, theirs), strict=True)
        )
        for node_a, node_b in paired(named_a, named_b).items():
            take(node_a, node_b, Certainty.LIKELY, Reason.NAME)
        rest_a = [node for node in mine if not a.anchor[node]]
        rest_b = [node for node in theirs if not b.anchor[node]]
        if len(rest_a) != len(rest_b):
            continue
        sure, reason = Certainty.POSSIBLE, Reason.ALIKE
        if len(rest_a) == 1:
            sure, reason = alone, Reason.STRUCTURE
        for node_a, node_b in zip(rest_a, rest_b, strict=True):
            take(node_a, node_b, sure, reason)


def _equal_cones(a: GraphSide, b: GraphSide) -> list[tuple[list[int], list[int]]]:
    left, right = a.unmatched(), b.unmatched()
    if not left or not right:
        return []
    of_a, of_b = cones(a), cones(b)
    groups: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for node in left:
        groups.setdefault((of_a.up[node], of_a.down[node]), ([], []))[0].append(node)
    for node in right:
        key = of_b.up[node], of_b.down[node]
        if key in groups:
            groups[key][1].append(node)
    return [(mine, theirs) for mine, theirs in groups.values() if theirs]


def _collected(
    a: Graph, b: Graph, left: GraphSide, right: GraphSide, matches: MatchedPairs
) -> Matching:
    prune(left, right, matches)
    sure = judged(left, right, matches, (a, b))
    pairs = np.array(list(matches.pairs), np.int32).reshape(-1, 2)
    why = np.array([pair[1] for pair in matches.pairs.values()], np.uint8)
    return Matching(a, b, pairs, sure, why)


_NONE = 0  # color of an unknown node; not -1, which Python hashes as -2, nor an anchor


class Cones(NamedTuple):
    """Hashes of the cones of unmatched nodes, which end at matched nodes (int [N])."""

    up: list[int]
    down: list[int]


def cones(side: GraphSide) -> Cones:
    """Return the cones of one side; equal cones have equal hashes on both sides."""
    nodes = side.unmatched()
    return Cones(_up(side, nodes), _down(side, nodes))


def _up(side: GraphSide, nodes: list[int]) -> list[int]:
    # A source of -1, or one that comes later because of a cycle, reads the last item.
    colors = [*side.anchor, _NONE]
    color_of = colors.__getitem__
    roles, sources = side.roles, side.sources
    for node in nodes:
        colors[node] = hash((roles[node], *map(color_of, sources[node])))
    return colors


def _down(side: GraphSide, nodes: list[int]) -> list[int]:
    colors = [*side.anchor, _NONE]
    given, readers = side.given, side.readers
    for node in reversed(nodes):
        uses = readers[node]
        if len(uses) == 1:
            ((reader, role),) = uses
            colors[node] = hash((given[node], colors[reader], role))
        else:
            seen = sorted([(colors[reader], role) for reader, role in uses])
            colors[node] = hash((given[node], *seen))
    return colors


def match_places(a: GraphSide, b: GraphSide, matches: MatchedPairs) -> NewPairs:
    """Match operators alone between the same matched operands and readers on both sides."""
    pairs = paired(unique_nodes(_operators_by_place(a)), unique_nodes(_operators_by_place(b)))
    for node, other in pairs.items():
        matches.add(node, other, Certainty.POSSIBLE, Reason.PLACE)
    return [(*pair, Certainty.POSSIBLE) for pair in pairs.items()]


def _operators_by_place(
    side: GraphSide,
) -> Iterator[tuple[tuple[frozenset[int], frozenset[int], tuple[int, ...]], int]]:
    for node in side.unmatched():
        if not side.tokens[node]:
            continue
        anchor = side.anchor
        above = frozenset(anchor[near] for near, _ in side.reads[node] if near >= 0) - {0}
        below = frozenset(anchor[reader] for reader, _, _ in side.read_by[node]) - {0}
        if above and (below or side.heads[node]):
            yield (above, below, tuple(side.heads[node])), node
