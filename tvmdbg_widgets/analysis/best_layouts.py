"""The best layout of every entry of a graph at once, for graphs of a million nodes.

Surroundings with equal attributes and shapes are judged once, and only entries near a stated layout
are walked from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.layouts import (
    NAMES,
    REACH,
    READERS,
    Claim,
    claims_of_name,
    is_stretched,
    is_transform,
    keeps_axes,
    stated_claims,
    valid_claims,
)
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.ranges import first_rows, flat_ranges, numbered
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import Adjacency
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.layouts import Layout

#: Follows a layout that is not certain.
_LIKELY: Final = " (likely)"
_Ints: TypeAlias = npt.NDArray[np.int64]


def best_layouts(
    run: RunParts, graph: Graph, watch: Callable[[int], None] = lambda _done: None
) -> list[str | None]:
    """Return the first of ``known_layouts`` for every entry; equal surroundings are judged once."""
    entries = _Entries(run, graph)
    kinds = entries.kinds()
    near = None if NAMES.isdisjoint(graph.attr_names) else _Near(entries, kinds)
    shape, function = entries.shape.tolist(), graph.func_names.codes[entries.node].tolist()
    is_named = entries.first[entries.node] == np.arange(graph.num_entries)
    is_named &= graph.kinds[entries.node] == NodeKind.OPERATOR
    named: list[bool] = is_named.tolist()
    judged: dict[tuple[Any, ...], str | None] = {}

    def stated(pair: tuple[int, int], _shape: tuple[int, ...]) -> Iterable[Claim]:
        return stated_claims(graph, pair)

    def suggested(pair: tuple[int, int], shape: tuple[int, ...]) -> Iterable[Claim]:
        return claims_of_name(graph, pair, shape)

    def best(read: Callable[..., Iterable[Claim]], entry: int, kind: Any, code: int) -> str | None:
        key = read, kind, code
        if key not in judged:
            shape = entries.shapes[code] or ()
            known = valid_claims(run, shape, read(entries.pair(entry), shape))
            sure = bool(known) and known[0].certainty == "stated"
            judged[key] = known[0].layout.text + ("" if sure else _LIKELY) if known else None
        return judged[key]

    layouts: list[str | None] = []
    for entry in range(graph.num_entries):
        watch(entry)
        code, layout = shape[entry], None
        if entries.shapes[code]:
            if entry in kinds:
                layout = best(stated, entry, kinds[entry][0], code)
            if layout is None and near is not None and (text := near.layout(entry)):
                layout = text + _LIKELY
            if layout is None and named[entry]:
                layout = best(suggested, entry, function[entry], code)
        layouts.append(layout)
    return layouts


class _Entries:
    """Ids, shapes and stated layouts of the entries of a graph."""

    def __init__(self, run: RunParts, graph: Graph) -> None:
        self.graph = graph
        offsets = self._offsets = graph.entry_offsets.astype(np.int64)
        self.node = np.repeat(np.arange(graph.num_nodes), np.diff(offsets))
        # Nodes without outputs have ids behind those of entries, of unknown shape.
        beyond = graph.num_entries + np.arange(graph.num_nodes)
        self.first = np.where(np.diff(offsets) > 0, offsets[:-1], beyond)
        shapes = [*graph.entry_shapes, *([None] * graph.num_nodes)]
        for (node, output), tensor in (run.tensors or {}).items():
            if node < graph.num_nodes and output < len(graph.entry_range(node)):
                shapes[graph.entry_id(node, output)] = tensor.view_shape
        table: dict[tuple[int, ...] | None, int] = {None: 0}
        self.shape: _Ints = np.array([table.setdefault(s, len(table)) for s in shapes], np.int64)
        self.shapes = list(table)
        #: Entries that edges come from, -1 if unknown.
        self.source = np.where(
            graph.edge_source < 0, -1, offsets[graph.edge_source] + graph.edge_output
        )
        #: Place of every edge among the readers of its entry.
        self.reader = _places(self.source, graph.num_entries)

    def pair(self, entry: int) -> tuple[int, int]:
        """Return node and output."""
        node = int(self.node[entry])
        return node, entry - int(self._offsets[node])

    def kinds(self) -> dict[int, tuple[Hashable, int]]:
        """Return what attributes state of entries; equal claims are equal.

        The second number counts those of the first readers.
        """
        graph = self.graph
        table: dict[Hashable, int] = {}
        kind = np.full(graph.num_nodes, -1, np.int64)
        changes = np.zeros(graph.num_nodes, np.bool_)
        for node, attrs in enumerate(graph.attrs):
            if NAMES.isdisjoint(attrs):
                continue
            func = graph.func_names[node]
            stated = tuple(item for item in attrs.items() if item[0] in NAMES)
            kind[node] = table.setdefault((func, stated), len(table))
            # The other side of a transform tells unpadded sizes.
            changes[node] = is_transform(func)
        own: dict[int, Hashable] = {}
        states = (kind >= 0) & (graph.kinds == NodeKind.OPERATOR)
        for entry in np.flatnonzero(states[self.node]).tolist():
            node = int(self.node[entry])
            operands = self.source[graph.in_edges(node)] if changes[node] else self.source[:0]
            single = len(graph.entry_range(node)) == 1
            own[entry] = int(kind[node]), single, *self.shape[operands[operands >= 0][:1]].tolist()
        target = graph.edge_target
        edges = np.flatnonzero((self.source >= 0) & (kind[target] >= 0))
        to, is_sure = target[edges], graph.edge_trust[edges] != int(Trust.AMBIGUOUS)
        beyond = np.where(changes[to], self.shape[self.first[to]], -1)
        claims = numbered(kind[to], graph.edge_position[edges], is_sure.astype(np.int64), beyond)
        read: dict[int, list[int]] = {}
        for entry, claim in zip(self.source[edges].tolist(), claims.tolist(), strict=True):
            read.setdefault(entry, []).append(claim)
        early = np.bincount(
            self.source[edges][self.reader[edges] < READERS], minlength=graph.num_entries
        ).tolist()
        return {
            entry: ((own.get(entry), *read.get(entry, ())), early[entry])
            for entry in own.keys() | read.keys()
        }


class _Near:
    """Layouts that are stated of other entries, through functions that keep axes."""

    def __init__(self, entries: _Entries, kinds: Mapping[int, tuple[Hashable, int]]) -> None:
        here, there = _joined(entries)
        mine, theirs = entries.shape[here], entries.shape[there]
        stated: list[list[str]] = [[]]
        numbers: dict[Hashable, int] = {}
        claimed = np.zeros(len(entries.shape), np.int64)
        for entry, kind in kinds.items():
            claimed[entry] = number = numbers.setdefault(kind, len(stated))
            if number == len(stated):
                claims = stated_claims(entries.graph, entries.pair(entry), READERS)
                stated.append([claim.text for claim in claims])
        alike = numbered(claimed[there], mine, theirs)
        texts: list[str] = []
        for row in first_rows(alike).tolist():
            shape, other = entries.shapes[mine[row]], entries.shapes[theirs[row]]
            is_near = bool(shape) and other is not None and is_stretched(shape, other)
            near = stated[claimed[there[row]]] if is_near else []
            texts.append(next((text for text in near if _fit(text, shape or ())), ""))
        self._texts = texts
        self._text: list[int] = alike.tolist()
        same = (mine == theirs) & (mine > 0)
        # A walk from any other entry ends without a layout.
        reached = np.zeros(len(entries.shape), np.bool_)
        reached[here[np.array([bool(text) for text in texts], np.bool_)[alike]]] = True
        begin, end = here[same], there[same]
        for _ in range(REACH):
            reached[begin[reached[end]]] = True
        self._reached, self._same = reached.tolist(), same.tolist()
        self._there = there.tolist()
        self._start = np.searchsorted(here, np.arange(len(entries.shape) + 1)).tolist()

    def layout(self, entry: int) -> str:
        """Return the first text that fits; empty if there is none."""
        seen, waiting = {entry}, deque([entry] if self._reached[entry] else ())
        while waiting and len(seen) < REACH:
            here = waiting.popleft()
            for at in range(self._start[here], self._start[here + 1]):
                other = self._there[at]
                if other in seen or len(seen) >= REACH:
                    continue
                seen.add(other)
                if text := self._texts[self._text[at]]:
                    return text
                if self._same[at]:
                    waiting.append(other)
        return ""


def _joined(entries: _Entries) -> tuple[_Ints, _Ints]:
    """Return pairs of entries that functions join, in the order of a walk."""
    graph, source, first = entries.graph, entries.source, entries.first
    keeping = np.array([keeps_axes(func) for func in graph.func_names.unique], np.bool_)
    keeps, target = keeping[graph.func_names.codes], graph.edge_target
    runs = keeps & (graph.kinds >= NodeKind.OPERATOR)
    operands = np.flatnonzero(runs[target] & (source >= 0) & (_places(target, len(runs)) < REACH))
    outputs = np.diff(graph.entry_offsets)[target[operands]]
    is_read = (source >= 0) & (entries.reader < REACH)
    readers = np.flatnonzero(is_read & (keeps[target] | (graph.edge_position > 1)))
    here = np.concatenate([flat_ranges(first[target[operands]], outputs), source[readers]])
    there = np.concatenate([np.repeat(source[operands], outputs), first[target[readers]]])
    order = np.argsort(here, kind="stable")
    return here[order], there[order]


def _places(group: npt.NDArray[Any], count: int) -> _Ints:
    """Return the place of every row among those of its group, -1 without one."""
    grouped = Adjacency.by(group, count)
    places = np.full(len(group), -1, np.int64)
    sizes = np.diff(grouped.offsets)
    places[grouped.edges] = flat_ranges(np.zeros_like(sizes), sizes)
    return places


def _fit(text: str, shape: tuple[int, ...]) -> bool:
    try:
        return Layout.parse(text).fits(shape)
    except ValueError:
        return False
