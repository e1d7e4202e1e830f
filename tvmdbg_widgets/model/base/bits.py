"""The bits of scalars: as unsigned integers, as hexadecimal and as binary digits.

Widths and fields follow numpy's and ``ml_dtypes``'s types, whose scalars below one byte lie in the
low bits of theirs. ``float8_e8m0fnu`` has neither sign nor mantissa (OCP Microscaling Formats 1.0,
§5.4.1).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

_finfo: Any = ml_dtypes.finfo
_iinfo: Any = ml_dtypes.iinfo
#: Bytes of the largest scalars whose bits fit an integer of numpy's.
_LARGEST = 8
_COMPLEX = "complex numbers are two scalars each; take their real and imaginary parts"


class FloatType(NamedTuple):
    """What a floating-point type is made of."""

    bits: int
    mantissa: int
    signed: bool
    least: int


@lru_cache(maxsize=256)
def float_type(dtype: np.dtype[Any]) -> FloatType | None:
    """Return what a dtype is made of, None where it is none of real floating-point numbers."""
    if dtype.kind in "biucO" or dtype.itemsize > _LARGEST:
        return None
    try:
        info = _finfo(dtype)
    except ValueError:
        return None
    least = int(np.frexp(np.float64(info.smallest_normal))[1])
    return FloatType(int(info.bits), int(info.nmant), float(info.min) < 0, least)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether scalars of the dtype are real floating-point numbers, those of 8 and fewer bits too.

    >>> is_float(np.dtype("float16")), is_float(np.dtype("int8"))
    (True, False)
    """
    return float_type(dtype) is not None


def is_integer(dtype: np.dtype[Any]) -> bool:
    """Whether scalars of the dtype are integers, those of 4 and fewer bits too."""
    return dtype.kind in "iu" or _small_integer(dtype) is not None


def width(dtype: np.dtype[Any]) -> int:
    """Return how many bits a scalar has; both parts of a complex number together."""
    if dtype.kind in "biuc":
        return dtype.itemsize * 8
    found = float_type(dtype)
    bits = _small_integer(dtype) if found is None else found.bits
    if bits is None:
        raise TypeError(f"{dtype} is no type of numbers")
    return bits


def fields(dtype: np.dtype[Any]) -> tuple[int, int, int] | tuple[()]:
    """Return how many bits are sign, exponent and mantissa; nothing for other than floats.

    >>> fields(np.dtype("float32")), fields(np.dtype("int8"))
    ((1, 8, 23), ())
    """
    found = float_type(dtype)
    if found is None:
        return ()
    return int(found.signed), found.bits - found.signed - found.mantissa, found.mantissa


def codes(values: Any) -> np.ndarray[Any, Any]:
    """Return the bits of each scalar as an unsigned integer of its size, the shape kept."""
    array = np.asarray(values)
    dtype = array.dtype.newbyteorder("=")
    if dtype.kind == "c":
        raise TypeError(_COMPLEX)
    bits = width(dtype)
    native = np.ascontiguousarray(array.astype(dtype, copy=False)).reshape(array.shape)
    found: np.ndarray[Any, Any] = native.view(f"u{dtype.itemsize}")
    return found & np.uint8((1 << bits) - 1) if bits < 8 else found


def hex_text(values: Any) -> list[str]:
    """Return each scalar's bits as ``"0x3F800000"``, in C order, as many digits as the type needs.

    Of a complex number the real part comes first, then the imaginary one behind a space.
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        pairs = zip(hex_text(array.real), hex_text(array.imag), strict=True)
        return [f"{real} {imag}" for real, imag in pairs]
    digits = -(-width(array.dtype) // 4)
    return [f"0x{code:0{digits}X}" for code in codes(array).ravel().tolist()]


def bit_text(values: Any) -> list[str]:
    """Return each scalar's bits as ``"0"`` and ``"1"``, highest first, in C order.

    Of a complex number the bits of the real part come first.
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        pairs = zip(bit_text(array.real), bit_text(array.imag), strict=True)
        return [real + imag for real, imag in pairs]
    digits = width(array.dtype)
    return [f"{code:0{digits}b}" for code in codes(array).ravel().tolist()]


@lru_cache(maxsize=256)
def _small_integer(dtype: np.dtype[Any]) -> int | None:
    """Bits of an integer type of ``ml_dtypes``, None for any other type."""
    try:
        return int(_iinfo(dtype).bits)
    except ValueError:
        return None
