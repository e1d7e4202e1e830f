"""The debug buffer: bytes of the tensors that an ETDump logs.

``devtools/etdump/data_sinks/buffer_data_sink.cpp`` @ v1.4.1. It has no header; only the dump has
the offsets. Little endian, each tensor in the order of its strides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.foreign import has_kind
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity, listed
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ETDump, ValueType
from tvmdbg_widgets.model.executorch.scalar_types import RUNTIME, dense_strides, runtime_dtype
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.strided import StridedSource

#: A logged value; None where it is not known.
Inflated: TypeAlias = npt.NDArray[Any] | list[npt.NDArray[Any] | None] | int | float | bool | None

#: The types that ``_parse_tensor_value`` knows, as ``scalar_type.fbs`` numbers them.
OF_INSPECTOR: Final = frozenset((*range(8), 11, 22, 27))
_MEMBERS: Final = {
    ValueType.INT: "Int",
    ValueType.BOOL: "Bool",
    ValueType.FLOAT: "Float",
    ValueType.DOUBLE: "Double",
    ValueType.TENSOR_LIST: "TensorList",
}
_BLOCK = 1 << 18


class DebugBufferFile:
    """A debug buffer, read on demand."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source

    def record(self, tensor: DebugTensor, key: str) -> ArrayRecord:
        """Return a tensor as an array of the file with values in C order."""
        source = self.source
        dtype = dtype_of(tensor, source.name)
        shape = shape_of(tensor, dtype, source.name)
        nbytes = math.prod(shape) * dtype.itemsize
        if not nbytes:
            return ArrayRecord(key, dtype, shape, 0, 0, source)
        if tensor.offset < 0 or tensor.offset + nbytes > source.size:
            raise FormatError(
                f"offset {tensor.offset:,} of a tensor of {counted(nbytes, 'byte')} lies beyond "
                "the debug buffer: does it belong to another run?",
                file=source.name,
                field="Tensor.offset",
                offset=max(0, tensor.offset),
                expected=f"{counted(nbytes, 'byte')} from there on",
                found=f"{counted(source.size, 'byte')} in the whole buffer",
                hint="Give the debug buffer that was written with this ETDump.",
            )
        strides = strides_of(tensor, source.name)
        if strides == dense_strides(shape):
            return ArrayRecord(key, dtype, shape, nbytes, tensor.offset, source)
        ordered = StridedSource(source, tensor.offset, shape, strides, dtype.itemsize)
        note = f"stored with strides {list(strides)} at byte {tensor.offset:,}, shown in C order"
        return ArrayRecord(key, dtype, shape, nbytes, 0, ordered, (note,))

    def issues(self, dump: ETDump) -> Issues:
        """Report bytes that no value of the dump owns; the runtime writes unused bytes too."""
        used, size = needed_size(dump), self.source.size
        name = self.source.name
        if used > size:
            text = (
                f"the dump's values take {counted(used, 'byte')}, the debug buffer has {size:,}: "
                "it is cut off or belongs to another run"
            )
            return Issues([Issue("debug-buffer-short", IssueSeverity.ERROR, text, file=name)])
        if used == size:
            return Issues()
        tail = (
            f"the last {size - used:,} of {counted(size, 'byte')} {agree(size - used, 'belongs')} "
            "to no value"
        )
        read, starts = self.source.read, range(used, size, _BLOCK)
        blocks = (read(at, min(_BLOCK, size - at)) for at in starts)
        if all(block.count(0) == len(block) for block in blocks):
            text = f"{tail} and are zero: that much of the buffer was not used"
            return Issues([Issue("debug-buffer-unused", IssueSeverity.NOTE, text, file=name)])
        text = f"{tail} but are not zero: the buffer may belong to another run"
        return Issues([Issue("debug-buffer-other", IssueSeverity.WARNING, text, file=name)])

    def __repr__(self) -> str:
        return f"DebugBuffer({self.source.name!r}, {counted(self.source.size, 'byte')})"


def needed_size(dump: ETDump) -> int:
    """Return the size of a debug buffer that holds every tensor of a dump."""
    tensors = (tensor for value in dump.values.values() for tensor in value.tensors)
    ends = (tensor.offset + stored_bytes(tensor) for tensor in tensors if stored_bytes(tensor))
    return max(ends, default=0)


