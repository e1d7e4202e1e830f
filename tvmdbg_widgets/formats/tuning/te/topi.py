"""Operators of TVM's library that workloads are written with (python/tvm/topi, include/tvm/topi).

Only those whose stages are known exactly. Two names changed with v0.9: convolutions were called
``compute`` and ``Conv2dOutput`` before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tuning.te.scalars import (
    NotUnderstoodError,
    Scalar,
    binary,
    call,
    cast,
    if_then_else,
    scalar,
)
from tvmdbg_widgets.formats.tuning.te.tensors import Program, ReduceAxis, Reduced, Tensor
from tvmdbg_widgets.formats.tuning.te.windows import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NAMES = {"+": "T_add", "-": "T_subtract", "*": "T_multiply", "/": "T_divide"}
_NAMES |= {"max": "T_maximum", "min": "T_minimum"}


class Topi:
    """The library for one program."""

    def __init__(self, program: Program, release: tuple[int, int] = (0, 8)) -> None:
        self._program = program
        self._new = release >= (0, 9)

    def broadcast(self, op: str, a: object, b: object) -> Tensor:
        """``topi.add`` and the like, which operators between tensors mean too."""
        shape = _broadcast_shape(_shape_of(a), _shape_of(b))
        axes = [f"ax{index}" for index in range(len(shape))]

        def body(*indices: Scalar) -> Scalar:
            return binary(op, _element(a, indices, shape), _element(b, indices, shape))

        return self._program.compute(shape, axes, body, _NAMES[op])

    def relu(self, x: Tensor) -> Tensor:
        """``topi.nn.relu``."""
        return self._elementwise(x, lambda each: binary("max", each, 0))

    def pad(
        self,
        data: Tensor,
        pad_before: Sequence[int],
        pad_after: Sequence[int] | None = None,
        pad_value: float = 0.0,
        name: str = "PadInput",
    ) -> Tensor:
        """``topi.nn.pad``."""
        after = pad_after or pad_before
        if not len(data.shape) == len(pad_before) == len(after):
            raise NotUnderstoodError("paddings and dimensions differ in number")
        pairs = list(zip(pad_before, after, data.shape, strict=True))

        def body(*indices: Scalar) -> Scalar:
            inside: Scalar | None = None
            places = []
            for index, (low, high, size) in zip(indices, pairs, strict=True):
                places.append(binary("-", index, low))
                if low or high:
                    for check in (binary(">=", index, low), binary("<", index, size + low)):
                        inside = check if inside is None else binary("&&", inside, check)
            element = data.at(places)
            outside = scalar(pad_value, data.dtype)
            return element if inside is None else if_then_else(inside, element, outside)

        return self._indexed([low + size + high for low, high, size in pairs], body, name)

    def conv2d_nchw(  # noqa: PLR0917
        self,
        inputs: Tensor,
        weights: Tensor,
        stride: object,
        padding: object,
        dilation: object = 1,
        out_dtype: str | None = None,
    ) -> Tensor:
        """``topi.nn.conv2d_nchw``."""
        batch, channels, *size = _four(inputs)
        filters, _, *kernel = _four(weights)
        window = Window(size, kernel, stride, padding, dilation)
        padded = self.pad(inputs, (0, 0, *window.before), (0, 0, *window.after), name="pad_temp")
        rc, ry, rx = _reduce_axes(rc=channels, ry=kernel[0], rx=kernel[1])

        def body(nn: Scalar, ff: Scalar, yy: Scalar, xx: Scalar) -> Reduced:
            y, x = window.places((yy, xx), (ry, rx))
            return _product(
                padded.at([nn, rc, y, x]), weights.at([ff, rc, ry, rx]), (rc, ry, rx), out_dtype
            )

        name = "conv2d_nchw" if self._new else "compute"
        shape = (batch, filters, *window.positions)
        return self._program.compute(shape, ("nn", "ff", "yy", "xx"), body, name)

    def conv2d_nhwc(  # noqa: PLR0917
        self,
        inputs: Tensor,
        weights: Tensor,
        stride: object,
        padding: object,
        dilation: object = 1,
        out_dtype: str = "float32",
    ) -> Tensor:
        """``topi.nn.conv2d_nhwc``, weights as height, width, input and output channels."""
        batch, *size, channels = _four(inputs)
        *kernel, _, filters = _four(weights)
        window = Window(size, kernel, stride, padding, dilation)
        name = "pad_temp" if self._new else "PaddedInput"
        padded = self.pad(inputs, (0, *window.before, 0), (0, *window.after, 0), name=name)
        rc, ry, rx = _reduce_axes(rc=channels, ry=kernel[0], rx=kernel[1])

        def body(nn: Scalar, yy: Scalar, xx: Scalar, ff: Scalar) -> Reduced:
            y, x = window.places((yy, xx), (ry, rx))
            return _product(
                padded.at([nn, y, x, rc]), weights.at([ry, rx, rc, ff]), (ry, rx, rc), out_dtype
            )

        name = "conv2d_nhwc" if self._new else "Conv2dOutput"
        shape = (batch, *window.positions, filters)
        return self._program.compute(shape, ("nn", "yy", "xx", "ff"), body, name)

    def softmax(self, x: Tensor, axis: int = -1) -> Tensor:
        """``topi.nn.softmax``."""
        axis = _axis(axis, len(x.shape))
        over, again = (ReduceAxis("k", scalar(x.shape[axis])) for _ in range(2))
        kept = [size for at, size in enumerate(x.shape) if at != axis]

        def without(indices: Sequence[Scalar]) -> list[Scalar]:
            return [each for at, each in enumerate(indices) if at != axis]

        def within(indices: Sequence[object], reduced: ReduceAxis) -> list[object]:
            return [*indices[:axis], reduced, *indices[axis:]]

        largest = self._indexed(
            kept, lambda *i: Reduced("max", x.at(within(i, over)), (over,)), "T_softmax_maxelem"
        )
        powers = self._indexed(
            x.shape,
            lambda *i: call("tir.exp", binary("-", x.at(i), largest.at(without(i)))),
            "T_softmax_exp",
        )
        total = self._indexed(
            kept, lambda *i: Reduced("+", powers.at(within(i, again)), (again,)), "T_softmax_expsum"
        )
        return self._indexed(
            x.shape, lambda *i: binary("/", powers.at(i), total.at(without(i))), "T_softmax_norm"
        )

    def reduce(
        self, combiner: str, data: Tensor, axis: object = None, keepdims: bool = False
    ) -> Tensor:
        """``topi.sum``, ``topi.max`` and ``topi.min``."""
        rank = len(data.shape)
        given = range(rank) if axis is None else axis if isinstance(axis, list | tuple) else (axis,)
        places = sorted({_axis(each, rank) for each in given})
        over = {place: ReduceAxis(f"k{place}", scalar(data.shape[place])) for place in places}
        shape = [
            1 if at in over else size
            for at, size in enumerate(data.shape)
            if keepdims or at not in over
        ]

        def body(*indices: Scalar) -> Reduced:
            left = list(indices)
            whole: list[object] = []
            for at in range(rank):
                if at in over:
                    whole.append(over[at])
                    del left[: 1 if keepdims else 0]
                else:
                    whole.append(left.pop(0))
            return Reduced(combiner, data.at(whole), tuple(over.values()))

        axes = [f"ax{index}" for index in range(len(shape))]
        return self._program.compute(shape, axes, body, f"{data.name}_red")

    def sparse_dense(
        self, data: Tensor, weights: Tensor, columns: Tensor, rows: Tensor, sparse_lhs: bool = False
    ) -> Tensor:
        """``topi.nn.sparse_dense`` with weights in blocks (BSR)."""
        if sparse_lhs or len(weights.shape) != 3 or len(data.shape) != 2:
            raise NotUnderstoodError("sparse_dense of weights that are no blocks")
        height, width = weights.shape[1:]
        blocks = rows.shape[0] - 1

        def block(i: Scalar, nb_j: Scalar, j: Scalar) -> Reduced:
            first = rows.at([nb_j])
            count = binary("-", rows.at([binary("+", nb_j, 1)]), first)
            elem_idx, c = ReduceAxis("elem_idx", count), ReduceAxis("c", scalar(width))
            place = binary("+", first, elem_idx.value)
            column = binary("+", binary("*", width, columns.at([place])), c.value)
            product = binary("*", weights.at([place, j, c]), data.at([i, column]))
            return Reduced("+", product, (elem_idx, c))

        shape = (data.shape[0], blocks, height)
        parts = self._program.compute(shape, ("i", "nb_j", "j"), block)
        return self._program.compute(
            (data.shape[0], blocks * height),
            ("m", "n"),
            lambda m, n: parts.at(
                [m, binary("floordiv", n, height), binary("floormod", n, height)]
            ),
        )

    def _elementwise(self, x: Tensor, change: Callable[[Scalar], Scalar]) -> Tensor:
        return self._indexed(x.shape, lambda *i: change(x.at(i)))

    def _indexed(
        self, shape: Sequence[int], body: Callable[..., object], name: str = "compute"
    ) -> Tensor:
        axes = [f"i{index}" for index in range(len(shape))]
        return self._program.compute(shape, axes, body, name)


def _product(a: Scalar, b: Scalar, axes: tuple[ReduceAxis, ...], out_dtype: str | None) -> Reduced:
    left, right = (cast(out_dtype, each) if out_dtype else each for each in (a, b))
    return Reduced("+", binary("*", left, right), axes)


def _reduce_axes(**extents: int) -> list[ReduceAxis]:
    return [ReduceAxis(name, scalar(extent)) for name, extent in extents.items()]


def _four(tensor: Tensor) -> tuple[int, ...]:
    if len(tensor.shape) != 4:
        raise NotUnderstoodError(f"a convolution over {tensor.name!r}, which has no 4 dimensions")
    return tensor.shape


def _axis(axis: object, rank: int) -> int:
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise NotUnderstoodError(f"no axis {axis} among {rank}")
    return axis % rank


def _shape_of(value: object) -> tuple[int, ...]:
    return value.shape if isinstance(value, Tensor) else ()


def _broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    pairs = zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b, strict=True)
    shape = []
    for x, y in pairs:
        if x != y and 1 not in (x, y):
            raise NotUnderstoodError(f"shapes {list(a)} and {list(b)} do not go together")
        shape.append(max(x, y))
    return tuple(shape)


def _element(value: object, indices: Sequence[Scalar], shape: tuple[int, ...]) -> object:
    if not isinstance(value, Tensor):
        return value
    skipped = len(shape) - len(value.shape)
    pairs = zip(value.shape, shape[skipped:], indices[skipped:], strict=True)
    return value.at([index if own == whole else 0 for own, whole, index in pairs])
