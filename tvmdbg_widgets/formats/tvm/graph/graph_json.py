"""Reader of TVM's graph JSON: the graph TVM takes and what its debugger dumps of it.

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

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.tvm.graph.checks import check_graph
from tvmdbg_widgets.formats.tvm.graph.document import parse_document
from tvmdbg_widgets.formats.tvm.graph.edges import (
    EdgeTable,
    read_control_deps,
    read_edges,
    read_heads,
)
from tvmdbg_widgets.formats.tvm.graph.entries import read_entries
from tvmdbg_widgets.formats.tvm.graph.log import GraphLog, existing, int32_list, shown
from tvmdbg_widgets.formats.tvm.graph.names import resolve_names
from tvmdbg_widgets.formats.tvm.graph.nodes import check_top, is_symbol, read_nodes
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
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
    """Tell whether a file that starts with these bytes is a graph, in any of its forms.

    Key order is free: any key that only a graph has will do, or ``nodes`` with an ``op``.
    """
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
    found = None if raw is None else _difference(graph, edges, raw)
    if raw is not None and found is not None:
        expected = f"the graph of {raw.file or 'the raw graph given'}"
        told = f"a difference: {found}"
        log.add("raw-graph-does-not-match", "nodes", told, expected=expected)
    if edges.named:
        if raw is not None and found is None:
            columns = {name: getattr(raw, name) for name in edges.columns()}
        else:
            resolve_names(graph, edges, log)
            columns = edges.columns()
        graph = dataclasses.replace(graph, **columns)
    check_graph(graph, log)
    return with_roles(graph).with_issues(log.issues())


def _difference(dump: Graph, edges: EdgeTable, raw: Graph) -> str | None:
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
