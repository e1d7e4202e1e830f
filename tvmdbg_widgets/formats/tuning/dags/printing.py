"""Expressions and DAGs as TVM v0.8 prints them (src/tir/ir/expr.cc, compute_dag.cc)."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.model.tuning.dag import Operation
from tvmdbg_widgets.model.tuning.expressions import (
    BinaryExpr,
    CallExpr,
    Cast,
    Expression,
    Not,
    Number,
    Reduction,
    Select,
    TensorRead,
    Text,
    Variable,
)

_TIGHT = ("*", "/")
_CALLED = ("floordiv", "floormod", "max", "min")
_SUFFIXES = {"float32": "f", "float16": "h", "float64": "", "int32": ""}


def print_expression(expression: Expression) -> str:
    """Return an expression's text."""
    match expression:
        case Number(value, dtype):
            return _number(value, dtype)
        case Variable(name):
            return name
        case Text(value):
            return f'"{value}"'
        case TensorRead(name):
            return f"{name}[{_listed(expression.parts)}]"
        case BinaryExpr(op, a, b) if op not in _CALLED:
            sign = op if op in _TIGHT else f" {op} "
            return f"({print_expression(a)}{sign}{print_expression(b)})"
        case Not(a):
            return f"!{print_expression(a)}"
    return f"{_called(expression)}({_listed(expression.parts)})"


def print_operations(operations: Iterable[Operation]) -> str:
    """Return the text of a DAG, ``str(task.compute_dag)`` with no line cut."""
    return "".join(f"{line}\n" for each in operations for line in _lines(each))


def _lines(operation: Operation) -> Iterable[str]:
    if operation.is_placeholder:
        sizes = ", ".join("?" if size is None else str(size) for size in operation.shape)
        yield f"{operation.name} = PLACEHOLDER [{sizes}]"
    head = f"{operation.name}({', '.join(axis.name for axis in operation.axes)})"
    for output, body in enumerate(operation.bodies):
        place = f"{head}.v{output}" if operation.outputs > 1 else head
        match body:
            case Reduction("select", sources, combined):
                chosen = f"({','.join(map(print_expression, sources))})"
                yield f"{place} select({_listed(combined)})= {chosen}"
            case Reduction(combiner, (source,)):
                yield f"{place} {combiner}= {print_expression(source)}"
            case _:
                yield f"{place} = {print_expression(body)}"


def _called(expression: Expression) -> str:
    match expression:
        case BinaryExpr(name) | Cast(name) | CallExpr(name):
            return name
        case Select():
            return "select"
    raise TypeError(expression)


def _listed(expressions: Iterable[Expression]) -> str:
    return ", ".join(map(print_expression, expressions))


def _number(value: float, dtype: str) -> str:
    if dtype == "bool":
        return f"(bool){int(value)}"
    text = str(value) if isinstance(value, int) else f"{value:g}"
    return f"{text}{_SUFFIXES[dtype]}" if dtype in _SUFFIXES else f"({dtype}){text}"
