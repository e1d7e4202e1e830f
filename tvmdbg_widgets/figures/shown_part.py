"""Options of the graph's figure, and the part of the graph they leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.node_columns import COLOR_NAMES
from tvmdbg_widgets.analysis.opening import hidden_nodes
from tvmdbg_widgets.analysis.query import QueryError
from tvmdbg_widgets.figures.texts import DIRECTIONS, Direction
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_title
from tvmdbg_widgets.model.graph.isolation import Bridge, bridges, checked_isolation, isolated
from tvmdbg_widgets.model.graph.node_columns import NodeColumn


@dataclass(frozen=True)
class ShownPart:
    """Shown nodes (None: all), bridges over hidden nodes, and a note on both."""

    only: frozenset[int] | None = None
    bridges: tuple[Bridge, ...] = ()
    note: str = ""


def part_of(
    run: RunFacts,
    graph: Graph,
    options: GraphFigureOptions,
    focus: int | None,
    title: Callable[[int], str],
) -> ShownPart:
    """Return the nodes that the options leave; ``title`` names a node."""
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
        over = [
            bridge
            for bridge in bridges(graph, hidden)
            if shown[[bridge.source, bridge.target]].all()
        ]
        shown = shown & ~hidden
        queries = ", ".join(options.hidden)
        notes.append(f"Hidden: {counted(int(hidden.sum()), 'node')} ({queries}).{failed}")
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


@dataclass(frozen=True)
class GraphFigureOptions:
    """Options of a graph's figure; same names as traits of ``GraphView``.

    ``selected`` are node ids.
    """

    color_by: str | NodeColumn = "kind"
    fold_parameters: bool = True
    direction: Direction = "down"
    focus: int | str | None = None
    hops: int | None = None
    search: str = ""
    selected: tuple[int, ...] = field(default=())
    isolate: dict[str, Any] | None = None
    hidden: tuple[str, ...] = ()
    color_limits: tuple[float, float] | None = None
    label: str = ""
    open_groups: tuple[int, ...] | None = None
    grouped: bool = True
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuse what no graph can be shown with."""
        if isinstance(self.color_by, str):
            one_of("color_by", self.color_by, COLOR_NAMES)
        one_of("direction", self.direction, DIRECTIONS)
        if self.hops is not None and self.hops < 0:
            raise ValueError(f"hops is 0 or more, found {self.hops}")
