"""What a graph file says of each entry: offsets, shapes, types, storage, devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.formats.tvm.graph.offsets import check_owned, entry_offsets
from tvmdbg_widgets.formats.tvm.graph.symbol import (
    ABSENT,
    outputs_used,
    symbol_entries,
    types_of_flags,
)
from tvmdbg_widgets.formats.tvm.graph.values import (
    INT64_MAX,
    int32_list,
    is_int,
    plain_int_lists,
)
from tvmdbg_widgets.model.base.issues import Severity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog
    from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable

#: As many as any array has (numpy); whoever reads an entry compares its shape.
_MOST_DIMENSIONS = 64
_TAGS = {
    "shape": "list_shape",
    "dltype": "list_str",
    "storage_id": "list_int",
    "device_index": "list_int",
    "storage_scope": "list_str",
    "dtype": "list_int",
}
_REQUIRED = ("shape", "dltype", "storage_id")
_SKIPPED_TAGS = ("list_int", "size_t")


@dataclass(frozen=True, slots=True)
class EntryTable:
    """The entry columns of :class:`tvmdbg_widgets.model.graph.graph.Graph`."""

    entry_offsets: npt.NDArray[np.int64]
    shape_offsets: npt.NDArray[np.int64]
    shape_dims: npt.NDArray[np.int64]
    shape_known: npt.NDArray[np.bool_]
    dtypes: StringColumn
    storage_ids: npt.NDArray[np.int32] | None
    device_types: npt.NDArray[np.int32] | None
    dtype_flags: npt.NDArray[np.int32] | None
    storage_scopes: StringColumn | None


def read_entries(top: dict[str, Any], table: NodeTable, limit: int, log: GraphLog) -> EntryTable:
    """Read ``node_row_ptr`` and ``attrs``."""
    if table.symbol and top.get("node_row_ptr") is None:
        table.num_outputs = outputs_used(table, top.get("heads"))
    offsets = entry_offsets(top.get("node_row_ptr"), table, limit, log)
    if "node_row_ptr" in top:
        check_owned(offsets, table, log)
    lists = _graph_attrs(top.get("attrs"), table, log) if "attrs" in top else {}
    count = int(offsets[-1])
    fitted = {key: _fitted(key, values, count, log) for key, values in lists.items()}
    shapes, types = fitted.get("shape"), fitted.get("dltype")
    if table.mutated and (shapes is None or types is None):
        shapes, types = _from_nodes(shapes, types, offsets, table, log)
    flags = _int_column("dtype", fitted.get("dtype"), log, low=-1 if table.symbol else 0)
    types = types_of_flags(types, flags, table, log)
    if table.symbol:
        shapes, types = symbol_entries(shapes, types, offsets, table)
    lengths, dims, known = _shapes(shapes if shapes is not None else [ABSENT] * count, log)
    shape_offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(lengths, out=shape_offsets[1:])
    scopes = fitted.get("storage_scope")
    return EntryTable(
        offsets,
        shape_offsets,
        dims,
        known,
        _strings("dltype", types if types is not None else [""] * count, log),
        _int_column("storage_id", fitted.get("storage_id"), log, low=-(2**31)),
        _int_column("device_index", fitted.get("device_index"), log),
        flags,
        None if scopes is None else _strings("storage_scope", scopes, log),
    )


def _graph_attrs(attrs: Any, table: NodeTable, log: GraphLog) -> dict[str, list[Any]]:
    """Return the lists of the known attributes."""
    if not isinstance(attrs, dict):
        log.add("graph-attrs", "attrs", expected="an object", found=shown(attrs))
        return {}
    for key in _REQUIRED:
        if key not in attrs and not table.symbol:
            excused = key == "dltype" and "storage_scope" in attrs
            log.add(
                "graph-attr-missing",
                f"attrs.{key}",
                expected="a list by entry",
                found="nothing",
                done="Types are those of attrs.dtype, NNVM's type flags"
                if key == "dltype" and "dtype" in attrs
                else "",
                loader="" if excused else "invalid format",
            )
    lists: dict[str, list[Any]] = {}
    for key, value in attrs.items():
        tag = value[0] if isinstance(value, list) and value else None
        content = value[1] if isinstance(value, list) and len(value) == 2 else None
        if key not in _TAGS:
            _tell_skipped(key, tag, table, log)
            continue
        if tag != _TAGS[key]:
            log.add(
                "attr-tag",
                f"attrs.{key}[0]",
                expected=f'"{_TAGS[key]}"',
                found=shown(tag),
                done="What follows is read all the same" if isinstance(content, list) else "",
                loader=f'Check failed: type == "{_TAGS[key]}"',
            )
        if isinstance(content, list):
            lists[key] = content
        else:
            log.add(
                "attr-not-list",
                f"attrs.{key}",
                expected="a type tag and one list",
                found=shown(value),
                done="It is left out",
            )
    return lists


def _tell_skipped(key: str, tag: Any, table: NodeTable, log: GraphLog) -> None:
    skipped = tag in _SKIPPED_TAGS or table.symbol
    log.add(
        "attr-dropped" if skipped else "attr-unknown-tag",
        f"attrs.{shown(key)[1:-1]}",
        expected=", ".join(_TAGS),
        found=f"an attribute with tag {shown(tag)}",
        done="It is left out",
        loader="" if skipped else f"cannot skip graph attr {shown(key)[1:-1]}",
        severity=Severity.NOTE if skipped else Severity.ERROR,
    )


def _fitted(key: str, values: list[Any], count: int, log: GraphLog) -> list[Any]:
    if len(values) == count:
        return values
    log.add(
        "attr-length",
        f"attrs.{key}[1]",
        expected=f"{counted(count, 'item')}, one for each entry",
        found=f"{len(values)}",
        done="What is missing is unknown" if len(values) < count else "The surplus is left out",
    )
    return [*values[:count], *[ABSENT] * (count - len(values))]


def _from_nodes(
    shapes: list[Any] | None,
    types: list[Any] | None,
    offsets: npt.NDArray[np.int64],
    table: NodeTable,
    log: GraphLog,
) -> tuple[list[Any], list[Any]]:
    """Fill in from what the debugger noted at the nodes, for output 0 only."""
    count = int(offsets[-1])
    first = [(nid, int(eid)) for nid, eid in enumerate(offsets[:-1]) if eid < offsets[nid + 1]]
    lacking = [key for key, values in (("shape", shapes), ("dltype", types)) if values is None]
    if shapes is None:
        shapes = [ABSENT] * count
        for nid, eid in first:
            shapes[eid] = ABSENT if table.shapes[nid] is None else table.shapes[nid]
    if types is None:
        types = [""] * count
        for nid, eid in first:
            types[eid] = table.types[nid].removeprefix("type: ")
    log.add(
        "entries-from-nodes",
        " and ".join(f"attrs.{key}" for key in lacking),
        expected="a list by entry",
        found="nothing",
        done="The debugger's notes at each node are shown instead, for output 0 only; TVM v0.7 to "
        "v0.11 writes wrong ones behind a node with several outputs",
        severity=Severity.WARNING,
    )
    return shapes, types


def _shapes(
    shapes: list[Any], log: GraphLog
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return lengths [E], dims and known [E]."""
    fast = plain_int_lists(shapes)
    short = fast is not None and fast[0].max(initial=0) <= _MOST_DIMENSIONS
    if fast is not None and short and fast[1].min(initial=0) >= 0:
        return (*fast, np.ones(len(shapes), dtype=np.bool_))
    kept: list[list[int]] = []
    known = np.zeros(len(shapes), dtype=np.bool_)
    for eid, shape in enumerate(shapes):
        good = (
            isinstance(shape, list)
            and len(shape) <= _MOST_DIMENSIONS
            and all(is_int(dim, 0, INT64_MAX) for dim in shape)
        )
        known[eid] = good
        kept.append(shape if good else [])
        if not good and shape is not ABSENT:
            log.add(
                "attr-item",
                f"attrs.shape[1][{eid}]",
                expected=f"at most {_MOST_DIMENSIONS} integers from 0 to {INT64_MAX}",
                found=shown(shape),
                done="The shape is unknown",
            )
    lengths = np.array([len(shape) for shape in kept], dtype=np.int64)
    dims = np.array([dim for shape in kept for dim in shape], dtype=np.int64)
    return lengths, dims, known


def _strings(key: str, values: list[Any], log: GraphLog) -> StringColumn:
    if set(map(type, values)) <= {str}:
        return StringColumn.from_strings(values)
    for eid, value in enumerate(values):
        if not isinstance(value, str) and value is not ABSENT:
            log.add(
                "attr-item",
                f"attrs.{key}[1][{eid}]",
                expected="a string",
                found=shown(value),
                done="It is left out",
            )
    return StringColumn.from_strings(v if isinstance(v, str) else "" for v in values)


def _int_column(
    key: str, values: list[Any] | None, log: GraphLog, *, low: int = 0
) -> npt.NDArray[np.int32] | None:
    if values is None:
        return None
    reached = len(values)
    while reached and values[reached - 1] is ABSENT:
        reached -= 1
    column = np.full(len(values), -1, dtype=np.int32)
    column[:reached] = int32_list(values[:reached], f"attrs.{key}[1]", "attr-item", log, low=low)
    return column
