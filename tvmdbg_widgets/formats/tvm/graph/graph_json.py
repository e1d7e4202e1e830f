"""Reader of TVM's graph JSON: the graph TVM takes and what its debugger dumps of it.

The format is that of ``GraphExecutor::Load`` (``src/runtime/graph_executor/graph_executor.h``
@ v0.19.0); the dump is written by ``DebugResult``
(``python/tvm/contrib/debugger/debug_result.py``).
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.tvm.graph.checks import check_graph
from tvmdbg_widgets.formats.tvm.graph.document import parse_document
from tvmdbg_widgets.formats.tvm.graph.edges import (
    read_arg_nodes,
    read_control_deps,
    read_edges,
    read_heads,
)
from tvmdbg_widgets.formats.tvm.graph.entries import read_entries
from tvmdbg_widgets.formats.tvm.graph.log import GraphLog
from tvmdbg_widgets.formats.tvm.graph.match import difference
from tvmdbg_widgets.formats.tvm.graph.names import resolve_names
from tvmdbg_widgets.formats.tvm.graph.nodes import is_symbol, read_nodes
from tvmdbg_widgets.formats.tvm.graph.top import check_top
from tvmdbg_widgets.model.base.issues import Severity
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.roles import with_roles

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.graph.edges import EdgeTable
    from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable
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
    edges = read_edges(nodes, entries.entry_offsets, log)
    count = len(nodes.names)
    heads = np.zeros((0, 2), dtype=np.int64)
    if "heads" in top:
        heads = read_heads(top["heads"], entries.entry_offsets, log)
    arg_nodes = np.zeros(0, dtype=np.int64)
    if "arg_nodes" in top:
        arg_nodes = read_arg_nodes(top["arg_nodes"], count, log)
    control_source, control_target = read_control_deps(nodes.control_deps, count, log)
    names = StringColumn.from_strings(nodes.names)
    if raw is None:
        resolve_names(nodes, entries, edges, log)
    graph = Graph(
        names=names,
        func_names=StringColumn.from_strings(nodes.func_names),
        kinds=np.array(nodes.kinds, dtype=np.uint8),
        parameter_trust=np.full(count, Trust.ABSENT, np.uint8),
        **_edge_columns(edges),
        heads=heads.astype(np.int32),
        arg_nodes=arg_nodes.astype(np.int32),
        attrs=tuple(nodes.attrs),
        control_source=control_source.astype(np.int32),
        control_target=control_target.astype(np.int32),
        form=_form(nodes, quoted=document.quoted),
        lenient=document.lenient,
        file=source.name,
        metadata=top.get("metadata"),
        **{item.name: getattr(entries, item.name) for item in dataclasses.fields(entries)},
    )
    if raw is not None:
        found = difference(graph, edges, raw)
        if found is not None:
            _tell_other_graph(found, raw, log)
            resolve_names(nodes, entries, edges, log)
            graph = dataclasses.replace(graph, **_edge_columns(edges))
        elif edges.named:
            graph = dataclasses.replace(graph, **{k: getattr(raw, k) for k in _EDGE_COLUMNS})
    check_graph(graph, log)
    return with_roles(graph).with_issues(log.issues())


def _form(nodes: NodeTable, *, quoted: bool) -> str:
    if nodes.symbol:
        return "symbol"
    return "mutated" if nodes.mutated else "string" if quoted else "raw"


_EDGE_COLUMNS = (
    "edge_source",
    "edge_output",
    "edge_target",
    "edge_position",
    "edge_trust",
    "edge_candidates",
)


def _edge_columns(edges: EdgeTable) -> dict[str, Any]:
    return {
        "edge_source": edges.source.astype(np.int32),
        "edge_output": edges.output.astype(np.int32),
        "edge_target": edges.target.astype(np.int32),
        "edge_position": edges.position.astype(np.int32),
        "edge_trust": edges.trust.copy(),
        "edge_candidates": edges.candidates,
    }


def _tell_other_graph(found: str, raw: Graph, log: GraphLog) -> None:
    log.add(
        "raw-graph-does-not-match",
        "nodes",
        expected=f"the graph of {raw.file or 'the raw graph given'}",
        found=f"a difference: {found}",
        done="The raw graph given is not used",
        severity=Severity.WARNING,
    )
