"""What is known of one array after a pass over it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.bits import is_integer
from tvmdbg_widgets.model.base.number_text import computed_text, number_text
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.statistics.distribution import Distribution, NumberBounds
from tvmdbg_widgets.model.statistics.histograms import Histogram


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statistics:
    """Counts over all values; bounds, moments and distribution over the finite ones.

    Positions are flat indices in C order of the stored values.

    Attributes
    ----------
    size
        Scalars looked at.
    finite, nan, pos_inf, neg_inf, zero, negative
        How many are finite, NaN, +Inf, -Inf, zero (either sign), below zero (-Inf included).
    minimum, maximum
        Of the finite values, scalars of the array's own type; None without finite values.
    argmin, argmax
        Position of their first occurrence; of the first that was seen, where not ``exact``.
    mean, std
        Of the finite values, ``std`` dividing by their number; NaN without finite values.
    histogram
        Counts in equal bins from minimum to maximum; None without finite values.
    exact
        Whether all values were looked at.
    reason
        Why nothing was computed (complex and raw types); empty otherwise.
    denormal
        How many lie between zero and the type's smallest normal number; 0 for integers.
    first_nan, first_pos_inf, first_neg_inf
        Position of the first; None where there is none.
    at_lowest, at_highest
        How many equal the type's lowest and highest finite value; None for bool.
    distribution
        All finite values in at most 65,536 bins; None without finite values.
    """

    size: int
    finite: int
    nan: int
    pos_inf: int
    neg_inf: int
    zero: int
    negative: int
    minimum: Any
    maximum: Any
    argmin: int | None
    argmax: int | None
    mean: float
    std: float
    histogram: Histogram | None
    exact: bool = True
    reason: str = ""
    denormal: int = 0
    first_nan: int | None = None
    first_pos_inf: int | None = None
    first_neg_inf: int | None = None
    at_lowest: int | None = None
    at_highest: int | None = None
    distribution: Distribution | None = None

    def __repr__(self) -> str:
        if self.reason:
            return f"Statistics: none, {self.reason}"
        told = "no bounds"
        if self.finite:
            told = (
                f"{number_text(self.minimum)} … {number_text(self.maximum)}, "
                f"mean {computed_text(self.mean)}, std {computed_text(self.std)}"
            )
        specials = f"{self.nan:,} NaN, {self.pos_inf:,} +Inf, {self.neg_inf:,} -Inf, "
        dtype = np.asarray(self.minimum).dtype
        holds_none = dtype.kind == "b" or is_integer(dtype)
        return (
            f"Statistics: {counted(self.size, 'value')}, {self.finite:,} finite, "
            f"{'' if holds_none else specials}{self.zero:,} zero; {told}"
            + ("" if self.exact else "; of a sample")
        )

    @property
    def applicable(self) -> bool:
        """Whether the type has an order, so that there is something to compute."""
        return not self.reason

    def percentile(self, percent: float) -> NumberBounds:
        """Return bounds of a percentile of the finite values, as the distribution tells them.

        The percentile is that of ``np.percentile`` (method ``"linear"``) on the values as float64.

        Parameters
        ----------
        percent
            0 to 100.

        Returns
        -------
        Interval
            Equal bounds where it is exact; NaN and NaN without finite values.
        """
        if self.distribution is None:
            return NumberBounds(math.nan, math.nan)
        return self.distribution.percentile(percent)

    def redacted(self, *, counts_only: bool) -> Statistics:
        """Return the same without what tells single values.

        No distribution and hence no percentiles, and no place of what is not finite; where
        ``counts_only``, no bounds, moments and histogram either.
        """
        found = replace(
            self, distribution=None, first_nan=None, first_pos_inf=None, first_neg_inf=None
        )
        if not counts_only:
            return found
        return replace(
            found,
            minimum=None,
            maximum=None,
            argmin=None,
            argmax=None,
            mean=math.nan,
            std=math.nan,
            histogram=None,
            at_lowest=None,
            at_highest=None,
        )

    @classmethod
    def not_applicable(cls, size: int, reason: str) -> Statistics:
        """Return the statistics of an array that has none, and say why."""
        nothing = (None, None, None, None, math.nan, math.nan, None)
        return cls(size, 0, 0, 0, 0, 0, 0, *nothing, exact=True, reason=reason)
