"""Values of any dtype as numbers that numpy reduces fast."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]

_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def real(block: Array) -> Array:
    """Return the same values in C order as bool's bytes, an integer, float32 or float64.

    Floats below 32 bits and integers below 8 become float32, which holds each of their values;
    they go through tables of all their bit patterns, as arithmetic in their own dtype is slow.
    """
    block = np.ascontiguousarray(block).reshape(block.shape)
    dtype = block.dtype
    if dtype.kind == "b":
        return block.view(np.uint8)
    if dtype.kind in "iu" or dtype in (np.float32, np.float64):
        return block if dtype.isnative else block.astype(dtype.newbyteorder("="))
    if dtype == _BFLOAT16:
        return block.astype(np.float32)
    if dtype.kind == "c" or dtype.itemsize > 2:
        raise TypeError(f"{dtype} has no order; look at its magnitude or at one of its parts")
    if dtype.itemsize == 2:
        if not dtype.isnative:
            block = block.astype(dtype.newbyteorder("="))
        return _table(block.dtype).take(block.view(np.uint16), mode="clip")
    codes = block.view(np.uint8).reshape(-1)
    even = len(codes) & ~1
    found = np.empty(len(codes), np.float32)
    pairs = found[:even].view(np.complex64)
    _pairs(dtype).take(codes[:even].view(np.uint16), mode="clip", out=pairs)
    if even < len(codes):
        found[even:] = _table(dtype)[codes[even:]]
    return found.reshape(block.shape)


def rounded(cells: Array) -> Array:
    """Return reduced numbers in the dtype in which views get them.

    float64 stays, as float32 lacks its magnitudes; all else becomes float32, integers by way of
    float64, as JavaScript knows no others.
    """
    if cells.dtype == np.float64:
        return cells
    if cells.dtype.kind in "iu":
        cells = cells.astype(np.float64)
    with np.errstate(over="ignore"):
        return cells.astype(np.float32, copy=False)


def cell_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the cells of values: float64 for float64, float32 for all else."""
    return np.dtype(np.float64 if dtype.kind == "f" and dtype.itemsize == 8 else np.float32)


@lru_cache(maxsize=32)
def _table(dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return the value of each bit pattern of 8 or 16 bits."""
    codes = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}")
    with np.errstate(invalid="ignore"):
        return codes.view(dtype).astype(np.float32)


@lru_cache(maxsize=8)
def _pairs(dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[np.complex64]]:
    """Return the values of each two bytes, as they lie in memory, in the place of one complex."""
    codes = np.arange(1 << 16, dtype=np.uint16).view(np.uint8)
    return _table(dtype)[codes].view(np.complex64)
