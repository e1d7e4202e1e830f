"""One graph while it becomes a panel: whole, around a node, or condensed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.graph.boxes import Arrangement, arrange, box_sizes
from tvmdbg_widgets.figures.graph.colors import colors_of
from tvmdbg_widgets.figures.graph.condensed.condensed import Condensed, condense
from tvmdbg_widgets.figures.graph.condensed.group_picture import GroupPicture, group_sizes
from tvmdbg_widgets.figures.graph.nesting import Nesting, nestings
from tvmdbg_widgets.figures.graph.part import near
from tvmdbg_widgets.figures.graph.picture import Picture
from tvmdbg_widgets.figures.graph.scene import Scene, build_scene, foldable
from tvmdbg_widgets.figures.graph.sheet import SLOWEST, GraphSheet
from tvmdbg_widgets.figures.graph.words import condensed_text
from tvmdbg_widgets.figures.svg import MARGIN, Panel
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Collection


#: How many groups are tried, until they fit.
_GROUPS = (44, 30, 20, 12, 6, 3)
_TALL = (806.0, 1120.0, 1700.0)
_GROUPS_TALL = 1100.0
_PART_BOXES = 20
#: Some groups closed: with fewer boxes, what is inside tells more; with more, a condensed graph.
_FEWEST_BOXES, _MOST_CLOSED = 8, 90
#: Edges that are drawn at all, and the fewest bytes that each takes.
_MOST_EDGES, _BYTES_OF_AN_EDGE = 100_000, 12


class GraphPanels(GraphSheet):
    """One graph while it becomes a panel."""

    def whole(self, most_boxes: int, most_bytes: int) -> Panel | None:
        """Return all that is to be shown, with as many open groups as fit; None if nothing fits."""
        nodes = np.arange(self.graph.num_nodes)
        if self.only is not None:
            nodes = np.array(sorted(self.only), np.int64)
        if self.options.fold_parameters:
            nodes = nodes[~foldable(self.graph)[nodes]]
        chosen = self.options.open_groups is not None
        tried: list[Nesting | None] = [*nestings(self.run.groups, self.options)]
        for nesting in tried or [None]:
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

    def closed(self) -> Scene:
        """Return all that is to be shown, with closed groups."""
        closed = replace(self.options, open_groups=())
        return self._scene(self.only, next(nestings(self.run.groups, closed), None))

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
        arrangement = None
        if self.options.whole:
            arrangement = arrange(scene, sizes[:1], self.options.direction, math.inf, math.inf)
        for tall in () if arrangement else _TALL[:1] if rest else _TALL:
            arrangement = arrange(scene, sizes, self.options.direction, room, tall)
            if arrangement is not None:
                break
        if arrangement is None:
            return None
        self.width = max(self.width, arrangement.folded.width + 2 * MARGIN)
        note = f"{_closed_note(scene, self.boxes)} {_spared_note(scene)}".strip()
        panel, y = self.begin(scene, note)
        self.draw(panel, y, scene, arrangement, titled=titled, described=not rest)
        if any(group >= 0 for group in scene.group):
            self.add_slowest(panel, SLOWEST)
        return panel

    def begin(
        self, scene: Scene, note: str = "", *, counts_parameters: bool = True
    ) -> tuple[Panel, float]:
        """Return the panel of a scene with heading and legend, and the y below them."""
        if self.column is not None:
            limits = self.options.color_limits
            boxes = zip(scene.members, scene.group, strict=True)
            closed = [nodes for nodes, group in boxes if group >= 0]
            self.colors = colors_of(self.graph, self.column, limits, closed)
        return self.start(scene, note, counts_parameters=counts_parameters)

    def draw(
        self,
        panel: Panel,
        y: float,
        scene: Scene,
        arrangement: Arrangement,
        *,
        titled: bool = True,
        described: bool = True,
    ) -> None:
        """Add a scene as it is arranged, from ``y`` down."""
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
            self.faults,
        )
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
        if described:
            panel.description |= picture.describe()

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
            found,
            self.words,
            arrangement,
            self.color_by,
            marked,
            hits,
            self.health,
            self.colors,
            self.faults,
        )
        hottest = found.largest, "slowest group"
        panel, y = self.start(found.scene, _how(found), hottest)
        picture.draw(panel.marks, self._left(arrangement), y + 6)
        panel.height = y + 6 + arrangement.folded.height + 8 + MARGIN
        self.add_slowest(panel, SLOWEST)
        panel.text = condensed_text(
            self.run.title,
            self.graph,
            self.labels,
            self.times,
            found,
            health=self.health,
            colors=self.colors,
            faults=self.faults,
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
            panel, y = self.start(part)
            panel.height = y + MARGIN
        which = "first in execution order" if self.focus is None else "those around the focus"
        said = f"Drawn: {len(part.nodes):,} of {self.boxes:,} boxes, {which}."
        self.add_slowest(panel, said + (f" {SLOWEST}" if self.times.ranked else ""))
        panel.description["drawn"] = list(part.nodes)
        return panel

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


def _closed_note(scene: Scene, boxes: int) -> str:
    """Say how many groups are closed."""
    closed = sum(group >= 0 for group in scene.group)
    if not closed:
        return ""
    return (
        f"{counted(closed, 'closed group')}: {boxes:,} boxes are drawn as "
        f"{len(scene.nodes):,}; times and shares of groups are sums."
    )


def _how(found: Condensed) -> str:
    """Say what stands for the nodes of a condensed graph."""
    said = (
        f"Condensed: {found.boxes:,} boxes are drawn as {counted(len(found.groups), 'group')} "
        "of consecutive nodes, parameters inside; times and shares are sums."
    )
    if any(each.repeats > 1 for each in found.groups):
        said += " “× n”: n identical in a row"
        said += ", each feeding the next." if found.carried else "."
    return said


def _spared_note(scene: Scene) -> str:
    """Say which edges are not drawn between the boxes that are."""
    if not scene.spared:
        return ""
    drawn = len(scene.source)
    return (
        f"{drawn:,} of {drawn + scene.spared:,} edges are drawn: of those between the "
        "same two boxes only the first."
    )
