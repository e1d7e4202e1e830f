"""What NNVM and MXNet say of entries in ways of their own: type flags, shapes, outputs used.

``nnvm/src/pass/saveload_json.cc``, ``nnvm/src/compiler/compile_engine.cc`` @ v0.6.0 (the flags);
``include/nnvm/tuple.h``: a shape without dimensions, or a dimension 0, is not known yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tvm.graph.log import GraphLog, is_int, shown
from tvmdbg_widgets.formats.tvm.graph.nodes import NodeTable
from tvmdbg_widgets.model.tensors.dtypes import canonical

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


ABSENT: Any = object()
"""Stands for an item the file does not have (it may well have null)."""

#: NNVM's type flags.
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
    """Fill in data types from NNVM's type flags, and tell where both are there and differ."""
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
    """Return shapes and types of a network that was not compiled, what is not known left out."""
    count = int(offsets[-1])
    found = [ABSENT if _is_open(shape) else shape for shape in shapes or [ABSENT] * count]
    named: list[Any] = list(types or [""] * count)
    starts = offsets.tolist()
    for nid in table.is_null().nonzero()[0].tolist():
        eid = starts[nid]
        if eid == starts[nid + 1]:
            continue
        attrs = table.attrs[nid]
        if found[eid] is ABSENT:
            found[eid] = _shape(attrs.get("__shape__", ""))
        flag = attrs.get("__dtype__", "")
        if not named[eid] and flag.isascii() and flag.isdigit() and len(flag) == 1:
            named[eid] = FLAGS[int(flag)] if int(flag) < _SHARED_FLAGS else ""
    return found, named


def outputs_used(table: NodeTable, heads: Any) -> list[int]:
    """Count the outputs of each node by the highest one that is read; at least one each."""
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
    """Read ``"(1, 3, 224, 224)"``; a dimension 0 or -1 is not known."""
    text = text.strip()
    if len(text) > _LONGEST or text[:1] + text[-1:] not in ("()", "[]"):
        return ABSENT
    dims = [dim.strip().removesuffix("L") for dim in text[1:-1].split(",") if dim.strip()]
    if not dims or not all(dim.isascii() and dim.isdigit() and len(dim) <= 18 for dim in dims):
        return ABSENT
    found = [int(dim) for dim in dims]
    return found if 0 not in found else ABSENT
