"""Producers of edges that are given by name, as in the debugger's dump from v0.7 on."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.edges import EdgeTable
from tvmdbg_widgets.formats.tvm.graph.log import GraphLog, element_counts, shown
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph, NodeKind

CANDIDATES_KEPT = 64
"""An ambiguous edge keeps this many candidates, the nearest."""


def resolve_names(graph: Graph, edges: EdgeTable, log: GraphLog) -> None:
    """Find the producer of every edge given by name.

    ``EXACT`` where one node with one output has the name, ``BY_NAME`` where the rules of
    :class:`_Rules` leave one entry, else ``AMBIGUOUS`` with the nearest candidate drawn.
    """
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
    _tell_ambiguous(edges, log)


class _Rules:
    """What a consumer tells of the entry it reads.

    The producer comes first in the file. It has not been overwritten: no function between the
    two writes to its storage (``StorageAllocator`` never reuses a storage whose value is still
    to be read, ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0). A ``__nop`` shares storage,
    type and number of elements with what it reads.
    """

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
    """The entries of all nodes of one name, as seen from consumers in the order of the file.

    `WINDOW` bounds what is looked at for one edge, so that a file in which nothing is ever
    overwritten costs no more than a line for each edge.
    """

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
        """Return what node `target` may read; targets must not fall from call to call."""
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


def _tell_ambiguous(edges: EdgeTable, log: GraphLog) -> None:
    ambiguous = np.flatnonzero(edges.trust == Trust.AMBIGUOUS)
    if not len(ambiguous):
        return
    nodes = np.unique(edges.target[ambiguous]).tolist()
    edge = int(ambiguous[0])
    candidates = ", ".join(map(str, edges.candidates[edge][-8:]))
    found = f"{counted(len(ambiguous), 'edge')} that may come from several entries, such as "
    found += f"{edges.path(edge)} from node {candidates}"
    field = edges.path(edge) if len(ambiguous) == 1 else "nodes[*].inputs"
    log.add("edge-ambiguous", field, found, nodes[:1000])
