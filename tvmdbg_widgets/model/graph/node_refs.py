"""Nodes as users have them at hand: ids, a group, a part of a graph, an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.model.graph.groups import Group
from tvmdbg_widgets.model.graph.nodes import Node
from tvmdbg_widgets.model.graph.subgraph import Subgraph


def listed(given: Any) -> Any:
    """Return what names nodes as a list; what does not is left as it is.

    Parameters
    ----------
    given : Any
        A node or its id, a ``Group``, a ``Subgraph``, an array of ids, or several ids, nodes or
        names.
    """
    if isinstance(given, Group):
        return given.nodes.tolist()
    if isinstance(given, Subgraph):
        return given.node_ids.tolist()
    if isinstance(given, np.ndarray):
        return given.tolist()
    if isinstance(given, list | tuple | set | frozenset | range):
        return [_id(each) for each in given]
    return [_id(given)] if isinstance(given, int | np.integer | Node) else given


def _id(given: Any) -> Any:
    if isinstance(given, Node):
        return given.id
    return int(given) if isinstance(given, np.integer) else given
