"""Params files written as TVM writes them, byte for byte.

``SaveParams``, src/runtime/file_utils.cc and ``SaveDLTensor``, include/tvm/runtime/ndarray.h
@ v0.19.0: names and arrays in the order given, reserved fields 0, device cpu(0).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, Any, Literal, TypeAlias

import numpy as np

from tvmdbg_widgets.formats.tvm.params.list import LIST_MAGIC
from tvmdbg_widgets.formats.tvm.params.record import ARRAY_MAGIC, CPU
from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout, dtype_layout
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import COMPLEX, DataType, from_numpy
from tvmdbg_widgets.model.tensors.tensors import Tensor

Codes: TypeAlias = Literal["current", "legacy"]
Array: TypeAlias = "np.ndarray[Any, Any] | ArrayRecord | Tensor | Any"

_CHUNK = 1 << 20
_LEGACY_CODES = {
    "bool": DataType(1, 1),
    "float8_e4m3fn": DataType(6, 8),
    "float8_e5m2": DataType(7, 8),
    "float4_e2m1fn": DataType(8, 4),
}


def write_params(
    target: str | os.PathLike[str] | IO[bytes],
    arrays: Mapping[str, Array] | Iterable[tuple[str, Array]],
    *,
    layout: DTypeLayout | str = "narrow",
    codes: Codes = "current",
    dtypes: Mapping[str, DataType | str] | None = None,
) -> None:
    """Write a params file."""
    fields = dtype_layout(layout)
    one_of("codes", codes, ("current", "legacy"))
    pairs = list(arrays.items() if isinstance(arrays, Mapping) else arrays)
    items = [
        (name.encode(), _stored(array, (dtypes or {}).get(name), codes)) for name, array in pairs
    ]
    for name, array in items:
        problem = fields.too_narrow_for(array.dtype)
        if problem:
            raise ValueError(f"{name.decode()!r}: {problem}")
    if isinstance(target, str | os.PathLike):
        with replacing(target) as file:
            _write(file, items, fields)
    else:
        _write(target, items, fields)


class _StoredArray:
    """One array ready to be written: type, shape, and its bytes in pieces."""

    def __init__(self, dtype: DataType, shape: tuple[int, ...], values: Any) -> None:
        self.dtype = dtype
        self.shape = shape
        self.values: np.ndarray[Any, Any] | ArrayRecord = values
        if isinstance(values, ArrayRecord):
            self.nbytes = values.nbytes
        else:
            self.nbytes = values.size * dtype.itemsize

    def pieces(self) -> Iterator[memoryview]:
        """Yield the stored bytes."""
        if isinstance(self.values, ArrayRecord):
            yield from self._copied(self.values)
        elif self.dtype.is_packed:
            packed = _pack(self.values, self.dtype.bits)
            yield packed.data
            yield np.zeros(self.nbytes - len(packed), np.uint8).data
        else:
            flat = np.ascontiguousarray(self.values).reshape(-1)
            yield flat.view(np.uint8).data

    def _copied(self, record: ArrayRecord) -> Iterator[memoryview]:
        for start in range(0, record.nbytes, _CHUNK):
            length = min(_CHUNK, record.nbytes - start)
            yield memoryview(record.source.read(record.offset + start, length))


def _stored(array: Array, asked: DataType | str | None, codes: Codes) -> _StoredArray:
    dtype = DataType.parse(asked) if isinstance(asked, str) else asked
    if isinstance(array, Tensor):
        array = array.record
    if isinstance(array, ArrayRecord):
        kept = array.stored_dtype or array.dtype
        return _StoredArray(_fitting(dtype, kept) or kept, array.shape, array)
    values = np.asarray(array)
    own = from_numpy(values.dtype)
    if values.dtype.byteorder == ">" or (own.numpy_dtype or values.dtype) != values.dtype:
        values = values.astype(own.numpy_dtype)
    chosen = _fitting(dtype, own)
    if chosen is None:
        chosen = _legacy(own) if codes == "legacy" else own
    return _StoredArray(chosen, values.shape, values)


def _legacy(dtype: DataType) -> DataType:
    if dtype.name in _LEGACY_CODES:
        return _LEGACY_CODES[dtype.name]
    if dtype.code > COMPLEX:
        raise ValueError(f"TVM before 0.21 has no code for {dtype}; write it with codes='current'")
    return dtype


def _fitting(dtype: DataType | None, own: DataType) -> DataType | None:
    if dtype is None:
        return None
    if (
        dtype.itemsize != own.itemsize
        or dtype.lanes != own.lanes
        or dtype.is_packed != own.is_packed
    ):
        raise ValueError(f"an array of {own} cannot be written as {dtype}: its bytes do not fit")
    return dtype


def _pack(values: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Put elements next to each other, low bits first."""
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    loose = np.unpackbits(flat[:, None], axis=1, count=bits, bitorder="little")
    return np.packbits(loose.reshape(-1), bitorder="little")


def _write(file: IO[bytes], items: list[tuple[bytes, _StoredArray]], layout: DTypeLayout) -> None:
    count = struct.pack("<Q", len(items))
    file.write(struct.pack("<QQ", LIST_MAGIC, 0) + count)
    for name, _ in items:
        file.write(struct.pack("<Q", len(name)) + name)
    file.write(count)
    for _, array in items:
        ndim = len(array.shape)
        file.write(struct.pack("<QQiii", ARRAY_MAGIC, 0, CPU, 0, ndim) + layout.pack(array.dtype))
        file.write(struct.pack(f"<{ndim + 1}q", *array.shape, array.nbytes))
        for piece in array.pieces():
            file.write(piece)
