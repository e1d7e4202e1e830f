"""Ranges of loops, and intervals of indices (``IntSet``, src/arith/int_set.cc)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvmdbg_widgets.analysis.tuning.bounds.forms import (
    LinearForm,
    LoopVariable,
    Quotient,
    larger,
    quotient,
    remainder,
    smaller,
)
from tvmdbg_widgets.model.tuning.expressions import (
    BinaryExpr,
    Expression,
    Number,
    Select,
    Variable,
)


@dataclass(frozen=True)
class LoopRange:
    """Where a loop runs: from `min` on, `extent` steps; None where it cannot be told."""

    min: LinearForm
    extent: int | None
    symbol: str = ""


@dataclass(frozen=True)
class IntegerInterval:
    """All between two ends, which belong to it; None where it has no end."""

    low: LinearForm | None
    high: LinearForm | None

    @property
    def is_point(self) -> bool:
        """Whether it is one value."""
        return self.low is not None and self.low == self.high

    def is_all_of(self, whole: LoopRange | None) -> bool:
        """Tell whether it is a range."""
        return self == interval(whole)

    def range(self, domain: LoopRange) -> LoopRange:
        """Return the range that covers it; `domain` where it has no ends."""
        if self.low is None or self.high is None:
            return domain
        return LoopRange(self.low, self.high.plus(self.low, -1).plus(1).number)


EVERYTHING = IntegerInterval(None, None)


def point(form: LinearForm) -> IntegerInterval:
    """Return the interval of one value."""
    return IntegerInterval(form, form)


def interval(whole: LoopRange | None) -> IntegerInterval | None:
    """Return a range as an interval, None where it cannot be told."""
    if whole is None or whole.extent is None:
        return None
    return IntegerInterval(whole.min, whole.min.plus(whole.extent - 1))


def union(a: IntegerInterval | None, b: IntegerInterval | None) -> IntegerInterval | None:
    """Return what covers both, None where it cannot be told."""
    if a is None or b is None:
        return None
    low = None if a.low is None or b.low is None else smaller(a.low, b.low)
    high = None if a.high is None or b.high is None else larger(a.high, b.high)
    endless = None in (a.low, b.low, a.high, b.high)
    return None if not endless and (low is None or high is None) else IntegerInterval(low, high)


def plus(a: IntegerInterval, b: IntegerInterval, times: int = 1) -> IntegerInterval:
    """Return ``a + times · b``."""
    low, high = (b.low, b.high) if times > 0 else (b.high, b.low)
    return IntegerInterval(
        None if a.low is None or low is None else a.low.plus(low, times),
        None if a.high is None or high is None else a.high.plus(high, times),
    )


def divided(a: IntegerInterval, by: int) -> IntegerInterval:
    """Return ``floordiv(a, by)``."""
    return IntegerInterval(
        None if a.low is None else quotient(a.low, by),
        None if a.high is None else quotient(a.high, by),
    )


def left_over(a: IntegerInterval, by: int) -> IntegerInterval:
    """Return ``floormod(a, by)``."""
    if a.low is not None and a.is_point:
        return point(remainder(a.low, by))
    if a.low is not None and a.high is not None:
        times = quotient(a.low, by)
        if times == quotient(a.high, by):
            return IntegerInterval(a.low.plus(times, -by), a.high.plus(times, -by))
    return IntegerInterval(LinearForm(), LinearForm(by - 1))


def relaxed(
    form: LinearForm, loops: Mapping[LoopVariable, IntegerInterval | None]
) -> IntegerInterval | None:
    """Return the values of a form while some loops run, None where they cannot be told."""
    whole: IntegerInterval = point(LinearForm(form.constant))
    for atom, times in form.terms.items():
        if isinstance(atom, LoopVariable):
            part = loops.get(atom, point(LinearForm.of(atom)))
        else:
            inner = relaxed(atom.of, loops)
            by = left_over if not isinstance(atom, Quotient) else divided
            part = None if inner is None else by(inner, atom.by)
        if part is None:
            return None
        whole = plus(whole, part, times)
    return whole


def evaluated(
    index: Expression, axes: Mapping[str, IntegerInterval | None]
) -> IntegerInterval | None:
    """Return the values of an index, None where they cannot be told.

    What TVM's evaluator does not look into (reads, calls, conversions) takes any value.
    """
    match index:
        case Number(value):
            return point(LinearForm(int(value)))
        case Variable(name):
            return axes.get(name, EVERYTHING)
        case Select(_, a, b):
            return union(evaluated(a, axes), evaluated(b, axes))
        case BinaryExpr(op, a, b):
            left, right = evaluated(a, axes), evaluated(b, axes)
            return None if left is None or right is None else _combined(op, left, right)
    return EVERYTHING


def _combined(op: str, a: IntegerInterval, b: IntegerInterval) -> IntegerInterval | None:
    if op in ("+", "-"):
        return plus(a, b, 1 if op == "+" else -1)
    if op in ("max", "min"):
        return _extreme(op, a, b)
    number = b.low.number if b.low is not None and b.is_point else None
    if op == "*" and number is None:
        number = a.low.number if a.low is not None and a.is_point else None
        a = b
    if number is None:
        return EVERYTHING
    if op == "*":
        return plus(point(LinearForm()), a, number) if number else point(LinearForm())
    if number <= 0:
        return EVERYTHING
    if op in ("/", "floordiv"):
        return divided(a, number)
    return left_over(a, number) if op in ("%", "floormod") else EVERYTHING


def _extreme(op: str, a: IntegerInterval, b: IntegerInterval) -> IntegerInterval | None:
    if None in (a.low, a.high, b.low, b.high):
        return EVERYTHING
    choose = larger if op == "max" else smaller
    low = choose(a.low, b.low)  # type: ignore[arg-type]
    high = choose(a.high, b.high)  # type: ignore[arg-type]
    return None if low is None or high is None else IntegerInterval(low, high)
