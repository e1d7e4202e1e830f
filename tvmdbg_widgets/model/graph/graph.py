"""The graph of a run as columns."""

from __future__ import annotations

import dataclasses
import difflib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph import columns as graph_columns
from tvmdbg_widgets.model.graph import tables as graph_tables
from tvmdbg_widgets.model.graph.nodes import Entry, Node, NodeKind, Nodes
from tvmdbg_widgets.model.graph.short_names import PREFIXES
from tvmdbg_widgets.model.graph.subgraph import Subgraph
from tvmdbg_widgets.model.graph.walk import Adjacency, Neighbors, Order, topological

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    import networkx as nx
    import pandas as pd

    from tvmdbg_widgets.model.base.strings import StringColumn
    from tvmdbg_widgets.model.graph.planned_memory import PlannedMemory

__all__ = ["Entry", "Graph", "Node", "NodeKind", "Nodes", "Subgraph"]


def _no_nodes() -> npt.NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A computational graph: N nodes, E entries, M edges. Every array is read-only.

    Attributes
    ----------
    names, func_names : StringColumn [N]
        Names are not unique. A function name is ``""`` for inputs and parameters.
    kinds : uint8 [N]
        :class:`NodeKind`.
    parameter_trust : uint8 [N]
        :class:`Trust` of being a parameter: ``EXACT`` where a params file names the node,
        ``BY_NAME`` where its name looks like one, ``ABSENT`` for all others.
    entry_offsets : int64 [N + 1]
        Node ``i`` owns entries ``entry_offsets[i]`` to ``entry_offsets[i + 1] - 1``.
    edge_source, edge_output, edge_target, edge_position : int32 [M]
        Operand `position` of node `target` is `output` of node `source`; sorted by target, then
        position. `source` is -1 where the producer is not in the graph; `output` is then what
        the file says. Elsewhere ``(source, output)`` is an entry of the graph.
    edge_trust : uint8 [M]
        :class:`Trust`; ``AMBIGUOUS`` where producer or output had to be chosen among several,
        ``ABSENT`` where `source` is -1.
    heads : int32 [H, 2]
        Outputs of the graph as ``(node, output)``.
    arg_nodes : int32 [A]
    shape_offsets : int64 [E + 1]
    shape_dims : int64 [shape_offsets[-1]]
    shape_known : bool [E]
        False where the file gives no usable shape (a 0-d shape is known and empty).
    dtypes : StringColumn [E]
        ``dltype`` of each entry, ``""`` where unknown.
    attrs : tuple of Mapping [N]
        Node attributes as in the file.
    edge_candidates : Mapping of int to tuple of int
        For an ambiguous edge the nodes it may come from, ascending. Where that is the source
        alone, only the output is unknown and `edge_output` holds the lowest possible one.
    control_source, control_target : int32 [C]
        `control_target` runs after `control_source`, without reading from it.
    storage_ids, device_types, dtype_flags : int32 [E] or None
        None where the file has no such list; negative where it has no usable value.
        `device_types` are ``DLDeviceType`` numbers, `dtype_flags` are NNVM type flags.
    storage_scopes : StringColumn [E] or None
    planned_memory : PlannedMemory or None
        Of a program that plans buffers as a whole: where its entries lie in them. Its storage ids
        are places there, whose bytes may overlap.
    form : str
        ``"raw"``, ``"string"`` (raw inside a JSON string), ``"mutated"`` (debugger's dump) or
        ``"symbol"`` (operators of NNVM or MXNet that were not compiled).
    lenient : bool
        True where the file is not JSON by the standard and was read all the same.
    issues : Issues
    file : str
    metadata : object
        The file's ``metadata`` value as parsed, None where absent.

    Raises
    ------
    ValueError
        Where the columns do not fit each other.
    """

    names: StringColumn
    func_names: StringColumn
    kinds: npt.NDArray[np.uint8]
    parameter_trust: npt.NDArray[np.uint8]
    entry_offsets: npt.NDArray[np.int64]
    edge_source: npt.NDArray[np.int32]
    edge_output: npt.NDArray[np.int32]
    edge_target: npt.NDArray[np.int32]
    edge_position: npt.NDArray[np.int32]
    edge_trust: npt.NDArray[np.uint8]
    heads: npt.NDArray[np.int32]
    arg_nodes: npt.NDArray[np.int32]
    shape_offsets: npt.NDArray[np.int64]
    shape_dims: npt.NDArray[np.int64]
    shape_known: npt.NDArray[np.bool_]
    dtypes: StringColumn
    attrs: tuple[Mapping[str, str], ...]
    edge_candidates: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    control_source: npt.NDArray[np.int32] = field(default_factory=_no_nodes)
    control_target: npt.NDArray[np.int32] = field(default_factory=_no_nodes)
    storage_ids: npt.NDArray[np.int32] | None = None
    device_types: npt.NDArray[np.int32] | None = None
    storage_scopes: StringColumn | None = None
    dtype_flags: npt.NDArray[np.int32] | None = None
    planned_memory: PlannedMemory | None = None
    form: str = "raw"
    lenient: bool = False
    issues: Issues = field(default_factory=Issues)
    file: str = ""
    metadata: Any = None

    def __post_init__(self) -> None:
        for name, dtype in graph_columns.DTYPES.items():
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, graph_columns.frozen(array, dtype))
        object.__setattr__(self, "edge_candidates", MappingProxyType(dict(self.edge_candidates)))
        graph_columns.require_consistent(self)

    @property
    def num_nodes(self) -> int:
        """Number of nodes, N."""
        return len(self.names)

    @property
    def num_entries(self) -> int:
        """Number of entries, E."""
        return int(self.entry_offsets[-1])

    @property
    def num_edges(self) -> int:
        """Number of edges, M, dangling ones included."""
        return len(self.edge_source)

    @property
    def nodes(self) -> Nodes:
        """All nodes, by node id."""
        return Nodes(self)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Nodes of kind ``INPUT``: null nodes that are not known or guessed to be parameters."""
        return tuple(Node(self, int(i)) for i in np.flatnonzero(self.kinds == NodeKind.INPUT))

    @property
    def parameters(self) -> tuple[Node, ...]:
        """Nodes of kind ``PARAMETER``."""
        return tuple(Node(self, int(i)) for i in np.flatnonzero(self.kinds == NodeKind.PARAMETER))

    @property
    def outputs(self) -> tuple[Entry, ...]:
        """Outputs of the graph in order; an entry may appear twice."""
        return tuple(Entry(node, output) for node, output in self.heads.tolist())

    def nodes_named(self, name: str) -> tuple[Node, ...]:
        """Return every node of that name, by node id."""
        return tuple(Node(self, int(row)) for row in self.names.rows(name))

    def node(self, name: str) -> Node:
        """Return the one node of that name.

        Where no node has it, a name may leave out ``tvmgen_default_``, ``fused_`` or both at its
        start, as findings print it.

        Raises
        ------
        KeyError
            Where no node or more than one has that name; tells close names, or the ids.
        """
        found = self.nodes_named(name)
        if not found:
            found = tuple(each for prefix in PREFIXES for each in self.nodes_named(prefix + name))
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(node.id) for node in found[:10])
            more = f" and {len(found) - 10} more" if len(found) > 10 else ""
            raise KeyError(
                f"{len(found)} nodes are named {name!r} (ids {ids}{more}); "
                "take one by its id, graph.nodes[id], or all of one name by graph.nodes_named(name)"
            )
        known = self.names.unique[:20_000]
        close = (
            difflib.get_close_matches(name, known, n=3)
            or [each for each in known if len(name) > 1 and name in each][:3]
        )
        hint = f"; close: {', '.join(map(repr, close))}" if close else ""
        raise KeyError(f"no node is named {name!r}{hint}")

    def entry_id(self, node: int, output: int = 0) -> int:
        """Return the position of an entry in the entry columns.

        Raises
        ------
        IndexError
            Where the graph has no such node or the node no such output.
        """
        if not 0 <= node < self.num_nodes:
            raise IndexError(f"node {node} of a graph with {self.num_nodes} nodes")
        first, end = int(self.entry_offsets[node]), int(self.entry_offsets[node + 1])
        if not 0 <= output < end - first:
            raise IndexError(f"output {output} of node {node}, which has {end - first}")
        return first + output

    def shape(self, node: int, output: int = 0) -> tuple[int, ...] | None:
        """Return the shape of an entry, None where unknown."""
        entry = self.entry_id(node, output)
        if not self.shape_known[entry]:
            return None
        start, end = self.shape_offsets[entry], self.shape_offsets[entry + 1]
        return tuple(self.shape_dims[start:end].tolist())

    def dtype(self, node: int, output: int = 0) -> str | None:
        """Return the data type (``dltype``) of an entry, None where unknown."""
        return self.dtypes[self.entry_id(node, output)] or None

    @cached_property
    def _by_target(self) -> Adjacency:
        return Adjacency.by(self.edge_target, self.num_nodes)

    @cached_property
    def _by_source(self) -> Adjacency:
        return Adjacency.by(self.edge_source, self.num_nodes)

    @cached_property
    def _by_entry(self) -> Adjacency:
        entry = self.entry_offsets[self.edge_source] + self.edge_output
        return Adjacency.by(np.where(self.edge_source < 0, -1, entry), self.num_entries)

    @cached_property
    def attr_names(self) -> frozenset[str]:
        """Names of the attributes that any node has."""
        return frozenset(name for each in self.attrs for name in each)

    def in_edges(self, node: int) -> npt.NDArray[np.int32]:
        """Return the edges into a node (positions in the edge columns), by operand position."""
        return self._by_target[node]

    def out_edges(self, node: int) -> npt.NDArray[np.int32]:
        """Return the edges out of a node (positions in the edge columns), ascending."""
        return self._by_source[node]

    def readers(self, node: int, output: int = 0) -> npt.NDArray[np.int32]:
        """Return the edges that read an entry; none where the node has no such output."""
        entries = self.entry_range(node)
        return self._by_entry[entries[output]] if output < len(entries) else np.zeros(0, np.int32)

    def _neighbors(self, upwards: bool, include_ambiguous: bool) -> Neighbors:
        keep = self.edge_source >= 0
        if not include_ambiguous:
            keep &= self.edge_trust != Trust.AMBIGUOUS
        source, target = self.edge_source[keep], self.edge_target[keep]
        near, far = (target, source) if upwards else (source, target)
        return Neighbors.of(near, far, self.num_nodes)

    @cached_property
    def _neighbors_cache(self) -> dict[tuple[bool, bool], Neighbors]:
        return {}

    def _reach(self, nodes: int | Iterable[int], upwards: bool, ambiguous: bool) -> frozenset[int]:
        starts = [nodes] if isinstance(nodes, int | np.integer) else list(nodes)
        for node in starts:
            self.entry_range(node)
        key = (upwards, ambiguous)
        if key not in self._neighbors_cache:
            self._neighbors_cache[key] = self._neighbors(*key)
        return self._neighbors_cache[key].reach(starts)

    def entry_range(self, node: int) -> range:
        """Return the entry ids of a node.

        Raises
        ------
        IndexError
            Where the graph has no such node.
        """
        if not 0 <= node < self.num_nodes:
            raise IndexError(f"node {node} of a graph with {self.num_nodes} nodes")
        return range(int(self.entry_offsets[node]), int(self.entry_offsets[node + 1]))

    def ancestors(
        self, nodes: int | Iterable[int], *, include_ambiguous: bool = False
    ) -> frozenset[int]:
        """Return all nodes that `nodes` depend on, themselves only where they lie on a cycle."""
        return self._reach(nodes, True, include_ambiguous)

    def descendants(
        self, nodes: int | Iterable[int], *, include_ambiguous: bool = False
    ) -> frozenset[int]:
        """Return all nodes that depend on `nodes`, themselves only where they lie on a cycle."""
        return self._reach(nodes, False, include_ambiguous)

    @cached_property
    def order(self) -> Order:
        """Topological order over edges and control dependencies, with any cycles."""
        known = self.edge_source >= 0
        source = np.concatenate([self.edge_source[known], self.control_source])
        target = np.concatenate([self.edge_target[known], self.control_target])
        return topological(source, target, self.num_nodes)

    @property
    def topological_order(self) -> npt.NDArray[np.int32]:
        """Every node once, producers first (int32 [N]); nodes on or behind a cycle come last."""
        return self.order.nodes

    def subgraph(self, nodes: Iterable[int]) -> Subgraph:
        """Return a view of some nodes and the edges among them; node ids stay as they are."""
        return Subgraph(self, nodes)

    def with_parameters(self, names: Collection[str]) -> Graph:
        """Return the graph with its null nodes told apart by the names in a params file.

        A null node named there becomes a parameter (``EXACT``), any other an input.
        """
        kinds, trust = graph_columns.parameters_by_file(self.names, self.kinds, names)
        return dataclasses.replace(self, kinds=kinds, parameter_trust=trust)

    def with_issues(self, issues: Issues) -> Graph:
        """Return the graph with other issues."""
        return dataclasses.replace(self, issues=issues)

    def __reduce__(self) -> tuple[Any, ...]:
        columns = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        columns["edge_candidates"] = dict(self.edge_candidates)
        columns["attrs"] = tuple(map(dict, self.attrs))
        return _rebuild, (columns,)

    def to_networkx(self, *, control: bool = False) -> nx.MultiDiGraph[int]:
        """Return a ``networkx.MultiDiGraph`` of node ids; an edge's key is its operand position.

        ``add(x, x)`` has two edges, keys 0 and 1. Edges have ``output``, ``trust`` and, where they
        are ambiguous, ``candidates``. Nodes have ``name``, ``func_name``, ``kind``, ``op_kind``
        and ``attrs``; of each output, as tuples, ``shapes``, ``dtypes``, ``storage_ids``,
        ``device_types`` and ``storage_scopes``, with None for what is unknown, or None in place
        of the tuple where the file has no such list; and ``dangling``, the positions of the
        operands whose producer is not in the graph: these have no edge. The graph has ``file``,
        ``form`` and ``heads``. ``DebugRun.to_networkx`` adds times and groups.

        Parameters
        ----------
        control : bool
            Also control dependencies, as edges of key ``"control"``.
        """
        nodes, edges = range(self.num_nodes), np.arange(self.num_edges)
        return graph_tables.to_networkx(self, nodes, edges, control=control)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per node (needs pandas)."""
        return graph_tables.to_dataframe(self)

    def __repr__(self) -> str:
        counts = Counter(self.kinds.tolist())
        operators = sum(counts[kind] for kind in (NodeKind.OPERATOR, NodeKind.NOP, NodeKind.COPY))
        told = ", ".join(
            graph_columns.counted(count, word)
            for count, word in (
                (operators, "operator"),
                (counts[NodeKind.PARAMETER], "parameter"),
                (counts[NodeKind.INPUT], "input"),
            )
        )
        return (
            f"Graph: {graph_columns.counted(self.num_nodes, 'node')} ({told}), "
            f"{graph_columns.counted(self.num_edges, 'edge')}, "
            f"{graph_columns.counted(self.num_entries, 'entry')}; {self.issues.summary()}"
        )


def _rebuild(columns: dict[str, Any]) -> Graph:
    columns["attrs"] = tuple(map(MappingProxyType, columns["attrs"]))
    return Graph(**columns)
