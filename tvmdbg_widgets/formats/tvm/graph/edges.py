"""The edges of a graph file: entries by number, or names where the debugger dumped it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.graph.log import (
    INT32_MAX,
    GraphLog,
    existing,
    int32_list,
    is_int,
    plain_ints,
    shown,
)
from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust


@dataclass(slots=True)
class EdgeTable:
    """The edge columns of :class:`tvmdbg_widgets.model.graph.graph.Graph`, writable.

    `named` are the edges given by name, `names` the producers' names they give.
    """

    source: npt.NDArray[np.int64]
    output: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    position: npt.NDArray[np.int64]
    trust: npt.NDArray[np.uint8]
    named: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    candidates: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Return the columns by their names in a graph."""
        names = ("source", "output", "target", "position")
        found: dict[str, Any] = {f"edge_{k}": getattr(self, k).astype(np.int32) for k in names}
        return found | {"edge_trust": self.trust.copy(), "edge_candidates": self.candidates}

    def path(self, edge: int) -> str:
        """Return the field path of an edge."""
        return f"nodes[{self.target[edge]}].inputs[{self.position[edge]}]"


def read_edges(table: NodeTable, entry_offsets: npt.NDArray[np.int64], log: GraphLog) -> EdgeTable:
    """Read ``inputs`` of every node; edges by name are left with source -1 for later."""
    counts = np.fromiter(map(len, table.inputs), dtype=np.int64, count=len(table.inputs))
    target = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    items = list(chain.from_iterable(table.inputs))
    edges = EdgeTable(
        np.full(len(items), -1, dtype=np.int64),
        np.zeros(len(items), dtype=np.int64),
        target,
        np.arange(len(target), dtype=np.int64) - starts,
        np.full(len(items), Trust.ABSENT, dtype=np.uint8),
    )
    types = set(map(type, items))
    if types <= {str}:
        edges.named, edges.names = list(range(len(items))), items
        return edges
    pairs = _plain_entries(items) if types <= {list} else None
    node, output = pairs if pairs is not None else _entries_one_by_one(items, edges, log)
    owned = np.diff(entry_offsets)
    good = (node >= 0) & (node < len(owned)) & (output >= 0)
    good[good] = output[good] < owned[node[good]]
    edges.source = np.where(good, node, -1)
    edges.output = output
    edges.trust[good] = Trust.EXACT
    for edge in np.flatnonzero(~good & (node >= 0)).tolist():
        nid, own = int(node[edge]), (int(edges.target[edge]),)
        path = edges.path(edge)
        if nid < len(owned):
            expected = f"an output of node {nid}, which has {owned[nid]}"
            rule = "edge-output-out-of-range"
            log.add(rule, f"{path}[1]", edges.output[edge], own, expected=expected)
            edges.candidates[edge] = (nid,)
        else:
            expected = f"a node from 0 to {len(owned) - 1}"
            log.add("edge-node-out-of-range", f"{path}[0]", nid, own, expected=expected)
    return edges


def _plain_entries(items: list[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return (nodes, outputs) where every item is ``[nid, index]`` or ``[nid, index, version]``."""
    lengths = set(map(len, items))
    if len(lengths) != 1 or not lengths <= {2, 3}:
        return None
    values = plain_ints(list(chain.from_iterable(items)))
    if values is None or values.min() < 0 or values.max() > INT32_MAX:
        return None
    columns = values.reshape(len(items), -1)
    return columns[:, 0].copy(), columns[:, 1].copy()


def _entries_one_by_one(
    items: list[Any], edges: EdgeTable, log: GraphLog
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    node = np.full(len(items), -1, dtype=np.int64)
    output = np.zeros(len(items), dtype=np.int64)
    for edge, item in enumerate(items):
        if isinstance(item, str):
            edges.named.append(edge)
            edges.names.append(item)
            continue
        pair = _entry_pair(item, "edge", edges.path(edge), log, (int(edges.target[edge]),))
        if pair is not None:
            node[edge], output[edge] = pair
    return node, output


def _entry_pair(
    item: Any, what: str, path: str, log: GraphLog, nodes: tuple[int, ...] = ()
) -> tuple[int, int] | None:
    """Return the node and output an entry names, None (told) where it names none."""
    if not isinstance(item, list):
        log.add(f"{what}-type", path, shown(item), nodes)
        return None
    if not 2 <= len(item) <= 3:
        log.add(f"{what}-too-{'short' if len(item) < 2 else 'long'}", path, shown(item), nodes)
    if len(item) < 2:
        return None
    if not all(is_int(value) for value in item[:2]):
        expected = f"[node, output, version], integers from 0 to {INT32_MAX}"
        log.add(f"{what}-type", path, shown(item), nodes, expected=expected)
        return None
    return item[0], item[1]


def read_heads(
    heads: Any, entry_offsets: npt.NDArray[np.int64], log: GraphLog
) -> npt.NDArray[np.int64]:
    """Read ``heads``; return int64 [H, 2] of those that are entries of the graph."""
    if not isinstance(heads, list):
        log.add("heads-type", "heads", shown(heads))
        heads = []
    elif not heads:
        log.add("heads-empty", "heads", "none")
    kept: list[tuple[int, int]] = []
    owned = np.diff(entry_offsets).tolist()
    for position, item in enumerate(heads):
        pair = _entry_pair(item, "head", f"heads[{position}]", log)
        if pair is None:
            continue
        node, output = pair
        if node >= len(owned):
            expected = f"a node from 0 to {len(owned) - 1}"
        elif output >= owned[node]:
            expected = f"one of {counted(owned[node], 'output')} of node {node}"
        else:
            kept.append(pair)
            continue
        log.add("head-out-of-range", f"heads[{position}]", shown(item), expected=expected)
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def read_control_deps(
    control_deps: dict[int, Any], count: int, log: GraphLog
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Read ``control_deps`` of the nodes that have them; return (source, target), int64 [C]."""
    source = [np.zeros(0, dtype=np.int64)]
    target = [np.zeros(0, dtype=np.int64)]
    for nid, listed in control_deps.items():
        path = f"nodes[{nid}].control_deps"
        values = int32_list(listed, path, "control-deps-type", log)
        kept = existing(values, path, "control-dep-out-of-range", count, log, nodes=(nid,))
        source.append(kept)
        target.append(np.full(len(kept), nid, dtype=np.int64))
    return np.concatenate(source), np.concatenate(target)
