"""One graph while it becomes a panel: whole, around a node, or condensed."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.figures.graph_boxes import Arrangement, arrange, box_sizes
from tvmdbg_widgets.figures.graph_colors import colors_of
from tvmdbg_widgets.figures.graph_condensed import Condensed, condense
from tvmdbg_widgets.figures.graph_group_picture import GroupPicture, group_sizes
from tvmdbg_widgets.figures.graph_health import NodeHealth
from tvmdbg_widgets.figures.graph_label import TemplateLabels
from tvmdbg_widgets.figures.graph_legend import draw_legend, kind_sums
from tvmdbg_widgets.figures.graph_nesting import GroupWords, Nesting, nestings
from tvmdbg_widgets.figures.graph_part import near, part_of
from tvmdbg_widgets.figures.graph_picture import Picture
from tvmdbg_widgets.figures.graph_scene import (
    Labels,
    Scene,
    Times,
    build_scene,
    count_boxes,
    foldable,
)
from tvmdbg_widgets.figures.graph_search import search
from tvmdbg_widgets.figures.graph_words import condensed_text, describe, graph_text, totals
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from tvmdbg_widgets.figures.graph_colors import Colors
    from tvmdbg_widgets.figures.graph_options import GraphOptions
    from tvmdbg_widgets.figures.theme import Theme
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.run import DebugRun

#: How many groups are tried, until they fit.
_GROUPS = (44, 30, 20, 12, 6, 3)
_DESCRIBED = 2_000
_TALL = (806.0, 1120.0, 1700.0)
_GROUPS_TALL = 1100.0
_PART_BOXES = 20
#: Some groups closed: with fewer boxes, what is inside tells more; with more, a condensed graph.
_FEWEST_BOXES, _MOST_CLOSED = 8, 90
#: Edges that are drawn at all, and the fewest bytes that each takes.
_MOST_EDGES, _BYTES_OF_AN_EDGE = 100_000, 12
_SLOWEST = 8
_NAMES = 122


class GraphPanels:
    """One graph while it becomes a panel."""

    def __init__(
        self, run: DebugRun, graph: Graph, options: GraphOptions, width: float, theme: Theme
    ) -> None:
        self.run, self.graph, self.options, self.width = run, graph, options, width
        self.theme = theme
        #: Sizes of boxes that are tried, and the one that was drawn last.
        self.details: tuple[str, ...] = ("full", "low")
        self.drawn_as = ""
        #: The middle of the box that each node is drawn in, px of the panel.
        self.spots: dict[int, tuple[float, float]] = {}
        self.health: NodeHealth | None = None
        if options.color_by == "health":
            self.health = NodeHealth(run.search.health(), graph.num_nodes)
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

    def whole(self, most_boxes: int, most_bytes: int, *, exact: bool = False) -> Panel | None:
        """Return all that is to be shown, with as many open groups as fit; None if nothing fits.

        With ``exact``, no groups are closed but those that are to be.
        """
        nodes = np.arange(self.graph.num_nodes)
        if self.only is not None:
            nodes = np.array(sorted(self.only), np.int64)
        if self.options.fold_parameters:
            nodes = nodes[~foldable(self.graph)[nodes]]
        chosen = self.options.open_groups is not None
        tried: list[Nesting | None] = [*nestings(self.run.groups, self.options)]
        for nesting in (tried or [None])[: 1 if exact else None]:
            count = len(nodes) if nesting is None else nesting.boxes(nodes.tolist())
            closes = count < len(nodes)
            if count > most_boxes or (
                closes and not chosen and not _FEWEST_BOXES <= count <= _MOST_CLOSED
            ):
                continue
            if closes and not chosen and self.focus is not None:
                break
            scene = self.scene if nesting is None else self._scene(self.only, nesting)
            if len(scene.source) > min(_MOST_EDGES, most_bytes // _BYTES_OF_AN_EDGE):
                continue
            for titled in (True, False):
                panel = self.panel(scene, titled=titled)
                if panel is None:
                    break
                if len(panel.svg.encode()) <= most_bytes:
                    return panel
        return None

    def _scene(self, only: Collection[int] | None, nesting: Nesting | None = None) -> Scene:
        return build_scene(
            self.graph,
            fold=self.options.fold_parameters,
            only=only,
            bridges=self.shown.bridges,
            nesting=nesting,
        )

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
        sizes = box_sizes(scene, self.worded, self.words)
        sizes = [each for each in sizes if each.detail in self.details]
        arrangement = None
        if self.options.whole:
            arrangement = arrange(scene, sizes[:1], self.options.direction, math.inf, math.inf)
        for tall in () if arrangement else _TALL[:1] if rest else _TALL:
            arrangement = arrange(scene, sizes, self.options.direction, room, tall)
            if arrangement is not None:
                break
        if arrangement is None:
            return None
        self.drawn_as = arrangement.detail
        self.width = max(self.width, arrangement.folded.width + 2 * MARGIN)
        closed = [
            nodes for nodes, group in zip(scene.members, scene.group, strict=True) if group >= 0
        ]
        if self.column is not None:
            limits = self.options.color_limits
            self.colors = colors_of(self.graph, self.column, limits, closed)
        picture = Picture(
            self.graph,
            scene,
            self.times,
            self.worded,
            self.words,
            arrangement,
            self.color_by,
            self.marked,
            frozenset(self.hits),
            titled,
            self.health,
            self.colors,
        )
        hottest = (picture.hottest, "hottest group") if closed else None
        note = f"{self._closed_note(scene)} {_spared_note(scene)}".strip()
        panel, y = self._start(scene, note, hottest)
        left = self._left(arrangement)
        picture.draw(panel.marks, left, y)
        folded = arrangement.folded
        for box, nodes in enumerate(zip(scene.nodes, scene.folded, scene.members, strict=True)):
            node, inside, members = nodes
            at = (
                left + folded.x[box] + arrangement.widths[box] / 2,
                y + folded.y[box] + arrangement.heights[box] / 2,
            )
            self.spots |= dict.fromkeys((*inside, *members, node), at)
        panel.height = y + folded.height + MARGIN
        if closed:
            self._slowest(panel, "What takes longest:")
        if not rest:
            panel.description |= picture.describe()
        return panel

    def _left(self, arrangement: Arrangement) -> float:
        room = self.width - 2 * MARGIN
        return MARGIN + max(0.0, (room - arrangement.folded.width) / 2)

    def condensed(self, most_bytes: int) -> Panel:
        """Return the whole graph as groups of its nodes, and the slowest operators."""
        again = self.cut or not self.options.fold_parameters
        scene = self.scene
        if again:
            over = self.shown.bridges
            scene = build_scene(self.graph, fold=True, only=self.only, bridges=over)
        panel: Panel | None = None
        for most in _GROUPS:
            found = condense(self.graph, scene, (self.labels, self.times), self.run.groups, most)
            panel = self._groups(found)
            if panel is not None and len(panel.svg.encode()) <= most_bytes:
                return panel
        return panel or self.around()

    def _groups(self, found: Condensed) -> Panel | None:
        room = self.width - 2 * MARGIN
        sizes = group_sizes(found, self.words)
        arrangement = arrange(found.scene, sizes, self.options.direction, room, _GROUPS_TALL)
        if arrangement is None:
            return None
        marked, hits = (
            frozenset(found.group_of(node) for node in nodes) - {-1}
            for nodes in (self.marked, self.hits)
        )
        if self.column is not None:
            groups = [each.nodes for each in found.groups]
            limits = self.options.color_limits
            self.colors = colors_of(self.graph, self.column, limits, groups)
        picture = GroupPicture(
            found, self.words, arrangement, self.color_by, marked, hits, self.health, self.colors
        )
        hottest = found.largest, "hottest group"
        panel, y = self._start(found.scene, self._how(found), hottest)
        picture.draw(panel.marks, self._left(arrangement), y + 6)
        panel.height = y + 6 + arrangement.folded.height + 8 + MARGIN
        self._slowest(panel, "What takes longest:")
        panel.text = condensed_text(
            self.run.title,
            self.graph,
            self.labels,
            self.times,
            found,
            health=self.health,
            colors=self.colors,
        )
        panel.description["condensed"] = found.describe()
        return panel

    def around(self) -> Panel:
        """Return a part of the graph around the focus, and the slowest operators."""
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
        self._slowest(panel, said + (" What takes longest:" if self.times.ranked else ""))
        panel.description["drawn"] = list(part.nodes)
        return panel

    def _slowest(self, panel: Panel, said: str) -> None:
        """Write the slowest operators below the picture."""
        if not self.times.ranked and said.startswith("What"):
            return
        muted = self.theme.muted
        y = panel.paragraph(said, panel.height - MARGIN + 6, lines=3, fill=muted)
        room = panel.width - 2 * MARGIN - _NAMES
        for node in self.times.ranked[:_SLOWEST]:
            y += LINE_HEIGHT
            panel.marks.text(self.labels.time(node), MARGIN, y - 4)
            named = f"#{node} {self.labels.title(node)}"
            whole = f"{named} ({self.graph.names[node]})"
            panel.marks.text(fit(whole, room, SMALL), MARGIN + _NAMES, y - 4)
        panel.height = y + MARGIN

    def _part(self, most: int) -> Scene:
        if self.focus is None:
            nodes = self.scene.nodes[:most]
        else:
            found = {self.focus}
            for hops in range(1, 4):
                wider = near(self.graph, self.focus, hops)
                if self.only is not None:
                    wider &= self.only
                boxes = build_scene(self.graph, fold=self.options.fold_parameters, only=wider)
                if len(boxes.nodes) > most:
                    break
                found = set(wider)
            nodes = sorted(found)
        if self.options.fold_parameters:
            sources = [self.graph.edge_source[self.graph.in_edges(node)] for node in nodes]
            read = np.unique(np.concatenate([*sources, np.zeros(0, np.int32)])).tolist()
            kinds = self.graph.kinds
            nodes = [*nodes, *(i for i in read if i >= 0 and kinds[i] == NodeKind.PARAMETER)]
        return build_scene(self.graph, fold=self.options.fold_parameters, only=set(nodes))

    def _start(
        self, scene: Scene, note: str = "", hottest: tuple[float, str] | None = None
    ) -> tuple[Panel, float]:
        """Return a panel with heading and legend, and the y below them."""
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
        y = panel.heading(self.run.title, counts)
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
        )
        return panel, y + 8

    def _search_note(self) -> str:
        if not self.options.search.strip():
            return ""
        has = "has" if len(self.hits) == 1 else "have"
        query = self.options.search.strip()
        found = f"{counted(len(self.hits), 'node')} {has} “{query}”: in a dashed ring."
        if self.doubt.startswith("“"):
            return f"The search {self.doubt}"
        return f"{found} {self.doubt[:1].upper()}{self.doubt[1:]}".rstrip()

    def _closed_note(self, scene: Scene) -> str:
        closed = sum(group >= 0 for group in scene.group)
        if not closed:
            return ""
        return (
            f"{counted(closed, 'closed group')}: {self.boxes:,} boxes are drawn as "
            f"{len(scene.nodes):,}; time and share of a group are sums."
        )

    def _how(self, found: Condensed) -> str:
        said = (
            f"Condensed: {found.boxes:,} boxes are drawn as {counted(len(found.groups), 'group')} "
            "of neighbours in execution order, parameters inside; time and share are sums."
        )
        if any(each.repeats > 1 for each in found.groups):
            said += " “× n”: n alike in a row"
            said += ", each feeds the next." if found.carried else "."
        return said

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
        """Add to the facts of nodes what the colours say; return what is said of all."""
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


def _spared_note(scene: Scene) -> str:
    """Say which edges are not drawn between the boxes that are."""
    if not scene.spared:
        return ""
    drawn = len(scene.source)
    return (
        f"{drawn:,} of {drawn + scene.spared:,} edges are drawn: the first of those that lead "
        "from one box to the same other."
    )


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
