"""What the columns of a graph must satisfy, and how null nodes are told apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Collection

    from tvmdbg_widgets.model.base.strings import StringColumn
    from tvmdbg_widgets.model.graph.graph import Graph

DTYPES: dict[str, type[np.generic]] = {
    "kinds": np.uint8,
    "parameter_trust": np.uint8,
    "entry_offsets": np.int64,
    "edge_source": np.int32,
    "edge_output": np.int32,
    "edge_target": np.int32,
    "edge_position": np.int32,
    "edge_trust": np.uint8,
    "heads": np.int32,
    "arg_nodes": np.int32,
    "shape_offsets": np.int64,
    "shape_dims": np.int64,
    "shape_known": np.bool_,
    "control_source": np.int32,
    "control_target": np.int32,
    "storage_ids": np.int32,
    "device_types": np.int32,
    "dtype_flags": np.int32,
}
"""Element type of every array column."""

_PARAMETER = re.compile(
    r"p\d+|(?:.*[^a-z])?(?:weights?|bias|gamma|beta|(?:moving|running)_(?:mean|var|variance))"
    r"(?:_?\d+)?",
    re.IGNORECASE | re.DOTALL,
)


def frozen(array: npt.ArrayLike, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return `array` as a contiguous read-only array of `dtype`."""
    column = np.ascontiguousarray(array, dtype=dtype).view()
    column.flags.writeable = False
    return column


def counted(count: int, noun: str) -> str:
    """Return ``"1 node"``, ``"2 nodes"``, ``"72 entries"``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"


def looks_like_parameter(name: str) -> bool:
    """Tell whether a null node of that name is usually a parameter.

    Relay numbers constants ``p0``, ``p1``, … (``src/relay/backend/graph_executor_codegen.cc``
    @ v0.19.0); the other endings are those the importers give weights.
    """
    return _PARAMETER.fullmatch(name) is not None


def parameters_by_name(
    names: StringColumn, kinds: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return `kinds` and their trust with null nodes guessed by name (uint8 [N] both)."""
    likely = np.array([looks_like_parameter(name) for name in names.unique], dtype=np.bool_)
    return _told_apart(kinds, likely[names.codes], Trust.BY_NAME)


def parameters_by_file(
    names: StringColumn, kinds: npt.NDArray[np.uint8], listed: Collection[str]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return `kinds` and their trust with null nodes told apart by a params file's names."""
    wanted = set(listed)
    named = np.array([name in wanted for name in names.unique], dtype=np.bool_)
    return _told_apart(kinds, named[names.codes], Trust.EXACT)


def _told_apart(
    kinds: npt.NDArray[np.uint8], is_parameter: npt.NDArray[np.bool_], grade: Trust
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    null = (kinds == NodeKind.INPUT) | (kinds == NodeKind.PARAMETER)
    parameter = null & is_parameter
    changed = np.where(null, np.uint8(NodeKind.INPUT), kinds)
    changed = np.where(parameter, np.uint8(NodeKind.PARAMETER), changed)
    trust = np.where(parameter, np.uint8(grade), np.uint8(Trust.ABSENT))
    return changed, trust


def require_consistent(graph: Graph) -> None:
    """Check that the columns fit each other.

    Raises
    ------
    ValueError
        Naming the first column that does not fit.
    """
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
            raise ValueError(f"{name} has {len(column)} items, not {length}")
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
    graph: Graph, what: str, node: npt.NDArray[np.int32], output: npt.NDArray[np.int32]
) -> None:
    if node.size and node.max() >= graph.num_nodes:
        raise ValueError(f"{what} name nodes beyond {graph.num_nodes - 1}")
    known = node >= 0
    owned = np.diff(graph.entry_offsets)[node[known]]
    if ((output[known] < 0) | (output[known] >= owned)).any():
        raise ValueError(f"{what} name outputs their nodes do not have")
