"""Nodes as people name them on a command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tvmdbg_widgets.cli.common.failures import UsageError

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.run import DebugRun

_RANGE = re.compile(r"(\d{1,9})?:(\d{1,9})?")


def graph_of(run: DebugRun) -> Graph:
    """Return the graph of a run; UsageError where it has none."""
    if run.graph is None:
        from tvmdbg_widgets.analysis.summary import how_to_get

        raise UsageError(
            "this run has no graph, so it has no nodes to choose", how_to_get("graph", run.parts)
        )
    return run.graph


def one_node(run: DebugRun, text: str) -> int:
    """Return the node that is meant by an id or a name."""
    graph = graph_of(run)
    if re.fullmatch(r"\d{1,9}", text) and not graph.nodes_named(text):
        node = int(text)
        if node < graph.num_nodes:
            return node
        raise UsageError(f"there is no node {node}; the graph has nodes 0 to {graph.num_nodes - 1}")
    try:
        return graph.node(text).id
    except KeyError as error:
        raise UsageError(str(error.args[0])) from None


def several_nodes(run: DebugRun, text: str) -> list[int]:
    """Return the nodes of a list such as ``38,conv2d_3,30:40``.

    A range counts as in Python: the first is in it, the last is not. A name that holds a comma
    is taken where a node has it.
    """
    graph = graph_of(run)
    found: list[int] = []
    pending = text.split(",")
    while pending:
        for count in range(len(pending), 0, -1):
            name = ",".join(pending[:count])
            if count == 1 or graph.nodes_named(name):
                break
        del pending[:count]
        name = name.strip()
        match = _RANGE.fullmatch(name)
        if not name:
            continue
        if match and not graph.nodes_named(name):
            found += _range(match, graph.num_nodes)
        else:
            found.append(one_node(run, name))
    if not found:
        raise UsageError("--nodes names no node", "Write it as --nodes 38,conv2d_3,30:40")
    return sorted(set(found))


def _range(match: re.Match[str], count: int) -> range:
    first, end = int(match[1] or 0), int(match[2]) if match[2] else count
    if first >= end or end > count:
        raise UsageError(
            f"there are no nodes {match[0]}; the graph has nodes 0 to {count - 1}",
            "A range counts as in Python: 30:40 are nodes 30 to 39.",
        )
    return range(first, end)
