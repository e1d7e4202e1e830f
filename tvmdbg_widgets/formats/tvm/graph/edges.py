"""The edges of a graph file: entries by number, or names where the debugger dumped it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.formats.tvm.graph.values import INT32_MAX, int32_list, is_int, plain_ints
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog
    from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable

_CPP_FORMAT = "invalid json format"


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

    def path(self, edge: int) -> str:
        """Return the field path of an edge."""
        return f"nodes[{self.target[edge]}].inputs[{self.position[edge]}]"


def read_edges(table: NodeTable, entry_offsets: npt.NDArray[np.int64], log: GraphLog) -> EdgeTable:
    """Read ``inputs`` of every node; edges by name are left with source -1 for later."""
    counts = np.fromiter(map(len, table.inputs), dtype=np.int64, count=len(table.inputs))
    target = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    position = np.arange(len(target), dtype=np.int64) - starts
    items = list(chain.from_iterable(table.inputs))
    edges = EdgeTable(
        np.full(len(items), -1, dtype=np.int64),
        np.zeros(len(items), dtype=np.int64),
        target,
        position,
        np.full(len(items), Trust.ABSENT, dtype=np.uint8),
    )
    types = set(map(type, items))
    if types <= {str}:
        edges.named, edges.names = list(range(len(items))), items
        return edges
    pairs = _plain_entries(items) if types <= {list} else None
    if pairs is None:
        pairs = _entries_one_by_one(items, edges, log)
    node, output = pairs
    good = entry_exists(node, output, entry_offsets)
    edges.source = np.where(good, node, -1)
    edges.output = output
    edges.trust[good] = Trust.EXACT
    _tell_out_of_range(np.flatnonzero(~good & (node >= 0)), node, edges, entry_offsets, log)
    return edges


def entry_exists(
    node: npt.NDArray[np.int64],
    output: npt.NDArray[np.int64],
    entry_offsets: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Return which ``(node, output)`` pairs (int64 [K] each) are entries of the graph."""
    owned = np.diff(entry_offsets)
    good = (node >= 0) & (node < len(owned)) & (output >= 0)
    good[good] = output[good] < owned[node[good]]
    return good


def _plain_entries(
    items: list[Any],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return (nodes, outputs) where every item is ``[nid, index]`` or ``[nid, index, version]``."""
    lengths = set(map(len, items))
    if len(lengths) != 1 or not lengths <= {2, 3}:
        return None
    values = plain_ints(list(chain.from_iterable(items)))
    if values is None or values.min() < 0 or values.max() > 2**31 - 1:
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
        nid = (int(edges.target[edge]),)
        pair = entry_pair(item, "edge", edges.path(edge), log, nid)
        if pair is not None:
            node[edge], output[edge] = pair
    return node, output


def entry_pair(
    item: Any, what: str, path: str, log: GraphLog, nodes: tuple[int, ...] = ()
) -> tuple[int, int] | None:
    """Return the node and output an entry names, None (told) where it names none.

    Rules: ``edge-type``, ``edge-too-short``, ``edge-too-long``, likewise for heads.
    """
    if not isinstance(item, list):
        log.add(
            f"{what}-type",
            path,
            expected="[node, output, version]",
            found=shown(item),
            done="It leads nowhere",
            nodes=nodes,
        )
        return None
    if not 2 <= len(item) <= 3:
        log.add(
            f"{what}-too-{'short' if len(item) < 2 else 'long'}",
            path,
            expected="[node, output, version]",
            found=shown(item),
            done="It leads nowhere" if len(item) < 2 else "The surplus is left out",
            loader=_CPP_FORMAT,
            nodes=nodes,
        )
    if len(item) < 2:
        return None
    if not all(is_int(value) for value in item[:2]):
        log.add(
            f"{what}-type",
            path,
            expected=f"[node, output, version], integers from 0 to {INT32_MAX}",
            found=shown(item),
            done="It leads nowhere",
            nodes=nodes,
        )
        return None
    return item[0], item[1]


def _tell_out_of_range(
    wrong: npt.NDArray[np.intp],
    node: npt.NDArray[np.int64],
    edges: EdgeTable,
    entry_offsets: npt.NDArray[np.int64],
    log: GraphLog,
) -> None:
    owned = np.diff(entry_offsets)
    for edge in wrong.tolist():
        nid = int(node[edge])
        exists = nid < len(owned)
        log.add(
            "edge-output-out-of-range" if exists else "edge-node-out-of-range",
            f"{edges.path(edge)}[{int(exists)}]",
            expected=f"an output of node {nid}, which has {owned[nid]}"
            if exists
            else f"a node from 0 to {len(owned) - 1}",
            found=f"{edges.output[edge] if exists else nid}",
            done="The edge leads nowhere",
            nodes=(int(edges.target[edge]),),
        )
        if exists:
            edges.candidates[edge] = (nid,)


def read_heads(
    heads: Any, entry_offsets: npt.NDArray[np.int64], log: GraphLog
) -> npt.NDArray[np.int64]:
    """Read ``heads``; return int64 [H, 2] of those that are entries of the graph."""
    if not isinstance(heads, list):
        log.add("heads-type", "heads", expected="a list of entries", found=shown(heads))
        heads = []
    elif not heads:
        log.add("heads-empty", "heads", expected="at least one output", found="none")
    kept: list[tuple[int, int]] = []
    count = len(entry_offsets) - 1
    for position, item in enumerate(heads):
        pair = entry_pair(item, "head", f"heads[{position}]", log)
        if pair is None:
            continue
        owned = int(entry_offsets[pair[0] + 1] - entry_offsets[pair[0]]) if pair[0] < count else 0
        if pair[1] < owned:
            kept.append(pair)
            continue
        log.add(
            "head-out-of-range",
            f"heads[{position}]",
            expected=f"one of {counted(owned, 'output')} of node {pair[0]}"
            if pair[0] < count
            else f"a node from 0 to {count - 1}",
            found=shown(item),
            done="It is left out",
        )
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def read_arg_nodes(arg_nodes: Any, count: int, log: GraphLog) -> npt.NDArray[np.int64]:
    """Read ``arg_nodes``; return int64 [A] of those that are nodes."""
    values = int32_list(arg_nodes, "arg_nodes", "arg-nodes-type", log)
    for position in np.flatnonzero(values >= count).tolist():
        log.add(
            "arg-node-out-of-range",
            f"arg_nodes[{position}]",
            expected=f"a node from 0 to {count - 1}",
            found=f"{values[position]}",
            done="It is left out",
        )
    return values[(values >= 0) & (values < count)]


def read_control_deps(
    control_deps: dict[int, Any], count: int, log: GraphLog
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Read ``control_deps`` of the nodes that have them; return (source, target), int64 [C]."""
    source: list[npt.NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    target = [np.zeros(0, dtype=np.int64)]
    for nid, listed in control_deps.items():
        path = f"nodes[{nid}].control_deps"
        values = int32_list(listed, path, "control-deps-type", log)
        for position in np.flatnonzero(values >= count).tolist():
            log.add(
                "control-dep-out-of-range",
                f"{path}[{position}]",
                expected=f"a node from 0 to {count - 1}",
                found=f"{values[position]}",
                done="It is left out",
                nodes=(nid,),
            )
        kept = values[(values >= 0) & (values < count)]
        source.append(kept)
        target.append(np.full(len(kept), nid, dtype=np.int64))
    return np.concatenate(source), np.concatenate(target)
