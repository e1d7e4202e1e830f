"""Nodes of a delegate's graph to operators of the edge program by the backend's delegate map.

Vulkan's operators have no debug handles, but each has the identifier that the ETRecord's map leads
on from. Its handles need not be the edge program's: ``VkGraphBuilder`` numbers the nodes of its
own program anew before it fills the map (``vulkan_graph_builder.py``). So a map is believed where
all of it fits, and else operators that occur equally often on both sides are taken in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tvmdbg_widgets.model.executorch.delegate_edges import EdgeNode
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph, DelegateNode
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram

Told = tuple[dict[int, EdgeNode], dict[int, int]]


def mapped_nodes(
    graph: DelegateGraph,
    program: ExportedProgram,
    inside: Sequence[int],
    told: Mapping[str, Sequence[int]],
) -> Told:
    """Return the edge node of each operator by its number, and what it took in besides."""
    places = _places(graph, program, inside, told)
    return _by_names(graph, program, inside) if places is None else _by_map(graph, program, places)


def _operator(node: DelegateNode) -> str:
    """Return ``convolution`` of ``aten.convolution.default``."""
    parts = node.type.split(".")
    return parts[1] if len(parts) > 1 else node.type


def _places(
    graph: DelegateGraph,
    program: ExportedProgram,
    inside: Sequence[int],
    told: Mapping[str, Sequence[int]],
) -> dict[int, tuple[int, ...]] | None:
    """Return the edge nodes of each operator by the map, None where some of it does not fit."""
    ids = Counter(str(node.fields.get("node_id")) for node in graph.nodes)
    own = set(inside)
    operators = {program.nodes[at].operator for at in inside}
    found: dict[int, tuple[int, ...]] = {}
    for node in graph.nodes:
        identifier = str(node.fields.get("node_id"))
        handles = told.get(identifier, ())
        if not handles:
            continue
        held = [[at for at in program.by_handle.get(handle, ()) if at in own] for handle in handles]
        places = tuple(sorted({at for each in held for at in each}))
        named = {program.nodes[at].operator for at in places}
        operator = _operator(node)
        fits = operator in named or operator not in operators
        if ids[identifier] > 1 or not all(held) or not fits:
            return None
        found[node.index] = places
    return found or None


def _by_map(
    graph: DelegateGraph, program: ExportedProgram, places: Mapping[int, tuple[int, ...]]
) -> Told:
    of: dict[int, EdgeNode] = {}
    taken_in: dict[int, int] = {}
    for index, own in places.items():
        operator = _operator(graph.nodes[index])
        fitting = [at for at in own if program.nodes[at].operator == operator] or list(own)
        free = [at for at in fitting if at not in taken_in] or fitting
        of[index] = EdgeNode(free[0], len(free))
        taken_in.update(dict.fromkeys((at for at in own if at not in taken_in), index))
    for edge in of.values():
        taken_in.pop(edge.node, None)
    return of, taken_in


def _by_names(graph: DelegateGraph, program: ExportedProgram, inside: Sequence[int]) -> Told:
    edges: dict[str, list[int]] = {}
    for at in inside:
        edges.setdefault(program.nodes[at].operator, []).append(at)
    nodes: dict[str, list[int]] = {}
    for node in graph.nodes:
        nodes.setdefault(_operator(node), []).append(node.index)
    of: dict[int, EdgeNode] = {}
    for operator, own in nodes.items():
        held = edges.get(operator, [])
        if len(held) == len(own):
            of.update((index, EdgeNode(at, len(own))) for index, at in zip(own, held, strict=True))
    return of, {}
