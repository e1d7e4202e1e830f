"""Shapes, types and places of what the nodes of a method hold, as columns of its graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_values import (
    ScalarValue,
    ShapeDynamism,
    TensorValue,
    ValueKind,
)

_SCALARS = {ValueKind.INT: "int64", ValueKind.BOOL: "bool", ValueKind.DOUBLE: "float64"}
#: ``DLDeviceType`` by ``DeviceType``.
_DEVICES = {0: 1, 1: 2}


def entry_columns(
    plan: Plan, held: Sequence[Sequence[int]], placed: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Return the columns of a graph by entry, and which entries are whose."""
    values = [plan.values[index] for each in held for index in each]
    places = [plan.values[index] for each in placed for index in each]
    shapes = [_shape(value) for value in values]
    numbers: dict[Hashable, int] = {}
    keys = [_place(value) for value in places]
    dims = [dim for shape in shapes for dim in shape or ()]
    devices = {each.buffer_idx: each.device_type for each in plan.buffer_devices}
    return {
        "entry_offsets": _offsets([len(each) for each in held]),
        "shape_offsets": _offsets([len(shape or ()) for shape in shapes]),
        "shape_dims": np.array(dims, np.int64),
        "shape_known": np.array([shape is not None for shape in shapes], np.bool_),
        "dtypes": StringColumn.from_strings(map(_dtype, values)),
        "storage_ids": np.array(
            [-1 if key is None else numbers.setdefault(key, len(numbers)) for key in keys], np.int32
        ),
        "device_types": np.array(
            [_DEVICES.get(_device(value, devices), -1) for value in places], np.int32
        ),
    }


def _offsets(counts: list[int]) -> Any:
    return np.concatenate(([0], np.cumsum(np.array(counts, np.int64))))


def _shape(value: object) -> tuple[int, ...] | None:
    if isinstance(value, TensorValue):
        unbound = value.shape_dynamism == ShapeDynamism.DYNAMIC_UNBOUND
        return None if unbound else value.sizes
    return () if isinstance(value, ScalarValue) and value.kind in _SCALARS else None


def _dtype(value: object) -> str:
    if isinstance(value, TensorValue):
        return "" if value.dtype is None else str(value.dtype)
    return _SCALARS.get(value.kind, "") if isinstance(value, ScalarValue) else ""


def _place(value: object) -> Hashable | None:
    if not isinstance(value, TensorValue):
        return None
    if value.allocation is not None:
        return value.allocation
    if value.is_constant:
        return value.name if value.is_external else value.data_buffer_idx
    return None


def _device(value: object, devices: dict[int, int]) -> int:
    if not isinstance(value, TensorValue):
        return 0
    if value.allocation is not None and value.allocation.memory_id in devices:
        return devices[value.allocation.memory_id]
    return 0 if value.extra is None else value.extra.device_type
