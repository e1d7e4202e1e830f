"""Groups of operators turned into groups of nodes, with inputs and parameters placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.blocks.naming import GroupNames
from tvmdbg_widgets.analysis.blocks.repeats import BlockSearch, RepeatedBlock
from tvmdbg_widgets.analysis.blocks.sequence import Bools, Ints, Scope, scopes
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups, GroupSource
from tvmdbg_widgets.model.graph.nodes import NodeKind


def placed(
    graph: Graph, search: BlockSearch, blocks: tuple[RepeatedBlock, ...], settled: int
) -> Groups:
    """Return groups of nodes; inputs join the innermost group of all their readers."""
    rows = rows_of(blocks, scopes(graph, search.sequence), search)
    sequence = search.sequence
    count = len(sequence.nodes)
    start, end, parent = (np.array([row[k] for row in rows], np.int64) for k in range(3))
    depth = np.zeros(len(rows), np.int64)
    for row, around in enumerate(parent.tolist()):
        depth[row] = depth[around] + 1 if around >= 0 else 0
    inner = np.full(count + 1, -1, np.int64)
    for row, (low, high) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        inner[low:high] = row

    place = np.full(graph.num_nodes, -1, np.int64)
    place[sequence.nodes] = np.arange(count)
    owner = np.full(graph.num_nodes, -1, np.int64)
    owner[sequence.nodes] = inner[:-1]
    known, at = np.unique(sequence.outer, return_index=True)
    at, known = at[known >= 0], known[known >= 0]
    anchor, group = search.first_reader[at], inner[search.first_reader[at]]
    last = search.last_reader[at]
    while True:
        out = group >= 0
        out[out] = end[group[out]] <= last[out]
        if not out.any():
            break
        anchor[out] = start[group[out]]
        group[out] = parent[group[out]]
    _move_inputs_before_calls(graph.kinds[known] == NodeKind.INPUT, rows, anchor, group)
    place[known], owner[known] = anchor, group
    for start_of, _, around, each, _ in rows:
        if each.apart:
            apart = _operands_of_single_blocks(search, start_of, each)
            apart = apart[place[apart] >= start_of]
            place[apart], owner[apart] = start_of, around
    others = np.flatnonzero(place < 0)
    nodes_order = graph.order.nodes
    tail = nodes_order[settled:]
    place[others] = count
    place[tail] = count + 1

    steps = int(depth.max(initial=0)) + 3
    level = np.where(owner >= 0, depth[owner] + 1 if len(rows) else 0, 0)
    level[sequence.nodes] = steps - 1
    key = place * steps + level
    order = np.lexsort((np.arange(graph.num_nodes), key))
    ordered = key[order]
    if len(tail):
        order[settled:] = tail
    names = GroupNames(graph, search.sequence)
    first = np.searchsorted(ordered, start * steps + depth + 1).astype(np.int32)
    behind = np.searchsorted(ordered, end * steps).astype(np.int32)
    at = np.empty(graph.num_nodes, np.int32)
    at[order] = np.arange(graph.num_nodes, dtype=np.int32)
    alike: dict[tuple[int, bytes, bytes], int] = {}
    keys = [
        (
            row.block.source,
            row.block.content,
            _inputs_and_parameters_of(search, row.start, row.end, at, ends),
        )
        for row, *ends in zip(rows, first, behind, strict=True)
    ]
    return Groups(
        order.astype(np.int32),
        first,
        behind,
        parent.astype(np.int32),
        StringColumn.from_strings(row.name or names.of(row.block, row.start) for row in rows),
        np.array([alike.setdefault(key, len(alike)) for key in keys], np.int32),
        np.array([row.block.source for row in rows], np.uint8),
        np.array([row.block.repeats for row in rows], np.int32),
    )


def _move_inputs_before_calls(
    is_input: Bools, rows: Sequence[PlacedGroup], anchor: Ints, group: Ints
) -> None:
    for number, row in enumerate(rows):
        if row.block.source == GroupSource.DELEGATE:
            given = is_input & (anchor >= row.start) & (anchor < row.end) & (group >= number)
            anchor[given], group[given] = row.start, row.parent


def _inputs_and_parameters_of(
    search: BlockSearch, start: int, end: int, at: Ints, ends: Sequence[int]
) -> bytes:
    sequence = search.sequence
    outer = sequence.outer[int(sequence.slot[start]) : int(sequence.slot[end])]
    place = at[outer]
    return ((outer >= 0) & (place >= ends[0]) & (place < ends[1])).tobytes()


def _operands_of_single_blocks(search: BlockSearch, start: int, block: RepeatedBlock) -> Ints:
    sequence = search.sequence
    slots = slice(int(sequence.slot[start]), int(sequence.slot[start + block.end - block.start]))
    nodes = sequence.outer[slots].reshape(block.repeats, -1)[:, list(block.apart)].ravel()
    return nodes[nodes >= 0]


#: Of groups with equal operators a scope is outermost, and blocks are inside of runs.
_RANK = {GroupSource.BLOCK: 1, GroupSource.REPEAT: 2}


class PlacedGroup(NamedTuple):
    """A group with its places, its parent's row, and a name."""

    start: int
    end: int
    parent: int
    block: RepeatedBlock
    name: str = ""


