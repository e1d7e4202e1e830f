"""Which part of a graph a figure shows, and what it says of that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.graph.hidden import hidden_nodes
from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.figures.graph.options import GraphFigureOptions
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.bridges import Bridge, bridges
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.isolation import checked_isolation, isolated
from tvmdbg_widgets.model.graph.node_words import node_title


@dataclass(frozen=True)
class ShownPart:
    """The nodes that are shown, None for all; what leads over hidden ones; and that in words."""

    only: frozenset[int] | None = None
    bridges: tuple[Bridge, ...] = ()
    note: str = ""


def part_of(
    run: Derived,
    graph: Graph,
    options: GraphFigureOptions,
    focus: int | None,
    title: Callable[[int], str],
) -> ShownPart:
    """Return what the options leave of a graph; ``title`` names a node."""
    isolation = checked_isolation(graph, options.isolate)
    if isolation is None and focus is not None and options.hops is not None:
        isolation = {"kind": "around", "nodes": [focus], "hops": options.hops}
    if isolation is None and not options.hidden:
        return ShownPart()
    shown, notes = np.ones(graph.num_nodes, bool), []
    if isolation is not None:
        shown = isolated(graph, isolation["kind"], isolation["nodes"], isolation.get("hops"))
        notes.append(f"Only {_part_text(isolation['kind'], isolation, title)}.")
    over: list[Bridge] = []
    if options.hidden:
        hidden, failed = np.zeros_like(shown), ""
        try:
            hidden = shown & hidden_nodes(run, options.hidden)
        except (RuntimeError, MemoryError, QueryError) as problem:  # of the engine
            if isinstance(problem, QueryError) and problem.__cause__ is None:
                raise
            failed = f" Nothing is hidden: {one_line(str(problem))}."
        over = [each for each in bridges(graph, hidden) if shown[[each.source, each.target]].all()]
        shown = shown & ~hidden
        found = ", ".join(options.hidden)
        notes.append(f"Hidden: {counted(int(hidden.sum()), 'node')} ({found}).{failed}")
    notes.append(f"Shown: {counted(int(shown.sum()), 'node')} of {graph.num_nodes:,}.")
    return ShownPart(frozenset(np.flatnonzero(shown).tolist()), tuple(over), " ".join(notes))


def _part_text(kind: str, isolation: dict[str, Any], title: Callable[[int], str]) -> str:
    nodes = isolation["nodes"]
    named = [node_title(title(node), node) for node in nodes[:2]]
    if kind == "path":
        return f"what lies between {' and '.join(named)}"
    several = counted(len(nodes), "node") if len(nodes) > 2 else " and ".join(named)
    if kind == "around":
        return f"what is within {counted(isolation['hops'], 'edge')} of {several}"
    return f"{several} and what is {kind}"
