"""Parameters of a run, whose values are kept private; parts of graphs; redaction."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.tensors import Tensor

#: Values below which only counts of a parameter are shown: bounds and mean would reveal values.
FEWEST = 32
_INPUT = re.compile(
    r"[xyz]\d*|.*(?:data|input|image|img|pixel|ids|mask|token|query|frame|audio|feature).*",
    re.IGNORECASE | re.DOTALL,
)
_COMPUTED = re.compile(r"(?:tvmgen_|fused_)\w+(?::\d+)?")
_WEIGHT = re.compile(
    r"weight|bias|gamma|beta|kernel|filter|embed|norm|scale|mean|var|const|param|proj|dense|conv",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PrivateParameters:
    """Entries with private values, by reason."""

    parameters: frozenset[tuple[int, int]]
    doubtful: frozenset[tuple[int, int]]
    derived: frozenset[tuple[int, int]]

    def __contains__(self, entry: tuple[int, int]) -> bool:
        return entry in self.parameters or entry in self.doubtful or entry in self.derived

    def counts_only(self, tensor: Tensor) -> bool:
        """Whether even the bounds of a tensor are private."""
        return (tensor.node, tensor.output) in self and math.prod(tensor.view_shape) < FEWEST


def private_parameters(run: RunParts, *, doubt: bool = True) -> PrivateParameters:
    """Separate the parameters of a run from its activations and inputs.

    Without a graph every tensor may be a parameter. Without a params file, a null node is an input
    only if its name says so.
    """
    entries = list(run.tensors or ())
    if run.graph is None:
        return PrivateParameters(frozenset(), frozenset(entries), frozenset())
    graph = run.graph
    null = graph.kinds <= NodeKind.PARAMETER
    known = null & (graph.kinds == NodeKind.PARAMETER)
    is_sure = bool((graph.parameter_trust[known] == Trust.EXACT).any())
    doubtful = np.zeros(graph.num_nodes, np.bool_)
    if doubt and not is_sure:
        for node in np.flatnonzero(null & ~known).tolist():
            doubtful[node] = not _is_input(graph.names[node])
    derived = _derived(graph, known | doubtful)
    return PrivateParameters(
        *(
            frozenset(entry for entry in entries if entry[0] >= graph.num_nodes or grade[entry[0]])
            for grade in (known, doubtful, derived)
        )
    )


def _is_input(name: str) -> bool:
    """Whether a name is an input's and no weight's: ``query``, but not ``query.weight``.

    In a part of a run, an input may have the name of the operator that computed it.
    """
    if _COMPUTED.fullmatch(name):
        return True
    return _INPUT.fullmatch(name) is not None and _WEIGHT.search(name) is None


def _derived(
    graph: Graph, private: np.ndarray[tuple[int], np.dtype[np.bool_]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return nodes that read only private or derived nodes."""
    reads = np.zeros(graph.num_nodes, np.int64)
    np.add.at(reads, graph.edge_target, 1)
    open_reads = reads.copy()
    waiting = np.flatnonzero(private).tolist()
    derived = np.zeros(graph.num_nodes, np.bool_)
    while waiting:
        node = waiting.pop()
        for target in graph.edge_target[graph.out_edges(node)].tolist():
            open_reads[target] -= 1
            if open_reads[target] == 0 and not private[target] and not derived[target]:
                derived[target] = True
                waiting.append(target)
    return derived


@dataclass(frozen=True, slots=True)
class SmallGraphNode:
    """A node of the small graph: a kept node, or an entry of an omitted one."""

    node: int
    output: int | None = None


