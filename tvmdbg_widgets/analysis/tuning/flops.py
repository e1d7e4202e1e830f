"""How many floating-point operations a DAG takes, as TVM counts them.

``FlopEstimator`` (src/auto_scheduler/compute_dag.cc): an operator counts one where its operands are
of the output's kind of type, so that arithmetic of indices does not; indices of reads are not
looked into, calls count what their arguments do, ``select`` the larger of its values and
``if_then_else`` both; a reduction adds its combiner, once an iteration.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, prod

from tvmdbg_widgets.model.base.numbers import as_float
from tvmdbg_widgets.model.tuning.dag import Axis, ComputeDag, Operation
from tvmdbg_widgets.model.tuning.expressions import (
    COMPARISONS,
    LOGICAL,
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

# Kinds of types: TVM's are bool and unsigned, signed, and floating-point.
_UNSIGNED, _SIGNED, _FLOAT = "uint", "int", "float"


def flop_count(dag: ComputeDag) -> float | None:
    """Return the number of operations, ``task.compute_dag.flop_ct``."""
    kinds: list[str | None] = []
    total = 0
    for operation in dag.operations:
        counter = _FlopCounter(kinds)
        kind = counter.kind_of_operation(operation)
        kinds.append(kind)
        if operation.is_placeholder:
            continue
        count = _of_operation(operation, counter, kind or _FLOAT)
        if count is None:
            return None
        total += count
    counted = as_float(total)
    return counted if isfinite(counted) else None


def _of_operation(operation: Operation, counter: _FlopCounter, kind: str) -> int | None:
    elements, iterations = _product(operation.axes), _product(operation.reduce_axes)
    counts = [counter.count(body, kind, iterations or 0) for body in operation.bodies]
    known = [each for each in counts if each is not None]
    if elements is None or iterations is None or not counts or len(known) < len(counts):
        return None
    return elements * sum(known)


def _product(axes: Iterable[Axis]) -> int | None:
    extents = [axis.extent for axis in axes]
    known = [extent for extent in extents if extent is not None]
    return prod(known) if len(known) == len(extents) else None


class _FlopCounter:
    """Counts for one operation; `kinds` are those of all before it."""

    def __init__(self, kinds: list[str | None]) -> None:
        self._kinds = kinds
        self._kind = _FLOAT

    def count(self, body: Expression, kind: str, iterations: int) -> int | None:
        """Count the operations of one element of a kind of type."""
        self._kind = kind
        if not isinstance(body, Reduction):
            return self._visit(body)
        source = self._visit(body.sources[0])
        return None if source is None or body.combiner == "select" else iterations * (1 + source)

    def _visit(self, expression: Expression) -> int | None:
        if isinstance(expression, Number | Variable | TensorRead):
            return 0
        if isinstance(expression, Text | Reduction):
            return None
        parts = [self._visit(part) for part in expression.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if isinstance(expression, Select):
            return known[0] + max(known[1:])
        return self._own(expression) + sum(known)

    def _own(self, expression: Expression) -> int:
        match expression:
            case BinaryExpr(_, a, b):
                return int((self._kind_of(a) or self._kind_of(b) or _FLOAT) == self._kind)
            case Not():
                return int(self._kind == _UNSIGNED)
        return 0

    def kind_of_operation(self, operation: Operation) -> str | None:
        """Return the kind of an operation's type, or of what its body gives."""
        if operation.dtype:
            return _kind(operation.dtype)
        return self._kind_of(operation.bodies[0]) if operation.bodies else None

    def _kind_of(self, expression: Expression) -> str | None:
        """Return the kind of an expression's type, None where nothing tells."""
        match expression:
            case Number(_, dtype) | Cast(dtype):
                return _kind(dtype)
            case Variable():
                return _SIGNED
            case TensorRead(_, _, _, at):
                return self._kinds[at] if 0 <= at < len(self._kinds) else None
            case Not():
                return _UNSIGNED
            case BinaryExpr(op, a, b):
                is_truth = op in (*COMPARISONS, *LOGICAL)
                return _UNSIGNED if is_truth else self._kind_of(a) or self._kind_of(b)
            case CallExpr("tir.if_then_else", (_, a, b)) | Select(_, a, b):
                return self._kind_of(a) or self._kind_of(b)
            case CallExpr(_, (a, *_)) | Reduction(_, (a, *_)):
                return self._kind_of(a)
        return None


def _kind(dtype: str) -> str:
    if dtype.startswith(("uint", "bool")):
        return _UNSIGNED
    return _SIGNED if dtype.startswith("int") else _FLOAT