def rows_of(
    blocks: tuple[RepeatedBlock, ...], named: list[Scope], search: BlockSearch
) -> list[PlacedGroup]:
    """Return all groups that no scope cuts, parents before their children."""
    rows: list[PlacedGroup] = []
    stack = [(block, 0) for block in reversed(blocks)]
    while stack:
        each, by = stack.pop()
        rows.append(PlacedGroup(each.start + by, each.end + by, -1, each))
        # Inner places count from the start of their group.
        stack += [(inner, each.start + by) for inner in reversed(each.inside)]
    if named:
        rows = _with_scopes(
            _without_cut_groups(rows, named, len(search.sequence.nodes)), named, search
        )
    kept: list[PlacedGroup] = []
    around: list[int] = []
    for row in rows:
        while around and kept[around[-1]].end <= row.start:
            around.pop()
        outer = (kept[at].block.source for at in reversed(around))
        nearest = next((source for source in outer if source < GroupSource.SCOPE), None)
        # A scope directly inside a run, beside its blocks.
        if row.block.source >= GroupSource.SCOPE and nearest is GroupSource.REPEAT:
            continue
        if any(kept[at].block.source is GroupSource.OPERATOR for at in around):
            continue
        kept.append(row._replace(parent=around[-1] if around else -1))
        around.append(len(kept) - 1)
    return kept


def _with_scopes(
    rows: list[PlacedGroup], named: list[Scope], search: BlockSearch
) -> list[PlacedGroup]:
    by_place = {(scope.start, scope.end): scope for scope in named}
    for at, row in enumerate(rows):
        if row.block.source is GroupSource.BLOCK and (row.start, row.end) in by_place:
            scope = by_place.pop((row.start, row.end))
            block = row.block
            if scope.source in (GroupSource.DELEGATE, GroupSource.OPERATOR):
                block = replace(block, source=scope.source)
            rows[at] = row._replace(name=scope.name, block=block)
    for place, scope in by_place.items():
        whole = RepeatedBlock(*place, scope.source, 1, search.content(*place))
        rows.append(PlacedGroup(*place, -1, whole, scope.name))
    return sorted(rows, key=lambda row: (row.start, -row.end, _RANK.get(row.block.source, 0)))


def _without_cut_groups(
    rows: list[PlacedGroup], named: list[Scope], count: int
) -> list[PlacedGroup]:
    # The innermost scope around each border between operators.
    start, end = np.full(count + 1, -1), np.full(count + 1, count + 1)
    for scope in sorted(named, key=lambda each: (each.start, -each.end)):
        start[scope.start + 1 : scope.end], end[scope.start + 1 : scope.end] = scope[:2]
    first, last = start.tolist(), end.tolist()
    kept: list[PlacedGroup] = []
    broken = 0
    for row in rows:
        if first[row.end] > row.start or last[row.start] < row.end:
            broken = max(broken, row.end if row.block.source is GroupSource.REPEAT else 0)
        elif row.start >= broken or row.block.source is GroupSource.REPEAT:
            kept.append(row)
    return kept
