"""Nodes of a graph as views made on access: single, all, or a subset."""

from __future__ import annotations

import enum
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.slips import public_class, row_of
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.graph.columns import GraphColumns
from tvmdbg_widgets.model.graph.operators import op_kind, parts

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


_BASES: Final = {Trust.BY_ORDER: "structure", Trust.BY_NAME: "name", Trust.ABSENT: "unknown"}
_PROGRAMS: Final = ("program", "edge", "delegate")


class NodeKind(enum.IntEnum):
    """The kind of a node. ``INPUT`` and ``PARAMETER`` are ``op: "null"`` in the file."""

    INPUT = 0
    PARAMETER = 1
    OPERATOR = 2
    NOP = 3
    COPY = 4


class Entry(NamedTuple):
    """One output of one node; ``node`` is -1 if the producer is unknown."""

    node: int
    output: int


class Node:
    """One node of a graph. Holds the graph and the node id, nothing else."""

    __slots__ = ("_graph", "id")

    id: int

    def __init__(self, graph: GraphColumns, node: int) -> None:
        self._graph = graph
        self.id = node

    @property
    def name(self) -> str:
        """Name as in the file; not unique."""
        return self._graph.names[self.id]

    @property
    def func_name(self) -> str:
        """Function called, ``__nop``, ``__copy``, or ``""`` for inputs and parameters."""
        return self._graph.func_names[self.id]

    @property
    def kind(self) -> NodeKind:
        """Operator, input or parameter."""
        return NodeKind(int(self._graph.kinds[self.id]))

    @property
    def role(self) -> str:
        """``"input"``, ``"parameter"``, ``"mutable buffer"`` or ``"buffer without a start value"``.

        Empty for what runs.
        """
        return self._graph.roles[self.id]

    @property
    def role_basis(self) -> str:
        """Evidence for the role.

        ``"params file"``, ``"program"``, ``"structure"``, ``"name"`` or ``"unknown"``: then the
        node counts as an input. Empty for what runs.
        """
        if self.kind > NodeKind.PARAMETER:
            return ""
        known = "program" if self._graph.form in _PROGRAMS else "params file"
        return _BASES.get(Trust(int(self._graph.parameter_trust[self.id])), known)

    @property
    def op_kind(self) -> str:
        """Family of operators, one of :data:`tvmdbg_widgets.model.graph.operators.OP_KINDS`."""
        if "buffer" in self.role:
            return "buffer"
        return op_kind(self.func_name, int(self._graph.kinds[self.id]))

    @property
    def parts(self) -> tuple[str, ...]:
        """Operators fused into the function, in order."""
        return parts(self.func_name, self._graph.module_prefixes)

    @property
    def attrs(self) -> Mapping[str, str]:
        """Node attributes as in the file."""
        return self._graph.attrs[self.id]

    @property
    def num_outputs(self) -> int:
        """Number of entries the node owns."""
        offsets = self._graph.entry_offsets
        return int(offsets[self.id + 1] - offsets[self.id])

    @property
    def inputs(self) -> tuple[Entry, ...]:
        """Entries the node reads, by operand position."""
        graph = self._graph
        edges = graph.in_edges(self.id)
        pairs = zip(graph.edge_source[edges], graph.edge_output[edges], strict=True)
        return tuple(Entry(int(node), int(output)) for node, output in pairs)

    @property
    def outputs(self) -> tuple[Entry, ...]:
        """Entries the node owns."""
        return tuple(Entry(self.id, output) for output in range(self.num_outputs))

    @property
    def consumers(self) -> tuple[int, ...]:
        """Ids of the nodes that read any output, ascending."""
        graph = self._graph
        return tuple(sorted({int(node) for node in graph.edge_target[graph.out_edges(self.id)]}))

    @property
    def control_inputs(self) -> tuple[int, ...]:
        """Ids of the nodes that must run before (``control_deps``)."""
        graph = self._graph
        return tuple(int(node) for node in graph.control_source[graph.control_target == self.id])

    @property
    def shapes(self) -> tuple[tuple[int, ...] | None, ...]:
        """Shapes of the outputs, None where unknown."""
        return tuple(self._graph.shape(*entry) for entry in self.outputs)

    @property
    def dtypes(self) -> tuple[str | None, ...]:
        """Data types (``dltype``) of the outputs, None where unknown."""
        return tuple(self._graph.dtype(*entry) for entry in self.outputs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.id == other.id and self._graph is other._graph

    def __hash__(self) -> int:
        return hash((id(self._graph), self.id))

    def __repr__(self) -> str:
        outputs = ", ".join(
            f"{dtype or '?'}{'?' if shape is None else list(shape)}"
            for dtype, shape in zip(self.dtypes, self.shapes, strict=True)
        )
        called = f" calls {self.func_name!r}" if self.func_name not in ("", self.name) else ""
        read = ", ".join(
            f"{node}" if not output else f"{node}:{output}" for node, output in self.inputs
        )
        reads = f" reads ({read})" if read else ""
        return (
            f"<Node {self.id} {self.name!r} {self.kind.name.lower()}{called}{reads} -> {outputs}>"
        )


@public_class
class Nodes(Sequence[Node]):
    """All nodes of a graph, by node id."""

    __slots__ = ("_graph",)

    def __init__(self, graph: GraphColumns) -> None:
        self._graph = graph

    def __len__(self) -> int:
        return self._graph.num_nodes

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, index: int | slice) -> Node | tuple[Node, ...]:
        count = len(self)
        if isinstance(index, slice):
            return tuple(Node(self._graph, node) for node in range(count)[index])
        return Node(self._graph, row_of("node", index, count, "graph.node({!r:.80})"))

    def __iter__(self) -> Iterator[Node]:
        return (Node(self._graph, node) for node in range(len(self)))

    def __repr__(self) -> str:
        shown = [f"  {node!r}" for node in self[:8]]
        more = [f"  … {len(self) - 8} more"] if len(self) > 8 else []
        return "\n".join([counted(len(self), "node"), *shown, *more])


