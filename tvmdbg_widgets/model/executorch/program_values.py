"""Values of a program: the tensors, numbers and lists that its instructions name by index."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TypeAlias

from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME, runtime_dtype
from tvmdbg_widgets.model.tensors.dtypes import DataType


class ValueKind(enum.IntEnum):
    """``KernelTypes`` of ``schema/program.fbs`` @ v1.4.1."""

    NONE = 0
    NULL = 1
    INT = 2
    BOOL = 3
    DOUBLE = 4
    TENSOR = 5
    STRING = 6
    INT_LIST = 7
    DOUBLE_LIST = 8
    BOOL_LIST = 9
    TENSOR_LIST = 10
    OPTIONAL_TENSOR_LIST = 11


#: Lists whose items are indexes of values.
_OF_VALUES = (ValueKind.INT_LIST, ValueKind.TENSOR_LIST, ValueKind.OPTIONAL_TENSOR_LIST)


class ShapeDynamism(enum.IntEnum):
    """``TensorShapeDynamism``: whether sizes are fixed, upper bounds, or say nothing."""

    STATIC = 0
    DYNAMIC_BOUND = 1
    DYNAMIC_UNBOUND = 2


class TensorLocation(enum.IntEnum):
    """``TensorDataLocation``: whether a tensor's data lie in the program or in a ``.ptd``."""

    SEGMENT = 0
    EXTERNAL = 1


@dataclass(frozen=True, slots=True)
class PlannedPlace:
    """A place in planned memory."""

    memory_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class ExtraTensorInfo:
    """What releases from 0.4 on add to some tensors."""

    mutable_data_segments_idx: int
    fully_qualified_name: str
    location: int
    device_type: int
    device_index: int


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor as the program declares it."""

    scalar_type: int
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    storage_offset: int
    requires_grad: bool
    data_buffer_idx: int
    allocation: PlannedPlace | None
    layout: int
    shape_dynamism: int
    extra: ExtraTensorInfo | None

    @property
    def dtype(self) -> DataType | None:
        """Element type, None where no known type fits the number."""
        return runtime_dtype(self.scalar_type)

    @property
    def nbytes(self) -> int | None:
        """Bytes of a dense tensor of these sizes, None where the element type is unknown."""
        dtype = self.dtype
        if dtype is None or self.shape_dynamism == ShapeDynamism.DYNAMIC_UNBOUND:
            return None
        return math.prod(self.sizes) * dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements of a dense tensor in this dim order, the innermost being 1."""
        found = [1] * len(self.sizes)
        step = 1
        for dim in reversed(self.dim_order):
            found[dim] = step
            step *= max(1, self.sizes[dim])
        return tuple(found)

    @property
    def is_external(self) -> bool:
        """Whether a ``.ptd`` holds its data, under :attr:`name`."""
        return self.extra is not None and self.extra.location == TensorLocation.EXTERNAL

    @property
    def is_constant(self) -> bool:
        """Whether its data are given by a file and never change."""
        return self.allocation is None and (self.is_external or self.data_buffer_idx > 0)

    @property
    def name(self) -> str:
        """Fully qualified name, empty where the file has none."""
        return "" if self.extra is None else self.extra.fully_qualified_name

    def __repr__(self) -> str:
        type_name = RUNTIME.get(self.scalar_type, (f"type {self.scalar_type}",))[0]
        sizes = "×".join(map(str, self.sizes)) or "scalar"
        where = "given at run time"
        if self.is_external:
            where = f"external {self.name!r}"
        elif self.is_constant:
            where = f"constant {self.data_buffer_idx}"
        elif self.allocation is not None:
            where = f"memory {self.allocation.memory_id} at {self.allocation.offset:,}"
        return f"<TensorValue {type_name} {sizes}, {where}>"


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """An Int, Bool, Double or String; instructions may overwrite the first three."""

    kind: ValueKind
    value: int | float | bool | str


@dataclass(frozen=True, slots=True)
class ListValue:
    """A list of any kind."""

    kind: ValueKind
    items: tuple[int | float | bool, ...]

    @property
    def value_indexes(self) -> tuple[int, ...]:
        """Indexes of the values in the list, None left out; empty for literal lists."""
        if self.kind not in _OF_VALUES:
            return ()
        return tuple(int(item) for item in self.items if item >= 0)


@dataclass(frozen=True, slots=True)
class NoValue:
    """None (kind 1), or a value of a kind that is not known (its number)."""

    kind: int


Value: TypeAlias = TensorValue | ScalarValue | ListValue | NoValue
