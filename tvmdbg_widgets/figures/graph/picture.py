"""Boxes, frames and lines of a graph as SVG marks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.graph.colors import NumberColors
from tvmdbg_widgets.figures.graph.faults import Fault, Faults, draw_fault
from tvmdbg_widgets.figures.graph.frames import draw_frames
from tvmdbg_widgets.figures.graph.group_box import draw_group
from tvmdbg_widgets.figures.graph.health import JUDGED, NodeHealth, is_unknown
from tvmdbg_widgets.figures.graph.health import fill as health_fill
from tvmdbg_widgets.figures.graph.marks import draw_lines, draw_ring
from tvmdbg_widgets.figures.graph.node_box import NodeBox
from tvmdbg_widgets.figures.theme import THEMES
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.boxes import Arrangement
    from tvmdbg_widgets.figures.graph.colors import Colors, Part
    from tvmdbg_widgets.figures.graph.label import Labels
    from tvmdbg_widgets.figures.graph.nesting import GroupWords
    from tvmdbg_widgets.figures.graph.scene import Scene
    from tvmdbg_widgets.figures.graph.times import Times
    from tvmdbg_widgets.figures.svg import Marks
    from tvmdbg_widgets.figures.theme import Paint, Theme
    from tvmdbg_widgets.model.graph.graph import Graph


#: Where the bar of a group's share has its color on the ramp, as in js/src/graph/color/numbers.ts.
_SHARE = 0.7


@dataclass(frozen=True)
class Picture:
    """All that the picture of a graph is drawn from; ``marked`` and ``hits`` are node ids."""

    graph: Graph
    scene: Scene
    times: Times
    labels: Labels
    words: GroupWords
    arrangement: Arrangement
    color_by: str
    marked: frozenset[int]
    hits: frozenset[int]
    titled: bool = True
    health: NodeHealth | None = None
    colors: Colors | None = None
    faults: Faults | None = None

    def ns(self, box: int) -> float:
        """Return the sum of the known times of a box; NaN where none is known."""
        group = int(self.scene.group[box])
        if group >= 0 and self.words.ns(group) > 0:
            return self.words.ns(group)
        ns = self.times.ns[self.scene.members[box]]
        return float(np.nansum(ns)) if not np.isnan(ns).all() else float("nan")

    def is_sum(self, box: int) -> bool:
        """Whether the colors show sums, and the box is a closed group: a bar tells its share."""
        if isinstance(self.colors, NumberColors):
            return self.colors.is_sum(self.scene.members[box])
        timed = self.colors is None and self.color_by == "time"
        return timed and self.scene.group[box] >= 0

    def share(self, box: int) -> float:
        """Return a box's share of the sum that the colors show; 0 where it is not known."""
        if isinstance(self.colors, NumberColors):
            value, total = self.colors.value(self.scene.members[box]), self.colors.total
        else:
            value, total = self.ns(box), self.times.total
        return value / total if total > 0 and value > 0 else 0.0

    def draw(self, marks: Marks, left: float, top: float) -> None:
        """Add frames, boxes and lines with their upper left corner at (left, top)."""
        groups = [group for group, _ in self.scene.frames]
        draw_frames(marks, self.arrangement, groups, self.words, (left, top))
        draw_lines(marks, self.scene, self.arrangement, left, top)
        for box, group in enumerate(self.scene.group):
            if group < 0:
                NodeBox(self, marks, box, left, top).draw()
            else:
                draw_group(self, marks, box, left, top)
        placed = self.arrangement
        for box in range(len(self.scene.nodes)):
            corner = placed.folded.x[box] + left, placed.folded.y[box] + top
            around = (*corner, placed.widths[box], placed.heights[box])
            draw_fault(marks, self.fault(box), around, self.color_by)

    def fault(self, box: int) -> Fault:
        """Return the gravest fault of what is inside a box."""
        if self.faults is None:
            return Fault.NONE
        return self.faults.of((*self.scene.members[box], *self.scene.folded[box]))

    def fill(self, theme: Theme, box: int) -> Paint | None:
        """Return what the colors say of a box; None for the quiet ground."""
        nodes, group = self.scene.members[box], self.scene.group[box]
        if self.health is not None:
            verdict = self.verdict(box)[0]
            return health_fill(theme, verdict) if verdict in JUDGED else None
        if self.colors is not None:
            return self.colors.fill(theme, nodes)
        if self.is_sum(box):
            return None
        if self.color_by == "time":
            ns, longest = self.ns(box), self.times.largest
            known = ns > 0 or (ns == 0 and not self._is_given(box))
            return theme.heat(ns / longest) if known and longest > 0 else None
        node = nodes[0]
        plain = group >= 0 or self.graph.kinds[node] == NodeKind.NOP
        return None if plain else theme.tint(self.graph.nodes[node].op_kind)

    def verdict(self, box: int) -> tuple[str, str]:
        """Return what is said of the values of a box, and that in words; empty where nothing is."""
        return ("", "") if self.health is None else self.health.of_box(self.scene, box)

    def is_unknown(self, box: int) -> bool:
        """Whether what the colors show is not known of a box."""
        if isinstance(self.colors, NumberColors) and self.colors.column.unit == "×":
            return self.colors.is_unknown(self.scene.members[box]) and not self._is_given(box)
        if self.colors is not None:
            return self.colors.is_unknown(self.scene.members[box])
        if self.color_by == "time":
            return bool(np.isnan(self.ns(box))) and not self._is_given(box)
        return is_unknown(self.verdict(box)[0])

    def _is_given(self, box: int) -> bool:
        """Whether it is given rather than run."""
        return bool(self.graph.kinds[self.scene.nodes[box]] <= NodeKind.PARAMETER)

    def second(self, box: int) -> str:
        """Return what the second line tells, beside the id of a node."""
        node, group, nodes = self.scene.nodes[box], self.scene.group[box], self.scene.members[box]
        judged = self.colors.said(nodes) if self.colors is not None else self.verdict(box)[1]
        if group < 0:
            by_time = self.color_by == "time"
            return judged or (self.labels.time(node) if by_time else self.labels.shape(node))
        if judged:
            return f"{judged} · {counted(len(nodes), 'node')}"
        told = self.words.timed if self.color_by == "time" else self.words.shape
        return told(group, len(nodes), self.scene.outside[box])

    def value(self, box: int) -> str:
        """Return what the colors say, in brief; nothing where they say kinds of operators."""
        if self.colors is None and self.color_by == "kind":
            return ""
        return self.second(box).split(" · ")[0]

    def parts(self, theme: Theme, box: int) -> list[Part]:
        """Return what is inside a box, as shares."""
        nodes = self.scene.members[box]
        if self.is_sum(box):
            share, numbers = self.share(box), self.colors
            bar = theme.heat(_SHARE)
            if isinstance(numbers, NumberColors):
                bar = theme.ramp(numbers.ramp, _SHARE)
            return [(bar, share), (theme.line, 1 - share)]
        found = self.colors.parts(theme, nodes) if self.colors is not None else None
        if found:
            return found
        counts = Counter(self.graph.nodes[node].op_kind for node in nodes)
        return [(theme.kind(kind), count / len(nodes)) for kind, count in counts.most_common()]

    def ring(self, marks: Marks, box: int, around: tuple[float, float, float, float]) -> None:
        """Mark a box that holds the focus or what is selected, or what the search finds."""
        nodes = self.scene.members[box]
        if not self.marked.isdisjoint(nodes):
            draw_ring(marks, around)
        elif not self.hits.isdisjoint(nodes):
            draw_ring(marks, around, hit=True)

    def describe(self) -> dict[str, Any]:
        """Return boxes and frames as JSON-able facts, edges by the places of the boxes.

        Colors are two each: in the light theme and in the dark one.
        """
        scene, theme = self.scene, THEMES["auto"]
        boxes = []
        for box, (node, group) in enumerate(zip(scene.nodes, scene.group, strict=True)):
            isa = group >= 0
            boxes.append(
                {
                    "node": node,
                    "group": group if isa else None,
                    "nodes": len(scene.members[box]),
                    "title": self.words.title(group) if isa else self.labels.title(node),
                    "second": self.second(box) if isa else f"#{node} · {self.second(box)}",
                    "folded": len(scene.folded[box]),
                    "frame": scene.frame_of[box],
                    "fill": _both(self.fill(theme, box)),
                    "tag": self.words.tag(group) if isa else "",
                    "fault": int(self.fault(box)),
                }
            )
        frames = [
            {
                "group": group,
                "parent": parent,
                "header": self.words.header(group),
                "tag": self.words.tag(group),
                "color": _both(theme.group(self.words.kinds[group])),
            }
            for group, parent in scene.frames
        ]
        return {
            "boxes": boxes,
            "frames": frames,
            "lines": [
                list(each) for each in zip(scene.source, scene.target, scene.slot, strict=True)
            ],
        }


def _both(paint: Paint | None) -> list[str] | None:
    return None if paint is None else [str(paint), paint.dark]
