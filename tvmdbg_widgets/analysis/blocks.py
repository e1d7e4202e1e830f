"""Groups of the nodes of a graph, from its structure alone: names label them, never find them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.model.groups import Groups

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph import Graph


def groups(graph: Graph) -> Groups:
    """Return the nested groups of a graph."""
    return Groups(graph.topological_order)
