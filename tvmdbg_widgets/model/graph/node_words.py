"""Columns of words about the nodes of a graph, made without looking at each node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.labels import label
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.tensors.tensors import Tensor

_KINDS = 256
#: The number of a kind that no node has, for memory that a program plans for itself.
_BUFFER = 255


def node_title(label: str, node: int, output: int = 0) -> str:
    """Return what a node, or one of its outputs, is called everywhere: ``"conv2d + add #38:1"``."""
    place = f"#{node}:{output}" if output else f"#{node}"
    return f"{label} {place}" if label else place


def shape_text(shape: Sequence[int]) -> str:
    """``"1×64×8×8"``, ``"scalar"``."""
    return "×".join(map(str, shape)) or "scalar"


def node_label(graph: Graph, node: int) -> str:
    """Return the operators of a node in a few words, of a node without any its name."""
    return label(graph.func_names[node], graph.module_prefixes) or graph.names[node]


def tensor_title(tensor: Tensor, graph: Graph | None) -> str:
    """Return what a tensor is called: after its node, without a graph by its own name."""
    known = graph is not None and tensor.node < graph.num_nodes
    said = node_label(graph, tensor.node) if graph is not None and known else ""
    return node_title(said or tensor.name, tensor.node, tensor.output)


def node_labels(graph: Graph) -> StringColumn:
    """Return the operators of each node in a few words, of a node without any its name."""
    functions = [label(name, graph.module_prefixes) for name in graph.func_names.unique]
    codes = graph.func_names.codes
    plain = np.array([not text for text in functions], np.bool_)[codes]
    names, rows = np.unique(graph.names.codes[plain], return_inverse=True)
    words = [*functions, *(graph.names.unique[code] for code in names.tolist())]
    found = codes.copy()
    found[plain] = rows + len(functions)
    return _column(words, found)


def node_op_kinds(graph: Graph) -> StringColumn:
    """Return the family of operators of each node."""
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
    """Return the words of some rows, equal ones as one."""
    table = StringColumn.from_strings(words)
    return StringColumn(table.unique, table.codes[rows])
