"""Producers of edges that are given by name, as in the debugger's dump from v0.7 on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.formats.tvm.graph_log import shown
from tvmdbg_widgets.formats.tvm.graph_values import element_counts
from tvmdbg_widgets.model.graph import NodeKind
from tvmdbg_widgets.model.issues import Severity
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph_edges import EdgeTable
    from tvmdbg_widgets.formats.tvm.graph_entries import EntryTable
    from tvmdbg_widgets.formats.tvm.graph_log import GraphLog
    from tvmdbg_widgets.formats.tvm.graph_nodes import NodeTable

CANDIDATES_KEPT = 64
"""An ambiguous edge keeps this many candidates, the nearest."""


def resolve_names(nodes: NodeTable, entries: EntryTable, edges: EdgeTable, log: GraphLog) -> None:
    """Find the producer of every edge given by name.

    ``EXACT`` where one node with one output has the name, ``BY_NAME`` where the rules of
    :class:`_Rules` leave one entry, else ``AMBIGUOUS`` with the nearest candidate drawn.
    """
    if not edges.named:
        return
    ids: dict[str, list[int]] = {}
    for nid, name in enumerate(nodes.names):
        ids.setdefault(name, []).append(nid)
    owned = np.diff(entries.entry_offsets)
    certain = {
        name: found[0] for name, found in ids.items() if len(found) == 1 and owned[found[0]] == 1
    }
    named = np.array(edges.named, dtype=np.int64)
    sources = np.array([certain.get(name, -1) for name in edges.names], dtype=np.int64)
    edges.source[named] = sources
    edges.trust[named[sources >= 0]] = Trust.EXACT
    rules = _Rules(nodes, entries)
    entry_ids: dict[str, npt.NDArray[np.int64]] = {}
    for at in np.flatnonzero(sources < 0).tolist():
        edge, name = edges.named[at], edges.names[at]
        if name not in ids:
            log.add(
                "edge-name-unknown",
                edges.path(edge),
                expected="the name of a node",
                found=shown(name),
                done="The edge leads nowhere",
                nodes=(int(edges.target[edge]),),
            )
            continue
        if name not in entry_ids:
            offsets = entries.entry_offsets
            entry_ids[name] = np.concatenate(
                [np.arange(offsets[nid], offsets[nid + 1]) for nid in ids[name]]
            )
        if len(entry_ids[name]):
            _choose(edge, entry_ids[name], rules, edges)
            continue
        log.add(
            "edge-output-out-of-range",
            edges.path(edge),
            expected="the name of a node with outputs",
            found=f"{shown(name)}, which has none",
            done="The edge leads nowhere",
            nodes=(int(edges.target[edge]),),
        )
        edges.candidates[edge] = tuple(ids[name][-CANDIDATES_KEPT:])
    _tell_ambiguous(edges, log)


class _Rules:
    """What a consumer tells of the entry it reads.

    The producer comes first in the file. It has not been overwritten: no function between the
    two writes to its storage (``StorageAllocator`` never reuses a storage whose value is still
    to be read, ``src/relay/backend/graph_plan_memory.cc`` @ v0.19.0). A ``__nop`` shares storage,
    type and number of elements with what it reads.
    """

    def __init__(self, nodes: NodeTable, entries: EntryTable) -> None:
        count = len(nodes.names)
        offsets = entries.entry_offsets
        self.offsets = offsets
        self.node = np.repeat(np.arange(count, dtype=np.int64), np.diff(offsets))
        kinds = np.array(nodes.kinds, dtype=np.uint8)
        self.is_nop = kinds == NodeKind.NOP
        self.storage = entries.storage_ids
        self.dtypes = entries.dtypes
        self.sizes = element_counts(entries.shape_offsets, entries.shape_dims, entries.shape_known)
        self.overwritten = np.full(len(self.node), count, dtype=np.int64)
        if self.storage is not None:
            writes = (kinds == NodeKind.OPERATOR) | (kinds == NodeKind.COPY)
            stride = count + 1
            keys = self.storage.astype(np.int64) * stride + self.node
            writers = np.sort(keys[writes[self.node] & (self.storage >= 0)])
            following = np.searchsorted(writers, keys, side="right")
            known = (following < len(writers)) & (self.storage >= 0)
            nearest = writers[following[known]]
            same = nearest // stride == self.storage[known]
            self.overwritten[np.flatnonzero(known)[same]] = (nearest % stride)[same]

    def possible(self, target: int, candidates: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the candidates (entry ids) that node `target` may read."""
        kept = candidates[self.overwritten[candidates] >= target]
        if self.is_nop[target] and self.offsets[target] < self.offsets[target + 1]:
            own = int(self.offsets[target])
            if self.storage is not None and self.storage[own] >= 0:
                theirs = self.storage[kept]
                kept = kept[(theirs == self.storage[own]) | (theirs < 0)]
            codes = self.dtypes.codes
            kept = kept[codes[kept] == codes[own]]
            if self.sizes[own] >= 0:
                theirs = self.sizes[kept]
                kept = kept[(theirs == self.sizes[own]) | (theirs < 0)]
        return kept


def _choose(
    edge: int, all_candidates: npt.NDArray[np.int64], rules: _Rules, edges: EdgeTable
) -> None:
    target = int(edges.target[edge])
    before = all_candidates[: np.searchsorted(rules.node[all_candidates], target)]
    if not len(before):
        before = all_candidates
    possible = rules.possible(target, before)
    if len(possible) == 1:
        edges.source[edge] = rules.node[possible[0]]
        edges.output[edge] = possible[0] - rules.offsets[rules.node[possible[0]]]
        edges.trust[edge] = Trust.BY_NAME
        return
    left = possible if len(possible) else before
    owners = rules.node[left]
    nearest = owners[-1]
    first = left[np.searchsorted(owners, nearest)]
    edges.source[edge] = nearest
    edges.output[edge] = first - rules.offsets[nearest]
    edges.trust[edge] = Trust.AMBIGUOUS
    last_of_each = np.append(np.flatnonzero(np.diff(owners)), len(owners) - 1)
    edges.candidates[edge] = tuple(owners[last_of_each[-CANDIDATES_KEPT:]].tolist())


def _tell_ambiguous(edges: EdgeTable, log: GraphLog) -> None:
    ambiguous = np.flatnonzero(edges.trust == Trust.AMBIGUOUS)
    if not len(ambiguous):
        return
    nodes = np.unique(edges.target[ambiguous]).tolist()
    edge = int(ambiguous[0])
    candidates = ", ".join(map(str, edges.candidates[edge][-8:]))
    log.add(
        "edge-ambiguous",
        edges.path(edge) if len(ambiguous) == 1 else "nodes[*].inputs",
        expected="names that tell node and output",
        found=f"{len(ambiguous)} edge{'s' * (len(ambiguous) != 1)} that may come from several "
        f"entries, such as {edges.path(edge)} from node {candidates}",
        done="The nearest is drawn; give the graph TVM was given (lib.get_graph_json()) to know",
        severity=Severity.WARNING,
        nodes=nodes[:1000],
    )
