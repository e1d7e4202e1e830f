"""The finite values of a tensor in bars, and what has no place among them.

The rule and the numbers are those of the live view (``js/src/tensor/spread.ts``).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.tensor_bins import Bins, Floats, SpreadBar
from tvmdbg_widgets.figures.tensor_ticks import nice_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.statistics import Statistics
    from tvmdbg_widgets.model.statistics.robust import Robust

BARS = 64
FLOAT64 = np.dtype(np.float64)
_NARROW_BITS = 8
#: A limit of the type is shown where the values reach so far towards it.
_NEAR = 0.5
SLOT_TEXT = {"zero": "zero", "nan": "NaN", "negInf": "−Inf", "posInf": "+Inf"}


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
    low, high : float
        Ends of the axis; equal where all values are.
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
    dtype : numpy.dtype
        Of the values.
    """

    low: float
    high: float
    bars: tuple[SpreadBar, ...]
    slots: dict[str, int]
    limits: tuple[Limit, ...] = ()
    codes: bool = False
    whole: bool = False
    apart: bool = False
    dtype: np.dtype[Any] = FLOAT64

    @property
    def single(self) -> bool:
        """Whether the axis is one value."""
        return not self.high > self.low

    @property
    def top(self) -> float:
        """The count that is as high as the plot: slots do not flatten the bars."""
        most = max((bar.likely for bar in self.bars), default=0)
        return most if most > 0 else max([1, *self.slots.values()])

    def share(self, value: float) -> float:
        """Return where a value lies, 0 … 1; below 0 and above 1 outside."""
        if self.single:
            return -1.0 if value < self.low else 2.0 if value > self.high else 0.5
        unit = _unit(self.low, self.high)
        start = self.low * unit
        return (value * unit - start) / (self.high * unit - start)

    def ticks(self, count: float) -> list[float]:
        """Return about so many round numbers along the axis."""
        ticks = [] if self.single else nice_ticks(self.low, self.high, count)
        return [each for each in ticks if each == round(each)] if self.whole else ticks

    def facts(self) -> dict[str, Any]:
        """Return all of it as JSON; a bar's infinite ``most`` is None."""
        return {
            "low": self.low,
            "high": self.high,
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
        }


def spread_of(
    found: Statistics,
    dtype: str,
    limits: tuple[float, float] | None = None,
    held: np.dtype[Any] = FLOAT64,
    robust: Robust | None = None,
) -> Spread | None:
    """Return the bars of a tensor of a dtype with such limits; None where nothing was counted."""
    if not found.applicable:
        return None
    special = {"nan": found.nan, "negInf": found.neg_inf, "posInf": found.pos_inf}
    if found.minimum is None or found.maximum is None:
        return Spread(0.0, 0.0, (), _there(special))
    ends = (float(found.minimum), float(found.maximum))
    whole = re.match(r"u?int\d|bool$", dtype) is not None
    known = None
    if found.distribution is not None:
        bounds = [each.astype(np.float64) for each in found.distribution.bounds()]
        known = Bins(bounds[0], bounds[1], found.distribution.counts)
    codes = known is not None and _bits(dtype) <= _NARROW_BITS
    apart = found.zero > 0 and dtype != "bool"
    if known is not None and apart:
        known = known.without_zeros(found.zero)
    low, high = _span(*ends, limits) if robust is None else (robust.low, robust.high)
    if whole:
        low, high = math.ceil(low) - 0.5, math.floor(high) + 0.5
    if robust is not None and not codes:
        edges = robust.histogram.edges
        low, high = float(edges[0]), float(edges[-1])
    empty = Spread(
        low,
        high,
        (),
        _there({"zero": found.zero if apart else 0, **special}),
        _reached(found, low, high, limits),
        codes,
        whole,
        apart,
        held,
    )
    if robust is not None and not codes and (robust.histogram.exact or known is None):
        zeros = found.zero if apart else 0
        inner = robust.histogram
        bars = _equal_bins(inner.counts.tolist(), inner.edges.tolist(), inner.exact, zeros)
        return replace(empty, bars=tuple(bars))
    return _filled(empty, found, known)


def _filled(empty: Spread, found: Statistics, known: Bins | None) -> Spread:
    """Return the same with its bars."""
    low, high = empty.low, empty.high
    zeros = found.zero if empty.apart else 0
    bins = found.histogram
    edges = None if bins is None else np.asarray(bins.edges, np.float64)
    same = edges is not None and (edges[0], edges[-1]) == (low, high)
    if known is not None and empty.codes:
        bars = known.alone(low, high)
    elif known is not None and (empty.whole or bins is None or not (bins.exact and same)):
        bars = known.within(_whole_edges(low, high) if empty.whole else _edges(low, high))
    elif bins is not None and edges is not None:
        bars = _equal_bins(bins.counts.tolist(), edges.tolist(), bins.exact, zeros)
        bars = [
            bar
            for bar in bars
            if empty.share(bar.start) >= -1e-9 and empty.share(bar.end) <= 1 + 1e-9
        ]
    else:
        bars = []
    return replace(empty, bars=tuple(bars))


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
    found: Statistics, low: float, high: float, limits: tuple[float, float] | None
) -> tuple[Limit, ...]:
    counts = (found.at_lowest, found.at_highest)
    return tuple(
        Limit(value, count)
        for value, count in zip(limits or (), counts, strict=False)
        if low <= value <= high
    )


def _edges(low: float, high: float) -> Floats:
    """Ascending borders of up to 64 equal bars."""
    unit = _unit(low, high)
    start, edges = low * unit, [low]
    for k in range(1, BARS):
        edge = (start + k / BARS * (high * unit - start)) / unit
        if edges[-1] < edge < high:
            edges.append(edge)
    return np.array([*edges, high], np.float64)


def _unit(low: float, high: float) -> float:
    """Halves what is large: the span of two float64 may be none. The smallest have no halves."""
    return 0.5 if max(abs(low), abs(high)) > 1 else 1.0


def _whole_edges(low: float, high: float) -> Floats:
    """Borders between whole numbers, with as many of them in each bar."""
    step = max(1, math.ceil((high - low) / BARS))
    return low + step * np.arange(max(1, math.ceil((high - low) / step)) + 1, dtype=np.float64)


def _equal_bins(
    counts: Sequence[int], edges: Sequence[float], exact: bool, zeros: int
) -> list[SpreadBar]:
    """The bins as they were counted, without the zeros, which lie in one of them."""
    last = len(counts) - 1
    found = []
    for at, count in enumerate(counts):
        start, end = edges[at], edges[at + 1]
        home = start <= 0 and (end >= 0 if at == last else end > 0)
        likely = max(0, count - zeros) if home else count
        least, most = (likely, likely) if exact else (0, math.inf)
        found.append(SpreadBar(start, end, least, most, likely))
    return found
