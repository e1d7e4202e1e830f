"""Indices as sums of axes: ``((yy*2) + ry) - 1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tvmdbg_widgets.model.tuning.expressions import BinaryExpr, Expression, Number, Variable


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
    """Return an index as a sum of axes; None where it is another expression."""
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
                whole, factor = (left, right) if left.terms else (right, left)
                return Affine().plus(whole, factor.constant)
    return None
