"""Columns of a graph file by entry: offsets, shapes, types, storage, devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.graph.log import (
    INT64_MAX,
    GraphLog,
    int32_list,
    is_int,
    plain_int_lists,
    plain_ints,
    shown,
)
from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.dtypes import canonical

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


def read_entries(top: dict[str, Any], table: NodeTable, most: int, log: GraphLog) -> dict[str, Any]:
    """Read ``node_row_ptr`` and ``attrs``; return the columns of entries in a graph."""
    if table.symbol and top.get("node_row_ptr") is None:
        table.num_outputs = outputs_used(table, top.get("heads"))
    offsets = _entry_offsets(top.get("node_row_ptr"), table, most, log)
    if "node_row_ptr" in top:
        _check_owned(offsets, table, log)
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
    return {
        "entry_offsets": offsets,
        "shape_offsets": shape_offsets,
        "shape_dims": dims,
        "shape_known": known,
        "dtypes": _strings("dltype", types if types is not None else [""] * count, log),
        "storage_ids": _int_column("storage_id", fitted.get("storage_id"), log, low=-(2**31)),
        "device_types": _int_column("device_index", fitted.get("device_index"), log),
        "dtype_flags": flags,
        "storage_scopes": None if scopes is None else _strings("storage_scope", scopes, log),
    }


def _entry_offsets(
    row_ptr: Any, table: NodeTable, limit: int, log: GraphLog
) -> npt.NDArray[np.int64]:
    """Return ``node_row_ptr`` if it is usable, else offsets from ``num_outputs``."""
    count = len(table.names)
    values = plain_ints(row_ptr) if isinstance(row_ptr, list) else None
    changes: dict[str, Any] = {}
    if row_ptr is None and table.symbol:
        return _counted(table, limit, log)
    if row_ptr is None:
        rule, found = "node-row-ptr-missing", "nothing"
    elif values is None:
        rule, found = "node-row-ptr-type", shown(row_ptr)
    elif len(values) != count + 1:
        rule, found = "node-row-ptr-length", f"{len(values)}"
        changes["expected"] = f"{counted(count + 1, 'item')}, one more than nodes"
    elif values[0] != 0:
        rule, found = "node-row-ptr-start", f"{values[0]}"
    elif (values[1:] < values[:-1]).any():
        at = int(np.argmax(values[1:] < values[:-1])) + 1
        rule, found = "node-row-ptr-not-monotonic", f"{values[at]}"
        changes["expected"] = f"node_row_ptr[{at}] >= {values[at - 1]}"
    elif values[-1] > limit:
        rule, found = "node-row-ptr-too-large", f"{values[-1]:,}"
        changes["expected"] = f"at most {counted(limit, 'entry')} in a file this long"
    else:
        return values
    log.add(rule, "node_row_ptr", found, **changes)
    return _counted(table, limit, log)


def _check_owned(offsets: npt.NDArray[np.int64], table: NodeTable, log: GraphLog) -> None:
    """Report nodes with another number of outputs than the offsets have."""
    owned = np.diff(offsets)
    declared = np.array(table.num_outputs, dtype=np.int64)
    null = table.is_null()
    for nid in np.flatnonzero((declared >= 0) & (owned != declared)).tolist():
        rule = "null-node-outputs" if null[nid] else "num-outputs-disagrees"
        whose = "as of every input or parameter" if null[nid] else "the node's num_outputs"
        path = f"node_row_ptr[{nid + 1}] - node_row_ptr[{nid}]"
        log.add(rule, path, owned[nid], (nid,), expected=f"{declared[nid]}, {whose}")


def _counted(table: NodeTable, limit: int, log: GraphLog) -> npt.NDArray[np.int64]:
    owned = np.array(table.num_outputs, dtype=np.int64)
    owned[owned < 0] = 1
    if owned.sum() > limit:
        expected = f"at most {limit:,} in all in a file this long"
        field = "nodes[*].attrs.num_outputs"
        log.add("num-outputs-too-large", field, f"{owned.sum():,}", expected=expected)
        owned[:] = 1
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(owned)])


def _graph_attrs(attrs: Any, table: NodeTable, log: GraphLog) -> dict[str, list[Any]]:
    if not isinstance(attrs, dict):
        log.add("graph-attrs", "attrs", shown(attrs))
        return {}
    for key in () if table.symbol else _REQUIRED:
        if key not in attrs:
            changes: dict[str, Any] = {}
            if key == "dltype" and "dtype" in attrs:
                changes["done"] = "Types are those of attrs.dtype, NNVM's type flags"
            if key == "dltype" and "storage_scope" in attrs:
                changes["loader"] = ""
            log.add("graph-attr-missing", f"attrs.{key}", "nothing", **changes)
    lists: dict[str, list[Any]] = {}
    for key, value in attrs.items():
        tag = value[0] if isinstance(value, list) and value else None
        content = value[1] if isinstance(value, list) and len(value) == 2 else None
        if key not in _TAGS:
            skipped = tag in _SKIPPED_TAGS or table.symbol
            name = shown(key)[1:-1]
            log.add(
                "attr-dropped" if skipped else "attr-unknown-tag",
                f"attrs.{name}",
                f"an attribute with tag {shown(tag)}",
                expected=", ".join(_TAGS),
                loader="" if skipped else f"cannot skip graph attr {name}",
            )
            continue
        if tag != _TAGS[key]:
            log.add(
                "attr-tag",
                f"attrs.{key}[0]",
                shown(tag),
                expected=f'"{_TAGS[key]}"',
                done="The rest is still read" if isinstance(content, list) else "",
                loader=f'Check failed: type == "{_TAGS[key]}"',
            )
        if isinstance(content, list):
            lists[key] = content
        else:
            log.add("attr-not-list", f"attrs.{key}", shown(value))
    return lists


def _fitted(key: str, values: list[Any], count: int, log: GraphLog) -> list[Any]:
    if len(values) == count:
        return values
    expected = f"{counted(count, 'item')}, one for each entry"
    done = "The missing items are unknown" if len(values) < count else "The surplus is left out"
    log.add("attr-length", f"attrs.{key}[1]", len(values), expected=expected, done=done)
    return [*values[:count], *[ABSENT] * (count - len(values))]


def _from_nodes(
    shapes: list[Any] | None,
    types: list[Any] | None,
    offsets: npt.NDArray[np.int64],
    table: NodeTable,
    log: GraphLog,
) -> tuple[list[Any], list[Any]]:
    """Fill in shapes and types of output 0 from the debugger's notes at nodes."""
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
    field = " and ".join(f"attrs.{key}" for key in lacking)
    log.add("entries-from-nodes", field, "nothing")
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
            expected = f"at most {_MOST_DIMENSIONS} integers from 0 to {INT64_MAX}"
            done = "The shape is unknown"
            log.add(
                "attr-item", f"attrs.shape[1][{eid}]", shown(shape), expected=expected, done=done
            )
    lengths = np.array([len(shape) for shape in kept], dtype=np.int64)
    dims = np.array([dim for shape in kept for dim in shape], dtype=np.int64)
    return lengths, dims, known


