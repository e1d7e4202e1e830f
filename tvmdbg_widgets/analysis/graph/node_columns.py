"""What a run knows of each entry of its graph, as columns that can be shown as colors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tvmdbg_widgets.analysis.layouts.layouts import known_layouts
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path_of, why_not
from tvmdbg_widgets.analysis.timeline.roofline import roofline_of
from tvmdbg_widgets.analysis.work import work
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.devices import device_name
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, classed
from tvmdbg_widgets.model.parts import RunParts

#: Columns that a graph has with times of its nodes.
TIMED_COLUMNS = ("slack", "critical", "intensity", "flops")
#: Columns that a run has of itself.
KNOWN_COLUMNS = ("dtype", "device", "storage", "layout", "bytes", *TIMED_COLUMNS)
#: What a graph can be colored by without being given anything.
COLOR_NAMES = ("kind", "time", "health", *KNOWN_COLUMNS)
_ON_PATH, _BESIDE, _TIED = "critical path", "has slack", "as long as it"


def known_column(
    parts: RunParts, name: str, watch: Callable[[int], None] = lambda _done: None
) -> NodeColumn:
    """Return a column by its name, one row an entry, or a node where it is of times."""
    graph = parts.graph
    if graph is None:
        raise ValueError("the run has no graph")
    if name in TIMED_COLUMNS:
        return _timed(parts, graph, name)
    if name == "bytes":
        sizes = known_sizes(graph)
        return NodeColumn(name, "entries", sizes, unit="B", together="sum")
    if name == "layout":
        return classed(name, "entries", _layouts(parts, graph, watch))
    if name == "dtype":
        texts: list[str | None] = [text or None for text in graph.dtypes]
        return classed(name, "entries", texts)
    numbers = graph.storage_ids if name == "storage" else graph.device_types
    if numbers is None:
        return classed(name, "entries", [None] * graph.num_entries)
    names = {
        each: f"slot {each}" if name == "storage" else device_name(each)
        for each in np.unique(numbers).tolist()
        if each >= 0
    }
    return classed(name, "entries", [names.get(each) for each in numbers.tolist()])


def _timed(parts: RunParts, graph: Graph, name: str) -> NodeColumn:
    """A column that needs times; all unknown, and why, where there are none."""
    nothing = np.full(graph.num_nodes, np.nan)
    why = why_not(parts)
    if why:
        return NodeColumn(name, "nodes", nothing, note=why)
    if name in ("slack", "critical"):
        path = critical_path_of(parts)
        if name == "slack":
            return NodeColumn(name, "nodes", path.slack_ns.copy(), unit="ns", note=path.said[0])
        names: list[str | None] = [None] * graph.num_nodes
        for node in np.flatnonzero(~np.isnan(path.slack_ns)).tolist():
            names[node] = _TIED if path.critical[node] else _BESIDE
        for node in path.nodes.tolist():
            names[node] = _ON_PATH
        return classed(name, "nodes", names)
    roofline = roofline_of(parts, lambda: work(graph), None, None)
    values = roofline.intensity if name == "intensity" else roofline.flops_per_s
    unknown = len(roofline.unknown)
    note = (
        f"unknown for {counted(unknown, 'operator')}: run.roofline() tells why" if unknown else ""
    )
    unit = "FLOP/B" if name == "intensity" else "FLOP/s"
    return NodeColumn(name, "nodes", values.copy(), unit=unit, scale="log", note=note)


def _layouts(parts: RunParts, graph: Graph, watch: Callable[[int], None]) -> list[str | None]:
    """The first layout that is known of each entry; a likely one is told as such."""
    found: list[str | None] = []
    for node in range(graph.num_nodes):
        watch(len(found))
        for output in range(len(graph.entry_range(node))):
            known = next(iter(known_layouts(parts, (node, output))), None)
            sure = known is not None and known.certainty == "stated"
            found.append(
                None if known is None else known.layout.text + ("" if sure else " (likely)")
            )
    return found
