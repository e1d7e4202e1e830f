"""A graph in the forms other libraries use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.columns import GraphColumns
from tvmdbg_widgets.model.graph.nodes import NodeKind, Nodes
from tvmdbg_widgets.model.graph.operators import op_kind

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def to_networkx(
    graph: GraphColumns,
    nodes: Sequence[int],
    edges: npt.NDArray[np.integer],
    *,
    control: bool = False,
) -> nx.MultiDiGraph[int]:
    """Return the given nodes and edges as a ``networkx.MultiDiGraph``.

    As :meth:`Graph.to_networkx` says.
    """
    import networkx as nx

    result: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    result.graph.update(
        file=graph.file, form=graph.form, heads=list(map(tuple, _rows(graph.heads)))
    )
    result.add_nodes_from(zip(nodes, _attributes(graph, nodes), strict=True))
    chosen = edges[graph.edge_source[edges] >= 0]
    columns = (graph.edge_source, graph.edge_target, graph.edge_position, graph.edge_output)
    labels = {int(each): each.label for each in Trust}
    for edge, source, target, position, output, trust in zip(
        chosen.tolist(),
        *(column[chosen].tolist() for column in columns),
        graph.edge_trust[chosen].tolist(),
        strict=True,
    ):
        more = {}
        if edge in graph.edge_candidates:
            more["candidates"] = graph.edge_candidates[edge]
        result.add_edge(source, target, key=position, output=output, trust=labels[trust], **more)
    if control:
        kept = set(nodes)
        pairs = zip(graph.control_source.tolist(), graph.control_target.tolist(), strict=True)
        for source, target in pairs:
            if source in kept and target in kept:
                result.add_edge(source, target, key="control", trust=Trust.EXACT.label)
    return result


def _rows(array: npt.NDArray[Any]) -> list[Any]:
    rows: list[Any] = array.tolist()
    return rows


def _attributes(graph: GraphColumns, nodes: Sequence[int]) -> list[dict[str, Any]]:
    """Return what is told of each node."""
    kinds, offsets = _rows(graph.kinds), _rows(graph.entry_offsets)
    ends, dims = _rows(graph.shape_offsets), _rows(graph.shape_dims)
    known, dtypes = _rows(graph.shape_known), list(graph.dtypes)
    storage = None if graph.storage_ids is None else _rows(graph.storage_ids)
    devices = None if graph.device_types is None else _rows(graph.device_types)
    scopes = None if graph.storage_scopes is None else list(graph.storage_scopes)
    lost: dict[int, list[int]] = defaultdict(list)
    for edge in np.flatnonzero(graph.edge_source < 0).tolist():
        lost[int(graph.edge_target[edge])].append(int(graph.edge_position[edge]))
    names = {int(kind): kind.name.lower() for kind in NodeKind}
    families: dict[tuple[str, int], str] = {}
    found = []
    for node in nodes:
        func, kind, own = graph.func_names[node], kinds[node], slice(*offsets[node : node + 2])
        if (func, kind) not in families:
            families[func, kind] = op_kind(func, kind)
        family = "buffer" if "buffer" in graph.roles[node] else families[func, kind]
        found.append(
            {
                "name": graph.names[node],
                "func_name": func,
                "kind": names[kind],
                "op_kind": family,
                "attrs": dict(graph.attrs[node]),
                "shapes": tuple(
                    tuple(dims[ends[entry] : ends[entry + 1]]) if known[entry] else None
                    for entry in range(own.start, own.stop)
                ),
                "dtypes": tuple(dtype or None for dtype in dtypes[own]),
                "storage_ids": _usable(storage, own),
                "device_types": _usable(devices, own),
                "storage_scopes": None if scopes is None else tuple(scopes[own]),
                "dangling": tuple(lost.get(node, ())),
            }
        )
    return found


def _usable(column: list[int] | None, own: slice) -> tuple[int | None, ...] | None:
    if column is None:
        return None
    return tuple(each if each >= 0 else None for each in column[own])


def to_dataframe(graph: GraphColumns) -> pd.DataFrame:
    """Return one row per node, indexed by node id (needs pandas)."""
    views = list(Nodes(graph))
    frame = data_frame(
        {
            "name": list(graph.names),
            "kind": [NodeKind(kind).name.lower() for kind in graph.kinds.tolist()],
            "func_name": list(graph.func_names),
            "op_kind": [view.op_kind for view in views],
            "inputs": [view.inputs for view in views],
            "shapes": [view.shapes for view in views],
            "dtypes": [view.dtypes for view in views],
        }
    )
    frame.index.name = "node"
    return frame
