"""Operations and bytes per node, counted from the shapes in the graph, never measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.fused_operations import lacks_operands, operations, reads_part
from tvmdbg_widgets.analysis.memory.sizes import known_sizes
from tvmdbg_widgets.analysis.operator_formulas import Bounds, Operand, OperatorCall
from tvmdbg_widgets.analysis.summary import no_graph
from tvmdbg_widgets.model.base.numbers import Trust, as_float, bytes_text, counted
from tvmdbg_widgets.model.base.ranges import frozen
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.model.parts import RunParts

if TYPE_CHECKING:
    import pandas as pd


Floats = npt.NDArray[np.float64]

_CLOSE: Final = 0.01  # largest relative spread of possible counts that is printed as ≈
#: Node attributes that formulas read.
_ATTRS: Final = ("data_layout", "kernel_layout", "weight_layout", "out_layout", "pool_size",
                 "kernel", "axis")  # fmt: skip
_EMPTY: Final = -1


@dataclass(frozen=True)
class NodeWork:
    """Operations and bytes of one node.

    Attributes
    ----------
    node : int
    flops : float
        Operations of one run, NaN unknown; integer ones count the same.
    exact : bool
        False where the number may be off by 1 %, since a function can be fused in several ways.
    bytes : float
        Of all distinct inputs and outputs; values within a fused function are not counted.
    dtype : str
        Of the first input.
    why : tuple of str
        Why something is unknown.
    """

    node: int
    flops: float
    exact: bool
    bytes: float
    dtype: str
    why: tuple[str, ...]

    @property
    def intensity(self) -> float:
        """Operations a byte; NaN where one is unknown, or there are no bytes."""
        return self.flops / self.bytes if self.bytes > 0 else math.nan


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Work:
    """Operations and bytes of the N nodes of a graph; NaN unknown, and for inputs and parameters.

    Attributes
    ----------
    graph : Graph
    flops, bytes : float64 [N]
    exact : bool [N]
    dtypes : tuple of str [N]
    why : mapping of int to tuple of str
        By node id, for operators with unknowns.
    """

    graph: Graph
    flops: Floats
    bytes: Floats
    exact: npt.NDArray[np.bool_]
    dtypes: tuple[str, ...]
    why: MappingProxyType[int, tuple[str, ...]]

    def __getitem__(self, node: int) -> NodeWork:
        """Return the work of one node; IndexError beyond the graph."""
        self.graph.entry_range(node)
        return NodeWork(
            node,
            float(self.flops[node]),
            bool(self.exact[node]),
            float(self.bytes[node]),
            self.dtypes[node],
            self.why.get(node, ()),
        )

    def __len__(self) -> int:
        return len(self.flops)

    def __iter__(self) -> Iterator[NodeWork]:
        return map(self.__getitem__, range(len(self)))

    @property
    def operators(self) -> npt.NDArray[np.int64]:
        """Ids of the nodes that run."""
        return np.flatnonzero(self.graph.kinds >= NodeKind.OPERATOR)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row an operator (needs pandas)."""
        rows = self.operators.tolist()
        return data_frame(
            {
                "node": rows,
                "name": [self.graph.names[node] for node in rows],
                "flops": self.flops[rows],
                "exact": self.exact[rows],
                "bytes": self.bytes[rows],
                "dtype": [self.dtypes[node] for node in rows],
                "why": ["; ".join(self.why.get(node, ())) for node in rows],
            }
        )

    def __repr__(self) -> str:
        rows = self.operators
        known = ~np.isnan(self.flops[rows])
        total = counted(float(np.nansum(self.flops[rows])), "operation")
        if known.sum() < len(rows):
            total += f" known of {int(known.sum()):,}"
        size = bytes_text(int(np.nansum(self.bytes[rows])))
        lines = [f"Work of {counted(len(rows), 'operator')}: {total}; {size} read and written"]
        lines += [f"  #{node}: {'; '.join(why)}" for node, why in list(self.why.items())[:10]]
        more = len(self.why) - 10
        return "\n".join([*lines, *([f"  … {more} more"] if more > 0 else [])])


def work_of(run: RunParts) -> Work:
    """Return the work of the graph of a run."""
    if run.graph is None:
        why = "operations and bytes are counted from shapes, which are in the graph"
        raise ValueError(no_graph(run, why))
    return work(run.graph)


