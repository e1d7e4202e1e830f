"""The layout of every entry at once, as far as attributes state it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.layouts.attrs import NAMES, NamedLayout, of_operand, of_output
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.layouts import Layout


def entry_layouts(graph: Graph) -> StringColumn:
    """Return the layout of each entry, ``""`` where no attribute states one that fits its shape.

    An output's own node counts first, then the nodes that read it. For one entry, with layouts
    that are likely or found farther away:
    :func:`tvmdbg_widgets.analysis.layouts.layouts.known_layouts`.
    """
    found = [""] * graph.num_entries
    bears = np.array([not NAMES.isdisjoint(attrs) for attrs in graph.attrs], np.bool_)
    alone = np.diff(graph.entry_offsets) == 1
    for node in np.flatnonzero(bears & alone & (graph.kinds == int(NodeKind.OPERATOR))).tolist():
        entry = int(graph.entry_offsets[node])
        for text in _certain(of_output(graph.attrs[node], graph.func_names[node])):
            if not found[entry] and _fits(graph, entry, text):
                found[entry] = text
    is_known = (graph.edge_source >= 0) & (graph.edge_trust != int(Trust.AMBIGUOUS))
    for edge in np.flatnonzero(is_known & bears[graph.edge_target]).tolist():
        entry = int(graph.entry_offsets[graph.edge_source[edge]] + graph.edge_output[edge])
        if found[entry]:
            continue
        target, position = int(graph.edge_target[edge]), int(graph.edge_position[edge])
        for text in _certain(of_operand(graph.attrs[target], graph.func_names[target], position)):
            if not found[entry] and _fits(graph, entry, text):
                found[entry] = text
    return StringColumn.from_strings(found)


def _certain(told: Iterable[NamedLayout]) -> list[str]:
    return [each.layout for each in told if each.certain]


def _fits(graph: Graph, entry: int, text: str) -> bool:
    if not graph.shape_known[entry]:
        return False
    start, end = graph.shape_offsets[entry], graph.shape_offsets[entry + 1]
    try:
        return Layout.parse(text).fits(tuple(graph.shape_dims[start:end].tolist()))
    except ValueError:
        return False
