"""Indices as linear forms of loops, quotients and remainders, simplified for bounds.

Like TVM's ``arith::Analyzer`` for the indices of schedules: every divisor is a known number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, isfinite
from typing import TypeAlias

from tvmdbg_widgets.model.tuning.trials import BinaryExpr, Expression, Number, Select, Variable


@dataclass(eq=False)
class LoopVariable:
    """A loop's variable, from 0 to ``extent - 1``."""

    name: str
    extent: int | None = None


@dataclass(frozen=True)
class Quotient:
    """``floordiv(of, by)``."""

    of: LinearForm
    by: int


@dataclass(frozen=True)
class Remainder:
    """``floormod(of, by)``."""

    of: LinearForm
    by: int


_DEEPEST, _LARGEST = 40, 4_000  # deepest nesting of quotients, and their largest total number
Limits: TypeAlias = tuple[int | None, int | None]  # least and largest value; None where unbounded


class LinearForm:
    """``Σ coefficient · atom + constant``; raises RefusedError if it grows too large."""

    __slots__ = ("_hash", "constant", "depth", "size", "terms")

    def __init__(self, constant: int = 0, terms: Mapping[Atom, int] | None = None) -> None:
        self.constant = constant
        self.terms = {atom: times for atom, times in (terms or {}).items() if times}
        self._hash = hash((constant, frozenset(self.terms.items())))
        inner = [atom.of for atom in self.terms if not isinstance(atom, LoopVariable)]
        self.depth: int = 1 + max((form.depth for form in inner), default=0)
        self.size: int = 1 + len(self.terms) + sum(form.size for form in inner)
        if self.depth > _DEEPEST or self.size > _LARGEST:
            raise RefusedError("loops are split and fused too often to follow their indices")

    @classmethod
    def of(cls, atom: Atom) -> LinearForm:
        """Return an atom as a form."""
        return cls(0, {atom: 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearForm) and (self.constant, self.terms) == (
            other.constant,
            other.terms,
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return text(self)

    def plus(self, other: LinearForm | int, times: int = 1) -> LinearForm:
        """Return ``self + times · other``."""
        if isinstance(other, int):
            return LinearForm(self.constant + times * other, self.terms)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + times * coefficient
        whole = LinearForm(self.constant + times * other.constant, terms)
        for atom, coefficient in whole.terms.items():
            if (
                isinstance(atom, Remainder)
                and whole.terms.get(Quotient(atom.of, atom.by)) == coefficient * atom.by
            ):
                return whole._rejoined(atom, coefficient)
        return whole

    def _rejoined(self, rest: Remainder, times: int) -> LinearForm:
        """Return the form with ``floordiv(x, n)*n + floormod(x, n)`` as ``x``."""
        gone = (rest, Quotient(rest.of, rest.by))
        terms = {atom: term for atom, term in self.terms.items() if atom not in gone}
        return LinearForm(self.constant, terms).plus(rest.of, times)

    def times(self, factor: int) -> LinearForm:
        """Return ``factor · self``."""
        return LinearForm().plus(self, factor)

    @property
    def number(self) -> int | None:
        """The value if it depends on no loop."""
        return None if self.terms else self.constant

    @property
    def limits(self) -> Limits:
        """Least and largest value over all loops."""
        low: int | None = self.constant
        high: int | None = self.constant
        for atom, times in self.terms.items():
            ends = _limits(atom)
            least, most = ends if times > 0 else ends[::-1]
            low = None if low is None or least is None else low + times * least
            high = None if high is None or most is None else high + times * most
        return low, high


def text(form: LinearForm) -> str:
    """Return a form as TVM v0.8 prints it: ``((k.outer*8) + k.inner)``."""
    parts = [_term(atom, times) for atom, times in form.terms.items()]
    if form.constant > 0 or not parts:
        parts.append(str(form.constant))
    whole = parts[0]
    for part in parts[1:]:
        whole = f"({whole} + {part})"
    return whole if form.constant >= 0 or not form.terms else f"({whole} - {-form.constant})"


def _term(atom: Atom, times: int) -> str:
    if isinstance(atom, LoopVariable):
        name = atom.name
    else:
        name = f"floor{'div' if isinstance(atom, Quotient) else 'mod'}({text(atom.of)}, {atom.by})"
    return name if times == 1 else f"({name}*{times})"


def _limits(atom: Atom) -> Limits:
    if isinstance(atom, LoopVariable):
        return 0, None if atom.extent is None else atom.extent - 1
    low, high = atom.of.limits
    if isinstance(atom, Quotient):
        return (None if low is None else low // atom.by, None if high is None else high // atom.by)
    return 0, atom.by - 1


class RefusedError(Exception):
    """Refusal by TE, or a form too intricate to follow; the text says why."""


Atom: TypeAlias = LoopVariable | Quotient | Remainder


def quotient(form: LinearForm, by: int) -> LinearForm:
    """Return ``floordiv(form, by)``."""
    if by == 1:
        return form
    whole, rest = _whole_and_rest(form, by)
    low, high = rest.limits
    if low is not None and high is not None and low // by == high // by:
        return whole.plus(low // by)
    common = gcd(by, *rest.terms.values())
    if common > 1:
        terms = {atom: times // common for atom, times in rest.terms.items()}
        reduced = LinearForm(rest.constant // common, terms)
        return whole.plus(quotient(reduced, by // common))
    if not rest.constant and len(rest.terms) == 1:
        ((atom, times),) = rest.terms.items()
        if isinstance(atom, Quotient) and times == 1:
            return whole.plus(quotient(atom.of, atom.by * by))
    return whole.plus(LinearForm.of(Quotient(rest, by)))


def remainder(form: LinearForm, by: int) -> LinearForm:
    """Return ``floormod(form, by)``."""
    if by == 1:
        return LinearForm()
    _, rest = _whole_and_rest(form, by)
    low, high = rest.limits
    if low is not None and high is not None and low // by == high // by:
        return rest.plus(-by * (low // by))
    if not rest.constant and len(rest.terms) == 1:
        ((atom, times),) = rest.terms.items()
        if isinstance(atom, Remainder) and times == 1 and atom.by % by == 0:
            return remainder(atom.of, by)
        if isinstance(atom, Quotient) and times == 1:
            return quotient(remainder(atom.of, atom.by * by), atom.by)
    return LinearForm.of(Remainder(rest, by))


def smaller(a: LinearForm, b: LinearForm) -> LinearForm | None:
    """Return the smaller of two forms, None where undecidable."""
    low, high = a.plus(b, -1).limits
    if high is not None and high <= 0:
        return a
    return b if low is not None and low >= 0 else None


def larger(a: LinearForm, b: LinearForm) -> LinearForm | None:
    """Return the larger of two forms, None where undecidable."""
    low, high = a.plus(b, -1).limits
    if low is not None and low >= 0:
        return a
    return b if high is not None and high <= 0 else None


def _whole_and_rest(form: LinearForm, by: int) -> tuple[LinearForm, LinearForm]:
    whole = {atom: times // by for atom, times in form.terms.items() if times % by == 0}
    rest = {atom: times for atom, times in form.terms.items() if times % by}
    return LinearForm(form.constant // by, whole), LinearForm(form.constant % by, rest)


@dataclass(frozen=True)
class LoopRange:
    """Values of a loop: `extent` steps from `min`; None where unknown."""

    min: LinearForm
    extent: int | None
    symbol: str = ""


@dataclass(frozen=True)
class IntegerInterval:
    """Closed interval; None for an open end."""

    low: LinearForm | None
    high: LinearForm | None

    @property
    def is_point(self) -> bool:
        """Whether it is one value."""
        return self.low is not None and self.low == self.high

    def is_all_of(self, whole: LoopRange | None) -> bool:
        """Return whether the interval equals a range."""
        return self == interval(whole)

    def range(self, domain: LoopRange) -> LoopRange:
        """Return the range that covers it; `domain` where it has no ends."""
        if self.low is None or self.high is None:
            return domain
        return LoopRange(self.low, self.high.plus(self.low, -1).plus(1).number)


def interval(whole: LoopRange | None) -> IntegerInterval | None:
    """Return a range as an interval, None where unknown."""
    if whole is None or whole.extent is None:
        return None
    return IntegerInterval(whole.min, whole.min.plus(whole.extent - 1))


EVERYTHING = IntegerInterval(None, None)


def point(form: LinearForm) -> IntegerInterval:
    """Return the interval of one value."""
    return IntegerInterval(form, form)


def union(a: IntegerInterval | None, b: IntegerInterval | None) -> IntegerInterval | None:
    """Return an interval that covers both, None where unknown."""
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
    """Return the values of a form while some loops run, None where unknown."""
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
    """Return the values of an index, None where unknown; reads and calls take any value."""
    match index:
        case Number(value) if isfinite(value):
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
