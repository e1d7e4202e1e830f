"""Reader of TVM's graph JSON, and of its debugger's dumps of it.

The format is that of ``GraphExecutor::Load`` (``src/runtime/graph_executor/graph_executor.h``
@ v0.19.0); the dump is written by ``DebugResult``
(``python/tvm/contrib/debugger/debug_result.py``).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import Kind, collector_paused
from tvmdbg_widgets.formats.tvm.graph.document import check_graph, parse_document
from tvmdbg_widgets.formats.tvm.graph.entries import read_entries
from tvmdbg_widgets.formats.tvm.graph.log import (
    GraphLog,
    element_counts,
    existing,
    int32_list,
    shown,
)
from tvmdbg_widgets.formats.tvm.graph.nodes import (
    EdgeTable,
    check_top,
    is_symbol,
    read_control_deps,
    read_edges,
    read_heads,
    read_nodes,
)
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.graph.graph import Graph, NodeKind
from tvmdbg_widgets.model.graph.roles import with_roles
from tvmdbg_widgets.model.tensors.dtypes import canonical
from tvmdbg_widgets.sources.byte_source import ByteSource

_NODES = re.compile(r'"nodes"\s*:\s*\[')
_OWN_KEYS = re.compile(
    r'"(?:arg_nodes|node_row_ptr)"\s*:|'
    r'"(?:shape|dltype|storage_id|device_index)"\s*:\s*\[\s*"list_'
)


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these bytes is a graph, in any of its forms."""
    text = head.decode(json.detect_encoding(head), errors="ignore").lstrip(" \t\r\n\ufeff")
    if text.startswith('"'):
        text = text[1:].replace('\\"', '"').replace("\\n", "\n").lstrip()
    if not text.startswith(("{", "#")):
        return False
    own = _OWN_KEYS.search(text) is not None
    return own or (_NODES.search(text) is not None and '"op"' in text)


def read_graph(source: ByteSource, raw: Graph | None = None) -> Graph:
    """Read a graph in any of its forms."""
    with collector_paused():
        return _read(source, raw)


def _read(source: ByteSource, raw: Graph | None) -> Graph:
    log = GraphLog(source.name)
    document = parse_document(source.read(0, source.size), log)
    top = document.top
    symbol = is_symbol(top["nodes"])
    check_top(top, log, symbol=symbol)
    nodes = read_nodes(top["nodes"], log, symbol=symbol)
    entries = read_entries(top, nodes, document.size, log)
    edges = read_edges(nodes, entries["entry_offsets"], log)
    count = len(nodes.names)
    heads = np.zeros((0, 2), dtype=np.int64)
    if "heads" in top:
        heads = read_heads(top["heads"], entries["entry_offsets"], log)
    arg_nodes = np.zeros(0, dtype=np.int64)
    if "arg_nodes" in top:
        arg_nodes = int32_list(top["arg_nodes"], "arg_nodes", "arg-nodes-type", log)
        arg_nodes = existing(arg_nodes, "arg_nodes", "arg-node-out-of-range", count, log)
    control_source, control_target = read_control_deps(nodes.control_deps, count, log)
    form = "mutated" if nodes.mutated else "string" if document.quoted else "raw"
    form = "symbol" if symbol else form
    graph = Graph(
        names=StringColumn.from_strings(nodes.names),
        func_names=StringColumn.from_strings(nodes.func_names),
        kinds=np.array(nodes.kinds, dtype=np.uint8),
        parameter_trust=np.full(count, Trust.ABSENT, np.uint8),
        **edges.columns(),
        heads=heads.astype(np.int32),
        arg_nodes=arg_nodes.astype(np.int32),
        attrs=tuple(nodes.attrs),
        control_source=control_source.astype(np.int32),
        control_target=control_target.astype(np.int32),
        form=form,
        lenient=document.lenient,
        file=source.name,
        metadata=top.get("metadata"),
        **entries,
    )
    difference = None if raw is None else _difference(graph, edges, raw)
    if raw is not None and difference is not None:
        expected = f"the graph of {raw.file or 'the raw graph given'}"
        text = f"a difference: {difference}"
        log.add("raw-graph-does-not-match", "nodes", text, expected=expected)
    if edges.named:
        if raw is not None and difference is None:
            columns = {name: getattr(raw, name) for name in edges.columns()}
        else:
            resolve_names(graph, edges, log)
            columns = edges.columns()
        graph = dataclasses.replace(graph, **columns)
    check_graph(graph, log)
    return with_roles(graph).with_issues(log.issues())


