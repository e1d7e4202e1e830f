"""A large graph as few boxes, each of them a group of nodes, and what is known of each group."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.graph.condensed.groups import Group, Grouping, Runs, group
from tvmdbg_widgets.figures.graph.scene import EDGE_STYLES, Scene
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.graph.node_words import GIVEN, shape_text
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.label import Labels
    from tvmdbg_widgets.figures.graph.times import Times
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.groups import Groups

_OWN_INPUTS = 3
_NAMED = 3
_COUNT_WEIGHT = 0.25


@dataclass(frozen=True)
class GroupFacts:
    """One group of nodes.

    Attributes
    ----------
    nodes : tuple of int
        Ids, ascending; without the parameters inside.
    inside : frozenset of int
        Different parameters that its nodes read, drawn inside.
    repeats, frame, unit : int
        See :class:`~tvmdbg_widgets.figures.graph.condensed.groups.Group`.
    ns : float
        Sum of the known times; NaN where none is known.
    unknown : int
        Nodes without a known time.
    share : float
        Of the sum of all node times; NaN unknown.
    title : str
        What its nodes are, those that take longest first.
    kinds : tuple of (str, float)
        Op kinds and their share of the group: of its time, or of its nodes where that is zero.
    result : str
        dtype and shape of the first output of its last node.
    given : str
        What stands in place of a time where nothing computes it; else empty.
    """

    nodes: tuple[int, ...]
    inside: frozenset[int]
    repeats: int
    frame: int
    unit: int
    ns: float
    unknown: int
    share: float
    title: str
    kinds: tuple[tuple[str, float], ...]
    result: str
    given: str

    @property
    def parameters(self) -> int:
        """How many parameters are drawn inside."""
        return len(self.inside)

    @property
    def time_text(self) -> str:
        """``"24.3 ms · 61.0 %"``; what is missing from the sum is said."""
        if self.given:
            return self.given
        if np.isnan(self.ns):
            return "time unknown"
        said = f"{duration_text(self.ns)} · {percent(self.share)}" if self.ns > 0 else "0 ns"
        return f"{said} + {self.unknown} unknown" if self.unknown else said

    @property
    def times_text(self) -> str:
        """``"× 16"``."""
        return f"× {self.repeats:,}" if self.repeats > 1 else ""

    @property
    def count_text(self) -> str:
        """``"48 nodes · #3 … #190"``."""
        ends = f"#{self.nodes[0]}"
        if len(self.nodes) == 1:
            return ends
        return f"{len(self.nodes):,} nodes · {ends} … #{self.nodes[-1]}"


@dataclass(frozen=True)
class Condensed:
    """A whole graph in groups.

    Attributes
    ----------
    groups : list of GroupFacts
        Inputs first, then in the order that groups are intervals of.
    scene : Scene
        Its boxes are the groups, by their positions; its edges lie between groups.
    carried : dict
        Of a run that is drawn by its parts: edges between its blocks, which are not drawn.
    boxes : int
        How many boxes the graph has without groups.
    """

    groups: list[GroupFacts]
    scene: Scene
    carried: dict[int, int]
    boxes: int

    @property
    def largest(self) -> float:
        """The largest sum of times, ns."""
        return max((each.ns for each in self.groups if each.ns > 0), default=0.0)

    def group_of(self, node: int) -> int:
        """Return the group of a node; -1 for a parameter inside."""
        return next((at for at, each in enumerate(self.groups) if node in each.nodes), -1)

    def describe(self) -> dict[str, Any]:
        """Return groups and edges as JSON-able facts."""
        scene = self.scene
        edges = zip(scene.source, scene.target, scene.style, strict=True)
        return {
            "boxes": self.boxes,
            "groups": [
                {
                    "label": each.title,
                    "nodes": list(each.nodes),
                    "parameters": each.parameters,
                    "repeats": each.repeats,
                    "frame": None if each.frame < 0 else each.frame,
                    "time_ns": None if np.isnan(each.ns) else each.ns,
                    "time_text": each.time_text,
                    "unknown": each.unknown,
                    "share": None if np.isnan(each.share) else each.share,
                    "result": each.result,
                }
                for each in self.groups
            ],
            "edges": [
                {"source": one, "target": two, "style": EDGE_STYLES[style]}
                for one, two, style in edges
            ],
        }


def condense(
    graph: Graph, scene: Scene, words: tuple[Labels, Times], groups: Groups, most: int
) -> Condensed:
    """Put the boxes of a scene without closed groups into about ``most`` groups at most."""
    labels, times = words
    given = (graph.kinds <= NodeKind.PARAMETER).tolist()
    outer = [at for at, node in enumerate(scene.nodes) if given[node]]
    own = {node: at for at, node in enumerate(scene.nodes) if not given[node]}
    nodes = [node for node in groups.order.tolist() if node in own]
    inner = [own[node] for node in nodes]
    place = {box: at for at, box in enumerate(inner)}
    ns = np.array([max(0.0, float(times.ns[node])) for node in nodes])
    weights = np.nan_to_num(ns) / (times.total or 1.0) + _COUNT_WEIGHT / max(1, len(inner))
    sources = _sources(graph, scene, outer)
    runs = Runs(groups, nodes, [labels.title(node) for node in nodes])
    found = group(runs, weights, max(1, most - len(sources)))
    parts = [Group(tuple(each)) for each in sources]
    parts += [
        Group(tuple(inner[i] for i in each.boxes), each.repeats, each.frame, each.unit)
        for each in found.groups
    ]
    drawn, carried = _edges(scene, parts, found, place)
    named = _Namer(groups, labels)
    facts = [_facts(graph, scene, times, named, each) for each in parts]
    drawn.nodes = list(range(len(facts)))
    drawn.group = [-1] * len(facts)
    drawn.frames = [(each, -1) for each in found.frames]
    frame = {group: at for at, (group, _) in enumerate(drawn.frames)}
    drawn.frame_of = [frame.get(each.frame, -1) for each in facts]
    return Condensed(facts, drawn, carried, len(scene.nodes))


def _sources(graph: Graph, scene: Scene, outer: list[int]) -> list[list[int]]:
    """Return groups of what nothing computes: inputs, and parameters that nothing reads."""
    found = []
    for kind in (NodeKind.INPUT, NodeKind.PARAMETER):
        own = [box for box in outer if graph.kinds[scene.nodes[box]] == kind]
        if len(own) <= (_OWN_INPUTS if kind == NodeKind.INPUT else 0):
            found += [[box] for box in own]
        elif own:
            found.append(own)
    return found


def _result(graph: Graph, node: int) -> str:
    if not graph.entry_range(node):
        return ""
    shape = graph.shape(node)
    said = "shape unknown" if shape is None else shape_text(shape)
    return f"{graph.dtype(node) or ''} {said}".strip()


class _Namer:
    """What nodes that are drawn as one are called: after the blocks they are in, or one by one."""

    def __init__(self, groups: Groups, labels: Labels) -> None:
        self._groups, self._labels = groups, labels
        outermost: list[int] = []
        for at, around in enumerate(groups.parent.tolist()):
            outermost.append(outermost[around] if around >= 0 else at)
        self._outermost = [*outermost, -1]

    def __call__(self, node: int, each: Group) -> str:
        outer = self._outermost[int(self._groups.node_group[node])]
        if each.repeats > 1 or len(each.boxes) == 1 or outer < 0:
            return self._labels.title(node)
        return self._groups[outer].title


def _facts(graph: Graph, scene: Scene, times: Times, named: _Namer, each: Group) -> GroupFacts:
    """Return what is known of some boxes of a scene."""
    nodes = tuple(sorted(scene.nodes[box] for box in each.boxes))
    ns = times.ns[list(nodes)]
    known = ns[~np.isnan(ns)]
    total = float(known.sum()) if len(known) else float("nan")
    if times.shared is not None:
        members = np.zeros(graph.num_nodes, np.bool_)
        members[list(nodes)] = True
        together = times.shared.within(members)
        total = float(np.nan_to_num(total)) + together if together else total
    spent: dict[str, float] = defaultdict(float)
    kinds: dict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for node, own in zip(nodes, ns.tolist(), strict=True):
        took = own if own > 0 else 0.0
        name = named(node, each)
        counts[name] += 1
        spent[name] += took
        kinds[graph.nodes[node].op_kind] += took if total > 0 else 1
    names = sorted(counts, key=lambda name: (-spent[name], -counts[name], name))
    title = ", ".join(names[:_NAMED])
    if len(names) > _NAMED:
        title += f" and {len(names) - _NAMED} more"
    given = GIVEN.get(NodeKind(graph.kinds[nodes[0]]), "")
    if given and len(nodes) > 1:
        title = counted(len(nodes), given)
    whole = sum(kinds.values())
    parts = sorted(kinds.items(), key=lambda each: -each[1])
    return GroupFacts(
        nodes=nodes,
        inside=frozenset(inside for box in each.boxes for inside in scene.folded[box]),
        repeats=each.repeats,
        frame=each.frame,
        unit=each.unit,
        ns=total,
        unknown=len(nodes) - len(known),
        share=total / times.total if times.total > 0 else float("nan"),
        title=title,
        kinds=tuple((kind, part / whole) for kind, part in parts if part > 0),
        result=_result(graph, nodes[-1]),
        given=given,
    )


def _edges(
    scene: Scene, groups: list[Group], found: Grouping, place: dict[int, int]
) -> tuple[Scene, dict[int, int]]:
    """Return the edges between groups, each once, and how many lead to the next occurrence."""
    of_box = {box: at for at, each in enumerate(groups) for box in each.boxes}
    drawn = Scene(folded=[[] for _ in groups])
    carried: dict[int, int] = {}
    seen: set[tuple[int, int, int]] = set()
    for source, target, style in zip(scene.source, scene.target, scene.style, strict=True):
        one, two = of_box[source], of_box[target]
        frame = groups[one].frame
        if one == two:
            continue
        if frame >= 0 and frame == groups[two].frame:
            first, second = (found.occurrence(frame, place[box]) for box in (source, target))
            if first != second:
                carried[frame] = carried.get(frame, 0) + 1
                continue
        if (one, two, style) in seen:
            continue
        seen.add((one, two, style))
        drawn.source.append(one)
        drawn.target.append(two)
        drawn.slot.append(style)
        drawn.style.append(style)
        drawn.outputs.append(0)
    return drawn, carried
