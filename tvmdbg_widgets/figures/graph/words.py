"""The graph in words: its totals, its nodes as a list, and all that is shown as JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.graph.scene import BRIDGE, EDGE_STYLES, Scene, badge
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tvmdbg_widgets.figures.graph.colors import Colors
    from tvmdbg_widgets.figures.graph.condensed.condensed import Condensed
    from tvmdbg_widgets.figures.graph.faults import Faults
    from tvmdbg_widgets.figures.graph.health import NodeHealth
    from tvmdbg_widgets.figures.graph.label import Labels
    from tvmdbg_widgets.figures.graph.nesting import GroupWords
    from tvmdbg_widgets.figures.graph.times import Times
    from tvmdbg_widgets.model.graph.graph import Graph

_LINES = 150
_MOST_READ = 200
_SLOWEST = 8
#: Letters of a line, and of a name in one.
_LONGEST = 2_000
_LONGEST_NAME = 200


def totals(graph: Graph, times: Times) -> str:
    """``"27 operators, 44 parameters, 1 input; 39.88 ms in all nodes"``."""
    kinds = Counter(graph.kinds.tolist())
    inputs, parameters = kinds.pop(NodeKind.INPUT, 0), kinds.pop(NodeKind.PARAMETER, 0)
    parts = [
        counted(sum(kinds.values()), "operator"),
        counted(parameters, "parameter"),
        counted(inputs, "input"),
    ]
    took = f"{duration_text(times.total)} summed over nodes" if times.ranked else "no times known"
    return f"{', '.join(parts)}; {took}"


def graph_text(
    title: str,
    graph: Graph,
    labels: Labels,
    times: Times,
    *,
    words: GroupWords,
    scene: Scene,
    boxes: int,
    health: NodeHealth | None = None,
    colors: Colors | None = None,
    faults: Faults | None = None,
) -> str:
    """Return the drawn nodes as a list in execution order, what each reads, and its time."""
    lines = [f"{title}: {totals(graph, times)}"]
    if health is not None:
        lines.append(health.health.summary())
    for box, node in enumerate(scene.nodes[:_LINES]):
        if scene.group[box] >= 0:
            facts = [words.header(scene.group[box]), _held(scene, box)]
            lines.append("  " + "; ".join([*facts, *_fault(faults, scene.members[box])]))
            continue
        facts = [f"#{node} {_cut(labels.title(node))}{_reads(graph, node, scene, box)}"]
        dtype = (graph.dtype(node) if len(graph.entry_range(node)) else None) or ""
        facts.append(f"{dtype} {labels.shape(node)}".strip())
        facts.append(labels.time(node))
        facts += filter(None, (labels.mark(node), badge(len(scene.folded[box]))))
        if colors is not None:
            facts.append(_colored(colors, (node,)))
        if health is not None:
            verdict, said = health.of_box(scene, box)
            facts.append(verdict if said == verdict else f"{verdict}: {said}")
        facts += _fault(faults, (node, *scene.folded[box]))
        lines.append("  " + "; ".join(facts))
    more = boxes - min(_LINES, len(scene.nodes))
    closed = any(group >= 0 for group in scene.group)
    if more and not closed:
        lines.append(f"  … and {more:,} more")
    if more:
        lines += _slowest(graph, labels, times)
    return _text(lines)


def _text(lines: Iterable[str]) -> str:
    """Join lines, none of which breaks, is longer than may be read, or steers a terminal."""
    return "\n".join(one_line(_cut(each, _LONGEST)) for each in lines)


def _cut(text: str, most: int = _LONGEST_NAME) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _colored(colors: Colors, nodes: Sequence[int]) -> str:
    """Return what the colors say of nodes: ``"PSNR: 31 dB"``, ``"PSNR unknown"``."""
    name, said = colors.column.name, colors.said(nodes)
    return said if said == f"{name} unknown" else f"{name}: {said}"


def _fault(faults: Faults | None, nodes: Sequence[int]) -> list[str]:
    return [] if faults is None else list(filter(None, [faults.of(nodes).words]))


def _held(scene: Scene, box: int) -> str:
    nodes = scene.members[box]
    ends = f"{counted(len(nodes), 'node')} #{min(nodes)} … #{max(nodes)}"
    inside = badge(len(scene.folded[box]))
    return f"{ends}, {inside}" if inside else ends


def condensed_text(
    title: str,
    graph: Graph,
    labels: Labels,
    times: Times,
    found: Condensed,
    *,
    health: NodeHealth | None = None,
    colors: Colors | None = None,
    faults: Faults | None = None,
) -> str:
    """Return the groups as a list, and what takes longest."""
    how = f"condensed: {found.boxes:,} boxes as {counted(len(found.groups), 'group')}"
    lines = [f"{title}: {totals(graph, times)}", how]
    if health is not None:
        lines.insert(1, health.health.summary())
    for each in found.groups:
        facts = [each.count_text, f"{_cut(each.title)} {each.times_text}".strip(), each.time_text]
        if each.parameters:
            facts.append(counted(each.parameters, "param"))
        if colors is not None:
            facts.append(_colored(colors, each.nodes))
        if health is not None:
            facts.append(health.of_group((*each.nodes, *each.inside))[1])
        facts += _fault(faults, (*each.nodes, *each.inside))
        lines.append("  " + "; ".join([*facts, each.result]))
    return _text([*lines, *_slowest(graph, labels, times)])


def _slowest(graph: Graph, labels: Labels, times: Times) -> list[str]:
    return ["slowest operators:"][: len(times.ranked)] + [
        f"  #{node} {_cut(labels.title(node))} ({_cut(graph.names[node])}); {labels.time(node)}"
        for node in times.ranked[:_SLOWEST]
    ]


def _reads(graph: Graph, node: int, scene: Scene, box: int) -> str:
    edges = graph.in_edges(node)
    edges = edges[~np.isin(graph.edge_source[edges], scene.folded[box])]
    found = []
    for edge in edges[:_MOST_READ].tolist():
        source, output = int(graph.edge_source[edge]), int(graph.edge_output[edge])
        name = "nothing in the graph" if source < 0 else f"#{source}"
        unsure = "?" if graph.edge_trust[edge] == Trust.AMBIGUOUS else ""
        found.append(f"{name}{f':{output}' if output else ''}{unsure}")
    if len(edges) > _MOST_READ:
        found.append(f"and {len(edges) - _MOST_READ:,} more")
    return f" <- {', '.join(found)}" if found else ""


def describe(graph: Graph, labels: Labels, times: Times, scene: Scene) -> dict[str, Any]:
    """Return nodes and edges as JSON-able facts."""
    return {
        "total_ns": times.total if times.ranked else None,
        "total_text": duration_text(times.total) if times.ranked else "unknown",
        "slowest": times.slowest if times.ranked else None,
        "nodes": [_node(graph, labels, times, scene, box) for box in range(len(scene.nodes))],
        "edges": [
            {
                "source": scene.nodes[source],
                "target": scene.nodes[target],
                "through" if style == BRIDGE else "output": output,
                "style": EDGE_STYLES[style],
            }
            for source, target, output, style in zip(
                scene.source, scene.target, scene.outputs, scene.style, strict=True
            )
        ],
    }


def _node(graph: Graph, labels: Labels, times: Times, scene: Scene, box: int) -> dict[str, Any]:
    node = scene.nodes[box]
    share, ns = times.share(node), float(times.ns[node])
    return {
        "id": node,
        "label": labels.title(node),
        "name": graph.names[node],
        "kind": graph.nodes[node].op_kind,
        "mark": labels.mark(node),
        "shape_text": labels.shape(node),
        "time_text": labels.time(node),
        "time_ns": None if np.isnan(ns) else ns,
        "share": None if np.isnan(share) else share,
        "folded": list(scene.folded[box]),
        "badge": badge(len(scene.folded[box])),
        "dangling": scene.dangling[box],
    }
