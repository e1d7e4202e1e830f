"""Blocks and scopes as one list of groups, each within or beside the others."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.blocks.repeats import BlockSearch, RepeatedBlock
from tvmdbg_widgets.analysis.blocks.scopes import Scope
from tvmdbg_widgets.model.graph.groups import GroupSource

#: Of groups of the same operators a scope is outermost, and what is inside a block innermost.
_RANK = {GroupSource.BLOCK: 1, GroupSource.REPEAT: 2}


class PlacedGroup(NamedTuple):
    """A group with the places it holds, the row of the group around it, and a name of its own."""

    start: int
    end: int
    parent: int
    found: RepeatedBlock
    name: str = ""


def rows_of(
    found: tuple[RepeatedBlock, ...], named: list[Scope], search: BlockSearch
) -> list[PlacedGroup]:
    """Return all groups, a parent before its children.

    Scopes come first: a run that one cuts through is none, nor are its blocks. Blocks that are a
    scope have its name; a scope around some blocks of a run, but not all, is left out. In what one
    operator of a delegate computes there are no more.
    """
    rows: list[PlacedGroup] = []
    stack = [(each, 0) for each in reversed(found)]
    while stack:
        each, by = stack.pop()
        rows.append(PlacedGroup(each.start + by, each.end + by, -1, each))
        # What is inside counts from the start of its group.
        stack += [(inner, each.start + by) for inner in reversed(each.inside)]
    if named:
        rows = _with_scopes(_uncut(rows, named, len(search.sequence.nodes)), named, search)
    kept: list[PlacedGroup] = []
    around: list[int] = []
    for row in rows:
        while around and kept[around[-1]].end <= row.start:
            around.pop()
        if row.found.source >= GroupSource.SCOPE and _are_run([kept[at] for at in around]):
            continue
        if any(kept[at].found.source is GroupSource.OPERATOR for at in around):
            continue
        kept.append(row._replace(parent=around[-1] if around else -1))
        around.append(len(kept) - 1)
    return kept


def _are_run(around: list[PlacedGroup]) -> bool:
    """Return whether what comes next is right inside a run, beside its blocks."""
    found = [row.found.source for row in around if row.found.source < GroupSource.SCOPE]
    return bool(found) and found[-1] is GroupSource.REPEAT


def _with_scopes(
    rows: list[PlacedGroup], named: list[Scope], search: BlockSearch
) -> list[PlacedGroup]:
    by_place = {(each.start, each.end): each for each in named}
    for at, row in enumerate(rows):
        if row.found.source is GroupSource.BLOCK and (row.start, row.end) in by_place:
            scope = by_place.pop((row.start, row.end))
            found = row.found
            if scope.source in (GroupSource.DELEGATE, GroupSource.OPERATOR):
                found = replace(found, source=scope.source)
            rows[at] = row._replace(name=scope.name, found=found)
    for place, scope in by_place.items():
        whole = RepeatedBlock(*place, scope.source, 1, search.content(*place))
        rows.append(PlacedGroup(*place, -1, whole, scope.name))
    return sorted(rows, key=lambda row: (row.start, -row.end, _RANK.get(row.found.source, 0)))


def _uncut(rows: list[PlacedGroup], named: list[Scope], count: int) -> list[PlacedGroup]:
    """Return the groups that no scope holds a part of and leaves a part of."""
    # The innermost scope that each border between operators is inside of.
    start, end = np.full(count + 1, -1), np.full(count + 1, count + 1)
    for scope in sorted(named, key=lambda each: (each.start, -each.end)):
        start[scope.start + 1 : scope.end], end[scope.start + 1 : scope.end] = scope[:2]
    first, last = start.tolist(), end.tolist()
    kept: list[PlacedGroup] = []
    broken = 0
    for row in rows:
        if first[row.end] > row.start or last[row.start] < row.end:
            broken = max(broken, row.end if row.found.source is GroupSource.REPEAT else 0)
        elif row.start >= broken or row.found.source is GroupSource.REPEAT:
            kept.append(row)
    return kept
