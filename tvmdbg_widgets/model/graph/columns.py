"""The columns of a graph, checked for consistent lengths and ids."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn, freeze
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import Issues
from tvmdbg_widgets.model.graph.operators import Adjacency, module_prefixes

#: Roles of nodes, empty for operators; memory that a program plans for itself is no input.
ROLES = ("", "input", "parameter", "mutable buffer", "buffer without a start value")


def _no_nodes() -> npt.NDArray[np.int32]:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class GraphColumns:
    """A graph as columns: N nodes, E entries, M edges. Every array is read-only.

    Attributes
    ----------
    names, func_names : StringColumn [N]
        Names are not unique. A function name is ``""`` for inputs and parameters.
    kinds : uint8 [N]
        :class:`NodeKind`.
    parameter_trust : uint8 [N]
        :class:`Trust` in an input being one, or a parameter: ``EXACT`` where a params file or a
        program tells, ``BY_ORDER`` where the structure of the graph does, ``BY_NAME`` where the
        name does, ``ABSENT`` where nothing does, and for operators.
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
        True where the file is not standard JSON but was still read.
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
        freeze(self)
        object.__setattr__(self, "edge_candidates", MappingProxyType(dict(self.edge_candidates)))
        _require_consistent(self)

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

    def entry_id(self, node: int, output: int = 0) -> int:
        """Return the position of an entry in the entry columns.

        Raises
        ------
        IndexError
            Where the graph has no such node or the node no such output.
        """
        entries = self.entry_range(node)
        if not 0 <= output < len(entries):
            raise IndexError(f"output {output} of node {node}, which has {len(entries)}")
        return entries[output]

    def shape(self, node: int, output: int = 0) -> tuple[int, ...] | None:
        """Return the shape of an entry, None where unknown."""
        entry = self.entry_id(node, output)
        if not self.shape_known[entry]:
            return None
        start, end = self.shape_offsets[entry], self.shape_offsets[entry + 1]
        return tuple(self.shape_dims[start:end].tolist())

    @cached_property
    def entry_shapes(self) -> tuple[tuple[int, ...] | None, ...]:
        """Shape of every entry, None where unknown; equal ones are one object."""
        dims, ends = self.shape_dims.tolist(), self.shape_offsets.tolist()
        one: dict[tuple[int, ...], tuple[int, ...]] = {}
        shapes = (tuple(dims[start:end]) for start, end in itertools.pairwise(ends))
        known = self.shape_known.tolist()
        return tuple(
            one.setdefault(shape, shape) if is_known else None
            for shape, is_known in zip(shapes, known, strict=True)
        )

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
        return frozenset(name for attrs in self.attrs for name in attrs)

    @cached_property
    def module_prefixes(self) -> tuple[str, ...]:
        """Module prefixes of the functions' names: ``("tvmgen_default_",)``."""
        codes = self.func_names.codes
        has = {row for row, attrs in enumerate(self.attrs) if "Compiler" in attrs}
        given = {int(codes[row]): self.attrs[row]["Compiler"] for row in sorted(has)}
        names = enumerate(self.func_names.unique)
        return module_prefixes((name, given.get(code, "")) for code, name in names)

    def in_edges(self, node: int) -> npt.NDArray[np.int32]:
        """Return the edges into a node (positions in the edge columns), by operand position."""
        return self._by_target[node]

    def out_edges(self, node: int) -> npt.NDArray[np.int32]:
        """Return the edges out of a node (positions in the edge columns), ascending."""
        return self._by_source[node]

    def readers(self, node: int, output: int = 0) -> npt.NDArray[np.int32]:
        """Return the edges that read an entry; none if the node has no such output."""
        entries = self.entry_range(node)
        return self._by_entry[entries[output]] if output < len(entries) else np.zeros(0, np.int32)

    @cached_property
    def roles(self) -> StringColumn:
        """The :attr:`Node.role` of every node as a column."""
        codes = np.zeros(self.num_nodes, np.int32)
        codes[self.kinds == 0] = ROLES.index("input")
        codes[self.kinds == 1] = ROLES.index("parameter")
        if self.planned_memory is not None:
            codes[self.planned_memory.kept] = ROLES.index("mutable buffer")
            codes[self.planned_memory.scratch] = ROLES.index("buffer without a start value")
        return StringColumn(ROLES, codes)

    @property
    def is_fed(self) -> npt.NDArray[np.bool_]:
        """Mask of inputs, without memory that a program plans for itself (bool [N])."""
        return np.equal(self.roles.codes, ROLES.index("input"))

    def entry_range(self, node: int) -> range:
        """Return the entry ids of a node.

        Raises
        ------
        IndexError
            Where the graph has no such node.
        """
        if not 0 <= node < self.num_nodes:
            raise IndexError(f"no node {node}; ids are 0 to {self.num_nodes - 1}")
        return range(int(self.entry_offsets[node]), int(self.entry_offsets[node + 1]))


