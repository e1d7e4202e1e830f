"""Python as far as workloads are written in it, read as data: nothing is ever executed.

Numbers, tuples, names, arithmetic, conditions, lambdas and functions of the module are understood,
and calls of what `library.py` knows. All else ends with what is not understood, and its line.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tuning.te.names import Dotted, Function, Names, imported
from tvmdbg_widgets.formats.tuning.te.operations import (
    MOST_VALUES,
    Slice,
    binary_operation,
    comparison,
    element,
    unary_operation,
)
from tvmdbg_widgets.formats.tuning.te.scalars import NotUnderstoodError, Scalar
from tvmdbg_widgets.formats.tuning.te.tensors import ReduceAxis, Reduced, Tensor
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_MOST_STEPS, _DEEPEST = 50_000, 30
_LARGEST = 2**63 - 1


class _Returned(Exception):  # noqa: N818
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Interpreter:
    """One reading of a module."""

    def __init__(
        self,
        library: Callable[[str, Interpreter], Any],
        broadcast: Callable[[str, object, object], Tensor],
    ) -> None:
        self._library = library
        self._broadcast = broadcast
        self._steps = 0
        self._depth = 0
        self.line = 0

    def call(self, function: Function, arguments: Sequence[Any], **named: Any) -> Any:
        """Call a function of the source."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotUnderstoodError(f"calls nested deeper than {_DEEPEST}")
        names = Names(self._bound(function, list(arguments), named), function.names)
        try:
            if isinstance(function.node, ast.Lambda):
                return self.value(function.node.body, names)
            self.run(function.node.body, names)
        except _Returned as returned:
            return returned.value
        finally:
            self._depth -= 1
        return None

    def _bound(
        self, function: Function, arguments: list[Any], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        spec = function.node.args
        if spec.kwarg is not None:
            raise NotUnderstoodError("a function with **kwargs")
        names = function.parameters
        bound = dict(zip(names, arguments, strict=False))
        rest = tuple(arguments[len(names) :])
        if spec.vararg is not None:
            bound[spec.vararg.arg] = rest
        elif rest:
            raise NotUnderstoodError(
                f"{counted(len(arguments), 'argument')} for {counted(len(names), 'parameter')}"
            )
        only_named = [each.arg for each in spec.kwonlyargs]
        for name, value in named.items():
            if name in bound or name not in (*names, *only_named):
                raise NotUnderstoodError(f"an argument {name!r} that no parameter takes")
            bound[name] = value
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        pairs = zip(only_named, spec.kw_defaults, strict=True)
        defaults.update((name, node) for name, node in pairs if node is not None)
        for name in (*names, *only_named):
            if name not in bound:
                if name not in defaults:
                    raise NotUnderstoodError(f"no argument for the parameter {name!r}")
                bound[name] = self.value(defaults[name], function.names)
        return bound

    def run(self, statements: Sequence[ast.stmt], names: Names) -> None:
        """Run statements."""
        for statement in statements:
            self._count(statement)
            self._run(statement, names)

    def _run(self, statement: ast.stmt, names: Names) -> None:
        match statement:
            case ast.Assign(targets, value):
                result = self.value(value, names)
                for target in targets:
                    self._assign(target, result, names)
            case ast.AnnAssign(target, _, value) if value is not None:
                self._assign(target, self.value(value, names), names)
            case ast.AugAssign(target, op, value):
                old, new = self.value(_loaded(target), names), self.value(value, names)
                self._assign(target, self._operate(op, old, new), names)
            case ast.If(test, body, orelse):
                self.run(body if self._truth(self.value(test, names)) else orelse, names)
            case ast.Return(value):
                raise _Returned(None if value is None else self.value(value, names))
            case ast.FunctionDef():
                names.own[statement.name] = Function(statement, names)
            case ast.Import() | ast.ImportFrom():
                names.own.update(imported(statement))
            case ast.Pass() | ast.Assert() | ast.Expr(ast.Constant()):
                pass
            case _:
                raise NotUnderstoodError(f"a statement of kind {_kind(statement)}")

    def _assign(self, target: ast.expr, value: Any, names: Names) -> None:
        match target:
            case ast.Name(name):
                names.own[name] = value
            case ast.Tuple(parts) | ast.List(parts):
                values = self.sequence(value)
                if len(values) != len(parts):
                    raise NotUnderstoodError(
                        f"{counted(len(values), 'value')} for {counted(len(parts), 'name')}"
                    )
                for part, each in zip(parts, values, strict=True):
                    self._assign(part, each, names)
            case _:
                raise NotUnderstoodError("an assignment to what is no name")

    def value(self, node: ast.expr, names: Names) -> Any:
        """Return what an expression means."""
        self._count(node)
        match node:
            case ast.Constant(bool() | int() | float() | str() | None as value):
                return _constant(value)
            case ast.Name(name):
                found = names.get(name)
                return found if found is not None else Dotted(name)
            case ast.Tuple(parts) | ast.List(parts):
                return tuple(self._values(parts, names))
            case ast.Attribute(of, name):
                return self._attribute(self.value(of, names), name)
            case ast.BinOp(left, op, right):
                return self._operate(op, self.value(left, names), self.value(right, names))
            case ast.UnaryOp(op, operand):
                return unary_operation(op, self.value(operand, names))
            case ast.Lambda():
                return Function(node, names)
            case ast.Call(of, arguments, keywords):
                return self._called(of, arguments, keywords, names)
            case ast.Subscript(of, index):
                return self._element(self.value(of, names), self.value(index, names))
        return self._chosen(node, names)

    def _chosen(self, node: ast.expr, names: Names) -> Any:
        match node:
            case ast.Compare(left, [op], [right]):
                return comparison(op, self.value(left, names), self.value(right, names))
            case ast.IfExp(test, body, orelse):
                chosen = body if self._truth(self.value(test, names)) else orelse
                return self.value(chosen, names)
            case ast.BoolOp(op, parts):
                result: Any = None
                for part in parts:
                    result = self.value(part, names)
                    if self._truth(result) is isinstance(op, ast.Or):
                        break
                return result
        raise NotUnderstoodError(f"an expression of kind {_kind(node)}")

    def _values(self, nodes: Sequence[ast.expr], names: Names) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self.sequence(self.value(node.value, names))
            else:
                values.append(self.value(node, names))
        if len(values) > MOST_VALUES:
            raise NotUnderstoodError(f"more than {MOST_VALUES:,} values")
        return values

    def _called(
        self,
        of: ast.expr,
        arguments: Sequence[ast.expr],
        keywords: Sequence[ast.keyword],
        names: Names,
    ) -> Any:
        function = self.value(of, names)
        values = self._values(arguments, names)
        named = {}
        for each in keywords:
            if each.arg is None:
                raise NotUnderstoodError("a call with **kwargs")
            named[each.arg] = self.value(each.value, names)
        if isinstance(function, Function):
            return self.call(function, values, **named)
        if isinstance(function, Tensor):
            return self._element(function, tuple(values))
        if isinstance(function, Dotted):
            function = self._library(function.path, self)
        if not callable(function):
            raise NotUnderstoodError("a call of what is no function")
        try:
            return function(*values, **named)
        except (TypeError, AttributeError, ValueError, OverflowError) as problem:
            if isinstance(problem, NotUnderstoodError):
                raise
            raise NotUnderstoodError(
                f"a call with other arguments than are known: {problem}"
            ) from None

    def _attribute(self, value: Any, name: str) -> Any:
        if isinstance(value, Dotted):
            return Dotted(f"{value.path}.{name}")
        if isinstance(value, Tensor) and name in ("shape", "dtype", "name", "ndim"):
            return len(value.shape) if name == "ndim" else getattr(value, name)
        if isinstance(value, Scalar) and name == "dtype":
            return value.dtype
        if isinstance(value, Scalar | Slice | Reduced) and name == "astype":
            return self._library("astype", self)(element(value))
        if isinstance(value, int) and name == "value":
            return value
        raise NotUnderstoodError(f"an attribute {name!r}")

    def _element(self, value: Any, index: Any) -> Any:
        if isinstance(value, Tensor | Slice):
            more = index if isinstance(index, tuple) else (index,)
            return Slice.of(value, more)
        if isinstance(value, tuple) and isinstance(index, int):
            if not -len(value) <= index < len(value):
                raise NotUnderstoodError(f"index {index} into {counted(len(value), 'value')}")
            return value[index]
        raise NotUnderstoodError("an index into what has none")

    def _operate(self, op: ast.operator, left: Any, right: Any) -> Any:
        return binary_operation(op, left, right, self._broadcast)

    def sequence(self, value: Any) -> tuple[Any, ...]:
        """Return what is listed."""
        if isinstance(value, tuple | list):
            return tuple(value)
        raise NotUnderstoodError("one value where several were expected")

    def _truth(self, value: Any) -> bool:
        if isinstance(value, Scalar | Tensor | Slice | ReduceAxis | Dotted | Function):
            raise NotUnderstoodError("a condition that is no number")
        return bool(value)

    def _count(self, node: ast.AST) -> None:
        self.line = getattr(node, "lineno", self.line)
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise NotUnderstoodError(f"more than {_MOST_STEPS:,} steps")


def _constant(value: object) -> object:
    if isinstance(value, int) and value > _LARGEST:
        raise NotUnderstoodError("a number that does not fit into 64 bits")
    return value


def _loaded(target: ast.expr) -> ast.expr:
    if not isinstance(target, ast.Name):
        raise NotUnderstoodError("an assignment to what is no name")
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _kind(node: ast.AST) -> str:
    return type(node).__name__
