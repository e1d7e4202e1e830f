"""The finite values of a tensor in bars, and what has no place among them.

The rule and the numbers are those of the live view (``js/src/tensor/spread.ts``).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.tensor_axis import ValueAxis
from tvmdbg_widgets.figures.tensor_bins import Bins, Floats, SpreadBar
from tvmdbg_widgets.model.base.number_text import number_text

if TYPE_CHECKING:
    from tvmdbg_widgets.model.statistics import Histogram, Statistics
    from tvmdbg_widgets.model.statistics.robust import Robust

BARS = 64
FLOAT64 = np.dtype(np.float64)
_NARROW_BITS = 8
#: A limit of the type is shown where the values reach so far towards it.
_NEAR = 0.5
SLOT_TEXT = {
    "zero": "zero",
    "negative": "< 0",
    "positive": "> 0",
    "nan": "NaN",
    "negInf": "−Inf",
    "posInf": "+Inf",
}


@dataclass(frozen=True)
class Limit:
    """A limit of the type, and how many values lie at it; None where that was not counted."""

    value: float
    count: int | None


@dataclass(frozen=True)
class Spread:
    """What a histogram shows.

    Attributes
    ----------
    axis : ValueAxis
        One value where all are equal.
    bars : tuple of SpreadBar
    slots : dict of str to int
        Counts of what has no place along the axis, by name; none is 0.
    limits : tuple of Limit
    codes : bool
        Each bar is one value.
    whole : bool
        The values are whole numbers.
    apart : bool
        The zeros are in a slot of their own.
    only : str or None
        The exact text of the value that all are; None where they differ.
    dtype : numpy.dtype
        Of the values.
    """

    axis: ValueAxis
    bars: tuple[SpreadBar, ...]
    slots: dict[str, int]
    limits: tuple[Limit, ...] = ()
    codes: bool = False
    whole: bool = False
    apart: bool = False
    only: str | None = None
    dtype: np.dtype[Any] = FLOAT64

    @property
    def top(self) -> float:
        """The count that is as high as the plot: slots do not flatten the bars."""
        most = max((bar.likely for bar in self.bars), default=0)
        return most if most > 0 else max([1, *self.slots.values()])

    def ticks(self, count: float) -> list[float]:
        """Return about so many round numbers along the axis."""
        ticks = self.axis.ticks(count)
        return [each for each in ticks if each == round(each)] if self.whole else ticks

    def facts(self) -> dict[str, Any]:
        """Return all of it as JSON; a bar's infinite ``most`` is None."""
        return {
            "kind": self.axis.kind,
            "low": self.axis.low,
            "high": self.axis.high,
            "top": self.top,
            "bars": [
                {
                    "from": bar.start,
                    "to": bar.end,
                    "least": bar.least,
                    "most": bar.most if math.isfinite(bar.most) else None,
                    "likely": bar.likely,
                }
                for bar in self.bars
            ],
            "slots": [{"name": name, "count": count} for name, count in self.slots.items()],
            "limits": [{"value": each.value, "count": each.count} for each in self.limits],
            "codes": self.codes,
            "whole": self.whole,
            "apart": self.apart,
            "only": self.only,
        }


@dataclass(frozen=True)
class SpreadChoice:
    """How a histogram is to be drawn.

    Attributes
    ----------
    kind : str
        ``"linear"``, ``"log"`` or ``"symlog"``.
    robust : Robust or None
        The range that it is narrowed to; None for all values.
    linear : float or None
        Where symlog turns logarithmic.
    """

    kind: str = "linear"
    robust: Robust | None = None
    linear: float | None = None


def spread_of(
    found: Statistics,
    dtype: np.dtype[Any],
    limits: tuple[float, float] | None = None,
    choice: SpreadChoice | None = None,
) -> Spread | None:
    """Return the bars of values of a type with such limits; None where nothing was counted."""
    if not found.applicable:
        return None
    choice = choice or SpreadChoice()
    special = {"nan": found.nan, "negInf": found.neg_inf, "posInf": found.pos_inf}
    if found.minimum is None or found.maximum is None:
        return Spread(ValueAxis("linear", 0.0, 0.0), (), _there(special))
    least, most = number_text(found.minimum), number_text(found.maximum)
    whole = re.match(r"u?int\d|bool$", dtype.name) is not None
    known = None
    if found.distribution is not None:
        bounds = [each.astype(np.float64) for each in found.distribution.bounds()]
        known = Bins(bounds[0], bounds[1], found.distribution.counts)
    log = choice.kind == "log"
    apart = found.zero > 0 and (log or dtype.kind != "b")
    if known is not None and apart:
        known = known.without_zeros(found.zero)
    codes = known is not None and _bits(dtype.name) <= _NARROW_BITS
    negative = found.negative - found.neg_inf
    positive = found.finite - found.zero - negative
    upwards = positive > 0 or not negative
    ends = (float(found.minimum), float(found.maximum))
    if log:
        ends = _signed(known, *ends, upwards=upwards, whole=whole)
    axis = _axis(choice, ends, limits, whole=whole, codes=codes)
    sides = {"negative": negative if upwards else 0, "positive": 0 if upwards else positive}
    empty = Spread(
        axis,
        (),
        _there({"zero": found.zero if apart else 0, **(sides if log else {}), **special}),
        _reached(found, axis, limits),
        codes,
        whole,
        apart,
        least if least == most else None,
        dtype,
    )
    bars = _bars(empty, found, known, choice)
    return replace(
        empty, bars=tuple(bar for bar in bars if not whole or _holds_whole(bar, apart=apart))
    )


