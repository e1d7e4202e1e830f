"""Extents of axes that follow from the shapes of inputs.

A DAG's text lacks the extents of computed operations. These rules hold for all of TVM's own
operators: an axis that alone indexes a dimension covers it (element-wise operations, reductions,
products), and a window ``y*s + r*d`` has as many positions as fit (convolutions, poolings).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tvmdbg_widgets.model.tuning.trials import (
    Axis,
    BinaryExpr,
    CallExpr,
    Expression,
    Number,
    Operation,
    Select,
    TensorRead,
    Variable,
    reads,
    walk,
)

#: Passes over all operations, forward and back: real DAGs need three.
_PASSES = 6
_LARGEST = 2**31 - 1


def with_extents(
    operations: tuple[Operation, ...], shapes: Sequence[Sequence[int]] = ()
) -> tuple[Operation, ...]:
    """Return operations with the extents that follow."""
    extents = _AxisExtents(operations)
    extents.take_output(shapes)
    for _ in range(_PASSES):
        before = extents.known
        for at in (*range(len(operations)), *reversed(range(len(operations)))):
            extents.visit(at)
        if extents.known == before:
            break
    return tuple(extents.operation(at) for at in range(len(operations)))


@dataclass(frozen=True)
class _IndexedRead:
    """One dimension of a read: its index, and whether a condition guards it."""

    producer: int
    dimension: int
    index: Expression
    guarded: frozenset[str]


class _AxisExtents:
    def __init__(self, operations: tuple[Operation, ...]) -> None:
        self._operations = operations
        self._of: list[dict[str, int]] = [
            {
                axis.name: axis.extent
                for axis in (*operation.axes, *operation.reduce_axes)
                if axis.extent is not None
            }
            for operation in operations
        ]
        self._accesses = [list(_accesses(operation)) for operation in operations]

    @property
    def known(self) -> int:
        return sum(map(len, self._of))

    def operation(self, at: int) -> Operation:
        def filled(axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
            return tuple(replace(axis, extent=self._of[at].get(axis.name)) for axis in axes)

        own = self._operations[at]
        return replace(own, axes=filled(own.axes), reduce_axes=filled(own.reduce_axes))

    def take_output(self, shapes: Sequence[Sequence[int]]) -> None:
        """Give the DAG's only output the last of the key's shapes."""
        read = {
            item.operation
            for one in self._operations
            for body in one.bodies
            for item in reads(body)
        }
        outputs = [
            at
            for at, item in enumerate(self._operations)
            if at not in read and not item.is_placeholder
        ]
        inputs = [item.shape for item in self._operations if item.is_placeholder]
        if not shapes or len(outputs) != 1 or Counter(map(tuple, shapes[:-1])) != Counter(inputs):
            return
        axes = self._operations[outputs[0]].axes
        if len(axes) == len(shapes[-1]):
            for axis, extent in zip(axes, shapes[-1], strict=True):
                self._give(outputs[0], axis.name, extent)

    def visit(self, at: int) -> None:
        """Relate an operation's extents to those of its reads."""
        direct: dict[str, set[int]] = {}
        for access in self._accesses[at]:
            size = self._size(access)
            index = affine(access.index)
            if index is None:
                self._quotient(at, access, size)
                continue
            moving = {
                name: coefficient
                for name, coefficient in index.terms.items()
                if len(index.terms) == 1 or self._of[at].get(name) != 1
            }
            if len(moving) == 1 and not index.constant and not moving.keys() & access.guarded:
                (name, coefficient), *_ = moving.items()
                if coefficient == 1 and size is not None:
                    direct.setdefault(name, set()).add(size)
                elif coefficient == 1 and name in self._of[at]:
                    self._resize(access, self._of[at][name])
            elif len(moving) > 1 and not index.constant:
                self._window(at, access, Affine(0, moving), size)
        for name, sizes in direct.items():
            if len(sizes) == 1:
                self._give(at, name, *sizes)

    def _window(self, at: int, access: _IndexedRead, index: Affine, size: int | None) -> None:
        """Relate ``y*s + r*d`` to its dimension."""
        spatial = {axis.name for axis in self._operations[at].axes}
        places = [name for name in index.terms if name in spatial]
        if len(places) != 1 or min(index.terms.values()) < 1:
            return
        (place,) = places
        stride = index.terms[place]
        extents = {name: self._of[at].get(name) for name in index.terms}
        within = 0
        for name, coefficient in index.terms.items():
            extent = extents[name]
            if name != place and extent is None:
                return
            within += coefficient * ((extent or 1) - 1) if name != place else 0
        extent = extents[place]
        if size is not None and extent is None and size > within:
            self._give(at, place, (size - within - 1) // stride + 1)
        elif size is None and extent is not None and stride == 1:
            self._resize(access, extent + within)

    def _quotient(self, at: int, access: _IndexedRead, size: int | None) -> None:
        """Relate ``floordiv(n, 16)`` to the dimension that it covers."""
        match access.index:
            case BinaryExpr("floordiv", Variable(name), Number(int(divisor))) if (
                size and divisor > 0
            ):
                if name not in access.guarded:
                    self._give(at, name, size * int(divisor))

    def _size(self, access: _IndexedRead) -> int | None:
        producer = self._operations[access.producer]
        if producer.is_placeholder:
            return producer.shape[access.dimension]
        return self._of[access.producer].get(producer.axes[access.dimension].name)

    def _resize(self, access: _IndexedRead, extent: int) -> None:
        producer = self._operations[access.producer]
        if not producer.is_placeholder:
            self._give(access.producer, producer.axes[access.dimension].name, extent)

    def _give(self, at: int, name: str, extent: int) -> None:
        if 0 < extent <= _LARGEST:
            self._of[at].setdefault(name, extent)


def _accesses(operation: Operation) -> Iterator[_IndexedRead]:
    for body in operation.bodies:
        yield from _within(body, frozenset())


def _within(expression: Expression, guarded: frozenset[str]) -> Iterator[_IndexedRead]:
    if isinstance(expression, TensorRead):
        for dimension, index in enumerate(expression.indices):
            if expression.operation >= 0:
                yield _IndexedRead(expression.operation, dimension, index, guarded)
        return  # a read within an index does not bound it
    conditional = isinstance(expression, Select) or (
        isinstance(expression, CallExpr) and expression.function == "tir.if_then_else"
    )
    if conditional and expression.parts:
        names = {inner.name for inner in walk(expression.parts[0]) if isinstance(inner, Variable)}
        guarded |= names
    for part in expression.parts:
        yield from _within(part, guarded)


@dataclass(frozen=True)
class Affine:
    """``constant + Σ coefficient · variable``."""

    constant: int = 0
    terms: Mapping[str, int] = field(default_factory=dict)

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """Return ``self + times · other``."""
        terms = dict(self.terms)
        for name, coefficient in other.terms.items():
            terms[name] = terms.get(name, 0) + times * coefficient
        kept = {name: coefficient for name, coefficient in terms.items() if coefficient}
        return Affine(self.constant + times * other.constant, kept)


def affine(expression: Expression) -> Affine | None:
    """Return an index as a sum of axes, or None."""
    match expression:
        case Number(value) if isinstance(value, int):
            return Affine(int(value))
        case Variable(name):
            return Affine(0, {name: 1})
        case BinaryExpr("+" | "-" as op, a, b):
            left, right = affine(a), affine(b)
            if left is not None and right is not None:
                return left.plus(right, 1 if op == "+" else -1)
        case BinaryExpr("*", a, b):
            left, right = affine(a), affine(b)
            if left is not None and right is not None and not (left.terms and right.terms):
                terms, factor = (left, right) if left.terms else (right, left)
                return Affine().plus(terms, factor.constant)
    return None
