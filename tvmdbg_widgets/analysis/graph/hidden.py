"""Nodes that a view of the graph leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.query.parser import parse
from tvmdbg_widgets.analysis.query.selection import select
from tvmdbg_widgets.model.graph.nodes import NodeKind


def hidden_nodes(run: Derived, queries: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Mark the nodes that any of the queries finds, and parameters that only those read."""
    graph = run.graph
    found = np.zeros(0 if graph is None else graph.num_nodes, bool)
    if graph is None:
        return found
    for query in queries:
        found[list(select(run.facts, query))] = True
    known = graph.edge_source >= 0
    source, by_hidden = graph.edge_source[known], found[graph.edge_target[known]]
    is_read = np.zeros((2, graph.num_nodes), bool)
    is_read[by_hidden.astype(int), source] = True
    hidden: npt.NDArray[np.bool_] = (
        found | (graph.kinds == NodeKind.PARAMETER) & is_read[1] & ~is_read[0]
    )
    return hidden


def checked_query(query: Any) -> str:
    """Return a query without blanks around it."""
    try:
        tree = parse(query)
    except (RuntimeError, MemoryError):  # of the engine: what is drawn says that nothing is hidden
        return str(query).strip()
    if tree is None:
        raise ValueError("a query of nothing hides nothing; write kind=parameter")
    return str(query).strip()
