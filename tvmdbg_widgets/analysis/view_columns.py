"""Columns of a graph for views (``js/src/shared/client/wire.ts``), and hashes of nodes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.layouts import stated_layouts
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.engine import call, packed_text
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.nodes import Subgraph
from tvmdbg_widgets.model.graph.operators import label, number_at_end
from tvmdbg_widgets.model.timeline.timeline import Timeline

if TYPE_CHECKING:
    import networkx as nx


def graph_columns(graph: Graph, timeline: Timeline | None) -> dict[str, Any]:
    """Return the columns of nodes, entries and edges, without groups and tensors."""
    nothing = np.zeros(0, np.int32)
    columns: dict[str, Any] = {
        "names": graph.names,
        "labels": node_labels(graph),
        "funcNames": graph.func_names,
        "opKinds": node_op_kinds(graph),
        "kinds": graph.kinds,
        "roles": graph.roles,
        "entryOffsets": graph.entry_offsets.astype(np.int32),
        "edgeSource": graph.edge_source,
        "edgeOutput": graph.edge_output,
        "edgeTarget": graph.edge_target,
        "edgePosition": graph.edge_position,
        "edgeTrust": graph.edge_trust,
        "controlSource": graph.control_source,
        "controlTarget": graph.control_target,
        "headNode": graph.heads[:, 0],
        "headOutput": graph.heads[:, 1],
        "shapeOffsets": graph.shape_offsets.astype(np.int32),
        "shapeDims": graph.shape_dims.astype(np.float64),
        "shapeKnown": graph.shape_known,
        "dtypes": graph.dtypes,
        "entryBytes": known_sizes(graph),
        "storageIds": graph.storage_ids if graph.storage_ids is not None else nothing,
        "deviceTypes": graph.device_types if graph.device_types is not None else nothing,
    }
    if timeline is None:
        columns["nodeNs"] = np.full(graph.num_nodes, np.nan)
        columns["nodeTrust"] = np.full(graph.num_nodes, Trust.ABSENT, np.uint8)
        return columns
    columns["nodeNs"] = timeline.node_ns
    columns["nodeTrust"] = timeline.node_trust
    columns["nodeShare"] = timeline.account.node_shares(graph.num_nodes)
    columns["timeTotal"] = np.array([timeline.account.whole_ns])
    columns["timeRounding"] = np.array([timeline.rounding_ns])
    if (shared := timeline.shared) is not None:
        rows = np.flatnonzero(timeline.account.call >= 0)
        share = np.full(len(shared), np.nan)
        share[timeline.account.call[rows]] = timeline.account.share[rows]
        columns |= {
            "callOffsets": shared.offsets.astype(np.int32),
            "callNodes": shared.nodes,
            "callNs": shared.own_ns,
            "callShare": share,
            "callNames": StringColumn.from_strings(shared.names),
            "callKinds": StringColumn.from_strings(shared.kinds),
            "callLeft": shared.left.astype(np.uint8),
        }
        columns["nodeCall"] = shared.smallest(graph.num_nodes)
    return columns


def group_columns(groups: Groups, timeline: Timeline | None) -> dict[str, Any]:
    """Return the columns of the groups of a graph."""
    columns: dict[str, Any] = {
        "groupOrder": groups.order,
        "groupStart": groups.start,
        "groupEnd": groups.end,
        "groupParent": groups.parent,
        "groupAlike": groups.alike,
        "groupRepeats": groups.repeats,
        "groupSource": groups.source,
        "groupNames": groups.names,
        "nodeGroup": groups.node_group,
    }
    if timeline is not None and timeline.shared is not None:
        columns["groupTogether"] = timeline.shared.within_groups(groups)
    return columns


def fact_columns(graph: Graph) -> dict[str, Any]:
    """Return rarely queried columns: attributes and layouts."""
    attrs = graph.attrs
    return {
        "attrOffsets": np.cumsum([0, *map(len, attrs)]).astype(np.int32),
        "attrNames": StringColumn.from_strings(name for attr in attrs for name in attr),
        "attrValues": StringColumn.from_strings(
            str(value) for attr in attrs for value in attr.values()
        ),
        "layouts": StringColumn.from_strings(stated_layouts(graph)),
    }


def as_networkx(
    graph: Graph | Subgraph, timeline: Timeline | None, groups: Groups, *, control: bool = False
) -> nx.MultiDiGraph[int]:
    """Return ``graph.to_networkx()`` with times and groups of the nodes, outermost first."""
    result = graph.to_networkx(control=control)
    times = None if timeline is None else timeline.node_ns.tolist()
    around: list[tuple[int, ...]] = [()] * len(groups)
    for group, parent in enumerate(groups.parent.tolist()):
        around[group] = (*(around[parent] if parent >= 0 else ()), group)
    innermost = groups.node_group.tolist()
    used: set[int] = set()
    for node, attributes in result.nodes(data=True):
        time = math.nan if times is None else times[node]
        attributes["time_ns"] = None if math.isnan(time) else time
        group = innermost[node]
        attributes["groups"] = around[group] if group >= 0 else ()
        used.update(attributes["groups"])
    result.graph["groups"] = {group: groups[group].title for group in sorted(used)}
    return result


def open_by_itself(graph: Graph, groups: Groups) -> list[int]:
    """Return the groups that open by themselves (``openStates`` in js/src/graph/data/links.ts)."""
    columns: dict[str, npt.NDArray[Any]] = {
        "kinds": graph.kinds,
        "edgeSource": graph.edge_source,
        "headNode": np.ascontiguousarray(graph.heads[:, 0]),
        "groupParent": groups.parent,
        "groupSource": groups.source,
        "nodeGroup": groups.node_group,
    }
    failure = "the open groups could not be computed"
    opened: list[int] = json.loads(
        call("openGroups", json.dumps(packed_text(columns)), failure=failure)
    )
    return opened


Hashes = npt.NDArray[np.uint64]

#: Attributes that only name a node or its origin, or repeat its entries and edges.
_NAMING: Final = frozenset(
    {
        *("func_name", "global_symbol", "hash", "name", "nn_module_stack", "num_inputs"),
        *("num_outputs", "relax_fused_ops", "source_fn_stack", "stack_trace"),
    }
)
_SPLIT: Final = 20_000  # most distinct functions whose names are stripped of their variant


def signatures(graph: Graph, entries: Hashes | None = None) -> Hashes:
    """Return a hash per node of operators, attributes, shapes and dtypes, equal on all machines."""
    entries = entry_signatures(graph) if entries is None else entries
    output = np.arange(graph.num_entries) - np.repeat(
        graph.entry_offsets[:-1], np.diff(graph.entry_offsets)
    )
    outputs = segment_sums(mixed(entries, output), graph.entry_offsets)
    return mixed(_function_hashes(graph) + _attribute_hashes(graph), outputs)


def entry_signatures(graph: Graph) -> Hashes:
    """Return a hash of shape and dtype per entry (uint64 [E])."""
    counts = np.diff(graph.shape_offsets)
    axis = np.arange(len(graph.shape_dims)) - np.repeat(graph.shape_offsets[:-1], counts)
    sizes = segment_sums(mixed(graph.shape_dims, axis), graph.shape_offsets)
    shapes = mixed(sizes, np.where(graph.shape_known, counts, -1))
    return mixed(shapes, hashed(graph.dtypes))


def mixed(a: npt.ArrayLike, b: npt.ArrayLike) -> Hashes:
    """Return a well spread hash per ordered pair (uint64), as splitmix64."""
    first = np.asarray(a).astype(np.uint64)
    second = np.asarray(b).astype(np.uint64)
    x = first * np.uint64(0x9E3779B97F4A7C15) + (
        second ^ np.uint64(0x2545F4914F6CDD1D)
    ) * np.uint64(0xD1B54A32D192ED03)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    hashes: Hashes = x ^ (x >> np.uint64(31))
    return hashes


def segment_sums(values: Hashes, offsets: npt.NDArray[np.integer]) -> Hashes:
    """Return the sum of ``values[offsets[i]:offsets[i + 1]]`` by i, modulo 2**64."""
    total = np.zeros(len(values) + 1, np.uint64)
    np.cumsum(values, out=total[1:])
    sums: Hashes = total[offsets[1:]] - total[offsets[:-1]]
    return sums


def hashed(strings: StringColumn) -> Hashes:
    """Return a hash per string of a column (uint64)."""
    return _hash_table(strings.unique)[strings.codes]


def _hash_table(texts: Iterable[str]) -> Hashes:
    digests = [blake2b(text.encode("utf-8", "replace"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def _function_hashes(graph: Graph) -> Hashes:
    stems = [_stem(name) or name for name in graph.func_names.unique]
    if len(set(stems)) <= _SPLIT:
        stems = [label(stem) for stem in stems]
    table = _hash_table(stems)
    return table[graph.func_names.codes] if len(table) else np.zeros(0, np.uint64)


def _stem(name: str) -> str:
    bare = name.rstrip("_")
    number = number_at_end(bare)
    return bare.removesuffix(number) if number else name


def _attribute_hashes(graph: Graph) -> Hashes:
    codes: dict[tuple[tuple[str, str], ...], int] = {}
    rows = [codes.setdefault(tuple(attrs.items()), len(codes)) for attrs in graph.attrs]
    texts = (
        "\0".join(f"{key}\0{value}" for key, value in sorted(items) if key not in _NAMING)
        for items in codes
    )
    return _hash_table(texts)[np.asarray(rows, np.intp)] if rows else np.zeros(0, np.uint64)
