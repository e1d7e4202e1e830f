"""Params files of numpy arrays, as TVM writes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import IO, Any, Literal

import numpy as np

from tvmdbg_widgets.formats.tvm.params import survey
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import COMPLEX, DataType, from_numpy
from tvmdbg_widgets.sources.byte_source import BytesSource

Codes = Literal["current", "legacy"]
_LEGACY_CODES = {
    "bool": DataType(1, 1),
    "float8_e4m3fn": DataType(6, 8),
    "float8_e5m2": DataType(7, 8),
    "float4_e2m1fn": DataType(8, 4),
}


def write_params(
    target: str | os.PathLike[str] | IO[bytes],
    arrays: Mapping[str, Any] | Iterable[tuple[str, Any]],
    *,
    layout: DTypeLayout | str = "narrow",
    codes: Codes = "current",
    dtypes: Mapping[str, str] | None = None,
) -> None:
    """Write arrays, and records as they are; ``dtypes`` has other types of as many bytes."""
    pairs = arrays.items() if isinstance(arrays, Mapping) else arrays
    records = [
        (name, _record(name, array, (dtypes or {}).get(name), codes)) for name, array in pairs
    ]
    survey.write_params(target, records, layout=layout)


def _record(name: str, array: Any, asked: str | None, codes: Codes) -> ArrayRecord:
    if isinstance(array, ArrayRecord):
        return array
    values = np.asarray(array)
    own = from_numpy(values.dtype)
    if values.dtype.byteorder == ">" or (own.numpy_dtype or values.dtype) != values.dtype:
        values = values.astype(own.numpy_dtype)
    dtype = own
    if asked is not None:
        dtype = DataType.parse(asked)
    elif codes == "legacy":
        dtype = _LEGACY_CODES.get(own.name, own)
        if dtype.code > COMPLEX and own.name not in _LEGACY_CODES:
            raise ValueError(f"TVM before 0.21 has no code for {own}; write codes='current'")
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    nbytes = values.size * dtype.itemsize
    if dtype.is_packed:
        loose = np.unpackbits(flat[:, None], axis=1, count=dtype.bits, bitorder="little")
        flat = np.packbits(loose.reshape(-1), bitorder="little")
    data = flat.tobytes().ljust(nbytes, b"\0")
    return ArrayRecord(name, dtype, values.shape, nbytes, 0, BytesSource(data))