def _axis(
    choice: SpreadChoice,
    ends: tuple[float, float],
    limits: tuple[float, float] | None,
    *,
    whole: bool,
    codes: bool,
) -> ValueAxis:
    """Return an axis for values between two ends."""
    robust = choice.robust
    if robust is None:
        low, high = _span(*ends, limits)
    else:
        low, high = max(ends[0], robust.low), min(ends[1], robust.high)
        low, high = (low, high) if low <= high else ends
    kind = "linear" if choice.kind == "log" and low == high == 0 else choice.kind
    if whole:
        low, high = math.ceil(low) - 0.5, math.floor(high) + 0.5
    if robust is not None and kind == "linear" and not codes:
        edges = robust.histogram.edges
        low, high = float(edges[0]), float(edges[-1])
    return ValueAxis(kind, low, high, choice.linear)


def _bars(
    empty: Spread, found: Statistics, known: Bins | None, choice: SpreadChoice
) -> list[SpreadBar]:
    """Return the bars that fill a spread."""
    axis, zeros = empty.axis, found.zero if empty.apart else 0
    inner = choice.robust.histogram if choice.robust and axis.kind == "linear" else None
    if inner is not None and not empty.codes and (inner.exact or known is None):
        return _equal_bins(inner, axis, zeros)
    bins = found.histogram
    if known is None:
        return [] if bins is None else _equal_bins(bins, axis, zeros)
    if empty.codes:
        return known.alone(axis.low, axis.high)
    if bins is not None and bins.exact and not empty.whole and choice.robust is None:
        ends = (float(bins.edges[0]), float(bins.edges[-1]))
        if axis.kind == "linear" and ends == (axis.low, axis.high):
            return _equal_bins(bins, axis, zeros)
    return known.within(_whole_edges(axis) if empty.whole else axis.edges(BARS))


def _holds_whole(bar: SpreadBar, *, apart: bool) -> bool:
    """Whether a bar may hold a whole number, other than zero where that is apart."""
    first = math.ceil(bar.start)
    last = math.floor(bar.end) if bar.closed else math.ceil(bar.end) - 1
    return first <= last and not (apart and first == last == 0)


def _signed(
    known: Bins | None, low: float, high: float, *, upwards: bool, whole: bool
) -> tuple[float, float]:
    """From the least to the largest value of one sign; bins of whole numbers may hold both."""
    if upwards:
        above = [] if known is None else known.low[known.high > 0].tolist()
        least = above[0] if above else 0.0
        near = least if least > 0 else min(1.0, high) if whole else high * 1e-9
        return low if low > 0 else near, high
    below = [] if known is None else known.high[known.low < 0].tolist()
    most = below[-1] if below else 0.0
    near = most if most < 0 else max(-1.0, low) if whole else low * 1e-9
    return low, high if high < 0 else near


def _there(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > 0}


def _bits(dtype: str) -> int:
    if dtype == "bool":
        return 1
    found = re.match(r"[a-z]+(\d+)", dtype)
    return int(found[1]) if found else 64


def _span(low: float, high: float, limits: tuple[float, float] | None) -> tuple[float, float]:
    """What the axis spans: the values, and a limit of the type that is near."""

    def ended(value: float, limit: float) -> float:
        return limit if limit != 0 and _NEAR <= value / limit <= 1 else value

    return (low, high) if limits is None else (ended(low, limits[0]), ended(high, limits[1]))


def _reached(
    found: Statistics, axis: ValueAxis, limits: tuple[float, float] | None
) -> tuple[Limit, ...]:
    """Return the ends of the type that lie on the axis; zero is none."""
    counts = (found.at_lowest, found.at_highest)
    return tuple(
        Limit(value, count)
        for value, count in zip(limits or (), counts, strict=False)
        if value and axis.low <= value <= axis.high
    )


def _whole_edges(axis: ValueAxis) -> Floats:
    """Borders between whole numbers; on a linear axis with as many of them in each bar."""
    low, high = axis.low, axis.high
    if axis.kind != "linear" and not axis.single:
        return np.unique(np.floor(axis.edges(BARS)) + 0.5)
    step = max(1, math.ceil((high - low) / BARS))
    return low + step * np.arange(max(1, math.ceil((high - low) / step)) + 1, dtype=np.float64)


def _equal_bins(bins: Histogram, axis: ValueAxis, zeros: int) -> list[SpreadBar]:
    """The bins as they were counted, without the zeros, which lie in one of them."""
    counts, edges = bins.counts.tolist(), bins.edges.tolist()
    last = len(counts) - 1
    found = []
    for at, count in enumerate(counts):
        start, end = edges[at], edges[at + 1]
        if axis.share(start) < -1e-9 or axis.share(end) > 1 + 1e-9:
            continue
        home = start <= 0 and (end >= 0 if at == last else end > 0)
        likely = max(0, count - zeros) if home else count
        least, most = (likely, likely) if bins.exact else (0, math.inf)
        found.append(SpreadBar(start, end, least, most, likely, at == last))
    return found
