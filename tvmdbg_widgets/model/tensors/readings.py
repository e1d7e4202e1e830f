"""The ways in which the stored bytes of one array can be understood.

Below 8 bits TVM's file does not say whether elements are packed (``SaveDLTensor`` writes
``prod(shape) * ((bits + 7) // 8)`` bytes, include/tvm/runtime/ndarray.h @ v0.19.0, while memory is
packed from v0.21 on). Type codes 6 and 7 changed their meaning between releases
(include/tvm/runtime/data_type.h @ v0.19.0, dlpack 1.1). A complex number has several real faces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.tensors.dtypes import DataType

#: One of those below, or ``"as <dtype>"`` for a meaning of an ambiguous type code.
Reading: TypeAlias = str

#: How elements of fewer than 8 bits lie in their bytes: several a byte (low bits first), or one.
READINGS: tuple[Reading, ...] = ("packed", "bytes")
#: What a complex number is shown as.
COMPLEX_READINGS: tuple[Reading, ...] = ("magnitude", "phase", "real", "imag", "complex")
#: How a reading begins that picks a meaning of an ambiguous type code.
AS = "as "

#: numpy's own functions, so that a reading equals what they make of the complex values.
COMPLEX_PARTS: dict[Reading, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "magnitude": np.abs,
    "phase": np.angle,
    "real": np.real,
    "imag": np.imag,
}


def is_complex(dtype: DataType) -> bool:
    """Whether scalars of the type are complex numbers of numpy."""
    return dtype.numpy_dtype is not None and dtype.numpy_dtype.kind == "c"


def default_reading(dtype: DataType) -> Reading:
    """Return how ``numpy()`` reads a type: packed, but bool one a byte, and complex as such."""
    if is_complex(dtype):
        return "complex"
    return "packed" if dtype.is_packed else "bytes"


def readings(dtype: DataType, alternatives: tuple[DataType, ...] = ()) -> tuple[Reading, ...]:
    """Return the readings that views offer, their default first; none where there is but one."""
    if alternatives:
        return tuple(f"{AS}{each}" for each in (dtype, *alternatives))
    if is_complex(dtype):
        return COMPLEX_READINGS
    if dtype.bits >= 8 or dtype.numpy_dtype is None:
        return ()
    return ("packed", "bytes") if dtype.is_packed else ("bytes", "packed")
