"""Values in types that numpy computes with quickly."""

from __future__ import annotations

from typing import Any

import numpy as np


def comparable(chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the same values in a type numpy computes with: integers, float32 or float64."""
    if chunk.dtype == np.bool_:
        return chunk.view(np.uint8)
    if chunk.dtype.kind in "iu" or chunk.dtype in (np.float32, np.float64):
        return chunk
    name = chunk.dtype.name
    if name.startswith(("int", "uint")):
        return chunk.astype(np.int8 if name.startswith("int") else np.uint8)
    return chunk.astype(np.float32)
