"""Groups that leave few boxes of a large graph: its own, and consecutive operators."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.graph import Graph, node_labels
from tvmdbg_widgets.model.graph.groups import Groups, GroupSource
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

#: Inputs with boxes of their own; more share one.
_OWN_INPUTS = 3
#: Words in the title of a group.
_NAMED = 3
#: Weight of all nodes by number, relative to that of their times.
_COUNT_WEIGHT = 0.25
#: Fewest parts into which a group is cut if they do not fit.
_FEWEST = 6


@dataclass(frozen=True)
class _Stretch:
    """An interval of the order: a node, a group of the graph (``group``), or a stretch of both."""

    start: int
    end: int
    group: int = -1
    name: str = ""
    alike: int = -1
    repeats: int = 1
    source: int = GroupSource.SCOPE


def condensed(
    graph: Graph, groups: Groups, timeline: Timeline | None, most: int
) -> tuple[Groups, list[int]]:
    """Return groups, and which of them are open, so that at most ``most`` boxes are drawn."""
    given, folded = _given(graph)
    return _Condensing(graph, groups, timeline, given, folded).groups(most)


def boxes_of_nodes(
    graph: Graph, groups: Groups, opened: list[int], heads: Ints
) -> npt.NDArray[np.int64]:
    """Return the closed group around each node; for one with a box of its own, a larger number."""
    alone = (groups.node_group < 0) | np.isin(groups.node_group, opened)
    box = np.where(alone, len(groups) + np.arange(graph.num_nodes), groups.node_group)
    # Outputs have boxes of their own, even in closed groups.
    box[heads] = len(groups) + heads
    return box


def edges_between(graph: Graph, groups: Groups, box: Ints) -> npt.NDArray[np.intp]:
    """Return the edges between boxes, the first of those between the same two."""
    count = graph.num_nodes
    source, target = graph.edge_source, box[graph.edge_target]
    known = source >= 0
    begin = np.where(known, box[source], -1)
    # Parameters are folded into their readers, each by edges of its own.
    apart = known & (graph.kinds[source] == NodeKind.PARAMETER)
    begin = np.where(apart, len(groups) + count + source, begin)
    rows = np.flatnonzero(known & (begin != target))
    keys = begin[rows].astype(np.int64) * (len(groups) + count) + target[rows]
    trusts = int(graph.edge_trust.max(initial=0)) + 1
    _, first = np.unique(keys * trusts + graph.edge_trust[rows], return_index=True)
    return np.sort(rows[first])


def _given(graph: Graph) -> tuple[list[Ints], Ints]:
    """Return inputs, unread parameters and memory of a plan by role, and the other parameters."""
    read = np.zeros(graph.num_nodes, np.bool_)
    read[graph.edge_source[graph.edge_source >= 0]] = True
    read[graph.heads[:, 0]] = False
    outer = graph.kinds <= NodeKind.PARAMETER
    folded = outer & read & (graph.kinds == NodeKind.PARAMETER)
    shown = np.flatnonzero(outer & ~folded)
    codes = graph.roles.codes[shown]
    return [shown[codes == code] for code in np.unique(codes)], np.flatnonzero(folded)


class _Condensing:
    def __init__(
        self,
        graph: Graph,
        groups: Groups,
        timeline: Timeline | None,
        given: list[Ints],
        folded: Ints,
    ) -> None:
        self._graph, self._groups, self._given = graph, groups, given
        runs = (graph.kinds > NodeKind.PARAMETER)[groups.order]
        self._first = graph.num_nodes - int(runs.sum())
        operators = groups.order[runs]
        self._order = np.concatenate([*given, folded, operators]).astype(np.int32)
        place = self._first + np.concatenate([[0], np.cumsum(runs)])
        self._start, self._end = place[groups.start], place[groups.end]
        self._ns = np.zeros(graph.num_nodes)
        if timeline is not None:
            self._ns = np.nan_to_num(timeline.node_ns[self._order])
        total = self._ns.sum() or 1.0
        weights = self._ns / total + _COUNT_WEIGHT / max(1, len(operators))
        weights[: self._first] = 0.0
        self._weight = np.concatenate([[0.0], np.cumsum(weights)])
        self._labels = node_labels(graph)
        #: Groups of at least two operators, by the group around them.
        held = np.flatnonzero(self._end - self._start > 1)
        self._inside: dict[int, list[int]] = {}
        for group, around in zip(held.tolist(), groups.parent[held].tolist(), strict=True):
            self._inside.setdefault(around, []).append(group)

    def groups(self, most: int) -> tuple[Groups, list[int]]:
        """Return the groups, parents before their children, and the open ones."""
        given = [
            _Stretch(end - len(nodes), end, name=self._role(nodes))
            for nodes, end in zip(self._given, accumulate(map(len, self._given)), strict=True)
            if len(nodes) > (_OWN_INPUTS if self._graph.roles[nodes[0]] == "input" else 1)
        ]
        alone = sum(map(len, self._given)) - sum(piece.end - piece.start for piece in given)
        pieces, opened = self._opened(max(2, most - len(given) - alone))
        found = [piece for piece in (*given, *pieces) if piece.end - piece.start > 1]
        found.sort(key=lambda piece: (piece.start, -piece.end))
        parents, around = [], list[int]()
        for row, piece in enumerate(found):
            while around and found[around[-1]].end <= piece.start:
                around.pop()
            parents.append(around[-1] if around else -1)
            around.append(row)
        made = Groups(
            self._order,
            np.array([piece.start for piece in found], np.int32),
            np.array([piece.end for piece in found], np.int32),
            np.array(parents, np.int32),
            StringColumn.from_strings(piece.name for piece in found),
            np.array([piece.alike for piece in found], np.int32),
            np.array([piece.source for piece in found], np.uint8),
            np.array([piece.repeats for piece in found], np.int32),
        )
        return made, [row for row, piece in enumerate(found) if piece.group in opened]

    def _opened(self, most: int) -> tuple[list[_Stretch], set[int]]:
        """Return pieces of the operators, and the opened groups."""
        pieces = self._cut(-1, self._first, len(self._order), most)
        found, boxes, opened = list(pieces), len(pieces), set[int]()
        heap: list[tuple[float, int, _Stretch]] = []

        def offer(parts: list[_Stretch]) -> None:
            for part in parts:
                if part.group >= 0:
                    heapq.heappush(heap, (-self._weight_of(part), part.start, part))

        offer(pieces)
        while heap:
            _, _, piece = heapq.heappop(heap)
            parts = self._parts(piece, most - boxes + 1)
            if len(parts) < 2:
                continue
            boxes += len(parts) - 1
            opened.add(piece.group)
            found += parts
            offer(parts)
        return found, opened

    def _parts(self, piece: _Stretch, most: int) -> list[_Stretch]:
        """Return the parts of an opened group; none if they are too many."""
        blocks = self._inside.get(piece.group, [])
        is_run = self._groups.source[piece.group] == GroupSource.REPEAT
        if is_run and not blocks:
            return []
        if is_run and len(blocks) > 2:
            first, second = blocks[:2]
            rest = self._joined(int(self._start[second]), piece.end, blocks[1:])
            return [self._own(first), rest] if most >= 2 else []
        items = (
            piece.end
            - piece.start
            - sum(int(self._end[block] - self._start[block]) - 1 for block in blocks)
        )
        is_heavy = self._weight_of(piece) > self._weight[-1] / 2 and most >= _FEWEST
        if items > most and not is_heavy:
            return []
        return self._cut(piece.group, piece.start, piece.end, most)

    def _cut(self, around: int, first: int, last: int, most: int) -> list[_Stretch]:
        """Return the items of one level; too many are joined to stretches of about equal weight."""
        blocks = np.array(self._inside.get(around, []), np.int64)
        start, end = self._start[blocks], self._end[blocks]
        inside = np.zeros(last - first + 1, np.int32)
        np.add.at(inside, start + 1 - first, 1)
        np.add.at(inside, end - first, -1)
        begins = first + np.flatnonzero(np.cumsum(inside)[:-1] == 0)
        ends = np.append(begins[1:], last)
        ids = np.full(len(begins), -1)
        ids[np.searchsorted(begins, start)] = blocks
        if len(begins) <= most:
            rows = zip(begins.tolist(), ends.tolist(), ids.tolist(), strict=True)
            return [self._own(group) if group >= 0 else _Stretch(a, b) for a, b, group in rows]
        low, high = self._weight[first], self._weight[last]
        middle = (self._weight[begins] + self._weight[ends]) / 2 - low
        cell = np.minimum(most - 1, middle * (most / ((high - low) or 1.0))).astype(np.int64)
        cuts = [*np.flatnonzero(np.diff(cell, prepend=-1)).tolist(), len(begins)]
        return [
            self._joined(int(begins[a]), int(ends[b - 1]), ids[a:b].tolist())
            for a, b in pairwise(cuts)
        ]

    def _own(self, group: int) -> _Stretch:
        start, end, all_groups = int(self._start[group]), int(self._end[group]), self._groups
        return _Stretch(
            start,
            end,
            group,
            all_groups.names[group],
            int(all_groups.alike[group]),
            int(all_groups.repeats[group]),
            int(all_groups.source[group]),
        )

    def _joined(self, start: int, end: int, ids: list[int]) -> _Stretch:
        """Return a stretch of consecutive items."""
        if len(ids) == 1:
            return self._own(ids[0]) if ids[0] >= 0 else _Stretch(start, end)
        alike = set(self._groups.alike[ids].tolist()) if min(ids) >= 0 else set()
        if len(alike) == 1:
            name = self._groups.names[ids[0]]
            return _Stretch(start, end, -1, name, alike.pop(), len(ids), GroupSource.REPEAT)
        words = self._words(start, end, [each for each in ids if each >= 0])
        return _Stretch(start, end, name=words)

    def _words(self, start: int, end: int, groups: list[int]) -> str:
        """Return the names of a stretch, the longest time first, then the most frequent."""
        spent: defaultdict[str, float] = defaultdict(float)
        count: Counter[str] = Counter()
        alone = np.ones(end - start, np.bool_)
        for group in groups:
            low, high = int(self._start[group]), int(self._end[group])
            alone[low - start : high - start] = False
            spent[self._groups[group].title] += float(self._ns[low:high].sum())
            count[self._groups[group].title] += 1
        rows = start + np.flatnonzero(alone)
        codes, at, counts = np.unique(
            self._labels.codes[self._order[rows]], return_inverse=True, return_counts=True
        )
        took = np.bincount(at, self._ns[rows], len(codes))
        for code, ns, times in zip(codes.tolist(), took.tolist(), counts.tolist(), strict=True):
            spent[self._labels.unique[code]] += ns
            count[self._labels.unique[code]] += times
        names = sorted(count, key=lambda name: (-spent[name], -count[name]))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more

    def _weight_of(self, piece: _Stretch) -> float:
        return float(self._weight[piece.end] - self._weight[piece.start])

    def _role(self, nodes: Ints) -> str:
        noun, without, rest = self._graph.roles[nodes[0]].partition(" without ")
        return str(counted(len(nodes), noun) + without + rest)
