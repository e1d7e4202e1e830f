"""Nodes that a view of the graph leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.run import DebugRun


def hidden_nodes(run: DebugRun, queries: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Mark the nodes that any of the queries finds.

    Returns
    -------
    bool [N]
        Of no nodes where the run has no graph.

    Raises
    ------
    ValueError
        For a query that cannot be read.
    """
    graph = run.graph
    found = np.zeros(0 if graph is None else graph.num_nodes, bool)
    if graph is None:
        return found
    for query in queries:
        field, _, wanted = checked_query(query).replace("=", ":").partition(":")
        for node in graph.nodes:
            of = {NodeKind(graph.kinds[node.id]).name.lower(), node.op_kind}
            found[node.id] |= wanted in (of if field == "kind" else node.parts)
    return found


def checked_query(query: object) -> str:
    """Return a query without blanks around it.

    Raises
    ------
    TypeError
        It is no str.
    ValueError
        It cannot be read.
    """
    if not isinstance(query, str):
        raise TypeError(f"a query is a str, not {type(query).__name__}")
    found = query.strip()
    if not found.startswith(("kind:", "kind=", "op:")):
        raise ValueError(f"{found!r} is no query: write kind:parameter or op:reshape")
    return found
