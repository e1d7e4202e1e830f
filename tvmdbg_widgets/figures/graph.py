"""The graph of a run as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.colors import MUTED
from tvmdbg_widgets.figures.graph_boxes import Direction, arrange
from tvmdbg_widgets.figures.graph_legend import draw_legend, kind_sums
from tvmdbg_widgets.figures.graph_picture import Picture
from tvmdbg_widgets.figures.graph_scene import (
    Labels,
    Scene,
    Times,
    build_scene,
    count_boxes,
    neighbourhood,
)
from tvmdbg_widgets.figures.graph_words import describe, graph_text, totals
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.run import DebugRun

MOST_BYTES = 40 * 1024
_MOST_BOXES = 120
_DESCRIBED = 2_000
_TALL = (806.0, 1700.0)
_PART_BOXES = 20
_SLOWEST = 8
_NAMES = 150


@dataclass(frozen=True)
class GraphOptions:
    """How the graph is shown; as of ``GraphView``."""

    color_by: str = "kind"
    fold_parameters: bool = True
    direction: Direction = "down"
    focus: int | str | None = None
    hops: int | None = None


def graph_figure(
    run: DebugRun,
    *,
    color_by: str = "kind",
    fold_parameters: bool = True,
    direction: str = "down",
    focus: int | str | None = None,
    hops: int | None = None,
    width: float = 720,
) -> Figure:
    """Draw the graph of a run; where it is too large, a part of it and what takes longest.

    Parameters
    ----------
    color_by : str
        ``"kind"`` or ``"time"``.
    fold_parameters : bool
        Draw parameters as a count on what reads them.
    direction : str
        ``"down"`` or ``"right"``.
    focus : int, str or None
        Node (id or name) that is marked; a large graph is shown around it.
    hops : int or None
        Show only what is within so many edges of the focus.
    width : float
        px.
    """
    towards: Direction = "right" if direction == "right" else "down"
    options = GraphOptions(color_by, fold_parameters, towards, focus, hops)
    return graph_panel(run, options, float(width)).figure()


def graph_panel(
    run: DebugRun, options: GraphOptions, width: float, most_bytes: int = MOST_BYTES
) -> Panel:
    """Return the graph as a panel of at most so many bytes."""
    graph = run.graph
    if graph is None:
        return missing_panel(run, "graph", width)
    if not graph.num_nodes:
        return missing_panel(run, "graph", width, "The graph has no nodes.")
    view = _View(run, graph, options, width)
    if view.boxes <= _MOST_BOXES:
        for titled in (True, False):
            panel = view.panel(view.scene, titled=titled)
            if panel is not None and len(panel.svg.encode()) <= most_bytes:
                return panel
    return view.condensed()


class _View:
    """One graph while it becomes a panel."""

    def __init__(self, run: DebugRun, graph: Graph, options: GraphOptions, width: float) -> None:
        self.run, self.graph, self.options, self.width = run, graph, options, width
        self.times = Times(graph, run.timeline)
        self.labels = Labels(graph, self.times)
        self.sums = kind_sums(graph, self.times)
        self.focus, self.problem = _focus(graph, options.focus)
        only: frozenset[int] | range | None = None
        if self.focus is not None and options.hops is not None:
            only = neighbourhood(graph, self.focus, options.hops)
        elif graph.num_nodes > _DESCRIBED:
            only = range(_DESCRIBED)
        self.scene = build_scene(graph, fold=options.fold_parameters, only=only)
        partly = isinstance(only, range)
        whole = count_boxes(graph, options.fold_parameters) if partly else len(self.scene.nodes)
        self.boxes = whole

    def panel(self, scene: Scene, rest: int = 0, *, titled: bool = True) -> Panel | None:
        """Return the panel of a scene; None where its boxes do not fit.

        Parameters
        ----------
        rest
            Boxes that are left out.
        titled
            Give each box the node's full name, which is shown where one points at it.
        """
        room = self.width - 2 * MARGIN
        arrangement = None
        for tall in _TALL[:1] if rest else _TALL:
            arrangement = arrange(scene, self.labels, self.options.direction, room, tall)
            if arrangement is not None:
                break
        if arrangement is None:
            return None
        picture = Picture(
            self.graph,
            scene,
            self.times,
            self.labels,
            arrangement,
            self.options.color_by,
            self.focus,
            titled,
        )
        panel, y = self._start(scene)
        left = MARGIN + max(0.0, (room - arrangement.folded.width) / 2)
        picture.draw(panel.marks, left, y)
        panel.height = y + arrangement.folded.height + MARGIN
        return panel

    def condensed(self) -> Panel:
        """Return a part of the graph, the counts of the rest, and the slowest operators."""
        most, panel = _PART_BOXES, None
        while panel is None and most > 0:
            part = self._part(most)
            panel = self.panel(part, rest=self.boxes - len(part.nodes))
            most //= 2
        if panel is None:
            part = Scene()
            panel, y = self._start(part)
            panel.height = y + MARGIN
        which = "first in execution order" if self.focus is None else "those around the focus"
        said = f"Drawn: {len(part.nodes):,} of {self.boxes:,} boxes, {which}."
        if self.times.ranked:
            said += " What takes longest:"
        y = panel.height - MARGIN + LINE_HEIGHT + 6
        panel.marks.text(said, MARGIN, y, fill=MUTED)
        for node in self.times.ranked[:_SLOWEST]:
            y += LINE_HEIGHT
            panel.marks.text(self.labels.time(node), MARGIN, y)
            named = f"#{node} {self.labels.title(node)} ({self.graph.names[node]})"
            room = panel.width - 2 * MARGIN - _NAMES
            panel.marks.text(fit(named, room, SMALL), MARGIN + _NAMES, y)
        panel.height = y + MARGIN
        panel.description["drawn"] = list(part.nodes)
        return panel

    def _part(self, most: int) -> Scene:
        if self.focus is None:
            nodes = self.scene.nodes[:most]
        else:
            near = {self.focus}
            for hops in range(1, 4):
                wider = neighbourhood(self.graph, self.focus, hops)
                boxes = build_scene(self.graph, fold=self.options.fold_parameters, only=wider)
                if len(boxes.nodes) > most:
                    break
                near = set(wider)
            nodes = sorted(near)
        if self.options.fold_parameters:
            sources = [self.graph.edge_source[self.graph.in_edges(node)] for node in nodes]
            read = np.unique(np.concatenate([*sources, np.zeros(0, np.int32)])).tolist()
            kinds = self.graph.kinds
            nodes = [*nodes, *(i for i in read if i >= 0 and kinds[i] == NodeKind.PARAMETER)]
        return build_scene(self.graph, fold=self.options.fold_parameters, only=set(nodes))

    def _start(self, scene: Scene) -> tuple[Panel, float]:
        """Return a panel with heading and legend, and the y below them."""
        counts = totals(self.graph, self.times)
        said = f"Graph of {self.run.title}: {counts}"
        panel = Panel(self.width, said, said)
        panel.text = graph_text(
            self.run.title,
            self.graph,
            self.labels,
            self.times,
            scene=self.scene,
            boxes=self.boxes,
        )
        panel.description = self._description()
        if self.times.slowest >= 0:
            slowest = self.times.slowest
            panel.words += (
                f". Slowest: #{slowest} {self.labels.title(slowest)}, {self.labels.time(slowest)}"
            )
        y = panel.heading(self.run.title, counts)
        for note in filter(None, (self._part_note(), self.problem)):
            y = panel.paragraph(note, y, lines=2, fill=MUTED)
        notes = draw_legend(
            panel,
            y + 4,
            self.times,
            sums=self.sums,
            scene=scene,
            color_by=self.options.color_by,
        )
        return panel, notes + 8

    def _part_note(self) -> str:
        if self.focus is None or self.options.hops is None:
            return ""
        return (
            f"Only what is within {counted(self.options.hops, 'edge')} of "
            f"#{self.focus} {self.labels.title(self.focus)}."
        )

    def _description(self) -> dict[str, Any]:
        facts = describe(self.graph, self.labels, self.times, self.scene)
        return {
            "view": "graph",
            "title": self.run.title,
            "color_by": self.options.color_by,
            "fold_parameters": self.options.fold_parameters,
            "direction": self.options.direction,
            "focus": self.focus,
            "hops": self.options.hops,
            **facts,
            "left_out": self.boxes - len(self.scene.nodes),
            "legend": [
                {
                    "kind": kind,
                    "nodes": nodes,
                    "time_ns": ns,
                    "share": ns / self.times.total if self.times.total else None,
                }
                for kind, nodes, ns in self.sums
            ],
        }


def _focus(graph: Graph, focus: int | str | None) -> tuple[int | None, str]:
    """Return the node to mark, and what to say where there is none of that name."""
    if focus is None:
        return None, ""
    if isinstance(focus, str):
        rows = graph.nodes_named(focus)
        if rows:
            return rows[0].id, ""
    elif 0 <= focus < graph.num_nodes:
        return int(focus), ""
    return None, f"The graph has no node {focus!r}."
