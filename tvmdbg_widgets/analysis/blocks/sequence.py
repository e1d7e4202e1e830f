"""Sequences of operators as letters with wires, their scopes, and calls of delegates."""

from __future__ import annotations

import heapq
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis import view_columns
from tvmdbg_widgets.model.base.ranges import flat_ranges
from tvmdbg_widgets.model.executorch.event_nodes import with_operators
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import GroupSource
from tvmdbg_widgets.model.graph.nodes import NodeKind

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Letters:
    """Letters of operators, independent of order."""

    is_operator: Bools
    code: Ints
    first_edge: Ints

    @classmethod
    def of(cls, graph: Graph) -> Letters:
        """Return the letters of a graph."""
        known = graph.edge_source >= 0
        entry = graph.entry_offsets[graph.edge_source] + graph.edge_output
        kinds = np.zeros(graph.num_edges, np.uint64)
        entries = view_columns.entry_signatures(graph)
        kinds[known] = entries[entry[known]]
        first = np.searchsorted(graph.edge_target, np.arange(graph.num_nodes + 1))
        read = view_columns.segment_sums(view_columns.mixed(kinds, graph.edge_position), first)
        whole = view_columns.mixed(view_columns.signatures(graph, entries), read)
        code = np.unique(whole, return_inverse=True)[1]
        return cls(graph.kinds >= NodeKind.OPERATOR, code.astype(np.int64), first.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Sequence:
    """The n operators of a graph in topological order, with their S operands."""

    nodes: Ints
    letters: Ints
    slot: Ints
    source: Ints
    entry: Ints
    output: Ints
    outer: Ints
    reader: Ints
    last: Ints
    crossing: Ints

    @classmethod
    def of(cls, graph: Graph, letters: Letters, nodes: Ints) -> Sequence:
        """Return the sequence of these operators, which must be in topological order."""
        place = np.full(graph.num_nodes + 1, -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        counts = (letters.first_edge[1:] - letters.first_edge[:-1])[nodes]
        slot = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(counts, out=slot[1:])
        edge = flat_ranges(letters.first_edge[nodes], counts)
        node = graph.edge_source[edge].astype(np.int64)
        output = graph.edge_output[edge].astype(np.int64)
        source = place[node]
        entry = np.where(node >= 0, graph.entry_offsets[node] + output, -2 - np.arange(len(edge)))
        outer = np.where((node >= 0) & ~letters.is_operator[node], node, -1)
        reader = np.repeat(np.arange(len(nodes)), counts)
        return cls(
            nodes,
            letters.code[nodes],
            slot,
            source,
            entry,
            output,
            outer,
            reader,
            *_last_readers_and_crossings(source, entry, reader, len(nodes)),
        )


def _last_readers_and_crossings(
    source: Ints, entry: Ints, reader: Ints, count: int
) -> tuple[Ints, Ints]:
    inside = source >= 0
    last = np.full(int(entry.max(initial=0)) + 1, -1, np.int64)
    last[entry[inside]] = reader[inside]  # operands come by reader, so the last one written stays
    final = np.where(inside, last[np.maximum(entry, 0)], -1)
    ends = inside & (final == reader)
    made = np.full(len(last), -1, np.int64)
    made[entry[ends]] = source[ends]
    alive = made >= 0
    steps = np.bincount(made[alive] + 1, minlength=count + 2) - np.bincount(
        last[alive] + 1, minlength=count + 2
    )
    return final, np.cumsum(steps)[: count + 1].astype(np.int64)


_DELEGATE: Final = GroupSource.DELEGATE
STACK: Final = "nn_module_stack"  # attribute with the module of a node
_ENOUGH = 0.25  # least share of operators with a scope for scopes to be used
_MOST_PIECES = 4
_DEEPEST = 16
_NAMED: Final = re.compile(r"\(\s*'([^']*)'|\(\s*\"([^\"]*)\"")
_SELF: Final = re.compile(r"^L?\[?'?self'?\]?\.?|^L__self___")

Path = tuple[str, ...]


class Scope(NamedTuple):
    """Consecutive operators of one scope, and its name."""

    start: int
    end: int
    name: str
    source: GroupSource


def scopes(graph: Graph, sequence: Sequence) -> list[Scope]:
    """Return nested scopes that share a prefix of delegate call, ``nn_module_stack`` or name."""
    count = len(sequence.nodes)
    paths, source = _paths(graph, sequence)
    calls = [graph.attrs[node].get(ATTRIBUTE) for node in sequence.nodes.tolist()]
    operators = [operator_of(graph, node) for node in sequence.nodes.tolist()]
    paths = _with_calls_and_operators(paths, calls, operators)
    if not any(paths):
        return []
    stretches = _stretches_by_path(paths)
    whole = Counter(calls)
    pieces: dict[tuple[int, int], Path] = {}
    for path, places in stretches.items():
        call = path[0] if len(path) == 1 and path[0] in whole else None
        if len(places) <= _MOST_PIECES:
            for start, end in places:
                # Operators of a delegate call are one group or none.
                if call is not None and end - start == whole[call] > 1:
                    pieces[start, end] = path
                elif call is None and 1 < end - start < count:
                    # Of scopes around the same operators the innermost came first.
                    pieces.setdefault((start, end), path)

    def source_of(start: int, path: Path) -> GroupSource:
        if path == (calls[start],):
            return _DELEGATE
        whole = bool(operators[start]) and path == paths[start] and path[-1] == operators[start]
        return GroupSource.OPERATOR if whole else source

    def scope(start: int, end: int, path: Path) -> Scope:
        stretches = source_of(start, path)
        name = with_operators(path[-1], end - start) if stretches == _DELEGATE else path[-1]
        return Scope(start, end, name, stretches)

    return [scope(*where, path) for where, path in pieces.items()]


def _stretches_by_path(paths: list[Path]) -> dict[Path, list[tuple[int, int]]]:
    stretches: dict[Path, list[tuple[int, int]]] = {}
    open_: list[tuple[Path, int]] = []
    for place, path in enumerate([*paths, ()]):
        kept = 0
        while kept < len(open_) and kept < len(path) and open_[kept][0][-1] == path[kept]:
            kept += 1
        while len(open_) > kept:
            before, start = open_.pop()
            stretches.setdefault(before, []).append((start, place))
        open_ += [(path[: depth + 1], place) for depth in range(kept, len(path))]
    return stretches


def _with_calls_and_operators(
    paths: list[Path], calls: list[str | None], operators: list[str]
) -> list[Path]:
    held: dict[tuple[str, str], list[Path]] = {}
    for path, call, operator in zip(paths, calls, operators, strict=True):
        if call and operator:
            held.setdefault((call, operator), []).append(path)
    shared = {key: common_path(some) for key, some in held.items() if len(some) > 1}
    extended: list[Path] = []
    for path, call, operator in zip(paths, calls, operators, strict=True):
        if call and (call, operator) in shared:
            extended.append((call, *shared[call, operator], operator))
        else:
            extended.append((call, *path) if call else path)
    return extended


def common_path(paths: Iterable[Path]) -> Path:
    """Return the longest path that all paths begin with."""
    alike = takewhile(lambda parts: len(set(parts)) == 1, zip(*paths, strict=False))
    return tuple(parts[0] for parts in alike)


def _paths(graph: Graph, sequence: Sequence) -> tuple[list[Path], GroupSource]:
    attrs, names = graph.attrs, graph.names
    stacks = [attrs[node].get(STACK) for node in sequence.nodes.tolist()]
    if any(stacks):
        known = {text: module_path(text) for text in set(stacks)}
        paths = [known[text] for text in stacks]
        if sum(map(bool, paths)) >= _ENOUGH * len(paths):
            return paths, GroupSource.MODULE
    codes = names.codes[sequence.nodes].tolist()
    return _paths_of_names([names.unique[code] for code in codes]), GroupSource.SCOPE


def _paths_of_names(names: list[str]) -> list[Path]:
    for separator in "/.":
        if sum(separator in name for name in names) < _ENOUGH * len(names):
            continue
        paths = [tuple(filter(None, name.split(separator)))[:-1][:_DEEPEST] for name in names]
        if sum(map(bool, paths)) >= _ENOUGH * len(names):
            return paths
    return [()] * len(names)


def module_path(text: str | None) -> Path:
    """Return the innermost path in a node's module stack, JSON of torch.fx or a path itself."""
    if not text:
        return ()
    paths: Iterable[str] = (a or b for a, b in _NAMED.findall(text))
    try:
        stack = json.loads(text)
    except (ValueError, RecursionError):
        stack = None
    if isinstance(stack, dict):
        firsts = (each[0] if isinstance(each, list) and each else each for each in stack.values())
        paths = (first for first in firsts if isinstance(first, str))
    elif "{" not in text:
        paths = (text,)
    deepest = max((_SELF.sub("", path) for path in paths), key=len, default="")
    return tuple(filter(None, re.split(r"[./]", deepest)))[:_DEEPEST]


ATTRIBUTE: Final = "delegate"  # attribute with a node's delegate call
OPERATOR: Final = "delegate_node"  # attribute with the delegate's operator that computes a node


def delegate_calls(graph: Graph) -> dict[str, list[int]]:
    """Return the nodes by delegate call, as far as the graph has them."""
    if ATTRIBUTE not in graph.attr_names:
        return {}
    nodes_by_call: dict[str, list[int]] = defaultdict(list)
    for node, attrs in enumerate(graph.attrs):
        if ATTRIBUTE in attrs:
            nodes_by_call[attrs[ATTRIBUTE]].append(node)
    return dict(nodes_by_call)


def operator_of(graph: Graph, node: int) -> str:
    """Return the delegate's operator that computes a node, empty for none or several."""
    operator = graph.attrs[node].get(OPERATOR, "").removeprefix("in ")
    return "" if " " in operator else operator


def gathered(graph: Graph, operators: Ints, calls: dict[str, list[int]]) -> Ints:
    """Return the operators in a topological order that keeps delegate calls together."""
    if not calls:
        return operators
    parts: dict[tuple[str, str], list[int]] = defaultdict(list)
    for call, nodes in calls.items():
        for node in nodes:
            if operator := operator_of(graph, node):
                parts[call, operator].append(node)
    for sets in (parts.values(), calls.values()):
        operators = _keeping_sets_together(graph, operators, sets)
    return operators


def _keeping_sets_together(graph: Graph, operators: Ints, sets: Iterable[list[int]]) -> Ints:
    place = np.full(graph.num_nodes + 1, -1, np.int64)
    place[operators] = np.arange(len(operators))
    stands = np.arange(len(operators))  # a set has the place of its first operator
    for nodes in sets:
        held = place[nodes]
        held = held[held >= 0]
        if len(held):
            stands[held] = held.min()
    source, target = place[graph.edge_source], place[graph.edge_target]
    known = (source >= 0) & (target >= 0)
    source, target = stands[source[known]], stands[target[known]]
    pairs = np.unique(np.stack([source, target], axis=1)[source != target], axis=0)
    waits = np.bincount(pairs[:, 1], minlength=len(operators))
    readers: dict[int, list[int]] = defaultdict(list)
    for one, other in pairs.tolist():
        readers[one].append(other)
    members: dict[int, list[int]] = defaultdict(list)
    for at, leader in enumerate(stands.tolist()):
        members[leader].append(at)
    ready = [leader for leader in members if not waits[leader]]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        leader = heapq.heappop(ready)
        order += members[leader]
        for reader in readers[leader]:
            waits[reader] -= 1
            if not waits[reader]:
                heapq.heappush(ready, reader)
    return operators[order] if len(order) == len(operators) else operators
