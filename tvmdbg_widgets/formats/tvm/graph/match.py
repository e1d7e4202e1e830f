"""Whether a debugger's dump is of a given raw graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.model.graph.graph import NodeKind
from tvmdbg_widgets.model.tensors.dtypes import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.edges import EdgeTable
    from tvmdbg_widgets.model.base.strings import StringColumn
    from tvmdbg_widgets.model.graph.graph import Graph


def difference(dump: Graph, edges: EdgeTable, raw: Graph) -> str | None:
    """Return in words where two graphs first differ, None where they are the same."""
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
        found = _first_difference(mine, other, canonical if other is raw.dtypes else str)
        if found is not None:
            told = f"{shown(mine[found])} here, {shown(other[found])} there"
            return f"{field.format(found)}: {told}"
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
