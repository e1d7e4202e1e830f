"""Values of 32 and 64 bits as unsigned integers in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np


def ordinals(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return unsigned integers of the same width that are ordered as the values; no NaN."""
    unsigned = np.dtype(f"u{values.dtype.itemsize}")
    words = values.view(unsigned)
    if values.dtype.kind == "u":
        return words
    top = unsigned.type(1 << 8 * unsigned.itemsize - 1)
    if values.dtype.kind == "i":
        flipped: np.ndarray[Any, Any] = words ^ top
        return flipped
    return np.where(words & top, ~words, words | top)


def ordinal(value: Any, dtype: np.dtype[Any]) -> int:
    """Return the ordinal of one value of a type."""
    return int(ordinals(np.array([value]).astype(dtype))[0])


def from_ordinal(number: int, dtype: np.dtype[Any]) -> Any:
    """Return the value of an ordinal as a Python number."""
    unsigned = np.dtype(f"u{dtype.itemsize}")
    word = np.array([number], unsigned)
    if dtype.kind == "u":
        return int(word[0])
    top = unsigned.type(1 << 8 * unsigned.itemsize - 1)
    if dtype.kind == "i":
        return int((word ^ top).view(dtype)[0])
    return float(np.where(word & top, word & ~top, ~word).view(dtype)[0])


def from_key(key: int, dtype: np.dtype[Any]) -> float:
    """Return the float of a signed key: its word, of which negative ones count down."""
    word = key if key >= 0 else key ^ (1 << 8 * dtype.itemsize - 1) - 1
    return float(np.array([word], f"i{dtype.itemsize}").view(dtype)[0])