def _strings(key: str, values: list[Any], log: GraphLog) -> StringColumn:
    if set(map(type, values)) <= {str}:
        return StringColumn.from_strings(values)
    for eid, value in enumerate(values):
        if not isinstance(value, str) and value is not ABSENT:
            log.add("attr-item", f"attrs.{key}[1][{eid}]", shown(value))
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


ABSENT: Any = object()
"""Stands for an item the file does not have (it may well have null)."""

FLAGS = (
    *("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "int16"),
    *("uint16", "uint32", "uint64", "uint1"),
)
#: The flags that mean the same for MXNet; its 7 is bool.
_SHARED_FLAGS = 7
_MOST_OUTPUTS = 1 << 16
_LONGEST = 1000


def types_of_flags(
    types: list[Any] | None, flags: npt.NDArray[np.int32] | None, table: NodeTable, log: GraphLog
) -> list[Any] | None:
    """Fill in data types from NNVM's type flags, and report differences."""
    if flags is None:
        return types
    known = FLAGS[:_SHARED_FLAGS] if table.symbol else FLAGS
    named = [known[flag] if 0 <= flag < len(known) else "" for flag in flags.tolist()]
    if types is None:
        expected = f"a type flag from 0 to {len(known) - 1}"
        for eid, (name, flag) in enumerate(zip(named, flags.tolist(), strict=True)):
            if not name and flag >= 0:
                log.add("dtype-flag-unknown", f"attrs.dtype[1][{eid}]", flag, expected=expected)
        return named
    for eid, (name, text) in enumerate(zip(named, types, strict=True)):
        if name and isinstance(text, str) and text and canonical(text) != canonical(name):
            expected = f"the flag of {shown(text)}, the entry's dltype"
            found = f"{flags[eid]} ({name})"
            log.add("dtype-flag-disagrees", f"attrs.dtype[1][{eid}]", found, expected=expected)
    return types


def symbol_entries(
    shapes: list[Any] | None,
    types: list[Any] | None,
    offsets: npt.NDArray[np.int64],
    table: NodeTable,
) -> tuple[list[Any], list[Any]]:
    """Return known shapes and types of a network that was not compiled."""
    count = int(offsets[-1])
    read_shapes = [ABSENT if _is_open(shape) else shape for shape in shapes or [ABSENT] * count]
    named: list[Any] = list(types or [""] * count)
    starts = offsets.tolist()
    for nid in table.is_null().nonzero()[0].tolist():
        eid = starts[nid]
        if eid == starts[nid + 1]:
            continue
        attrs = table.attrs[nid]
        if read_shapes[eid] is ABSENT:
            read_shapes[eid] = _shape(attrs.get("__shape__", ""))
        flag = attrs.get("__dtype__", "")
        if not named[eid] and flag.isascii() and flag.isdigit() and len(flag) == 1:
            named[eid] = FLAGS[int(flag)] if int(flag) < _SHARED_FLAGS else ""
    return read_shapes, named


def outputs_used(table: NodeTable, heads: Any) -> list[int]:
    """Return the number of outputs per node by the highest one that is read; at least one."""
    used = [1] * len(table.names)
    lists = [*table.inputs, heads if isinstance(heads, list) else []]
    for entry in (entry for entries in lists for entry in entries):
        if isinstance(entry, list) and len(entry) >= 2:
            source, output = entry[0], entry[1]
            if is_int(source, 0, len(used) - 1) and is_int(output, 0, _MOST_OUTPUTS):
                used[source] = max(used[source], output + 1)
    return used


def _is_open(shape: Any) -> bool:
    return isinstance(shape, list) and (not shape or 0 in shape)


def _shape(text: str) -> Any:
    """Read ``"(1, 3, 224, 224)"``; a dimension 0 or -1 is unknown."""
    text = text.strip()
    if len(text) > _LONGEST or text[:1] + text[-1:] not in ("()", "[]"):
        return ABSENT
    dims = [dim.strip().removesuffix("L") for dim in text[1:-1].split(",") if dim.strip()]
    if not dims or not all(dim.isascii() and dim.isdigit() and len(dim) <= 18 for dim in dims):
        return ABSENT
    sizes = [int(dim) for dim in dims]
    return sizes if 0 not in sizes else ABSENT
