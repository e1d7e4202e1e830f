"""Pairs that could as well be others: what has no counterpart would take the place of one."""

from __future__ import annotations

from collections.abc import Callable

from tvmdbg_widgets.analysis.matching.found import MatchedPairs
from tvmdbg_widgets.analysis.matching.side import GraphSide

#: Readers of one node, and nodes in a row, that are looked at.
_MOST_READERS = 64
_MOST_IN_A_ROW = 200
#: Nodes looked at altogether.
_MOST_STEPS = 200_000


def disputed(a: GraphSide, b: GraphSide, found: MatchedPairs) -> set[tuple[int, int]]:
    """Return the pairs for which another choice keeps as many edges.

    An operator without a counterpart may take that of one that is alike, this one that of the
    next, and so on along a row of equals: where one of them was added or removed, only edges at
    both ends of the row tell which.
    """
    rivals: set[tuple[int, int]] = set()
    for swap in (False, True):
        one, other = (b, a) if swap else (a, b)
        rows = _RivalRows(one, other, found.partner_a if swap else found.partner_b)
        back = found.partner_b if swap else found.partner_a
        for node in one.unmatched():
            if one.tokens[node]:
                rivals.update(
                    (other_node, mine) if swap else (mine, other_node)
                    for mine, other_node in rows.rivals(node, back)
                )
    return rivals


class _RivalRows:
    """Rows of equals from unmatched nodes of one side on."""

    def __init__(self, one: GraphSide, other: GraphSide, image: Callable[[int], int]) -> None:
        self._one, self._other, self._image = one, other, image
        self._steps = 0

    def rivals(self, node: int, back: Callable[[int], int]) -> list[tuple[int, int]]:
        """Return the pairs that would be others if `node` had a counterpart, and as good."""
        found: list[tuple[int, int]] = []
        for ahead in (True, False):
            for start in self._beside(node, ahead, self._image):
                takers, row = self._row(node, start, ahead, back)
                if row and self._as_good(takers, row):
                    found += row
        return found

    def _row(
        self, node: int, start: int, ahead: bool, back: Callable[[int], int]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the pairs from `start` on that would give way, and who would take their place.

        What follows the one that took the last place goes on where it has no counterpart either,
        else the one that lost it.
        """
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
            image = _only(taker, at)
            taken, at = at, -1
            for after in (*self._free(taker, ahead), partner):
                near = [each for each in self._beside(after, ahead, image) if each != taken]
                if near:
                    taker, at = after, near[0]
                    break
        return takers, row

    def _free(self, node: int, ahead: bool) -> list[int]:
        """Return the operators without a counterpart right behind a node, or before it."""
        one = self._one
        if len(one.read_by[node]) > _MOST_READERS:
            return []
        beside = (
            [each for each, _at, _output in one.read_by[node]]
            if ahead
            else [each for each, _output in one.reads[node] if each >= 0]
        )
        return [each for each in beside if not one.anchor[each] and one.tokens[each]]

    def _beside(self, node: int, ahead: bool, image: Callable[[int], int]) -> list[int]:
        """Return matched nodes of the other side that are like a node, in its role.

        They read the images of what it reads (``ahead``), or are read by those of its readers.
        """
        one, other = self._one, self._other
        key = one.keys[node]
        found: dict[int, None] = {}
        if ahead:
            for at, (source, output) in enumerate(one.reads[node]):
                twin = image(source) if source >= 0 else -1
                if twin >= 0 and len(other.read_by[twin]) <= _MOST_READERS:
                    found |= {
                        reader: None
                        for reader, position, out in other.read_by[twin]
                        if (position, out) == (at, output) and other.keys[reader] == key
                    }
        elif len(one.read_by[node]) <= _MOST_READERS:
            for reader, at, output in one.read_by[node]:
                twin = image(reader)
                if twin >= 0 and at < len(other.reads[twin]):
                    source, out = other.reads[twin][at]
                    if source >= 0 and out == output and other.keys[source] == key:
                        found[source] = None
        self._steps += 1 + len(found)
        if self._steps > _MOST_STEPS:
            return []
        return [each for each in found if other.anchor[each]]

    def _as_good(self, takers: list[int], row: list[tuple[int, int]]) -> bool:
        moved = {mine: -1 for mine, _ in row}
        moved |= {taker: at for taker, (_, at) in zip(takers, row, strict=True)}
        now = sum(self._kept(mine, at, self._image) for mine, at in row)
        then = sum(
            self._kept(mine, at, lambda each: moved.get(each, self._image(each)))
            for mine, at in moved.items()
            if at >= 0
        )
        return then >= now

    def _kept(self, mine: int, at: int, image: Callable[[int], int]) -> int:
        """Return how many edges of a pair, and outputs of the graph, are the same on both sides."""
        one, other = self._one, self._other
        theirs = other.reads[at]
        kept = int(bool(one.heads[mine]) and one.heads[mine] == other.heads[at])
        for place, (source, output) in enumerate(one.reads[mine][: len(theirs)]):
            # Parameters go with the operator that reads them.
            if source >= 0 and (one.tokens[source] or one.reads[source] or one.is_input[source]):
                kept += (image(source), output) == theirs[place]
        if len(one.read_by[mine]) <= _MOST_READERS and len(other.read_by[at]) <= _MOST_READERS:
            uses = set(other.read_by[at])
            kept += sum((image(node), *role) in uses for node, *role in one.read_by[mine])
        return kept


def _only(node: int, image: int) -> Callable[[int], int]:
    """Return what gives the image of one node, and -1 for all others."""
    return lambda each: image if each == node else -1
