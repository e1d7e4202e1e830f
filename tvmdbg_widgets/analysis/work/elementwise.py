"""Operations of operators that compute each element of their output on its own.

Convention: one arithmetic, comparing, logical or bitwise operation is 1, and so is one call of an
elementary function (exp, log, sqrt, rsqrt, erf, tanh, sin, …), whatever it costs. What is made of
several is counted as written here. Casts, copies and fills are no operations. Integers count the
same. Operands are broadcast: the elements of the output count.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.work.call import bare


class Elementwise(NamedTuple):
    """Operations an element, and how many operands at most."""

    operations: int
    operands: int


_UNARY = """
    exp log log2 log10 log1p sqrt rsqrt square abs negative sign ceil floor trunc round rint sin
    cos tan asin acos atan sinh cosh asinh acosh atanh erf erfinv tanh fast_exp fast_log fast_erf
    fast_tanh logical_not bitwise_not not reciprocal relu isnan isinf isfinite add_scalar
    sub_scalar mul_scalar div_scalar pow_scalar rsub_scalar rdiv_scalar rpow_scalar less_scalar
    greater_scalar scalar_add scalar_mul
"""
_BINARY = """
    add subtract sub multiply mul divide div floor_divide trunc_divide mod floor_mod trunc_mod power
    pow maximum minimum atan2 logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
    left_shift right_shift equal not_equal less less_equal greater greater_equal bias_add
    broadcast_add broadcast_sub broadcast_subtract broadcast_mul broadcast_multiply broadcast_div
    broadcast_divide broadcast_mod broadcast_max broadcast_min broadcast_pow broadcast_power
    broadcast_left_shift broadcast_right_shift broadcast_greater broadcast_less broadcast_equal
    elemwise_add elemwise_sub elemwise_mul elemwise_div elemwise_mod elemwise_pow
"""

#: What each operator does to an element, where that is more than one operation.
COMPOSED: Final = {
    "clip": "minimum maximum",
    "relu6": "minimum maximum",
    "leaky_relu": "compare multiply",
    "prelu": "compare multiply",
    "sigmoid": "negative exp add divide",
    "fast_sigmoid": "negative exp add divide",
    "silu": "negative exp add divide multiply",
    "swish": "negative exp add divide multiply",
    "gelu": "multiply erf add multiply multiply",
    "softplus": "exp add log",
    # The product in twice the width, half of the divisor, the shift.
    "fixed_point_multiply": "multiply add right_shift",
}
_FREE = """
    cast cast_like astype reinterpret identity copy clone contiguous device_copy ones zeros full
    ones_like zeros_like full_like
"""

TABLE: Final = {
    **{name: Elementwise(1, 1) for name in _UNARY.split()},
    **{name: Elementwise(1, 2) for name in _BINARY.split()},
    **{name: Elementwise(len(each.split()), 1) for name, each in COMPOSED.items()},
    **{name: Elementwise(0, 1) for name in _FREE.split()},
    "prelu": Elementwise(2, 2),
    "where": Elementwise(1, 3),
}


def elementwise(part: str) -> Elementwise | None:
    """Return what an operator does to each element; None where it is of another kind."""
    if part.startswith("qnn."):
        return None
    return TABLE.get(bare(part))
