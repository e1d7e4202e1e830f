"""What names of TVM's Python modules mean, such as ``te.compute`` and ``topi.nn.relu``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tuning.te.names import Function
from tvmdbg_widgets.formats.tuning.te.operations import element
from tvmdbg_widgets.formats.tuning.te.scalars import (
    NotUnderstoodError,
    Scalar,
    binary,
    call,
    cast,
    if_then_else,
    inverted,
    scalar,
    select,
)
from tvmdbg_widgets.formats.tuning.te.tensors import (
    Program,
    ReduceAxis,
    Reduced,
    Tensor,
    check_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.formats.tuning.te.interpreter import Interpreter
    from tvmdbg_widgets.formats.tuning.te.topi import Topi

_UNARY = (
    *("exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "erf", "sin", "cos"),
    *("abs", "round", "floor", "ceil", "trunc"),
)
_DIVISIONS = {"floordiv": "floordiv", "floormod": "floormod", "indexdiv": "floordiv"}
_DIVISIONS |= {"indexmod": "floormod", "div": "/", "truncdiv": "/", "truncmod": "%"}


class Library:
    """The modules for one program."""

    def __init__(self, program: Program, topi: Topi) -> None:
        self._program = program
        self._topi = topi

    def find(self, path: str, interpreter: Interpreter) -> Callable[..., Any]:
        """Return the function of a dotted name; raise NotUnderstoodError where none is known."""
        plain = path.removeprefix("tvm.")
        module, _, name = plain.rpartition(".")
        found: Callable[..., Any] | None = None
        if module in ("te", "tir"):
            found = self._of_te(name, interpreter)
        elif plain.startswith("topi."):
            found = self._of_topi(plain.removeprefix("topi.").removeprefix("nn."))
        elif plain in _PYTHON:
            found = _PYTHON[plain]
        elif plain == "const":
            found = _constant
        if found is None:
            raise NotUnderstoodError(f"{path!r}, which is not among the functions that are known")
        return found

    def _of_te(self, name: str, interpreter: Interpreter) -> Callable[..., Any] | None:
        found: dict[str, Callable[..., Any]] = {
            "placeholder": self._placeholder,
            "compute": partial(self._compute, interpreter),
            "reduce_axis": _reduce_axis,
            "thread_axis": _refused,
            "const": _constant,
            "if_then_else": _on_elements(if_then_else),
            "Select": _on_elements(select),
            "select": _on_elements(select),
            "Cast": lambda dtype, value: cast(dtype, element(value)),
            "all": partial(_joined, "&&"),
            "any": partial(_joined, "||"),
            "Not": _on_elements(inverted),
            "power": lambda a, b: call("tir.pow", element(a), element(b)),
            "sum": partial(_reduced, "+"),
            "max": partial(_reduced, "max"),
            "min": partial(_reduced, "min"),
        }
        for each in _UNARY:
            found[each] = partial(_call, f"tir.{'fabs' if each == 'abs' else each}")
        for each, op in _DIVISIONS.items():
            found[each] = partial(_binary, op)
        return found.get(name)

    def _of_topi(self, name: str) -> Callable[..., Any] | None:
        topi = self._topi
        found: dict[str, Callable[..., Any]] = {
            "relu": topi.relu,
            "pad": topi.pad,
            "conv2d_nchw": topi.conv2d_nchw,
            "conv2d_nhwc": topi.conv2d_nhwc,
            "softmax": topi.softmax,
            "sparse_dense": topi.sparse_dense,
            "add": partial(topi.broadcast, "+"),
            "subtract": partial(topi.broadcast, "-"),
            "multiply": partial(topi.broadcast, "*"),
            "divide": partial(topi.broadcast, "/"),
            "maximum": partial(topi.broadcast, "max"),
            "minimum": partial(topi.broadcast, "min"),
            "sum": partial(topi.reduce, "+"),
            "max": partial(topi.reduce, "max"),
            "min": partial(topi.reduce, "min"),
        }
        return found.get(name)

    def _placeholder(
        self, shape: Any, dtype: str | None = None, name: str = "placeholder"
    ) -> Tensor:
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        return self._program.placeholder(sizes, name, dtype or "float32")

    def _compute(
        self,
        interpreter: Interpreter,
        shape: Any,
        fcompute: Any,
        name: str = "compute",
        **_: Any,
    ) -> Tensor:
        """``te.compute`` (python/tvm/te/operation.py): axes are named as the parameters are."""
        sizes = shape if isinstance(shape, tuple | list) else (shape,)
        if not isinstance(fcompute, Function):
            raise NotUnderstoodError("te.compute of what is no function of the source")
        axes = fcompute.parameters or tuple(f"i{index}" for index in range(len(sizes)))

        def body(*indices: Scalar) -> Any:
            return element(interpreter.call(fcompute, indices))

        return self._program.compute(sizes, axes, body, name)


def _reduce_axis(dom: Any, name: str = "rv", **_: Any) -> ReduceAxis:
    if not isinstance(dom, tuple) or len(dom) != 2 or dom[0] != 0:
        raise NotUnderstoodError("a reduce axis that does not begin at 0")
    extent = element(dom[1])
    check_name(name)
    if not isinstance(extent, Scalar) and not (type(extent) is int and 0 < extent < 2**31):
        raise NotUnderstoodError("an extent that is no number from 1 to 2147483647")
    return ReduceAxis(name, scalar(extent))


def _reduced(combiner: str, value: Any, axis: Any = None, *more: Any, **named: Any) -> Any:
    """``te.sum(value, axis)``; ``te.max(a, b)`` without axes is the larger of both."""
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    if axes and all(isinstance(each, ReduceAxis) for each in axes):
        if more or any(each is not None for each in named.values()):
            raise NotUnderstoodError("a reduction with a condition or a first value")
        return Reduced(combiner, scalar(element(value)), tuple(axes))
    if combiner == "+" or axis is None or more or named:
        raise NotUnderstoodError("a reduction over what is no reduce axis")
    return binary(combiner, element(value), element(axis))


def _constant(value: Any, dtype: str = "") -> Scalar:
    return scalar(value, dtype)


def _call(function: str, value: Any) -> Scalar:
    return call(function, element(value))


def _binary(op: str, a: Any, b: Any) -> Any:
    return binary(op, element(a), element(b))


def _joined(op: str, *parts: Any) -> Any:
    whole = element(parts[0])
    for part in parts[1:]:
        whole = binary(op, whole, element(part))
    return whole


def _on_elements(function: Callable[..., Scalar]) -> Callable[..., Scalar]:
    return lambda *values: function(*map(element, values))


def _refused(*_: Any, **__: Any) -> None:
    raise NotUnderstoodError("a thread axis, which no workload has")


def _numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*values: Any) -> Any:
        flat = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        if not flat or not all(isinstance(each, int | float) for each in flat):
            raise NotUnderstoodError("a function of numbers, called with others")
        return function(*flat)

    return checked


_PYTHON: dict[str, Callable[..., Any]] = {
    "astype": lambda value: lambda dtype: cast(dtype, value),
    "int": _numbers(int),
    "max": _numbers(max),
    "min": _numbers(min),
    "len": len,
    "tuple": tuple,
    "list": tuple,
}
