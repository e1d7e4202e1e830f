"""The layout of every entry at once, as far as attributes state it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.layouts.attrs import of_operand, of_output
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.layouts import Layout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.layouts.attrs import Told
    from tvmdbg_widgets.model.graph.graph import Graph


def entry_layouts(graph: Graph) -> StringColumn:
    """Return the layout of each entry, ``""`` where no attribute states one that fits its shape.

    An output's own node counts first, then the nodes that read it. For one entry, with layouts
    that are likely or found farther away:
    :func:`tvmdbg_widgets.analysis.layouts.layouts.known_layouts`.
    """
    found = [""] * graph.num_entries
    bearing = {id(attrs): any("layout" in key for key in attrs) for attrs in graph.attrs}
    for node, attrs in enumerate(graph.attrs):
        entries = graph.entry_range(node)
        if not bearing[id(attrs)] or graph.kinds[node] != NodeKind.OPERATOR or len(entries) != 1:
            continue
        for text in _certain(of_output(attrs, graph.func_names[node])):
            if not found[entries[0]] and _fits(graph, entries[0], text):
                found[entries[0]] = text
    for edge, target in enumerate(graph.edge_target.tolist()):
        attrs = graph.attrs[target]
        source = int(graph.edge_source[edge])
        if not bearing[id(attrs)] or source < 0 or graph.edge_trust[edge] == Trust.AMBIGUOUS:
            continue
        entry = int(graph.entry_offsets[source]) + int(graph.edge_output[edge])
        if found[entry]:
            continue
        position = int(graph.edge_position[edge])
        for text in _certain(of_operand(attrs, graph.func_names[target], position)):
            if not found[entry] and _fits(graph, entry, text):
                found[entry] = text
    return StringColumn.from_strings(found)


def _certain(told: Iterable[Told]) -> list[str]:
    return [each.layout for each in told if each.certain]


def _fits(graph: Graph, entry: int, text: str) -> bool:
    if not graph.shape_known[entry]:
        return False
    start, end = graph.shape_offsets[entry], graph.shape_offsets[entry + 1]
    try:
        return Layout.parse(text).fits(tuple(graph.shape_dims[start:end].tolist()))
    except ValueError:
        return False
