"""Scalar expressions with their types, folded as TVM folds them when they are made.

Constants match the other operand's type, and what adds nothing is left out: ``i*1`` is ``i``
(src/tir/op/op.cc, src/arith/const_fold.h).
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.tuning.expressions import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Call,
    Cast,
    Expression,
    Not,
    Number,
    Select,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class NotUnderstoodError(ValueError):
    """Code that is not read, or that TVM would refuse; the text says what."""


#: Parts of one expression, and how deep they may stand in each other.
_MOST_PARTS, _DEEPEST = 5_000, 80


@dataclass(frozen=True)
class Scalar:
    """An expression and its type."""

    expression: Expression
    dtype: str
    size: int = 1
    depth: int = 1

    @classmethod
    def of(cls, expression: Expression, dtype: str, *parts: Scalar) -> Scalar:
        """Return an expression of some parts."""
        size = 1 + sum(each.size for each in parts)
        depth = 1 + max((each.depth for each in parts), default=0)
        if size > _MOST_PARTS or depth > _DEEPEST:
            raise NotUnderstoodError(f"an expression of more than {_MOST_PARTS:,} parts")
        return cls(expression, dtype, size, depth)

    @property
    def number(self) -> float | None:
        """The value of a constant."""
        return self.expression.value if isinstance(self.expression, Number) else None


_FOLDED: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "max": max,
    "min": min,
    "floordiv": operator.floordiv,
    "floormod": operator.mod,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_DIVISIONS = ("/", "floordiv", "floormod", "%")
_LARGEST = 2**63 - 1


def scalar(value: object, like: str = "") -> Scalar:
    """Return a number as a constant of a type, or of its own; expressions as they are."""
    if isinstance(value, Scalar):
        return value
    if isinstance(value, bool):
        return Scalar(Number(value, like or "bool"), like or "bool")
    if isinstance(value, int | float):
        dtype = like or ("int32" if isinstance(value, int) else "float32")
        if "float" not in dtype and not math.isfinite(value):
            raise NotUnderstoodError("a whole number that is infinite, or none")
        number = float(value) if "float" in dtype else int(value)
        return Scalar(Number(number, dtype), dtype)
    raise NotUnderstoodError(f"{_kind(value)} where a number or an element was expected")


def binary(op: str, a: object, b: object) -> Scalar:
    """Return ``a op b``."""
    left, right = _matched(a, b)
    x, y = left.number, right.number
    if op in _DIVISIONS and y == 0:
        raise NotUnderstoodError("a division by 0")
    if x is not None and y is not None and op in _FOLDED and left.dtype == right.dtype:
        return _constant(_FOLDED[op](x, y), "bool" if op in COMPARISONS else left.dtype)
    kept = _unchanged(op, left, right)
    if kept is not None:
        return kept
    dtype = "bool" if op in (*COMPARISONS, *LOGICAL) else left.dtype
    return Scalar.of(Binary(op, left.expression, right.expression), dtype, left, right)


def _constant(value: float, dtype: str) -> Scalar:
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise NotUnderstoodError("a number that does not fit into 64 bits")
    return scalar(value, dtype)


def _unchanged(op: str, a: Scalar, b: Scalar) -> Scalar | None:
    """Return the operand that ``a op b`` equals, where one does."""
    x, y = a.number, b.number
    if op in ("+", "-") and y == 0:
        return a
    if (op == "+" and x == 0) or (op == "*" and (x == 1 or y == 0)):
        return b
    if (op == "*" and (y == 1 or x == 0)) or (op in ("/", "floordiv") and y == 1):
        return a
    if op in ("floormod", "%") and y == 1:
        return _constant(0, a.dtype)
    if op == "&&" and x is not None:
        return b if x else a
    if op == "&&" and y is not None:
        return a if y else b
    return None


def _matched(a: object, b: object) -> tuple[Scalar, Scalar]:
    """Give constants the other operand's type (``BinaryOpMatchTypes``)."""
    if not isinstance(a, Scalar) and isinstance(b, Scalar):
        return scalar(a, b.dtype), b
    if isinstance(a, Scalar) and not isinstance(b, Scalar):
        return a, scalar(b, a.dtype)
    left, right = scalar(a), scalar(b)
    if left.dtype == right.dtype:
        return left, right
    if "float" in left.dtype and "int" in right.dtype:
        return left, cast(left.dtype, right)
    if "int" in left.dtype and "float" in right.dtype:
        return cast(right.dtype, left), right
    raise NotUnderstoodError(f"an operation of {left.dtype} with {right.dtype}")


def cast(dtype: str, a: object) -> Scalar:
    """Return a value in another type."""
    value = scalar(a)
    if value.dtype == dtype:
        return value
    if value.number is not None:
        return scalar(value.number, dtype)
    return Scalar.of(Cast(dtype, value.expression), dtype, value)


def negated(a: object) -> Scalar:
    """Return ``-a``: TVM multiplies by -1."""
    return binary("*", a, -1)


def inverted(a: object) -> Scalar:
    """Return ``!a``."""
    value = scalar(a)
    return Scalar.of(Not(value.expression), "bool", value)


def call(function: str, *arguments: object) -> Scalar:
    """Return a call of an operator such as ``tir.exp``, of the type of its argument."""
    values = [scalar(each) for each in arguments]
    expression = Call(function, tuple(each.expression for each in values))
    return Scalar.of(expression, values[0].dtype, *values)


def if_then_else(condition: object, a: object, b: object) -> Scalar:
    """Return a choice of which only one side is computed."""
    left, right = _matched(a, b)
    chosen = scalar(condition)
    if chosen.number is not None:
        return left if chosen.number else right
    arguments = (chosen.expression, left.expression, right.expression)
    return Scalar.of(Call("tir.if_then_else", arguments), left.dtype, chosen, left, right)


def select(condition: object, a: object, b: object) -> Scalar:
    """Return a choice of which both sides are computed."""
    left, right = _matched(a, b)
    chosen = scalar(condition)
    expression = Select(chosen.expression, left.expression, right.expression)
    return Scalar.of(expression, left.dtype, chosen, left, right)


def _kind(value: object) -> str:
    return f"a {type(value).__name__}"
