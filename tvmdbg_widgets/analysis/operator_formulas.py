"""Operation counts of convolutions, products, reductions and element-wise operators."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final, NamedTuple, TypeAlias

from tvmdbg_widgets.model.tensors.layouts import Layout

Shape: TypeAlias = tuple[int, ...]


class Operand(NamedTuple):
    """One input; `constant` for a parameter, whose value never changes."""

    shape: Shape | None
    dtype: str
    constant: bool


@dataclass(frozen=True)
class OperatorCall:
    """A function with its operands."""

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    outputs: tuple[Shape | None, ...]
    attrs: Mapping[str, str]


class Bounds(NamedTuple):
    """Least and most operations of a function; NaN, with the reason, where unknown."""

    least: float
    most: float
    why: str = ""

    @classmethod
    def unknown(cls, why: str) -> Bounds:
        """Return bounds for an unknown number."""
        return cls(math.nan, math.nan, why)


def bare(part: str) -> str:
    """Return an operator's name without its name space: ``"relu"``."""
    return part.rpartition(".")[2]


_NAME: Final = re.compile(
    r"(?:contrib_|group_)?(?:depthwise_)?conv([123])d(_transpose)?"
    r"(?:_nc[dhw]*|_n[dhw]*c|_NCHWc)?(?:_int8)?"
)
_SPACE: Final = {1: "W", 2: "HW", 3: "DHW"}


def is_convolution(part: str) -> bool:
    """Return whether an operator is a convolution with a formula."""
    return not part.startswith("qnn.") and _NAME.fullmatch(bare(part)) is not None


def convolution(
    part: str, operands: Sequence[Operand], out: Shape, attrs: Mapping[str, str]
) -> int | str:
    """Return the operations of a convolution, or why they are unknown."""
    named = _NAME.fullmatch(bare(part))
    if named is None:
        return f"no formula for {part}"
    space, transposed = _SPACE[int(named[1])], named[2] is not None
    names: dict[int, str] = {}
    for data, weight in pairwise(operands):
        if data.shape is None or weight.shape is None:
            continue
        for name, count in _readings((data.shape, weight.shape, out), attrs, space, transposed):
            names.setdefault(count, name)
    if len(names) == 1:
        return next(iter(names))
    if not names:
        return f"{part}: its operands fit no layout it can have"
    return f"{part}: its shapes fit {' and '.join(names.values())}, which differ in operations"


def _readings(
    shapes: tuple[Shape, Shape, Shape], attrs: Mapping[str, str], space: str, transposed: bool
) -> Iterator[tuple[str, int]]:
    first, last = f"NC{space}", f"N{space}C"
    usual = ("OI", "IO") if transposed else ("OI",)
    pairs = {
        first: [letters + space for letters in usual],
        last: [space + "IO", space + "OI", *(letters + space for letters in usual)],
    }
    given = attrs.get("data_layout", "")
    for layout in [given] if given else [first, last]:
        wrote = attrs.get("out_layout", "") or layout
        kernel = attrs.get("kernel_layout", "") or attrs.get("weight_layout", "")
        kernels = [kernel] if kernel else pairs.get(layout, [])
        for one, other in product([layout], kernels):
            count = _operations_if_fits(shapes, (one, other, wrote), transposed)
            if count:
                yield f"{one} with {other}", count


def _operations_if_fits(
    shapes: tuple[Shape, Shape, Shape], texts: tuple[str, str, str], transposed: bool
) -> int:
    try:
        layouts = [Layout.parse(text) for text in texts]
        read, kernel, written = (
            dict(zip(layout.letters, layout.logical_shape(shape), strict=True))
            for layout, shape in zip(layouts, shapes, strict=True)
        )
    except ValueError:
        return 0
    if not ({"N", "C"} <= read.keys() & written.keys() and {"O", "I"} <= kernel.keys()):
        return 0
    if read["N"] != written["N"] or not _channels_fit(read["C"], kernel, written["C"], transposed):
        return 0
    through = read if transposed else written
    return 2 * math.prod(kernel.values()) * math.prod(through.values()) // through["C"]


