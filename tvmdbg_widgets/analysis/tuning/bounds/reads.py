"""What stages read, while stages are inlined, cached and taken apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tvmdbg_widgets.analysis.tuning.bounds.forms import LinearForm, LoopVariable, Quotient
from tvmdbg_widgets.model.tuning.expressions import (
    BinaryExpr,
    Expression,
    Number,
    TensorRead,
    Variable,
    reads,
    rebuilt,
)

Reads = tuple[TensorRead, ...]
#: Schedules of real networks stay far below.
_MOST_READS, _DEEPEST, _LARGEST = 200, 40, 300


def all_reads(bodies: Iterable[Expression]) -> Reads | None:
    """Return the distinct reads of bodies, None where one does not say what it reads."""
    found = tuple(dict.fromkeys(read for body in bodies for read in reads(body)))
    return None if any(read.operation < 0 for read in found) else checked(found)


def checked(found: Iterable[TensorRead]) -> Reads | None:
    """Return distinct reads; None for more, or larger ones, than are followed."""
    distinct: dict[TensorRead, None] = {}
    for each in found:
        if not _is_small(each) or len(distinct) > _MOST_READS:
            return None
        distinct[each] = None
    return tuple(distinct)


def substituted(found: Reads | None, values: Mapping[str, Expression]) -> Reads | None:
    """Return reads with other indices in place of some axes."""
    if found is None:
        return None

    def change(expression: Expression) -> Expression:
        if isinstance(expression, Variable):
            return values.get(expression.name, expression)
        return rebuilt(expression, change)

    return checked(each for each in map(change, found) if isinstance(each, TensorRead))


def redirected(found: Reads, old: tuple[int, int], new: int) -> Reads:
    """Return reads that take one output from another stage."""

    def change(expression: Expression) -> Expression:
        whole = rebuilt(expression, change)
        if isinstance(whole, TensorRead) and (whole.operation, whole.output) == old:
            return TensorRead(whole.name, whole.indices, 0, new)
        return whole

    return tuple(each for each in map(change, found) if isinstance(each, TensorRead))


def inlined(
    found: Reads | None, key: int, axes: Sequence[str], inner: Reads | None
) -> Reads | None:
    """Return reads with those of a stage replaced by what it reads itself."""
    if found is None or all(each.operation != key for each in found):
        return found
    if inner is None:
        return None
    whole: list[TensorRead] = []
    for each in found:
        if each.operation != key:
            whole.append(each)
            continue
        more = substituted(inner, dict(zip(axes, each.indices, strict=False)))
        if more is None:
            return None
        whole += more
    return checked(whole)


def as_expression(form: LinearForm) -> Expression:
    """Return a form as an expression of its loops' names."""
    whole: Expression | None = None
    for atom, times in form.terms.items():
        part: Expression
        if isinstance(atom, LoopVariable):
            part = Variable(atom.name)
        else:
            op = "floordiv" if isinstance(atom, Quotient) else "floormod"
            part = BinaryExpr(op, as_expression(atom.of), Number(atom.by))
        part = part if times == 1 else BinaryExpr("*", part, Number(times))
        whole = part if whole is None else BinaryExpr("+", whole, part)
    if whole is None:
        return Number(form.constant)
    return whole if not form.constant else BinaryExpr("+", whole, Number(form.constant))


def _is_small(expression: Expression) -> bool:
    """Tell whether a read is small enough to follow; large ones share parts many times."""
    waiting, seen = [(expression, 1)], 0
    while waiting:
        each, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST or seen > _LARGEST:
            return False
        waiting += [(part, depth + 1) for part in each.parts]
    return True
