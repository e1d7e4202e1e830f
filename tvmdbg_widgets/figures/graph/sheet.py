"""The sheet that pictures of one graph are drawn on: its words, its legend, what it says below."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.graph.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.figures.graph.colors import colors_of
from tvmdbg_widgets.figures.graph.faults import known_faults
from tvmdbg_widgets.figures.graph.health import NodeHealth
from tvmdbg_widgets.figures.graph.label import Labels, TemplateLabels
from tvmdbg_widgets.figures.graph.legend import draw_legend, kind_sums
from tvmdbg_widgets.figures.graph.nesting import GroupWords
from tvmdbg_widgets.figures.graph.part import part_of
from tvmdbg_widgets.figures.graph.scene import Scene, build_scene, count_boxes
from tvmdbg_widgets.figures.graph.search import search
from tvmdbg_widgets.figures.graph.times import Times
from tvmdbg_widgets.figures.graph.words import describe, graph_text, totals
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.node_words import node_title

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.graph.colors import Colors
    from tvmdbg_widgets.figures.graph.options import GraphOptions
    from tvmdbg_widgets.figures.theme import Theme
    from tvmdbg_widgets.model.graph.graph import Graph

_DESCRIBED = 2_000
_SLOWEST = 8
SLOWEST = "Slowest operators:"
_NAMES = 122


class GraphSheet:
    """What is to be drawn of one graph, and the panel around it.

    Attributes
    ----------
    title : str
        Of the panel; the run's until set.
    spots : dict of int to (float, float)
        The middle of the box that each node is drawn in, px of the panel.
    scene : Scene
        All that is to be shown, without groups; of a graph that is cut its first nodes.
    boxes : int
        How many boxes all that is to be shown takes.
    """

    def __init__(
        self, run: Derived, graph: Graph, options: GraphOptions, width: float, theme: Theme
    ) -> None:
        self.run, self.graph, self.options, self.width = run, graph, options, width
        self.title = run.title
        self.theme = theme
        self.spots: dict[int, tuple[float, float]] = {}
        self.health: NodeHealth | None = None
        if options.color_by == "health":
            self.health = NodeHealth(run.search.health(), graph.num_nodes)
        #: Where the colors show the health of values, they say it.
        self.faults = None if self.health is not None else known_faults(run)
        self.times = Times(graph, run.timeline)
        self.labels = Labels(graph, self.times)
        self.worded = self.labels
        if options.label:
            self.worded = TemplateLabels(run.parts, graph, self.times, options.label)
        column = options.color_by
        if column in KNOWN_COLUMNS:
            column = known_column(run.parts, str(column))
        self.color_by = column if isinstance(column, str) else column.name
        self.column = None if isinstance(column, str) else column
        self.colors: Colors | None = None
        if self.column is not None:
            self.colors = colors_of(graph, self.column, options.color_limits)
        self.sums = kind_sums(graph, self.times)
        self.words = GroupWords(run.groups, self.times)
        self.focus, self.problem = _focus(graph, options.focus)
        self.hits, self.doubt = search(run, options.search)
        self.shown = part_of(run, graph, options, self.focus, self.labels.title)
        self.only = self.shown.only
        self.cut = self.only is None and graph.num_nodes > _DESCRIBED
        shown = range(_DESCRIBED) if self.cut else self.only
        over = self.shown.bridges
        self.scene = build_scene(graph, fold=options.fold_parameters, only=shown, bridges=over)
        whole = count_boxes(graph, options.fold_parameters)
        self.boxes = whole if self.cut else len(self.scene.nodes)

    @cached_property
    def marked(self) -> frozenset[int]:
        """The focus and what is selected."""
        focus = () if self.focus is None else (self.focus,)
        return frozenset((*focus, *self.options.selected))

    def start(
        self,
        scene: Scene,
        note: str = "",
        hottest: tuple[float, str] | None = None,
        *,
        counts_parameters: bool = True,
    ) -> tuple[Panel, float]:
        """Return a panel with heading and legend, and the y below them.

        ``counts_parameters``: boxes bear the number of parameters inside.
        """
        counts = totals(self.graph, self.times)
        said = f"Graph of {self.run.title}: {counts}"
        panel = Panel(self.width, said, said, self.theme)
        panel.text = graph_text(
            self.run.title,
            self.graph,
            self.labels,
            self.times,
            words=self.words,
            scene=scene if any(group >= 0 for group in scene.group) else self.scene,
            boxes=self.boxes,
            health=self.health,
            colors=self.colors,
            faults=self.faults,
        )
        if self.shown.note:
            first, _, others = panel.text.partition("\n")
            panel.text = f"{first}\n{self.shown.note}\n{others}"
        panel.description = self._description()
        if self.times.slowest >= 0:
            slowest = self.times.slowest
            panel.words += (
                f". Slowest: #{slowest} {self.labels.title(slowest)}, {self.labels.time(slowest)}"
            )
        y = panel.heading(self.title, counts)
        notes = (self.shown.note, self.problem, self._search_note(), note)
        for each in filter(None, notes):
            y = panel.paragraph(each, y, lines=6, fill=self.theme.muted)
        y = draw_legend(
            panel,
            y + 4,
            self.times,
            sums=self.sums,
            scene=scene,
            color_by=self.color_by,
            hottest=hottest,
            health=self.health,
            colors=self.colors,
            faults=self.faults,
            counts_parameters=counts_parameters,
        )
        return panel, y + 8

    def add_slowest(self, panel: Panel, said: str) -> None:
        """Write the slowest operators below the picture."""
        if not self.times.ranked and said == SLOWEST:
            return
        muted = self.theme.muted
        y = panel.paragraph(said, panel.height - MARGIN + 6, lines=3, fill=muted)
        room = panel.width - 2 * MARGIN - _NAMES
        for node in self.times.ranked[:_SLOWEST]:
            y += LINE_HEIGHT
            panel.marks.text(self.labels.time(node), MARGIN, y - 4)
            named = node_title(self.labels.title(node), node)
            whole = f"{named} ({self.graph.names[node]})"
            panel.marks.text(fit(whole, room, SMALL), MARGIN + _NAMES, y - 4)
        panel.height = y + MARGIN

    def _search_note(self) -> str:
        if not self.options.search.strip():
            return ""
        verb = "matches" if len(self.hits) == 1 else "match"
        query = self.options.search.strip()
        found = f"{counted(len(self.hits), 'node')} {verb} “{query}” (dashed ring)."
        if self.doubt.startswith("“"):
            return f"The search {self.doubt}"
        return f"{found} {self.doubt[:1].upper()}{self.doubt[1:]}".rstrip()

    def _description(self) -> dict[str, Any]:
        facts = describe(self.graph, self.labels, self.times, self.scene)
        return {
            "view": "graph",
            "title": self.run.title,
            "color_by": self.color_by,
            "fold_parameters": self.options.fold_parameters,
            "direction": self.options.direction,
            "focus": self.focus,
            "hops": self.options.hops,
            "isolate": self.options.isolate,
            "hidden": list(self.options.hidden),
            "search": self.options.search,
            "hits": len(self.hits),
            "selected": list(self.options.selected),
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
            **self._told_health(facts),
            **self._told_colors(facts),
        }

    def _told_colors(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Add to the facts of nodes what the colors say; return what is said of all."""
        if self.colors is None:
            return {}
        for node in facts["nodes"]:
            fill = self.colors.fill(self.theme, (node["id"],))
            node["color"] = {"text": self.colors.said((node["id"],)), "fill": fill}
        return {"colors": self.colors.describe()}

    def _told_health(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Add to the facts of nodes what is said of their health; return what is said of all."""
        if self.health is None:
            return {}
        for box, node in enumerate(facts["nodes"]):
            verdict, said = self.health.of_box(self.scene, box)
            node["health"] = {"verdict": verdict, "text": said}
        return {"health": self.health.describe()}


def _focus(graph: Graph, focus: int | str | None) -> tuple[int | None, str]:
    """Return the node to mark, and what to say where there is none of that name."""
    if focus is None:
        return None, ""
    if isinstance(focus, str):
        rows = graph.nodes_named(focus)
        if rows:
            return rows[0].id, ""
        with suppress(KeyError):
            return graph.node(focus).id, ""
    elif 0 <= focus < graph.num_nodes:
        return int(focus), ""
    return None, f"The graph has no node {focus!r}."
