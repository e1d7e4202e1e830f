"""Bodies of operations as expression trees, as far as bounds, reads and FLOP counts need them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

#: Signs of binary operations; floordiv, floormod, max and min are printed as calls.
ARITHMETIC = ("+", "-", "*", "/", "%", "floordiv", "floormod", "max", "min")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
LOGICAL = ("&&", "||")


class Expression:
    """Any expression."""

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions it is made of."""
        return ()


@dataclass(frozen=True)
class Number(Expression):
    """A constant."""

    value: float
    dtype: str = "int32"


@dataclass(frozen=True)
class Text(Expression):
    """A string constant, an argument of external calls."""

    value: str


@dataclass(frozen=True)
class Variable(Expression):
    """An axis by its name, or another scalar."""

    name: str


@dataclass(frozen=True)
class TensorRead(Expression):
    """A tensor's element."""

    name: str
    indices: tuple[Expression, ...]
    output: int = 0
    operation: int = -1

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The indices."""
        return self.indices


@dataclass(frozen=True)
class BinaryExpr(Expression):
    """``a op b``; `op` is one of ``ARITHMETIC``, ``COMPARISONS``, ``LOGICAL``."""

    op: str
    a: Expression
    b: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Both operands."""
        return (self.a, self.b)


@dataclass(frozen=True)
class Not(Expression):
    """``!a``."""

    a: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.a,)


@dataclass(frozen=True)
class Cast(Expression):
    """A conversion: ``float32(a)``."""

    dtype: str
    a: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.a,)


@dataclass(frozen=True)
class Select(Expression):
    """``select(condition, a, b)``: both values are computed."""

    condition: Expression
    a: Expression
    b: Expression

    @property
    def parts(self) -> tuple[Expression, ...]:
        """Condition and both values."""
        return (self.condition, self.a, self.b)


@dataclass(frozen=True)
class CallExpr(Expression):
    """A call: ``tir.exp(a)``, ``tir.if_then_else(condition, a, b)``."""

    function: str
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.arguments


@dataclass(frozen=True)
class Reduction(Expression):
    """A reduction over the operation's reduce axes."""

    combiner: str
    sources: tuple[Expression, ...]
    combined: tuple[Expression, ...] = ()

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The sources."""
        return self.sources


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all it is made of, operands before what uses them."""
    for each in expression.parts:
        yield from walk(each)
    yield expression


def reads(expression: Expression) -> tuple[TensorRead, ...]:
    """Return all reads of tensors, those in the indices of others too, inner ones first."""
    return tuple(each for each in walk(expression) if isinstance(each, TensorRead))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression of changed parts; `change` is called with each part, not with theirs."""
    match expression:
        case TensorRead():
            return replace(expression, indices=tuple(map(change, expression.indices)))
        case Not() | Cast():
            return replace(expression, a=change(expression.a))
        case BinaryExpr():
            return replace(expression, a=change(expression.a), b=change(expression.b))
        case Select():
            return Select(*map(change, expression.parts))
        case CallExpr():
            return replace(expression, arguments=tuple(map(change, expression.arguments)))
        case Reduction():
            return replace(expression, sources=tuple(map(change, expression.sources)))
    return expression