class ExtractedPart:
    """Some nodes of a graph with their inputs."""

    def __init__(self, graph: Graph, nodes: Iterable[int]) -> None:
        self.graph = graph
        self.asked: tuple[int, ...] = tuple(sorted(set(nodes)))
        for node in self.asked:
            graph.entry_range(node)
        self.kept: tuple[int, ...] = tuple(sorted(self._closed(self.asked)))

    @cached_property
    def places(self) -> tuple[SmallGraphNode, ...]:
        """Nodes of the small graph by new id, in the order of the original graph."""
        kept = set(self.kept)
        outside = {
            source for node in self.kept for source in self._read(node) if source[0] not in kept
        }
        places = [SmallGraphNode(node) for node in self.kept]
        places += [SmallGraphNode(*source) for source in outside]
        return tuple(sorted(places, key=lambda place: (place.node, place.output or 0)))

    @cached_property
    def new_ids(self) -> dict[SmallGraphNode, int]:
        """New ids of the places."""
        return {place: new for new, place in enumerate(self.places)}

    @cached_property
    def ambiguous(self) -> tuple[int, ...]:
        """Kept nodes with ambiguous operands."""
        trust, target = self.graph.edge_trust, self.graph.edge_target
        unsure = set(target[trust == Trust.AMBIGUOUS].tolist())
        return tuple(node for node in self.kept if node in unsure)

    @cached_property
    def lost(self) -> tuple[tuple[int, int], ...]:
        """Operands ``(node, position)`` whose producer is missing in the original graph."""
        graph = self.graph
        return tuple(
            (node, int(graph.edge_position[edge]))
            for node in self.kept
            for edge in graph.in_edges(node).tolist()
            if graph.edge_source[edge] < 0
        )

    def is_null(self, place: SmallGraphNode) -> bool:
        """Whether a place is an input or a parameter of the small graph."""
        return place.output is not None or self.graph.kinds[place.node] <= NodeKind.PARAMETER

    def outputs(self, place: SmallGraphNode) -> tuple[int, ...]:
        """Outputs of the original node that a place has, in order."""
        if place.output is not None:
            return (place.output,)
        return tuple(range(len(self.graph.entry_range(place.node))))

    def name(self, place: SmallGraphNode) -> str:
        """Name of the node; an entry of several outputs has its number appended."""
        name = self.graph.names[place.node]
        alone = place.output is None or len(self.graph.entry_range(place.node)) == 1
        return name if alone else f"{name}:{place.output}"

    def heads(self) -> list[tuple[SmallGraphNode, int]]:
        """Outputs of the small graph: original heads, and entries read outside or nowhere."""
        graph, kept = self.graph, set(self.kept)
        wanted = {tuple(head) for head in graph.heads.tolist()}
        heads = []
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
                    heads.append((SmallGraphNode(node), output))
        return heads or [(SmallGraphNode(node), 0) for node in self.kept[-1:]]

    def raw(self) -> dict[str, Any]:
        """Return the graph as TVM loads it; edges are exact only if none is ambiguous."""
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
            places = map(SmallGraphNode, before)
            if kept := [self.new_ids[other] for other in places if other in self.new_ids]:
                node["control_deps"] = kept
        return node

    def _operands(self, place: SmallGraphNode) -> list[tuple[SmallGraphNode, int]]:
        """Return source place and output of the operands."""
        if self.is_null(place):
            return []
        graph, operands = self.graph, []
        for edge in graph.in_edges(place.node).tolist():
            source, output = int(graph.edge_source[edge]), int(graph.edge_output[edge])
            if source < 0:
                continue
            kept = SmallGraphNode(source)
            inside = kept in self.new_ids
            operands.append((kept, output) if inside else (SmallGraphNode(source, output), 0))
        return operands

    def _closed(self, nodes: Iterable[int]) -> set[int]:
        """Return the nodes, their inputs and parameters, and ambiguous producers."""
        graph, closed, pending = self.graph, set(nodes), list(nodes)
        while pending:
            for edge in graph.in_edges(pending.pop()).tolist():
                if graph.edge_trust[edge] == Trust.AMBIGUOUS:
                    source = int(graph.edge_source[edge])
                    new = {source, *graph.edge_candidates.get(edge, ())} - closed
                    closed |= new
                    pending += new
        read = {source for node in closed for source, _ in self._read(node)}
        return closed | {node for node in read if graph.kinds[node] <= NodeKind.PARAMETER}

    def _read(self, node: int) -> set[tuple[int, int]]:
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
        """Return the fields beside ``nodes``, equal in both forms."""
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
    """Return the nodes within so many edges, in either direction."""
    reached = set(nodes)
    rim = set(reached)
    for _ in range(hops):
        near: set[int] = set()
        for node in rim:
            near.update(graph.edge_source[graph.in_edges(node)].tolist())
            near.update(graph.edge_target[graph.out_edges(node)].tolist())
        rim = near - reached - {-1}
        reached |= rim
    return reached


_GONE = "…"
_VALUE = re.compile(r"[-−]?(?<!\d)\d++(?:\.\d+(?:e[-+−]?\d+)?|e[-+−]?\d+)", re.IGNORECASE)


def redacted_findings(
    findings: Findings, tensors: Mapping[Any, Tensor] | None, private: PrivateParameters
) -> Findings:
    """Return the findings without bounds of tensors that show only counts."""
    erase = bounds_eraser(tensors, private)
    return Findings(
        (
            replace(one, title=erase(one.title), evidence=tuple(map(erase, one.evidence)))
            for one in findings
        ),
        complete=findings.complete,
        scanned=findings.scanned,
        to_scan=findings.to_scan,
    )


def bounds_eraser(
    tensors: Mapping[Any, Tensor] | None, private: PrivateParameters
) -> Callable[[str], str]:
    """Return a function that removes private bounds from a text."""
    return _eraser([tensor for tensor in (tensors or {}).values() if private.counts_only(tensor)])


def without_numbers(text: str) -> str:
    """Remove numbers with a point or an exponent from a text."""
    return _VALUE.sub(_GONE, text)


def _eraser(tensors: Iterable[Tensor]) -> Callable[[str], str]:
    texts = sorted({text for tensor in tensors for text in _bounds(tensor)}, key=len, reverse=True)
    if not texts:
        return lambda text: text
    exact = [re.escape(text) for text in texts if not text.isdecimal()]
    # Small integers may be counts: only those in the place of a value are removed.
    whole = [
        rf"(?:(?<=: )|(?<=is )|(?<=but )){text}(?= \D|$)" for text in texts if text.isdecimal()
    ]
    pattern = re.compile(
        "|".join([rf"(?<![\w.])(?:{'|'.join(exact)})(?!\w|\.\d)"] * bool(exact) + whole)
    )
    return lambda text: pattern.sub(_GONE, text)


def _bounds(tensor: Tensor) -> set[str]:
    """Return minimum, maximum and their magnitudes as texts."""
    try:
        statistics = tensor.statistics()
    except (FormatError, OSError):
        return set()
    if statistics.minimum is None or statistics.maximum is None:
        return set()
    ends = [statistics.minimum, statistics.maximum]
    with np.errstate(over="ignore"):  # abs() of the lowest integer overflows
        return {number_text(end) for end in (*ends, *map(abs, ends))}
