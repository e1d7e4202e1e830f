"""Types of 8 or 16 bits: what each of their codes is worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

_MANTISSA_BITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class CodeTable:
    """The values of all codes of a type."""

    dtype: np.dtype[Any]
    values: np.ndarray[Any, np.dtype[np.float64]]
    levels: np.ndarray[Any, Any]
    places: np.ndarray[Any, np.dtype[np.intp]]
    mantissas: np.ndarray[Any, np.dtype[np.int64]]
    exponents: np.ndarray[Any, np.dtype[np.int64]]
    smallest_normal: float

    def codes(self, chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the codes of values of this type, a view."""
        return chunk.view(f"<u{self.dtype.itemsize}")


@lru_cache(maxsize=64)
def code_table(dtype: np.dtype[Any]) -> CodeTable:
    """Return the table of a type of one or two bytes."""
    codes = np.arange(1 << 8 * dtype.itemsize, dtype=f"<u{dtype.itemsize}")
    whole = is_whole(dtype)
    with np.errstate(invalid="ignore"):
        values = (codes != 0 if dtype == np.bool_ else codes.view(dtype)).astype(np.float64)
    finite = np.isfinite(values)
    levels, inverse = np.unique(values[finite] + 0.0, return_inverse=True)
    places = np.full(len(codes), len(levels), np.intp)
    places[finite] = inverse
    if whole:
        mantissas, exponents = levels.astype(np.int64), np.zeros(len(levels), np.int64)
    else:
        fractions, powers = np.frexp(levels)
        mantissas = np.ldexp(fractions, _MANTISSA_BITS).astype(np.int64)
        exponents = powers.astype(np.int64) - _MANTISSA_BITS
    normal = 0.0 if whole else float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]
    shown = levels.astype(np.int64) if whole else levels
    for each in (values, shown, places, mantissas, exponents):
        each.setflags(write=False)
    return CodeTable(dtype, values, shown, places, mantissas, exponents, normal)


def is_whole(dtype: np.dtype[Any]) -> bool:
    """Whether a type holds integers or truth values."""
    return dtype.kind in "biu" or dtype.name.startswith(("int", "uint"))
