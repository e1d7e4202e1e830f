"""Python's operators between numbers, elements and tensors."""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tuning.te.scalars import (
    NotUnderstoodError,
    Scalar,
    binary,
    inverted,
    negated,
)
from tvmdbg_widgets.formats.tuning.te.tensors import ReduceAxis, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

_LARGEST = 2**63 - 1
#: Values listed in one place; real workloads list some dozens.
MOST_VALUES = 1_000
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "floordiv",
    ast.Mod: "floormod",
}
_NUMBERS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


@dataclass(frozen=True)
class Slice:
    """A tensor with some indices, as ``A[i]`` of ``A[i][j]``."""

    tensor: Tensor
    indices: tuple[object, ...]

    @classmethod
    def of(cls, value: Tensor | Slice, more: tuple[object, ...]) -> Slice | Scalar:
        """Add indices; with all of them it is an element."""
        tensor, given = (value, ()) if isinstance(value, Tensor) else (value.tensor, value.indices)
        indices = (*given, *more)
        if len(indices) < len(tensor.shape):
            return cls(tensor, indices)
        return tensor.at([element(each) for each in indices])


def element(value: object) -> object:
    """Return a value as an operand: the variable of a reduce axis, the element of a 0-d tensor."""
    if isinstance(value, ReduceAxis):
        return value.value
    if isinstance(value, Tensor) and not value.shape:
        return value.at(())
    return value


def binary_operation(
    op: ast.operator, left: object, right: object, broadcast: Callable[[str, Any, Any], Tensor]
) -> Any:
    """Return what an operator between two values gives."""
    a, b = element(left), element(right)
    if isinstance(a, tuple) and isinstance(b, tuple) and isinstance(op, ast.Add):
        if len(a) + len(b) > MOST_VALUES:
            raise NotUnderstoodError(f"more than {MOST_VALUES:,} values")
        return a + b
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        sign = _SIGNS.get(type(op), "")
        if sign not in ("+", "-", "*", "/"):
            raise NotUnderstoodError("an operator between tensors")
        return broadcast(sign, a, b)
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        if type(op) not in _SIGNS:
            raise NotUnderstoodError("an operator between elements")
        return binary(_SIGNS[type(op)], a, b)
    return _calculated(op, a, b)


def _calculated(op: ast.operator, a: object, b: object) -> Any:
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        raise NotUnderstoodError("an operator between what are no numbers")
    if isinstance(op, ast.Pow) and isinstance(a, int) and isinstance(b, int):
        if not 0 <= b <= 62 or abs(a) > 2**31:
            raise NotUnderstoodError("a power that is too large")
        result: Any = a**b
    elif type(op) in _NUMBERS:
        if b == 0 and type(op) in (ast.Div, ast.FloorDiv, ast.Mod):
            raise NotUnderstoodError("a division by 0")
        result = _NUMBERS[type(op)](a, b)
    else:
        raise NotUnderstoodError("an operator between numbers")
    if isinstance(result, int) and abs(result) > _LARGEST:
        raise NotUnderstoodError("a number that does not fit into 64 bits")
    return result


def unary_operation(op: ast.unaryop, value: object) -> Any:
    """Return what an operator before a value gives."""
    a = element(value)
    if isinstance(op, ast.USub) and isinstance(a, int | float):
        return -a
    if isinstance(op, ast.Not) and isinstance(a, bool | int | str | tuple | None):
        return not a
    if isinstance(a, Scalar):
        if isinstance(op, ast.USub):
            return negated(a)
        if isinstance(op, ast.Invert):
            return inverted(a)
    raise NotUnderstoodError("an operator before a value")


def comparison(op: ast.cmpop, left: object, right: object) -> Any:
    """Return what a comparison gives."""
    a, b = element(left), element(right)
    if isinstance(op, ast.Is | ast.IsNot) and (a is None or b is None):
        return (a is b) is isinstance(op, ast.Is)
    if type(op) not in _COMPARED:
        raise NotUnderstoodError("a comparison")
    sign, compare = _COMPARED[type(op)]
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return binary(sign, a, b)
    plain = isinstance(a, int | float) and isinstance(b, int | float)
    if not plain and (sign not in ("==", "!=") or not (_is_flat(a) and _is_flat(b))):
        raise NotUnderstoodError("a comparison of what are no numbers")
    return compare(a, b)


def _is_flat(value: object) -> bool:
    """Whether a value is a number, a text, or a list of these: quick to compare."""
    parts = value if isinstance(value, tuple) else (value,)
    return all(isinstance(each, int | float | str | None) for each in parts)
