"""A graph in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.export.nodes import (
    _MOST_LABEL,
    NodeColors,
    NodeTexts,
    around_nodes,
    cut,
    entry_text,
    node_colors,
    part,
    quoted,
)
from tvmdbg_widgets.figures.texts import DIRECTIONS
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind, Subgraph

_RANKDIR = {"down": "TB", "right": "LR"}


_INK, _SOFT = "#1f2328", "#59636e"


_FONT = "Helvetica"


_SHAPES = {NodeKind.INPUT: "oval", NodeKind.PARAMETER: "note"}


def dot(
    run: RunFacts,
    graph: Graph,
    nodes: Any = None,
    *,
    color_by: Any = "kind",
    fold_parameters: bool = True,
    grouped: bool = True,
    edge_labels: bool = True,
    direction: str = "down",
) -> str:
    """Return a graph, or some of its nodes, as DOT; see ``DebugRun.to_dot``."""
    one_of("direction", direction, DIRECTIONS)
    chosen = part(graph, nodes)
    colors = None if color_by is None else node_colors(run, graph, color_by)
    writer = _DotWriter(run, graph, chosen, colors, fold=fold_parameters, labels=edge_labels)
    font = f'fontname={quoted(_FONT)}, fontsize=11, fontcolor="{_INK}"'
    box = "shape=box, style=filled, fillcolor=white"
    lines = [
        f"digraph {quoted(run.title, _MOST_LABEL)} {{",
        f"  graph [rankdir={_RANKDIR[direction]}, {font}];",
        f'  node [{box}, {font}, color="{_SOFT}"];',
        f'  edge [{font}, fontsize=9, color="{_SOFT}"];',
        *(writer.clusters() if grouped else writer.flat()),
        *writer.edges(),
        "}",
    ]
    return "\n".join([*lines, ""])


class _DotWriter:
    def __init__(
        self,
        run: RunFacts,
        graph: Graph,
        chosen: Subgraph,
        colors: NodeColors | None,
        *,
        fold: bool,
        labels: bool,
    ) -> None:
        self.run, self.graph, self.chosen = run, graph, chosen
        self.colors, self.labelled = colors, labels
        self.words = NodeTexts(graph, run.timeline)
        inside = np.zeros(graph.num_nodes + 1, np.bool_)
        inside[chosen.node_ids] = True
        self.entry_texts: dict[tuple[int, int], str] = {}
        #: Parameters that are only counted at their readers.
        self.folded = np.zeros(graph.num_nodes + 1, np.bool_)
        if fold:
            readers = chosen.edges
            read = np.zeros(graph.num_nodes, np.bool_)
            read[graph.edge_source[readers]] = True
            parameters = graph.kinds == NodeKind.PARAMETER
            self.folded[:-1] = parameters & inside[:-1] & read
            self.folded[graph.heads[:, 0]] = False
        self.drawn = inside & ~self.folded
        self.nodes: list[int] = np.flatnonzero(self.drawn[:-1]).tolist()

    def flat(self) -> Iterator[str]:
        for node in self.nodes:
            yield f"  {self._node(node)}"

    def clusters(self) -> Iterator[str]:
        """Yield the nodes inside nested clusters of their groups."""
        groups = self.run.groups
        members: dict[int, list[int]] = {}
        for node in self.nodes:
            members.setdefault(int(groups.node_group[node]), []).append(node)
        for node in members.get(-1, ()):
            yield f"  {self._node(node)}"
        open_: list[int] = []
        for group in around_nodes(groups, self.nodes):
            parent = int(groups.parent[group])
            while open_ and open_[-1] != parent:
                open_.pop()
                yield f"{'  ' * (len(open_) + 1)}}}"
            open_.append(group)
            pad = "  " * (len(open_) + 1)
            yield f"{pad[2:]}subgraph cluster_{group} {{"
            yield f'{pad}label={quoted(groups[group].title, _MOST_LABEL)}; color="#c3c8ce";'
            for node in members.get(group, ()):
                yield f"{pad}{self._node(node)}"
        while open_:
            open_.pop()
            yield f"{'  ' * (len(open_) + 1)}}}"

    def _node(self, node: int) -> str:
        graph, words = self.graph, self.words
        kind = NodeKind(int(graph.kinds[node]))
        second = [words.shape(node)]
        tip = f"#{node} {cut(graph.names[node], _MOST_LABEL)}"
        style = {"shape": _SHAPES[kind]} if kind in _SHAPES else {}
        if words.is_head(node):
            style["peripheries"] = "2"
        if self.colors is not None:
            fill, ink, text, _ = self.colors.of(node)
            if fill is not None:
                style |= {"fillcolor": f'"{fill}"', "fontcolor": f'"{ink}"'}
            if self.colors.name != "kind":
                second = [text]
            tip += f"\n{self.colors.name}: {text}"
        sources = graph.edge_source[graph.in_edges(node)]
        inside = len(np.unique(sources[self.folded[sources]]))
        if inside:
            second.append(counted(inside, "param"))
        label = f"{cut(words.title(node), _MOST_LABEL)}\n#{node} · {' · '.join(second)}"
        attributes = {"label": quoted(label), "tooltip": quoted(tip), **style}
        return f"n{node} [{', '.join(f'{name}={value}' for name, value in attributes.items())}];"

    def edges(self) -> Iterator[str]:
        """Yield edges by reader and operand, lost operands, and control dependencies."""
        graph = self.graph
        ends = self.drawn[graph.edge_target] & (self.drawn[graph.edge_source] | self._lost)
        rows = np.flatnonzero(ends)
        columns = (graph.edge_source, graph.edge_output, graph.edge_target, graph.edge_position)
        lost = 0
        for source, output, target, position, trust in zip(
            *(column[rows].tolist() for column in columns),
            graph.edge_trust[rows].tolist(),
            strict=True,
        ):
            if source < 0:
                lost += 1
                tip = quoted(f"operand {position} of node {target} is not in the graph")
                yield f'  lost{lost} [shape=circle, width=0.1, label="", color="#b3261e", '
                yield f"    tooltip={tip}];"
                yield f'  lost{lost} -> n{target} [style=dashed, color="#b3261e", tooltip={tip}];'
                continue
            yield f"  n{source} -> n{target} [{self._edge(source, output, position, trust)}];"
        pairs = zip(graph.control_source.tolist(), graph.control_target.tolist(), strict=True)
        for source, target in pairs:
            if self.drawn[source] and self.drawn[target]:
                yield f'  n{source} -> n{target} [style=dotted, tooltip="runs before"];'

    @property
    def _lost(self) -> Any:
        return self.graph.edge_source < 0

    def _edge(self, source: int, output: int, position: int, trust: int) -> str:
        text = self.entry_texts.get((source, output))
        if text is None:
            graph = self.graph
            text = entry_text(graph.dtype(source, output), graph.shape(source, output))
            if len(graph.entry_range(source)) > 1:
                text = f":{output} {text}"
            self.entry_texts[source, output] = text
        attributes = [f"label={quoted(text, _MOST_LABEL)}"] if self.labelled else []
        attributes.append(f"tooltip={quoted(f'operand {position}: {text}')}")
        if trust == Trust.AMBIGUOUS:
            attributes.append("style=dashed")
        return ", ".join(attributes)
