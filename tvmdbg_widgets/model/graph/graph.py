"""The graph of a run: its nodes, reachability, orders and titles of nodes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.slips import meant, public_class
from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.graph import nodes as graph_tables
from tvmdbg_widgets.model.graph.columns import GraphColumns
from tvmdbg_widgets.model.graph.nodes import (
    Entry,
    Node,
    NodeKind,
    Nodes,
    Subgraph,
    held_texts,
    roles_text,
)
from tvmdbg_widgets.model.graph.operators import (
    Neighbors,
    TopologicalOrder,
    label,
    module_prefix,
    op_kind,
    topological,
    without_prefix,
)
from tvmdbg_widgets.model.tensors.tensors import Tensor

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


__all__ = ["Entry", "Graph", "Node", "NodeKind", "Nodes", "Subgraph"]


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Graph(GraphColumns):
    """A computational graph as columns, those of :class:`GraphColumns`."""

    @property
    def nodes(self) -> Nodes:
        """All nodes, by node id."""
        return Nodes(self)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Nodes of kind ``INPUT`` that are fed.

        Null nodes that are not known or inferred to be parameters, without the memory that a
        program plans for itself.
        """
        return tuple(Node(self, int(i)) for i in np.flatnonzero(self.is_fed))

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

        Where no node has it, a name may leave out what stands before it for the module
        (``tvmgen_default_``), ``fused_`` or both, as findings print it.

        Raises
        ------
        KeyError
            Where no node or more than one has that name; tells close names, or the ids.
        """
        if not isinstance(name, str):
            raise TypeError(f"graph.node takes a name, not {name!r:.80}; by id: graph.nodes[id]")
        nodes = self.nodes_named(name)
        if not nodes:
            modules = self.module_prefixes
            full = (
                known
                for known in self.names.unique
                if known.endswith(name)
                and name
                in (without_prefix(known, modules), known[len(module_prefix(known, modules)) :])
            )
            nodes = tuple(node for known in full for node in self.nodes_named(known))
        if len(nodes) == 1:
            return nodes[0]
        if nodes:
            ids = ", ".join(str(node.id) for node in nodes[:10])
            more = f" and {len(nodes) - 10} more" if len(nodes) > 10 else ""
            raise KeyError(
                f"{counted(len(nodes), 'node')} are named {name!r} (ids {ids}{more}); "
                "take one by its id, graph.nodes[id], or all of one name by graph.nodes_named(name)"
            )
        raise KeyError(f"no node is named {name!r:.200}{meant(name, self.names.unique)}")

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
    def order(self) -> TopologicalOrder:
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
        """Return the graph with its null nodes classified by the names in a params file.

        A null node named there becomes a parameter (``EXACT``), any other an input. Names of
        which the graph has none are ignored: the file is another model's.
        """
        if names and set(names).isdisjoint(self.names.unique):
            return self
        wanted, null = set(names), self.kinds <= NodeKind.PARAMETER
        named = np.array([name in wanted for name in self.names.unique], np.bool_)
        roles = np.where(named[self.names.codes], NodeKind.PARAMETER, NodeKind.INPUT)
        trust = np.where(null, Trust.EXACT, Trust.ABSENT).astype(np.uint8)
        kinds = np.where(null, roles, self.kinds).astype(np.uint8)
        return dataclasses.replace(self, kinds=kinds, parameter_trust=trust)

    def with_issues(self, issues: Issues) -> Graph:
        """Return the graph with other issues."""
        return dataclasses.replace(self, issues=issues)

    def __reduce__(self) -> tuple[Any, ...]:
        columns = {column.name: getattr(self, column.name) for column in dataclasses.fields(self)}
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
        held = "; ".join(filter(None, (", ".join(held_texts(self)), roles_text(self))))
        return (
            f"Graph: {counted(self.num_nodes, 'node')} ({held}), "
            f"{counted(self.num_edges, 'edge')}, "
            f"{counted(self.num_entries, 'entry')}; {self.issues.summary()}"
        )


def _rebuild(columns: dict[str, Any]) -> Graph:
    columns["attrs"] = tuple(map(MappingProxyType, columns["attrs"]))
    return Graph(**columns)


#: By number, from 1 on.
_DEVICES = (
    *("cpu", "cuda", "cuda_host", "opencl", "aocl", "sdaccel", "vulkan", "metal", "vpi", "rocm"),
    *("rocm_host", "ext_dev", "cuda_managed", "oneapi", "webgpu", "hexagon", "maia"),
)


def device_name(device_type: int) -> str:
    """Return the name of a ``DLDeviceType`` number (``include/dlpack/dlpack.h``), or the number."""
    if device_type < 0:
        return "unknown device"
    known = 0 < device_type <= len(_DEVICES)
    return _DEVICES[device_type - 1] if known else f"device type {device_type}"


def device_names(graph: Graph | None) -> dict[str, str]:
    """Return the names of the devices of a graph, by number as text."""
    if graph is None or graph.device_types is None:
        return {}
    return {str(number): device_name(number) for number in np.unique(graph.device_types).tolist()}


_KINDS = 256
#: An extra kind, for memory that a program plans for itself.
_BUFFER = 255


LONGEST_LABEL = 40
_FUSED = " + "


def node_title(label: str, node: int, output: int = 0) -> str:
    """Return the title of a node or of one of its outputs, id first: ``"#38:1 conv2d + add"``."""
    place = f"#{node}:{output}" if output else f"#{node}"
    return f"{place} {label}" if label else place


def short_label(text: str, most: int = LONGEST_LABEL) -> str:
    """Shorten a label in the middle, like ``shortName`` in the views: ``"conv2d + … + cast"``.

    Of fused operators the first and the last stay, and as many beside them as there is room for;
    of another name its beginning and its end.
    """
    if len(text) <= most:
        return text
    words = text.split(_FUSED)
    heads = tails = grown = 1
    if len(words) < 3 or len(_cut(words, heads, tails)) > most:
        return f"{text[: most // 2]}…{text[len(text) - (most - most // 2 - 1) :]}"
    while grown:
        grown = 0
        for more in ((1, 0), (0, 1)):
            longer = heads + more[0], tails + more[1]
            if sum(longer) < len(words) and len(_cut(words, *longer)) <= most:
                heads, tails = longer
                grown += 1
    return _cut(words, heads, tails)


def _cut(words: list[str], heads: int, tails: int) -> str:
    return _FUSED.join([*words[:heads], "…", *words[len(words) - tails :]])


def shape_text(shape: Sequence[int]) -> str:
    """``"1×64×8×8"``, ``"scalar"``."""
    return "×".join(map(str, shape)) or "scalar"


def node_label(graph: Graph, node: int) -> str:
    """Return the operators of a node in a few words, or its name."""
    return label(graph.func_names[node], graph.module_prefixes) or graph.names[node]


def tensor_title(tensor: Tensor, graph: Graph | None) -> str:
    """Return the title of a tensor, id first: ``"#38:1 conv2d + add"``."""
    known = graph is not None and tensor.node < graph.num_nodes
    label = node_label(graph, tensor.node) if graph is not None and known else ""
    return node_title(label or tensor.name, tensor.node, tensor.output)


def node_labels(graph: Graph) -> StringColumn:
    """Return the labels of all nodes: operators in a few words, or names."""
    functions = [label(name, graph.module_prefixes) for name in graph.func_names.unique]
    codes = graph.func_names.codes
    plain = np.array([not text for text in functions], np.bool_)[codes]
    names, rows = np.unique(graph.names.codes[plain], return_inverse=True)
    words = [*functions, *(graph.names.unique[code] for code in names.tolist())]
    word_rows = codes.copy()
    word_rows[plain] = rows + len(functions)
    return _column(words, word_rows)


def node_op_kinds(graph: Graph) -> StringColumn:
    """Return the operator families of all nodes."""
    is_buffer = (graph.kinds == NodeKind.INPUT) & ~graph.is_fed
    kinds = np.where(is_buffer, _BUFFER, graph.kinds)
    pairs, rows = np.unique(
        graph.func_names.codes.astype(np.int64) * _KINDS + kinds, return_inverse=True
    )
    names = graph.func_names.unique
    words = (
        "buffer" if pair % _KINDS == _BUFFER else op_kind(names[pair // _KINDS], pair % _KINDS)
        for pair in pairs.tolist()
    )
    return _column(words, rows)


def _column(words: Iterable[str], rows: npt.NDArray[np.integer]) -> StringColumn:
    """Return a column of words by row."""
    table = StringColumn.from_strings(words)
    return StringColumn(table.unique, table.codes[rows])


_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PARAMETERS = frozenset(
    {
        *("weight", "weights", "kernel", "filter", "filters", "bias", "biases", "gamma", "beta"),
        *("param", "params", "parameter", "const", "constant", "constants", "initializer"),
        *("embedding", "embeddings", "embed", "emb", "wte", "wpe", "norm", "tracked"),
        *("scale", "scales", "variance"),
    }
)
_FED = frozenset(
    {
        *("data", "input", "inputs", "image", "images", "img", "ids", "mask", "token", "tokens"),
        *("type", "segment", "placeholder", "x", "y", "query", "key", "value", "state", "hidden"),
        *("placeholders", "feature", "features", "label", "labels", "loader", "cache", "length"),
    }
)
_NUMBERED = re.compile(r"p\d+|_*param(?:eter)?_?\d+|_*const(?:ant)?_?\d+", re.IGNORECASE)
_ENDING = re.compile(
    r"(?:moving|running)_(?:mean|var|variance)|zero_points?|ReadVariableOp|onnx::\w+_\d"
    r"|(?:^|[._/])[wb]_\d+$|[._/][WB]$|(?<![OIHWDGKio0-9])[HWDGKio0-9]*+[OI][OIHWDGKio0-9]*\d[oi]",
    re.DOTALL,
)
_LONGEST = 300


def looks_like_parameter(name: str) -> bool:
    """Tell whether a null node of that name is usually a parameter.

    Relay numbers constants ``p0``, ``p1``, … (``src/relay/backend/graph_executor_codegen.cc``
    @ v0.19.0), NNVM's importers ``_param_1``, …; other names have words that importers give
    weights, and behind these what passes add (``_sc`` and ``_expand`` of
    ``nnvm/src/compiler/fold_scale_axis.cc``, layouts such as ``_OIHW8i8o``).
    """
    if _NUMBERED.fullmatch(name):
        return True
    short = name[-_LONGEST:]
    if _ENDING.search(short):
        return True
    words = [word.lower() for word in _WORD.findall(short)]
    return bool(words) and words[-1] not in _FED and not _PARAMETERS.isdisjoint(words)


def looks_like_input(name: str) -> bool:
    """Return whether a null node of that name is usually fed: ``data``, ``input_ids``."""
    words = [word.lower() for word in _WORD.findall(name[-_LONGEST:])]
    return bool(words) and words[-1] in _FED