def given_text(role: str) -> str:
    """Return the text in place of a time for a role; empty for an operator."""
    return "graph input" if role == "input" else role


def held_texts(graph: GraphColumns) -> list[str]:
    """Return the number of nodes by role, operators first: ``["1 operator", …]``."""
    counts = Counter(graph.roles)
    kept, scratch = counts["mutable buffer"], counts["buffer without a start value"]
    texts = [counted(counts[""], "operator"), counted(counts["parameter"], "parameter")]
    texts.append(counted(counts["input"], "input"))
    texts += [counted(kept, "mutable buffer")] if kept else []
    texts += [f"{counted(scratch, 'buffer')} without a start value"] if scratch else []
    return texts


def roles_text(graph: GraphColumns) -> str:
    """Describe the evidence that tells inputs from parameters; empty if a file does."""
    given = graph.parameter_trust[graph.kinds <= NodeKind.PARAMETER]
    if len(given) == 1:
        return ""
    counts = {text: int((given == trust).sum()) for trust, text in _BASES.items()}
    if not any(counts.values()):
        return ""
    known = [(text, count) for text, count in counts.items() if count]
    words = ["unknown" if text == "unknown" else f"by {text}" for text, _ in known]
    numbers = [counted(known[0][1], "role"), *(f"{count:,}" for _, count in known[1:])]
    counted_roles = ", ".join(map(" ".join, zip(numbers, words, strict=True)))
    sentence = f"no params file tells inputs from parameters: {counted_roles}"
    if counts["unknown"]:
        sentence += ", counted as input"
    return sentence


def to_networkx(
    graph: GraphColumns,
    nodes: Sequence[int],
    edges: npt.NDArray[np.integer],
    *,
    control: bool = False,
) -> nx.MultiDiGraph[int]:
    """Return the given nodes and edges as a ``networkx.MultiDiGraph``."""
    import networkx as nx

    result: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    result.graph.update(
        file=graph.file, form=graph.form, heads=list(map(tuple, _rows(graph.heads)))
    )
    result.add_nodes_from(zip(nodes, _attributes(graph, nodes), strict=True))
    chosen = edges[graph.edge_source[edges] >= 0]
    columns = (graph.edge_source, graph.edge_target, graph.edge_position, graph.edge_output)
    labels = {int(grade): grade.label for grade in Trust}
    for edge, source, target, position, output, trust in zip(
        chosen.tolist(),
        *(column[chosen].tolist() for column in columns),
        graph.edge_trust[chosen].tolist(),
        strict=True,
    ):
        more = {}
        if edge in graph.edge_candidates:
            more["candidates"] = graph.edge_candidates[edge]
        result.add_edge(source, target, key=position, output=output, trust=labels[trust], **more)
    if control:
        kept = set(nodes)
        pairs = zip(graph.control_source.tolist(), graph.control_target.tolist(), strict=True)
        for source, target in pairs:
            if source in kept and target in kept:
                result.add_edge(source, target, key="control", trust=Trust.EXACT.label)
    return result


def _rows(array: npt.NDArray[Any]) -> list[Any]:
    rows: list[Any] = array.tolist()
    return rows


