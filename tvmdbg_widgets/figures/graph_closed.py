"""A graph with some groups closed: each of them one box, the other nodes by themselves."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.open_groups import open_by_itself
from tvmdbg_widgets.figures.graph_condensed import Condensed, facts_of
from tvmdbg_widgets.figures.graph_groups import Group
from tvmdbg_widgets.figures.graph_scene import Labels, Scene, Times
from tvmdbg_widgets.model.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from tvmdbg_widgets.figures.graph_options import GraphOptions
    from tvmdbg_widgets.model.graph import Graph
    from tvmdbg_widgets.model.groups import Groups

    Ints = npt.NDArray[np.int64]

#: So many boxes a picture with closed groups may have; with fewer, what is inside tells more.
FEWEST_BOXES, MOST_BOXES = 8, 90


def closed_by(
    graph: Graph, groups: Groups, options: GraphOptions, only: Collection[int] | None
) -> Ints:
    """Return the closed group that each node is drawn in, -1 for none (int64 [N]).

    Raises
    ------
    ValueError
        The graph has no such group as is to be open.
    """
    count = len(groups)
    if not options.grouped or count == 0:
        return np.full(graph.num_nodes, -1)
    if options.open_groups is None:
        shown = None
        if only is not None:
            shown = np.zeros(graph.num_nodes, np.bool_)
            shown[list(only)] = True
        is_open = open_by_itself(graph, groups, shown)
    else:
        wrong = [each for each in options.open_groups if not 0 <= each < count]
        if wrong:
            raise ValueError(f"group {wrong[0]} of {count}: open_groups are their numbers")
        is_open = np.zeros(count, np.bool_)
        is_open[list(options.open_groups)] = True
    outermost: list[int] = []
    for group, around in enumerate(groups.parent.tolist()):
        outer = outermost[around] if around >= 0 else -1
        outermost.append(outer if outer >= 0 else -1 if is_open[group] else group)
    return np.array([*outermost, -1])[groups.node_group]


def count_closed(scene_nodes: Ints, closed: Ints) -> int:
    """Return how many boxes these nodes take, those of one closed group together."""
    group = closed[scene_nodes]
    return int((group < 0).sum()) + len(np.unique(group[group >= 0]))


def with_closed(
    graph: Graph, scene: Scene, words: tuple[Labels, Times], groups: Groups, closed: Ints
) -> Condensed:
    """Draw the boxes of a scene that are in one closed group as one.

    Parameters
    ----------
    words : (Labels, Times)
    closed : int64 [N]
        As of :func:`closed_by`.
    """
    labels, times = words
    place: dict[int, int] = {}
    members: list[list[int]] = []
    of_group: list[int] = []
    drawn_in: list[int] = []
    for box, node in enumerate(scene.nodes):
        group = int(closed[node])
        at = place.setdefault(group, len(members)) if group >= 0 else len(members)
        if at == len(members):
            members.append([])
            of_group.append(group)
        members[at].append(box)
        drawn_in.append(at)
    facts = []
    for boxes, group in zip(members, of_group, strict=True):
        repeats = int(groups.repeats[group]) if group >= 0 else 1
        frame = _frame(groups, group, scene.nodes[boxes[0]])
        source = group < 0 and graph.kinds[scene.nodes[boxes[0]]] <= NodeKind.PARAMETER
        unit = Group(tuple(boxes), repeats, frame)
        each = facts_of(graph, scene, labels, times, unit, source=bool(source))
        facts.append(dataclasses.replace(each, title=groups.names[group]) if group >= 0 else each)
    return Condensed(
        facts,
        _edges(scene, drawn_in, len(members)),
        {},
        len(scene.nodes),
        "the same operators, attributes, shapes and wiring",
        sum(group >= 0 for group in of_group),
    )


def _frame(groups: Groups, group: int, node: int) -> int:
    """Return the open group right around a box, -1 for none."""
    return int(groups.parent[group] if group >= 0 else groups.node_group[node])


def _edges(scene: Scene, drawn_in: list[int], count: int) -> Scene:
    """Return the edges between the boxes, each once."""
    drawn = Scene(list(range(count)), folded=[[] for _ in range(count)])
    edges = dict.fromkeys(
        (drawn_in[one], drawn_in[two], style)
        for one, two, style in zip(scene.source, scene.target, scene.style, strict=True)
        if drawn_in[one] != drawn_in[two]
    )
    for one, two, style in edges:
        drawn.source.append(one)
        drawn.target.append(two)
        drawn.slot.append(style)
        drawn.style.append(style)
        drawn.outputs.append(0)
    return drawn