def _channels_fit(read: int, kernel: dict[str, int], written: int, transposed: bool) -> bool:
    o, i = kernel["O"], kernel["I"]
    if 0 in (read, o, i, written):
        return False
    if transposed:
        # Releases differ in which letter is the input channel.
        return any(
            read == a and written % b == 0 and a % (written // b) == 0 for a, b in ((i, o), (o, i))
        )
    if o == written:
        return read % i == 0 and written % (read // i) == 0
    # Depthwise in HWOI: O input channels, I outputs per channel.
    return o == read and o * i == written


class Elementwise(NamedTuple):
    """Operations per element, and the maximum number of operands."""

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

#: Operators of more than one operation per element.
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
    # Product in double width, half of the divisor, shift.
    "fixed_point_multiply": "multiply add right_shift",
}
_FREE = """
    cast cast_like astype reinterpret identity copy clone contiguous device_copy ones zeros full
    ones_like zeros_like full_like
"""

TABLE: Final = {
    **{name: Elementwise(1, 1) for name in _UNARY.split()},
    **{name: Elementwise(1, 2) for name in _BINARY.split()},
    **{name: Elementwise(len(operations.split()), 1) for name, operations in COMPOSED.items()},
    **{name: Elementwise(0, 1) for name in _FREE.split()},
    "prelu": Elementwise(2, 2),
    "where": Elementwise(1, 3),
}


def elementwise(part: str) -> Elementwise | None:
    """Return the element-wise formula of an operator, or None."""
    if part.startswith("qnn."):
        return None
    return TABLE.get(bare(part))


_DENSE: Final = frozenset(["dense", "contrib_dense_pack", "dense_pack", "linear", "fast_dense"])
_PRODUCTS: Final = frozenset(
    ["matmul", "batch_matmul", "NT_matmul", "batch_matmul_NN", "batch_matmul_NT", "bmm"]
)


def is_matmul(part: str) -> bool:
    """Return whether an operator is a matrix product with a formula."""
    return not part.startswith("qnn.") and bare(part) in _DENSE | _PRODUCTS


def matmul(part: str, operands: Sequence[Operand], out: Shape) -> int | str:
    """Return the operations of a dense layer or a product, or why they are unknown."""
    inner = _dense_depth if bare(part) in _DENSE else _product_depths
    counts = {
        count
        for left, right in pairwise(operands)
        if left.shape is not None and right.shape is not None
        for count in inner(left.shape, right.shape, out)
    }
    if len(counts) == 1:
        return 2 * math.prod(out) * counts.pop()
    if not counts:
        return f"{part}: the shapes of its operands do not fit that of its output"
    several = ", ".join(map(str, sorted(counts)))
    return f"{part}: the shapes leave open over how many numbers it sums ({several})"


def _dense_depth(data: Shape, weight: Shape, out: Shape) -> set[int]:
    if not data or not out or data[:-1] != out[:-1]:
        return set()
    fits = math.prod(weight) == out[-1] * data[-1] and (
        len(weight) > 2 or weight in ((out[-1], data[-1]), (data[-1], out[-1]))
    )
    return {data[-1]} if fits else set()


def _product_depths(left: Shape, right: Shape, out: Shape) -> set[int]:
    if min(len(left), len(right), len(out)) < 2:
        return set()
    rows, columns = out[-2:]
    if not (_batch_axes_fit(left, out) and _batch_axes_fit(right, out)):
        return set()
    return _other_axis(left, rows) & _other_axis(right, columns)


def _batch_axes_fit(operand: Shape, out: Shape) -> bool:
    own, whole = operand[:-2], out[:-2]
    return len(own) <= len(whole) and all(
        one in (1, other) for one, other in zip(reversed(own), reversed(whole), strict=False)
    )


def _other_axis(operand: Shape, known: int) -> set[int]:
    first, second = operand[-2:]
    return {other for one, other in ((first, second), (second, first)) if one == known}


#: Operations per output of a reduction, beside one per element.
REDUCTIONS: Final = {
    **dict.fromkeys(("sum", "max", "min", "prod", "all", "any", "argmax", "argmin"), 0),
    "mean": 1,
}
_POOL: Final = re.compile(r"(global_|adaptive_)?(max|avg)_pool[123]d")
_SIZES: Final = re.compile(r"\d+")
_SOFTMAX: Final = 5


def reduces_to(data: Shape, out: Shape) -> bool:
    """Return whether reducing some axes, kept as 1 or dropped, leads from one shape to another."""
    axes = iter(data)
    return all(size in axes for size in out if size != 1)


def is_softmax(part: str) -> bool:
    """Return whether an operator is a softmax."""
    return bare(part) in ("softmax", "fast_softmax", "log_softmax")


def softmax(part: str, out: Shape, attrs: Mapping[str, str]) -> Bounds:
    """Return the operations of a softmax, or of its logarithm."""
    count = math.prod(out)
    if bare(part) != "log_softmax":
        return Bounds(_SOFTMAX * count, _SOFTMAX * count)
    sizes = [size for size in out if size] or [1]
    axis = attrs.get("axis", "")
    if re.fullmatch(r"-?\d+", axis) and -len(out) <= int(axis) < len(out):
        sizes = [out[int(axis)] or 1]
    return Bounds(_SOFTMAX * count + count // max(sizes), _SOFTMAX * count + count // min(sizes))


def is_pooling(part: str) -> bool:
    """Return whether an operator is a pooling."""
    return _POOL.fullmatch(bare(part)) is not None


def pooling(part: str, data: Shape | None, out: Shape, attrs: Mapping[str, str]) -> int | str:
    """Return the operations of a pooling, or why they are unknown."""
    named = _POOL.fullmatch(bare(part))
    if named is None or data is None:
        return f"{part}: the shape it reads is not in the graph"
    if len(data) != len(out):
        return f"{part}: what it reads and what it writes differ in rank"
    written = math.prod(out)
    extra = written if named[2] == "avg" else 0
    even = all(one and other and one % other == 0 for one, other in zip(data, out, strict=True))
    if named[1] and even:
        return math.prod(data) + extra
    if named[1]:
        return f"{part}: its windows overlap, and where they begin is not in the graph"
    window = attrs.get("pool_size", "") or attrs.get("kernel", "")
    sizes = [int(size) for size in _SIZES.findall(window)]
    if not sizes:
        return f"{part}: the size of its window is not in the graph"
    return written * math.prod(sizes) + extra
