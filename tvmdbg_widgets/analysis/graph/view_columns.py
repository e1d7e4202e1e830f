"""Columns of a graph as its views have them: see ``js/src/shared/client/run_client.ts``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.layouts.entry_layouts import entry_layouts
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.graph.node_words import node_labels, node_op_kinds
from tvmdbg_widgets.model.timeline.timeline import Timeline


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
        "parameterTrust": graph.parameter_trust,
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


def fact_columns(graph: Graph, clean: Callable[[str], str] = str) -> dict[str, Any]:
    """Return what few queries ask for: attributes, layouts and sizes."""
    attrs = graph.attrs
    return {
        "attrOffsets": np.cumsum([0, *map(len, attrs)]).astype(np.int32),
        "attrNames": StringColumn.from_strings(name for each in attrs for name in each),
        "attrValues": StringColumn.from_strings(
            clean(str(value)) for each in attrs for value in each.values()
        ),
        "entryBytes": known_sizes(graph),
        "layouts": entry_layouts(graph),
    }