def _difference(dump: Graph, edges: EdgeTable, raw: Graph) -> str | None:
    """Describe the first difference of two graphs, or None."""
    for what, ours, theirs in (
        ("nodes", dump.num_nodes, raw.num_nodes),
        ("entries", dump.num_entries, raw.num_entries),
        ("edges", dump.num_edges, raw.num_edges),
    ):
        if ours != theirs:
            return f"{ours} {what} here, {theirs} there"
    for field, mine, other in (
        ("nodes[{}].name", dump.names, raw.names),
        ("nodes[{}].attrs.func_name", dump.func_names, raw.func_names),
        ("dltype of entry {}", dump.dtypes, raw.dtypes),
    ):
        row = _first_difference(mine, other, canonical if other is raw.dtypes else str)
        if row is not None:
            texts = f"{shown(mine[row])} here, {shown(other[row])} there"
            return f"{field.format(row)}: {texts}"
    arrays: tuple[tuple[str, npt.NDArray[np.generic] | None, npt.NDArray[np.generic] | None], ...]
    arrays = (
        ("op of node {}", dump.kinds <= NodeKind.PARAMETER, raw.kinds <= NodeKind.PARAMETER),
        ("node_row_ptr[{}]", dump.entry_offsets, raw.entry_offsets),
        ("target of edge {}", dump.edge_target, raw.edge_target),
        ("shape_known of entry {}", dump.shape_known, raw.shape_known),
        ("shape of entry {}", dump.shape_offsets[1:], raw.shape_offsets[1:]),
        ("item {} of the shapes", dump.shape_dims, raw.shape_dims),
        ("storage_id of entry {}", dump.storage_ids, raw.storage_ids),
        ("device_index of entry {}", dump.device_types, raw.device_types),
    )
    if not edges.named:
        arrays += (
            ("source of edge {}", dump.edge_source, raw.edge_source),
            ("output of edge {}", dump.edge_output, raw.edge_output),
        )
    differ: npt.NDArray[np.intp]
    for text, own, its in arrays:
        if own is None or its is None:
            continue
        differ = np.flatnonzero(np.not_equal(own, its))
        if len(differ):
            at = int(differ[0])
            return f"{text.format(at)}: {own[at]} here, {its[at]} there"
    return _producer_difference(edges, raw)


def _first_difference(
    mine: StringColumn, other: StringColumn, spelling: Callable[[str], str]
) -> int | None:
    codes = {spelling(text): code for code, text in reversed(list(enumerate(other.unique)))}
    table = np.array([codes.get(spelling(text), -1) for text in mine.unique], dtype=np.int64)
    same = np.array([codes[spelling(text)] for text in other.unique], dtype=np.int64)
    if not len(mine):
        return None
    differ = np.flatnonzero(table[mine.codes] != same[other.codes])
    return int(differ[0]) if len(differ) else None


def _producer_difference(edges: EdgeTable, raw: Graph) -> str | None:
    unique, codes = raw.names.unique, raw.names.codes
    sources = raw.edge_source[edges.named].tolist()
    for edge, name, source in zip(edges.named, edges.names, sources, strict=True):
        if source >= 0 and unique[codes[source]] != name:
            there = shown(unique[codes[source]])
            return f"{edges.path(edge)}: {shown(name)} here, {there} there"
    return None


CANDIDATES_KEPT = 64
"""An ambiguous edge keeps this many candidates, the nearest."""


def resolve_names(graph: Graph, edges: EdgeTable, log: GraphLog) -> None:
    """Find the producers of edges given by name, by unique names, then by :class:`_Rules`."""
    ids: dict[str, list[int]] = {}
    for nid, name in enumerate(graph.names):
        ids.setdefault(name, []).append(nid)
    owned = np.diff(graph.entry_offsets)
    certain = {
        name: found[0] for name, found in ids.items() if len(found) == 1 and owned[found[0]] == 1
    }
    named = np.array(edges.named, dtype=np.int64)
    sources = np.array([certain.get(name, -1) for name in edges.names], dtype=np.int64)
    edges.source[named] = sources
    edges.trust[named[sources >= 0]] = Trust.EXACT
    rules = _Rules(graph)
    producers: dict[str, _NamedProducers] = {}
    for at in np.flatnonzero(sources < 0).tolist():
        edge, name = edges.named[at], edges.names[at]
        own = (int(edges.target[edge]),)
        if name not in ids:
            log.add("edge-name-unknown", edges.path(edge), shown(name), own)
            continue
        if name not in producers:
            producers[name] = _NamedProducers(ids[name], rules)
        if producers[name].entries:
            _choose(edge, producers[name], rules, edges)
            continue
        found = f"{shown(name)}, which has none"
        log.add("edge-output-out-of-range", edges.path(edge), found, own)
        edges.candidates[edge] = tuple(ids[name][-CANDIDATES_KEPT:])
    _report_ambiguous(edges, log)


