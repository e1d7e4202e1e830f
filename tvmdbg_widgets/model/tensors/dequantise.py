"""Quantized integers as the real numbers they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted


def dequantised(
    values: Any, scale: Any, zero_point: Any = 0, axis: int | None = None
) -> npt.NDArray[np.float64]:
    """Return ``(values - zero_point) * scale``.

    In float64, where the difference is exact for all integers of up to 52 bits, and the product
    too for values of up to 16 bits with a float32 scale. Rounded to float32 that is what
    ``qnn.dequantize`` computes (src/relay/qnn/op/dequantize.cc @ v0.19.0: the difference in int32,
    the product in float32).
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError(f"{array.dtype} values are not quantized")
    with np.errstate(invalid="ignore"):  # signalling NaN
        wide = array.astype(np.float64)
    shift = _along(zero_point, wide.shape, axis, "zero_point")
    factor = _along(scale, wide.shape, axis, "scale")
    with np.errstate(invalid="ignore", over="ignore"):
        return (wide - shift) * factor


def _along(
    given: Any, shape: tuple[int, ...], axis: int | None, name: str
) -> npt.NDArray[np.float64]:
    """Shape numbers such that they broadcast along the axis."""
    numbers = np.asarray(given, np.float64)
    if numbers.size == 1:
        return numbers.reshape(())
    if axis is None:
        raise ValueError(
            f"{name} has {counted(numbers.size, 'number')}; name the axis they belong to"
        )
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis {axis} of values with {counted(len(shape), 'axis')}")
    if numbers.shape != (shape[axis],):
        raise ValueError(
            f"{name} has shape {numbers.shape}; axis {axis} of shape {shape} needs "
            f"{counted(shape[axis], 'number')}"
        )
    return numbers.reshape([-1 if each == axis % len(shape) else 1 for each in range(len(shape))])
