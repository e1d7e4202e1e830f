"""Arithmetic in units in the last place, for integers and for every floating-point type.

All finite values and infinities of a type stand in one row; the unit is one step in it.

* -0.0 and +0.0 are one place. ``fnuz`` types have no -0.0, ``e8m0fnu`` has no zero at all.
* An infinity is one step beyond the largest finite value. Types with ``fn`` in their names have
  none, so there the row ends with the largest finite value.
* NaN has no place: its key is above all others, it is at no distance from anything, itself
  included. ``float6`` and ``float4`` types have none.
* Of integers the distance is the difference; bools are 0 and 1.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.bits import codes, float_type, is_float, is_integer

#: Key of a NaN: above that of any value.
NAN_KEY: Final = 2**63 - 1
#: Distance from and to a NaN: above that of any two floating-point values.
NO_DISTANCE: Final = 2**64 - 1


def ordered(values: Any) -> npt.NDArray[np.int64] | npt.NDArray[np.uint64]:
    """Return the place of each value in the row of all values of its type.

    ``ordered(a) < ordered(b)`` exactly where ``a < b``, and neighbors differ by 1.
    """
    array = np.asarray(values)
    dtype = array.dtype
    if dtype.kind == "c":
        raise TypeError(f"{dtype} has no order")
    found = float_type(dtype)
    if found is None:
        if dtype.kind != "b" and not is_integer(dtype):
            raise TypeError(f"{dtype} is no type of numbers")
        return array.astype(np.uint64) if dtype == np.uint64 else array.astype(np.int64)
    code = codes(array).astype(np.uint64)
    keys: npt.NDArray[np.int64] = code.astype(np.int64)
    if found.signed:
        sign = np.uint64(1 << (found.bits - 1))
        magnitude = (code & (sign - np.uint64(1))).astype(np.int64)
        keys = np.where(code & sign, -magnitude, magnitude)
    return np.where(_is_nan(array), np.int64(NAN_KEY), keys)


def distance(a: Any, b: Any) -> npt.NDArray[np.uint64]:
    """Return how many steps lie between values of one type."""
    first, second = _pair(a, b)
    low, high = ordered(first), ordered(second)
    with np.errstate(over="ignore"):  # two's complement wraps around to the right difference
        ahead = high.astype(np.uint64) - low.astype(np.uint64)
        steps = np.where(low <= high, ahead, np.uint64(0) - ahead)
    if not is_float(first.dtype):
        return steps
    unknown = _is_nan(first) | _is_nan(second)
    return np.where(unknown, np.uint64(NO_DISTANCE), steps)


def spacing(x: Any) -> npt.NDArray[np.float64]:
    """Return the size of one step from each value away from zero.

    As ``np.spacing``, but positive, and of the largest finite value what the exponent gives,
    though the next value is infinite or missing.
    """
    array = np.asarray(x)
    found = float_type(array.dtype)
    if found is None:
        return np.ones(ordered(array).shape)
    with np.errstate(invalid="ignore"):
        wide = np.abs(array.astype(np.float64))
    finite = np.isfinite(wide)
    exponent = np.frexp(np.where(finite, wide, 1.0))[1]
    exponent = np.where(wide == 0, found.least, np.maximum(exponent, found.least))
    steps = np.ldexp(1.0, exponent - 1 - found.mantissa)
    return np.where(finite, steps, np.nan)


def _pair(a: Any, b: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    first, second = np.asarray(a), np.asarray(b)
    if first.dtype != second.dtype:
        raise TypeError(f"steps lie between values of one type, not {first.dtype}, {second.dtype}")
    left, right = np.broadcast_arrays(first, second)
    return left, right


def _is_nan(values: np.ndarray[Any, Any]) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):  # signalling NaN of bfloat16
        nan: npt.NDArray[np.bool_] = np.isnan(values)
    return nan