def inflated(
    value: DebugValue, buffer: DebugBufferFile | None, *, compat: bool = False
) -> Inflated:
    """Return a logged value as arrays or numbers."""
    if compat:
        return _as_inspector(value, buffer)
    if isinstance(value.value, DebugTensor):
        return _array(value.value, buffer)
    if isinstance(value.value, tuple):
        return [_array(tensor, buffer) for tensor in value.value]
    return value.value


def _array(tensor: DebugTensor, buffer: DebugBufferFile | None) -> npt.NDArray[Any] | None:
    return None if buffer is None else buffer.record(tensor, "").numpy()


def _as_inspector(value: DebugValue, buffer: DebugBufferFile | None) -> Inflated:
    if value.value is None:
        if value.type == ValueType.TENSOR:
            raise ValueError("Tensor cannot be None")
        if value.type in _MEMBERS:
            name = _MEMBERS[ValueType(value.type)]
            raise ValueError(f"Expected {name} value, `None` provided")
        return None
    if isinstance(value.value, DebugTensor):
        return _ignoring_strides(value.value, buffer)
    if isinstance(value.value, tuple):
        return [_ignoring_strides(tensor, buffer) for tensor in value.value]
    return value.value


def _ignoring_strides(tensor: DebugTensor, buffer: DebugBufferFile | None) -> npt.NDArray[Any]:
    number = tensor.scalar_type
    if number not in OF_INSPECTOR:
        raise RuntimeError(f"Unsupported scalar type in get_scalar_type_size : {number}")
    file = "debug buffer" if buffer is None else buffer.source.name
    kind = dtype_of(tensor, file)
    shape, dtype = shape_of(tensor, kind, file), np.dtype(kind.numpy_dtype)
    nbytes = math.prod(shape) * dtype.itemsize
    if buffer is None or not nbytes:
        return np.broadcast_to(np.zeros((), dtype), shape)
    start, stop, _ = slice(tensor.offset, tensor.offset + nbytes).indices(buffer.source.size)
    available = max(0, stop - start)
    if not available:
        raise ValueError(f"both buffer length ({available}) and count (-1) must not be 0")
    if available % dtype.itemsize:
        raise ValueError(
            f"buffer length ({available} bytes) after offset (0 bytes) must be a multiple of "
            f"element size ({dtype.itemsize})"
        )
    if available < nbytes:
        size = available // dtype.itemsize
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    data = np.frombuffer(bytearray(buffer.source.read(start, available)), np.uint8)
    flat = data != 0 if dtype.kind == "b" else data.view(dtype)
    return flat.reshape(shape)


def choose_buffer(dump: ETDump, unknown: Sequence[ByteSource]) -> ByteSource | None:
    """Return the one unknown file that is large enough for all values of a dump, or None."""
    needed = needed_size(dump)
    fitting = [file for file in unknown if 0 < needed <= file.size and not has_kind(file)]
    if len(fitting) > 1:
        raise FormatError(
            f"{counted(len(fitting), 'file')} may be the debug buffer of this dump",
            file=dump.file,
            expected=f"one file of {counted(needed, 'byte')} or more, which no reader knows",
            found=listed([source.name for source in fitting]),
            hint="Say which: open(…, debug_buffer='debug_buffer.bin').",
        )
    return fitting[0] if fitting else None


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
    """Return the checked shape of a tensor."""
    sizes = tensor.sizes
    nbytes = math.prod(size for size in sizes if size) * dtype.itemsize
    if len(sizes) > _MOST_DIMENSIONS or min(sizes, default=0) < 0 or nbytes >= _MOST_BYTES:
        raise FormatError(
            "a tensor cannot have these sizes",
            file=file,
            field="Tensor.sizes",
            expected=f"up to {_MOST_DIMENSIONS} sizes of 0 or more, less than 2**63 bytes",
            found=f"{counted(len(sizes), 'size')}, {list(sizes[:_MOST_DIMENSIONS])}",
        )
    return sizes


def strides_of(tensor: DebugTensor, file: str) -> tuple[int, ...]:
    """Return the strides in elements; axes with one element as in C order."""
    sizes = tensor.sizes
    usual = dense_strides(sizes)
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


def stored_bytes(tensor: DebugTensor) -> int:
    """Return the size of a tensor in bytes, one per element if its type is unknown."""
    dtype = runtime_dtype(tensor.scalar_type)
    return max(0, math.prod(tensor.sizes)) * (dtype.itemsize if dtype else 1)