def _attributes(graph: GraphColumns, nodes: Sequence[int]) -> list[dict[str, Any]]:
    """Return the attributes of each node for networkx."""
    kinds, offsets = _rows(graph.kinds), _rows(graph.entry_offsets)
    ends, dims = _rows(graph.shape_offsets), _rows(graph.shape_dims)
    known, dtypes = _rows(graph.shape_known), list(graph.dtypes)
    storage = None if graph.storage_ids is None else _rows(graph.storage_ids)
    devices = None if graph.device_types is None else _rows(graph.device_types)
    scopes = None if graph.storage_scopes is None else list(graph.storage_scopes)
    lost: dict[int, list[int]] = defaultdict(list)
    for edge in np.flatnonzero(graph.edge_source < 0).tolist():
        lost[int(graph.edge_target[edge])].append(int(graph.edge_position[edge]))
    names = {int(kind): kind.name.lower() for kind in NodeKind}
    families: dict[tuple[str, int], str] = {}
    attributes = []
    for node in nodes:
        func, kind, own = graph.func_names[node], kinds[node], slice(*offsets[node : node + 2])
        if (func, kind) not in families:
            families[func, kind] = op_kind(func, kind)
        family = "buffer" if "buffer" in graph.roles[node] else families[func, kind]
        attributes.append(
            {
                "name": graph.names[node],
                "func_name": func,
                "kind": names[kind],
                "op_kind": family,
                "attrs": dict(graph.attrs[node]),
                "shapes": tuple(
                    tuple(dims[ends[entry] : ends[entry + 1]]) if known[entry] else None
                    for entry in range(own.start, own.stop)
                ),
                "dtypes": tuple(dtype or None for dtype in dtypes[own]),
                "storage_ids": _usable(storage, own),
                "device_types": _usable(devices, own),
                "storage_scopes": None if scopes is None else tuple(scopes[own]),
                "dangling": tuple(lost.get(node, ())),
            }
        )
    return attributes


def _usable(column: list[int] | None, own: slice) -> tuple[int | None, ...] | None:
    if column is None:
        return None
    return tuple(value if value >= 0 else None for value in column[own])


def to_dataframe(graph: GraphColumns) -> pd.DataFrame:
    """Return one row per node, indexed by node id (needs pandas)."""
    views = list(Nodes(graph))
    frame = data_frame(
        {
            "name": list(graph.names),
            "kind": [NodeKind(kind).name.lower() for kind in graph.kinds.tolist()],
            "func_name": list(graph.func_names),
            "op_kind": [view.op_kind for view in views],
            "inputs": [view.inputs for view in views],
            "shapes": [view.shapes for view in views],
            "dtypes": [view.dtypes for view in views],
        }
    )
    frame.index.name = "node"
    return frame


_ID = int, np.integer


@public_class
class Subgraph:
    """Some nodes of a graph and the edges among them. Node and edge ids are the graph's.

    Parameters
    ----------
    graph : Graph
    nodes : iterable of int
        Node ids, in any order, repeats allowed.

    Raises
    ------
    IndexError
        Where the graph has no such node.
    TypeError
        Something else than ids, such as a mask.
    """

    graph: GraphColumns
    node_ids: npt.NDArray[np.int32]

    def __init__(self, graph: GraphColumns, nodes: Iterable[int]) -> None:
        given = list(nodes)
        ids = np.unique(np.array(given)) if given else np.zeros(0, np.int64)
        if ids.dtype.kind not in "iu":
            odd = (node for node in given if type(node) is bool or not isinstance(node, _ID))
            wrong = next(odd, given[0])
            raise TypeError(f"a node is meant by its id, not by {wrong!r:.80}")
        if ids.size and not (ids[0] >= 0 and ids[-1] < graph.num_nodes):
            raise IndexError(f"node ids must lie in 0..{graph.num_nodes - 1}")
        self.graph = graph
        self.node_ids = ids.astype(np.int32)
        self.node_ids.flags.writeable = False

    @cached_property
    def _ends_inside(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        inside = np.zeros(self.graph.num_nodes + 1, dtype=np.bool_)
        inside[self.node_ids] = True
        return inside[self.graph.edge_source], inside[self.graph.edge_target]

    def _edges(self, source_inside: bool, target_inside: bool) -> npt.NDArray[np.int32]:
        source, target = self._ends_inside
        chosen = (source == source_inside) & (target == target_inside)
        return np.flatnonzero(chosen).astype(np.int32)

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Edges with both ends inside (positions in the graph's edge columns)."""
        return self._edges(True, True)

    @property
    def in_edges(self) -> npt.NDArray[np.int32]:
        """Edges that come in from outside, dangling ones included."""
        return self._edges(False, True)

    @property
    def out_edges(self) -> npt.NDArray[np.int32]:
        """Edges that go out."""
        return self._edges(True, False)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, by node id."""
        return tuple(Node(self.graph, node) for node in self.node_ids.tolist())

    def __len__(self) -> int:
        return len(self.node_ids)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int | np.integer) and bool(np.isin(node, self.node_ids))

    def to_networkx(self, *, control: bool = False) -> nx.MultiDiGraph[int]:
        """Return a ``networkx.MultiDiGraph`` as :meth:`Graph.to_networkx` does."""
        nodes = self.node_ids.tolist()
        return to_networkx(self.graph, nodes, self.edges, control=control)

    def __repr__(self) -> str:
        texts = (
            f"{len(self)} of {counted(self.graph.num_nodes, 'node')}",
            f"{counted(len(self.edges), 'edge')} inside",
            f"{len(self.in_edges)} in",
            f"{len(self.out_edges)} out",
        )
        return f"Subgraph: {', '.join(texts)}"
