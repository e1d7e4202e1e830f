"""The values of a program (``EValue`` of ``schema/program.fbs`` @ v1.4.1)."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.executorch.program.unions import members
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.executorch.program_values import (
    ExtraTensorInfo,
    ListValue,
    NoValue,
    PlannedPlace,
    ScalarValue,
    TensorValue,
    Value,
    ValueKind,
)

#: Name, field and element type by kind; strings apart.
_SCALARS = {
    ValueKind.INT: ("Int", "int_val", np.int64),
    ValueKind.BOOL: ("Bool", "bool_val", np.bool_),
    ValueKind.DOUBLE: ("Double", "double_val", np.float64),
}
_LISTS = {
    ValueKind.INT_LIST: ("IntList", np.int64),
    ValueKind.DOUBLE_LIST: ("DoubleList", np.float64),
    ValueKind.BOOL_LIST: ("BoolList", np.bool_),
    ValueKind.TENSOR_LIST: ("TensorList", np.int32),
    ValueKind.OPTIONAL_TENSOR_LIST: ("OptionalTensorList", np.int32),
}


def read_values(values: FlatTables) -> list[Value]:
    """Return the values of some tables ``EValue``."""
    kinds = values.scalar(0, np.uint8, 0, "val_type")
    found: list[Value] = list(map(NoValue, kinds.tolist()))
    for kind, (name, field, dtype) in _SCALARS.items():
        rows, tables = members(values, kinds, kind, name, "val")
        for row, value in zip(rows, tables.scalar(0, dtype, 0, field).tolist(), strict=True):
            found[row] = ScalarValue(kind, value)
    rows, tables = members(values, kinds, ValueKind.STRING, "String", "val")
    for row, text in zip(rows, tables.strings(0, "string_val").column, strict=True):
        found[row] = ScalarValue(ValueKind.STRING, text)
    for kind, (name, dtype) in _LISTS.items():
        rows, tables = members(values, kinds, kind, name, "val")
        for row, items in zip(rows, tables.vector(0, dtype, "items").tuples(), strict=True):
            found[row] = ListValue(kind, items)
    rows, tables = members(values, kinds, ValueKind.TENSOR, "Tensor", "val")
    for row, tensor in zip(rows, _tensors(tables), strict=True):
        found[row] = tensor
    return found


def _tensors(tables: FlatTables) -> list[TensorValue]:
    columns = zip(
        tables.scalar(0, np.int8, 0, "scalar_type").tolist(),
        tables.vector(2, np.int32, "sizes").tuples(),
        tables.vector(3, np.uint8, "dim_order").tuples(),
        tables.scalar(1, np.int32, 0, "storage_offset").tolist(),
        tables.scalar(4, np.bool_, 0, "requires_grad").tolist(),
        tables.scalar(5, np.uint32, 0, "data_buffer_idx").tolist(),
        _places(tables),
        tables.scalar(7, np.int8, 0, "layout").tolist(),
        tables.scalar(8, np.int8, 0, "shape_dynamism").tolist(),
        _extras(tables),
        strict=True,
    )
    return [TensorValue(*each) for each in columns]


def _places(tensors: FlatTables) -> list[PlannedPlace | None]:
    found: list[PlannedPlace | None] = [None] * len(tensors)
    tables, rows = tensors.child(6, "AllocationDetails", "allocation_info")
    columns = (
        tables.scalar(id_, np.uint32, 0, field).tolist()
        for id_, field in enumerate(("memory_id", "memory_offset_low", "memory_offset_high"))
    )
    for row, memory_id, low, high in zip(rows.tolist(), *columns, strict=True):
        found[row] = PlannedPlace(memory_id, high << 32 | low)
    return found


def _extras(tensors: FlatTables) -> list[ExtraTensorInfo | None]:
    found: list[ExtraTensorInfo | None] = [None] * len(tensors)
    tables, rows = tensors.child(9, "ExtraTensorInfo", "extra_tensor_info")
    columns = zip(
        tables.scalar(0, np.uint64, 0, "mutable_data_segments_idx").tolist(),
        tables.strings(1, "fully_qualified_name").column,
        tables.scalar(2, np.int8, 0, "location").tolist(),
        tables.scalar(3, np.int8, 0, "device_type").tolist(),
        tables.scalar(4, np.int8, 0, "device_index").tolist(),
        strict=True,
    )
    for row, each in zip(rows.tolist(), columns, strict=True):
        found[row] = ExtraTensorInfo(*each)
    return found