def _require_consistent(graph: GraphColumns) -> None:
    """Check that the columns fit together."""
    nodes, entries, edges = graph.num_nodes, int(graph.entry_offsets[-1]), graph.num_edges
    lengths: list[tuple[str, int]] = [
        *((name, nodes) for name in ("func_names", "kinds", "parameter_trust", "attrs")),
        *((f"edge_{name}", edges) for name in ("output", "target", "position", "trust")),
        *((name, entries) for name in ("shape_known", "dtypes")),
        *((name, entries) for name in ("storage_ids", "device_types", "storage_scopes")),
        *((name, entries) for name in ("dtype_flags", "planned_memory")),
        ("entry_offsets", nodes + 1),
        ("shape_offsets", entries + 1),
        ("shape_dims", int(graph.shape_offsets[-1])),
        ("control_target", len(graph.control_source)),
    ]
    for name, length in lengths:
        column = getattr(graph, name)
        if column is not None and len(column) != length:
            raise ValueError(f"{name} has {counted(len(column), 'item')}, not {length}")
    for name in ("entry_offsets", "shape_offsets"):
        offsets = getattr(graph, name)
        if offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError(f"{name} must start at 0 and never fall")
    for name in ("edge_source", "edge_target", "arg_nodes", "control_source", "control_target"):
        column = getattr(graph, name)
        lowest = -1 if name == "edge_source" else 0
        if column.size and not (lowest <= column.min() and column.max() < nodes):
            raise ValueError(f"{name} must lie in {lowest}..{nodes - 1}")
    if graph.heads.ndim != 2 or graph.heads.shape[1] != 2:
        raise ValueError(f"heads must be of shape [H, 2], not {graph.heads.shape}")
    keys = graph.edge_target.astype(np.int64) << 32 | graph.edge_position
    if (np.diff(keys) <= 0).any():
        raise ValueError("edges must be sorted by target, then position, each once")
    _require_entries(graph, "edges", graph.edge_source, graph.edge_output)
    _require_entries(graph, "heads", graph.heads[:, 0], graph.heads[:, 1])
    if graph.heads.size and graph.heads.min() < 0:
        raise ValueError("heads must not be negative")


def _require_entries(
    graph: GraphColumns, what: str, node: npt.NDArray[np.int32], output: npt.NDArray[np.int32]
) -> None:
    if node.size and node.max() >= graph.num_nodes:
        raise ValueError(f"{what} name nodes beyond {graph.num_nodes - 1}")
    known = node >= 0
    owned = np.diff(graph.entry_offsets)[node[known]]
    if ((output[known] < 0) | (output[known] >= owned)).any():
        raise ValueError(f"{what} name outputs their nodes do not have")


@dataclass(frozen=True, eq=False)
class PlannedMemory:
    """The memory plan of an ExecuTorch method, for the E entries and the nodes of its graph.

    Nodes run in the order of their ids, loops aside. All arrays are read-only.
    """

    buffer_sizes: tuple[int, ...]
    buffers: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    kept: npt.NDArray[np.int32]
    scratch: npt.NDArray[np.int32]
    loops: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        freeze(self)
        if len(self.offsets) != len(self.buffers):
            raise ValueError(
                f"offsets has {counted(len(self.offsets), 'item')}, not {len(self.buffers)}"
            )
        if self.buffers.size and self.buffers.max() >= len(self.buffer_sizes):
            raise ValueError(f"buffers must lie below {len(self.buffer_sizes)}")

    def __len__(self) -> int:
        return len(self.buffers)

    @property
    def total(self) -> int:
        """Size of all buffers in bytes."""
        return sum(self.buffer_sizes)

    @property
    def num_buffers(self) -> int:
        """Number of buffers that are not empty."""
        return sum(size > 0 for size in self.buffer_sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        columns = (self.buffers, self.offsets, self.kept, self.scratch, self.loops)
        return PlannedMemory, (self.buffer_sizes, *columns)
