"""The values of an ETDump's debug events: scalars in the dump, tensors in the debug buffer."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.executorch.etdump import DebugTensor, DebugValue, ValueType
from tvmdbg_widgets.model.executorch.scalar_types import runtime_number
from tvmdbg_widgets.model.tensors.dtypes import from_numpy

_ALIGNMENT: Final = 64
_INT64: Final = range(-(2**63), 2**63)


class DebugBufferWriter:
    """Bytes of logged tensors one after another, each from a multiple of 64 on.

    ``BufferDataSink`` of ``devtools/etdump/data_sinks/buffer_data_sink.cpp`` @ v1.4.1; an empty
    tensor has no bytes and the offset -1.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def add(self, value: Any, *, output: bool | None = None) -> DebugValue:
        """Add the bytes of a value and return what a debug event says of it."""
        if isinstance(value, bool | np.bool_):
            return DebugValue(ValueType.BOOL, bool(value), output)
        if isinstance(value, int | np.integer):
            if int(value) not in _INT64:
                raise ValueError(f"an ETDump has ints of 64 bits, found {value!s:.40}")
            return DebugValue(ValueType.INT, int(value), output)
        if isinstance(value, float | np.floating):
            return DebugValue(ValueType.DOUBLE, float(value), output)
        if isinstance(value, list | tuple) and all(hasattr(each, "shape") for each in value):
            typed = [_typed(each) for each in value]
            tensors = tuple(self._append(*each) for each in typed)
            return DebugValue(ValueType.TENSOR_LIST, tensors, output)
        return DebugValue(ValueType.TENSOR, self._append(*_typed(value)), output)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        return b"".join(self._parts)

    def _append(self, array: npt.NDArray[Any], number: int) -> DebugTensor:
        sizes = array.shape
        if not array.size:
            return DebugTensor(number, sizes, _strides(sizes), -1)
        padding = -self.size % _ALIGNMENT
        offset = self.size + padding
        self._parts += [bytes(padding), array.tobytes()]
        self.size = offset + array.nbytes
        return DebugTensor(number, sizes, _strides(sizes), offset)


def _typed(value: Any) -> tuple[npt.NDArray[Any], int]:
    """Return an array, little endian, and the number of its type."""
    array = _array(value)
    try:
        number = runtime_number(from_numpy(array.dtype))
    except ValueError:
        number = None
    if number is None:
        raise TypeError(
            "a logged value is a bool, an int, a float, an array or a list of arrays; an ETDump "
            f"has no type for {type(value).__name__} of {array.dtype}"
        )
    return array.astype(array.dtype.newbyteorder("<"), copy=False), number


def _array(value: Any) -> npt.NDArray[Any]:
    if hasattr(value, "detach"):  # a tensor of torch, with its gradients and on its device
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # which numpy does not know
            bits = value.contiguous().view(importlib.import_module("torch").int16)
            return np.asarray(bits.numpy()).view(ml_dtypes.bfloat16)
    return np.asarray(value)


def _strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Strides in elements, in C order; those of an empty tensor as torch has them."""
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides))[: len(sizes)]
