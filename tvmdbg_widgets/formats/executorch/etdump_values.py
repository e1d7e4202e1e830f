"""The values that debug events logged (``Value`` of ``etdump_schema_flatcc.fbs``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ValueType

#: The member of ``Value`` that holds a scalar of each type: its id, table and number type.
_SCALARS: dict[int, tuple[int, str, npt.DTypeLike]] = {
    ValueType.INT: (3, "Int", np.int64),
    ValueType.FLOAT: (4, "Float", np.float32),
    ValueType.DOUBLE: (5, "Double", np.float64),
    ValueType.BOOL: (6, "Bool", np.bool_),
}


def read_values(debug: FlatTables, rows: npt.NDArray[np.int64]) -> dict[int, DebugValue]:
    """Return the logged value of each debug event that has one."""
    values, there = debug.child(2, "Value", "debug_entry")
    kinds = values.scalar(0, np.int8, 0, "val").tolist()
    flag, flagged = values.child(7, "Bool", "output")
    outputs: list[bool | None] = [None] * len(values)
    for row, said in zip(flagged.tolist(), flag.scalar(0, np.bool_, 0, "bool_val"), strict=True):
        outputs[row] = bool(said)
    found: dict[int, dict[int, Any]] = {}
    for kind, (id_, table, dtype) in _SCALARS.items():
        name = table.lower()
        held, of = values.child(id_, table, f"{name}_value")
        numbers = held.scalar(0, dtype, 0, f"{name}_val").tolist()
        found[kind] = dict(zip(of.tolist(), numbers, strict=True))
    tensor, of = values.child(1, "Tensor", "tensor")
    found[ValueType.TENSOR] = dict(zip(of.tolist(), _tensors(tensor), strict=True))
    lists, of = values.child(2, "TensorList", "tensor_list")
    which, items = lists.children(0, "Tensor", "tensors")
    tensors = _tensors(items)
    found[ValueType.TENSOR_LIST] = {
        row: tuple(tensors[at] for at in which.of(number).tolist())
        for number, row in enumerate(of.tolist())
    }
    return {
        row: DebugValue(kind, found.get(kind, {}).get(at), outputs[at])
        for at, (row, kind) in enumerate(zip(rows[there].tolist(), kinds, strict=True))
    }


def _tensors(tables: FlatTables) -> list[DebugTensor]:
    kinds = tables.scalar(0, np.int8, 0, "scalar_type").tolist()
    sizes = tables.vector(1, np.int64, "sizes")
    strides = tables.vector(2, np.int64, "strides")
    offsets = tables.scalar(3, np.int64, 0, "offset").tolist()
    return [
        DebugTensor(
            kinds[at], tuple(sizes.of(at).tolist()), tuple(strides.of(at).tolist()), offsets[at]
        )
        for at in range(len(tables))
    ]
