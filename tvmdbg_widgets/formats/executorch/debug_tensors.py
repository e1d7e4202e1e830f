"""What the dump says of a logged tensor: type, sizes and strides, each checked."""

from __future__ import annotations

import math

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etdump import DebugTensor
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME, runtime_dtype
from tvmdbg_widgets.model.tensors.dtypes import DataType

#: ``kTensorDimensionLimit``, runtime/core/exec_aten/util/tensor_dimension_limit.h @ v1.4.1.
_MOST_DIMENSIONS = 16
_MOST_BYTES = 1 << 63


def dtype_of(tensor: DebugTensor, file: str) -> DataType:
    """Return the type of a tensor."""
    dtype = runtime_dtype(tensor.scalar_type)
    if dtype is None:
        raise FormatError(
            "values of this type cannot be read",
            file=file,
            field="Tensor.scalar_type",
            expected="a type with a numpy type",
            found=f"{tensor.scalar_type} ({RUNTIME.get(tensor.scalar_type, ('unknown',))[0]})",
        )
    return dtype


def shape_of(tensor: DebugTensor, dtype: DataType, file: str) -> tuple[int, ...]:
    """Return the shape of a tensor."""
    sizes = tensor.sizes
    whole = math.prod(size for size in sizes if size) * dtype.itemsize
    if len(sizes) > _MOST_DIMENSIONS or min(sizes, default=0) < 0 or whole >= _MOST_BYTES:
        raise FormatError(
            "a tensor cannot have these sizes",
            file=file,
            field="Tensor.sizes",
            expected=f"up to {_MOST_DIMENSIONS} sizes of 0 or more, less than 2**63 bytes",
            found=f"{counted(len(sizes), 'size')}, {list(sizes[:_MOST_DIMENSIONS])}",
        )
    return sizes


def strides_of(tensor: DebugTensor, file: str) -> tuple[int, ...]:
    """Return the strides in elements, of axes with one element as in C order."""
    sizes = tensor.sizes
    usual = c_order(sizes)
    if not tensor.strides:
        return usual
    count = math.prod(sizes)
    last = -1
    if len(tensor.strides) == len(sizes) and min(tensor.strides) >= 0:
        last = sum((size - 1) * step for size, step in zip(sizes, tensor.strides, strict=True))
    if not 0 <= last < count:
        raise FormatError(
            "the strides of a tensor lead out of its values",
            file=file,
            field="Tensor.strides",
            expected=f"a stride for each of the sizes {list(sizes)}, "
            f"within {counted(count, 'element')}",
            found=list(tensor.strides[: _MOST_DIMENSIONS + 1]),
        )
    given = zip(sizes, tensor.strides, usual, strict=True)
    return tuple(step if size > 1 else instead for size, step, instead in given)


def c_order(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of an array whose last axis lies closest."""
    return tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))


def stored_bytes(tensor: DebugTensor) -> int:
    """Return the bytes that a tensor takes: at least one an element where its type is unknown."""
    dtype = runtime_dtype(tensor.scalar_type)
    return max(0, math.prod(tensor.sizes)) * (dtype.itemsize if dtype else 1)