class _Rules:
    """Rules for a read entry: an earlier node's storage that nothing overwrote since."""

    def __init__(self, graph: Graph) -> None:
        count, kinds = graph.num_nodes, graph.kinds
        offsets = graph.entry_offsets
        self.offsets = offsets
        self.node = np.repeat(np.arange(count, dtype=np.int64), np.diff(offsets))
        self.is_nop = kinds == NodeKind.NOP
        self.storage = graph.storage_ids
        self.dtypes = graph.dtypes
        untold = np.array([not text for text in graph.dtypes.unique], dtype=np.bool_)
        self.untold = untold[graph.dtypes.codes]
        self.sizes = element_counts(graph.shape_offsets, graph.shape_dims, graph.shape_known)
        overwritten = np.full(len(self.node), count, dtype=np.int64)
        if self.storage is not None:
            writes = (kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY)
            stride = count + 1
            keys = self.storage.astype(np.int64) * stride + self.node
            writers = np.sort(keys[writes[self.node] & (self.storage >= 0)])
            following = np.searchsorted(writers, keys, side="right")
            known = (following < len(writers)) & (self.storage >= 0)
            nearest = writers[following[known]]
            same = nearest // stride == self.storage[known]
            overwritten[np.flatnonzero(known)[same]] = (nearest % stride)[same]
        self.overwritten: list[int] = overwritten.tolist()
        self.owner: list[int] = self.node.tolist()

    def shareable(self, target: int, candidates: list[int]) -> list[int]:
        """Return the candidates (entry ids) whose memory node `target` can share, if a nop."""
        if not self.is_nop[target] or self.offsets[target] == self.offsets[target + 1]:
            return candidates
        own = int(self.offsets[target])
        kept = np.array(candidates, dtype=np.int64)
        if self.storage is not None and self.storage[own] >= 0:
            theirs = self.storage[kept]
            kept = kept[(theirs == self.storage[own]) | (theirs < 0)]
        codes, untold = self.dtypes.codes, self.untold
        if not untold[own]:
            kept = kept[(codes[kept] == codes[own]) | untold[kept]]
        if self.sizes[own] >= 0:
            counts = self.sizes[kept]
            kept = kept[(counts == self.sizes[own]) | (counts < 0)]
        return [int(entry) for entry in kept]


class _NamedProducers:
    """Entries of nodes of one name before consumers; `WINDOW` bounds the search."""

    WINDOW = 128

    def __init__(self, nodes: list[int], rules: _Rules) -> None:
        offsets = rules.offsets
        self.entries = [
            entry for node in nodes for entry in range(int(offsets[node]), int(offsets[node + 1]))
        ]
        self._owners = [rules.owner[entry] for entry in self.entries]
        self._overwritten = rules.overwritten
        self._passed = 0
        self._live: list[int] = []
        self._prune_at = self.WINDOW

    def before(self, target: int) -> tuple[list[int], list[int], bool]:
        """Return the entries that node `target` may read; targets must not fall."""
        while self._passed < len(self.entries) and self._owners[self._passed] < target:
            self._live.append(self.entries[self._passed])
            self._passed += 1
        if len(self._live) <= self.WINDOW or len(self._live) >= self._prune_at:
            self._live = [e for e in self._live if self._overwritten[e] >= target]
            self._prune_at = max(self.WINDOW, 2 * len(self._live))
        passed = self.entries[max(0, self._passed - self.WINDOW) : self._passed]
        return self._live[-self.WINDOW :], passed, len(self._live) <= self.WINDOW


def _choose(edge: int, producers: _NamedProducers, rules: _Rules, edges: EdgeTable) -> None:
    target = int(edges.target[edge])
    live, passed, complete = producers.before(target)
    possible = rules.shareable(target, live)
    if len(possible) == 1 and complete:
        source = rules.owner[possible[0]]
        edges.source[edge] = source
        edges.output[edge] = possible[0] - rules.offsets[source]
        edges.trust[edge] = Trust.BY_NAME
        return
    left = possible or passed or producers.entries[: producers.WINDOW]
    owners = sorted({rules.owner[entry] for entry in left})
    nearest = owners[-1] if passed else owners[0]
    first = next(entry for entry in left if rules.owner[entry] == nearest)
    edges.source[edge] = nearest
    edges.output[edge] = first - rules.offsets[nearest]
    edges.trust[edge] = Trust.AMBIGUOUS
    kept = owners[-CANDIDATES_KEPT:] if passed else owners[:CANDIDATES_KEPT]
    edges.candidates[edge] = tuple(kept)


def _report_ambiguous(edges: EdgeTable, log: GraphLog) -> None:
    ambiguous = np.flatnonzero(edges.trust == Trust.AMBIGUOUS)
    if not len(ambiguous):
        return
    nodes = np.unique(edges.target[ambiguous]).tolist()
    edge = int(ambiguous[0])
    candidates = ", ".join(map(str, edges.candidates[edge][-8:]))
    text = f"{counted(len(ambiguous), 'edge')} that may come from several entries, such as "
    text += f"{edges.path(edge)} from node {candidates}"
    field = edges.path(edge) if len(ambiguous) == 1 else "nodes[*].inputs"
    log.add("edge-ambiguous", field, text, nodes[:1000])


KIND = Kind("graph", "graph JSON", sniff, read_graph, "graph", pasted=True)