def work(graph: Graph) -> Work:
    """Count operations and bytes of every node of a graph, NaN with a reason where unknown."""
    count = graph.num_nodes
    flops, size = np.full(count, np.nan), np.full(count, np.nan)
    exact = np.ones(count, np.bool_)
    dtypes, why = [""] * count, {}
    reader = _WorkReader(graph)
    kinds = graph.kinds.tolist()
    for node in np.flatnonzero(graph.kinds >= NodeKind.OPERATOR).tolist():
        read, unsure = reader.inputs(node)
        dtypes[node] = reader.dtypes[read[0]] if read and read[0] >= 0 else ""
        reasons = []
        bounds = reader.operations(node, read)
        if math.isnan(bounds.least):
            reasons.append(f"operations unknown: {bounds.why}")
        elif bounds.most - bounds.least > _CLOSE * bounds.most:
            reasons.append(
                f"operations unknown: between {bounds.least:,.0f} and {bounds.most:,.0f}, by what "
                "its operators read"
            )
        else:
            flops[node] = (bounds.least + bounds.most) / 2
            exact[node] = bounds.least == bounds.most
        moved = 0.0 if kinds[node] == NodeKind.NOP else reader.bytes(node, read)
        if unsure and kinds[node] != NodeKind.NOP:
            reasons.append("bytes unknown: what it reads is not certain")
        elif isinstance(moved, str):
            reasons.append(f"bytes unknown: {moved}")
        else:
            size[node] = moved
        if reasons:
            why[node] = tuple(reasons)
    columns = frozen(flops), frozen(size), frozen(exact)
    return Work(graph, *columns, tuple(dtypes), MappingProxyType(why))


class _WorkReader:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._sizes: list[float] = known_sizes(graph).tolist()
        self._offsets: list[int] = graph.entry_offsets.tolist()
        self._counted: dict[Any, Bounds] = {}
        owner = np.repeat(graph.kinds == NodeKind.PARAMETER, np.diff(graph.entry_offsets))
        self._constant: list[bool] = owner.tolist()
        ends = graph.shape_offsets.tolist()
        dims = graph.shape_dims.tolist()
        self._shapes = [
            tuple(dims[ends[entry] : ends[entry + 1]]) if known else None
            for entry, known in enumerate(graph.shape_known.tolist())
        ]
        self.dtypes = list(graph.dtypes)
        source = graph.edge_source
        whole = np.where(source >= 0, graph.entry_offsets[np.maximum(source, 0)], _EMPTY)
        self._entry = np.where(source >= 0, whole + graph.edge_output, _EMPTY).tolist()
        self._trust = graph.edge_trust.tolist()
        self._edges = np.searchsorted(graph.edge_target, np.arange(graph.num_nodes + 1)).tolist()

    def inputs(self, node: int) -> tuple[list[int], bool]:
        edges = range(self._edges[node], self._edges[node + 1])
        entries = [
            self._entry[edge]
            if self._trust[edge] != Trust.AMBIGUOUS or self._same_entry(edge)
            else _EMPTY
            for edge in edges
        ]
        return entries, _EMPTY in entries

    def _same_entry(self, edge: int) -> bool:
        nodes = self._graph.edge_candidates.get(edge, ())
        entries = [
            entry for node in nodes for entry in range(self._offsets[node], self._offsets[node + 1])
        ]
        kinds = {(self._shapes[entry], self.dtypes[entry]) for entry in entries}
        return len(kinds) == 1

    def operations(self, node: int, read: list[int]) -> Bounds:
        graph = self._graph
        written = range(self._offsets[node], self._offsets[node + 1])
        attrs = graph.attrs[node]
        code = int(graph.func_names.codes[node])
        attr_values = tuple(attrs.get(name, "") for name in _ATTRS)
        operands = tuple(
            Operand(self._shapes[entry], self.dtypes[entry], self._constant[entry])
            if entry >= 0
            else Operand(None, "", False)
            for entry in read
        )
        outputs = tuple(self._shapes[entry] for entry in written)
        key = (code, operands, outputs, attr_values)
        if key not in self._counted:
            name = graph.func_names.unique[code]
            call = OperatorCall(parts(name), operands, outputs, attrs)
            bounds = operations(call, name)
            if math.isinf(as_float(bounds.most)):
                bounds = Bounds.unknown("the shapes make more of them than a float holds")
            self._counted[key] = bounds
        return self._counted[key]

    def bytes(self, node: int, read: list[int]) -> float | str:
        own = parts(self._graph.func_names[node])
        if lacks_operands(own, len(read)):
            return "it reads nothing"
        written = sum(self._sizes[self._offsets[node] : self._offsets[node + 1]])
        if any(map(reads_part, own)):
            part = next(filter(reads_part, own))
            if len(own) > 1:
                return f"{part} may read a part of its operand only"
            others = sum(self._sizes[entry] for entry in dict.fromkeys(read[1:]))
            first = self._sizes[read[0]] if read else 0.0
            total = written + others + min(first, written)
        else:
            total = written + sum(self._sizes[entry] for entry in dict.fromkeys(read))
        if math.isinf(total):
            return "the shapes make more of them than a float holds"
        if math.isnan(total):
            return "the graph does not tell the size of all it reads and writes"
        return total
