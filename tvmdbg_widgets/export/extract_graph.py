"""Some nodes of a graph as a graph of its own: what they read from outside becomes its inputs.

The documents are those of TVM: the graph the executor takes (``GraphExecutor::Load``,
src/runtime/graph_executor/graph_executor.h @ v0.19.0) and the debugger's dump of it
(``DebugResult``, python/tvm/contrib/debugger/debug_result.py @ v0.12 to v0.19).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind


@dataclass(frozen=True, slots=True)
class SmallGraphNode:
    """One node of the small graph: a node that was kept, or an entry of one that was not."""

    node: int
    output: int | None = None


class ExtractedPart:
    """Some nodes of a graph with what they read."""

    def __init__(self, graph: Graph, nodes: Iterable[int]) -> None:
        self.graph = graph
        self.asked: tuple[int, ...] = tuple(sorted(set(nodes)))
        for node in self.asked:
            graph.entry_range(node)
        self.kept: tuple[int, ...] = tuple(sorted(self._closed(self.asked)))

    @cached_property
    def places(self) -> tuple[SmallGraphNode, ...]:
        """The nodes of the small graph by their new ids, in the order of the whole graph."""
        kept = set(self.kept)
        outside = {
            source for node in self.kept for source in self._read(node) if source[0] not in kept
        }
        found = [SmallGraphNode(node) for node in self.kept]
        found += [SmallGraphNode(*source) for source in outside]
        return tuple(sorted(found, key=lambda place: (place.node, place.output or 0)))

    @cached_property
    def new_ids(self) -> dict[SmallGraphNode, int]:
        """New id of each place."""
        return {place: new for new, place in enumerate(self.places)}

    @cached_property
    def ambiguous(self) -> tuple[int, ...]:
        """Kept nodes of which the whole graph does not tell for sure what they read."""
        trust, target = self.graph.edge_trust, self.graph.edge_target
        unsure = set(target[trust == Trust.AMBIGUOUS].tolist())
        return tuple(node for node in self.kept if node in unsure)

    @cached_property
    def lost(self) -> tuple[tuple[int, int], ...]:
        """Operands ``(node, position)`` whose producer the whole graph does not have either."""
        graph = self.graph
        return tuple(
            (node, int(graph.edge_position[edge]))
            for node in self.kept
            for edge in graph.in_edges(node).tolist()
            if graph.edge_source[edge] < 0
        )

    def is_null(self, place: SmallGraphNode) -> bool:
        """Whether the place is an input or a parameter of the small graph."""
        return place.output is not None or self.graph.kinds[place.node] <= NodeKind.PARAMETER

    def outputs(self, place: SmallGraphNode) -> tuple[int, ...]:
        """Outputs that the place has of its node, in order."""
        if place.output is not None:
            return (place.output,)
        return tuple(range(len(self.graph.entry_range(place.node))))

    def name(self, place: SmallGraphNode) -> str:
        """Name of the node; one of several outputs has its number behind it."""
        name = self.graph.names[place.node]
        alone = place.output is None or len(self.graph.entry_range(place.node)) == 1
        return name if alone else f"{name}:{place.output}"

    def heads(self) -> list[tuple[SmallGraphNode, int]]:
        """What the small graph gives: heads of the whole, and what is read outside or nowhere."""
        graph, kept = self.graph, set(self.kept)
        wanted = {tuple(head) for head in graph.heads.tolist()}
        found = []
        for node in self.kept:
            if graph.kinds[node] <= NodeKind.PARAMETER and (node, 0) not in wanted:
                continue
            edges = graph.out_edges(node)
            readers: dict[int, set[int]] = {}
            for edge in edges.tolist():
                target = int(graph.edge_target[edge])
                readers.setdefault(int(graph.edge_output[edge]), set()).add(target)
            for output in range(len(graph.entry_range(node))):
                read = readers.get(output, set())
                if (node, output) in wanted or not read or read - kept:
                    found.append((SmallGraphNode(node), output))
        return found or [(SmallGraphNode(node), 0) for node in self.kept[-1:]]

    def raw(self) -> dict[str, Any]:
        """Return the graph as TVM takes it; its edges are exact only where none is ambiguous."""
        nodes = [self._raw_node(place) for place in self.places]
        return {"nodes": nodes, **self._rest()}

    def dump(self) -> dict[str, Any]:
        """Return the graph as the debugger dumps it: producers by name, functions as ``op``."""
        nodes = []
        for place in self.places:
            shape, dtype = self._type(place, self.outputs(place)[0] if self.outputs(place) else 0)
            node: dict[str, Any] = {
                "op": "param" if self.is_null(place) else self.graph.func_names[place.node],
                "name": self.name(place),
                "inputs": [self.name(source) for source, _ in self._operands(place)],
                "attrs": {**self._attrs(place), "T": f"type: {dtype}"},
                "shape": shape,
            }
            nodes.append(self._with_control(place, node))
        return {"nodes": nodes, **self._rest()}

    def _raw_node(self, place: SmallGraphNode) -> dict[str, Any]:
        if self.is_null(place):
            return {"op": "null", "name": self.name(place), "inputs": []}
        inputs = [[self.new_ids[source], output, 0] for source, output in self._operands(place)]
        node = {
            "op": "tvm_op",
            "name": self.name(place),
            "attrs": self._attrs(place),
            "inputs": inputs,
        }
        return self._with_control(place, node)

    def _attrs(self, place: SmallGraphNode) -> dict[str, str]:
        return {} if self.is_null(place) else dict(self.graph.attrs[place.node])

    def _with_control(self, place: SmallGraphNode, node: dict[str, Any]) -> dict[str, Any]:
        if place.output is None:
            before = self.graph.control_source[self.graph.control_target == place.node].tolist()
            kept = [
                self.new_ids[SmallGraphNode(each)]
                for each in before
                if SmallGraphNode(each) in self.new_ids
            ]
            if kept:
                node["control_deps"] = kept
        return node

    def _operands(self, place: SmallGraphNode) -> list[tuple[SmallGraphNode, int]]:
        """What a place reads, by operand: the place, and which of its outputs."""
        if self.is_null(place):
            return []
        graph, found = self.graph, []
        for edge in graph.in_edges(place.node).tolist():
            source, output = int(graph.edge_source[edge]), int(graph.edge_output[edge])
            if source < 0:
                continue
            inside = SmallGraphNode(source) in self.new_ids
            found.append(
                (SmallGraphNode(source), output) if inside else (SmallGraphNode(source, output), 0)
            )
        return found

    def _closed(self, nodes: Iterable[int]) -> set[int]:
        """The nodes, the inputs and parameters they read, and what else they may read."""
        graph, found, pending = self.graph, set(nodes), list(nodes)
        while pending:
            for edge in graph.in_edges(pending.pop()).tolist():
                if graph.edge_trust[edge] == Trust.AMBIGUOUS:
                    source = int(graph.edge_source[edge])
                    new = {source, *graph.edge_candidates.get(edge, ())} - found
                    found |= new
                    pending += new
        read = {source for node in found for source, _ in self._read(node)}
        return found | {node for node in read if graph.kinds[node] <= NodeKind.PARAMETER}

    def _read(self, node: int) -> set[tuple[int, int]]:
        """Entries that a node reads."""
        graph, edges = self.graph, self.graph.in_edges(node)
        pairs = zip(graph.edge_source[edges], graph.edge_output[edges], strict=True)
        return {(int(source), int(output)) for source, output in pairs if source >= 0}

    def _type(self, place: SmallGraphNode, output: int) -> tuple[list[int] | None, str]:
        graph = self.graph
        if not self.outputs(place):
            return None, ""
        shape = graph.shape(place.node, output)
        return None if shape is None else list(shape), graph.dtype(place.node, output) or ""

    def _rest(self) -> dict[str, Any]:
        """Everything beside ``nodes``, the same in both forms."""
        graph = self.graph
        offsets, entries = [0], []
        for place in self.places:
            entries += [graph.entry_id(place.node, output) for output in self.outputs(place)]
            offsets.append(len(entries))
        shapes = []
        for place in self.places:
            shapes += [self._type(place, output)[0] for output in self.outputs(place)]
        attrs: dict[str, Any] = {
            "shape": ["list_shape", shapes],
            "dltype": ["list_str", [graph.dtypes[entry] for entry in entries]],
        }
        for key, column in (
            ("storage_id", graph.storage_ids),
            ("device_index", graph.device_types),
            ("dtype", graph.dtype_flags),
        ):
            if column is not None:
                attrs[key] = ["list_int", [int(column[entry]) for entry in entries]]
        if graph.storage_scopes is not None:
            scopes = [graph.storage_scopes[entry] for entry in entries]
            attrs["storage_scope"] = ["list_str", scopes]
        return {
            "arg_nodes": [new for new, place in enumerate(self.places) if self.is_null(place)],
            "heads": [[self.new_ids[place], output, 0] for place, output in self.heads()],
            "attrs": attrs,
            "node_row_ptr": offsets,
        }


def neighborhood(graph: Graph, nodes: Iterable[int], hops: int) -> set[int]:
    """Return the nodes with all that can be reached in so many steps, along and against edges."""
    found = set(nodes)
    rim = set(found)
    for _ in range(hops):
        near: set[int] = set()
        for node in rim:
            near |= {int(each) for each in graph.edge_source[graph.in_edges(node)] if each >= 0}
            near |= {int(each) for each in graph.edge_target[graph.out_edges(node)]}
        rim = near - found
        found |= rim
    return found
