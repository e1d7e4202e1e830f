"""Distribution of the finite values of an array over bins with known bounds; histograms."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.statistics.bins import ValueBins

Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


class Interval(NamedTuple):
    """Bounds of a number; equal if it is exact."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Whether the bounds are equal."""
        return self.low == self.high


class Distribution:
    """Counts of the finite values in at most 65,536 nonempty bins, ascending."""

    __slots__ = ("_counts", "bins", "keys", "maximum", "minimum")

    def __init__(
        self,
        bins: ValueBins,
        keys: np.ndarray[Any, Any],
        counts: Counts,
        minimum: float,
        maximum: float,
    ) -> None:
        self.bins = bins
        # A run keeps the distributions of all its tensors.
        self.keys = keys.astype(np.uint16)
        small = counts.max(initial=0) < 1 << 32
        self._counts = counts.astype(np.uint32) if small else counts
        self.minimum = minimum
        self.maximum = maximum

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def counts(self) -> Counts:
        """Values by bin, int64[k]."""
        return self._counts.astype(np.int64)

    @property
    def low(self) -> np.ndarray[Any, Any]:
        """Least possible value by bin: float64, or int64 or uint64 for integers."""
        return self.bounds()[0]

    @property
    def high(self) -> np.ndarray[Any, Any]:
        """Largest possible value by bin, likewise."""
        return self.bounds()[1]

    def bounds(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Return ``low`` and ``high``."""
        low, high = self.bins.bounds(self.keys)
        low[0], high[-1] = self.minimum, self.maximum
        return low, high

    @property
    def exact(self) -> bool:
        """Whether every bin holds one value."""
        low, high = self.bounds()
        return bool((low == high).all())

    def percentile(self, percent: float) -> Interval:
        """Return bounds of ``np.percentile(values, percent)``, of the values as float64."""
        return self.percentiles([percent])[0]

    def percentiles(self, percents: Sequence[float]) -> list[Interval]:
        """Return bounds of several percentiles, 0 to 100."""
        ends = np.cumsum(self.counts)
        size = int(ends[-1])
        low, high = self.bounds()

        def ranked(rank: int) -> tuple[Any, Any]:
            if rank in (0, size - 1):
                return (low[0].item(),) * 2 if rank == 0 else (high[-1].item(),) * 2
            at = np.searchsorted(ends, rank, side="right")
            return low[at].item(), high[at].item()

        return [
            position.bounds(ranked(position.rank), ranked(position.next_rank))
            for position in positions(size, percents)
        ]

    def count(self, low: float, high: float) -> tuple[int, int]:
        """Return bounds of the number of values between two bounds, both included."""
        if not (low <= self.maximum and high >= self.minimum):
            return 0, 0
        counts = self.counts
        first, last = self.bounds()
        if first.dtype.kind in "iu":  # which numpy compares with floats as float64
            low, high = math.ceil(max(low, self.minimum)), math.floor(min(high, self.maximum))
        least = counts[(first >= low) & (last <= high)].sum()
        most = counts[(last >= low) & (first <= high)].sum()
        return int(least), int(most)

    def rebinned(self, edges: np.ndarray[Any, Any]) -> tuple[Counts, Counts]:
        """Return bounds of the counts in half-open bins between edges; the last bin is closed."""
        size = len(edges) - 1
        first, last = (place(edges, bound) for bound in self.bounds())
        counts = self.counts
        one = (first == last) & (first >= 0) & (first < size)
        least = np.zeros(size, np.int64)
        np.add.at(least, first[one], counts[one])
        steps = np.zeros(size + 1, np.int64)
        touched = (last >= 0) & (first < size)
        np.add.at(steps, np.maximum(first, 0)[touched], counts[touched])
        np.add.at(steps, np.minimum(last, size - 1)[touched] + 1, -counts[touched])
        return least, np.cumsum(steps)[:size]

    def span(self, scale: str) -> tuple[float, float]:
        """Return bounds that hold all values, or for ``"log"`` all above zero if there are any."""
        low, high = self.bounds()
        if scale != "log" or low[0] > 0 or high[-1] < 0 or low[0] == high[-1]:
            return float(low[0]), float(high[-1])
        # Only bins of integers hold zero together with other values.
        if high[-1] > 0:
            least = low[high > 0][0]
            return float(least) if least > 0 else 1.0, float(high[-1])
        most = high[low < 0][-1]
        return float(low[0]), float(most) if most < 0 else -1.0

    def __repr__(self) -> str:
        total = int(self.counts.sum())
        return f"Distribution: {counted(total, 'finite value')} in {counted(len(self), 'bin')}"


def place(edges: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the bins of values: -1 below all, ``len(edges) - 1`` above all."""
    numbers = np.asarray(values, np.float64)
    at = np.searchsorted(edges, numbers, side="right") - 1
    at[numbers == edges[-1]] = len(edges) - 2
    return at


class Position(NamedTuple):
    """The position of a percentile among the sorted values."""

    rank: int
    next_rank: int
    part: float

    def between(self, value: float, next_value: float) -> float:
        """Return the number at ``part`` of the way, rounded as by numpy's ``linear`` method."""
        low, high = float(value), float(next_value)
        if low == high or self.part == 0:
            return low
        distance = high - low
        if math.isinf(distance):
            return low * (1 - self.part) + high * self.part
        if self.part < 0.5:
            return low + distance * self.part
        return high - distance * (1 - self.part)

    def bounds(self, value: tuple[float, float], next_value: tuple[float, float]) -> Interval:
        """Return bounds of that number from bounds of both values."""
        low, high = (self.between(*ends) for ends in zip(value, next_value, strict=True))
        if value[0] == value[1] and next_value[0] == next_value[1]:
            return Interval(low, high)
        # Numbers between the bounds may round by a step further out.
        least, most = float(value[0]), float(next_value[1])
        return Interval(
            max(math.nextafter(low, -math.inf), least), min(math.nextafter(high, math.inf), most)
        )


def positions(size: int, percents: Iterable[float]) -> list[Position]:
    """Return the positions of percentiles among `size` sorted values."""
    result = []
    for percent in percents:
        if not 0 <= percent <= 100:
            raise ValueError(f"percentiles lie between 0 and 100, not at {percent}")
        place_ = (size - 1) * (percent / 100)
        rank = int(place_)
        result.append(Position(rank, rank + (place_ > rank), place_ - rank))
    return result


Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_TINY = 2.0**-500

Scale: TypeAlias = Literal["linear", "log", "symlog"]
SCALES: tuple[Scale, ...] = ("linear", "log", "symlog")


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Counts of finite values in consecutive bins."""

    counts: Counts
    edges: Floats
    exact: bool = True

    def __post_init__(self) -> None:
        self.counts.setflags(write=False)
        self.edges.setflags(write=False)


def equal_edges(low: float, high: float, bins: int) -> Floats:
    """Return ``bins + 1`` edges at equal distances."""
    first, last = float(low), float(high)
    if first == last:
        half = max(0.5, bins * math.ulp(first))
        limit = sys.float_info.max
        first, last = max(first - half, -limit), min(last + half, limit)
    # Near the ends of float64 the distance, rounded up, is not finite; near zero a part of it has
    # no digits left.
    scale = 1.0 if math.isfinite(2 * (last - first)) else 0.25
    if max(abs(first), abs(last)) < _TINY:
        scale = 1 / _TINY
    edges = np.linspace(first * scale, last * scale, bins + 1) / scale
    edges[0], edges[-1] = first, last
    return edges


def bent_edges(low: float, high: float, bins: int, scale: Scale) -> Floats:
    """Return at most ``bins + 1`` edges at equal distances on a scale."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    one_of("scale", scale, SCALES)
    ascend = low < high or (scale == "linear" and low == high)
    if not (ascend and math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"a {scale} scale needs a lower and a higher bound, not {low} and {high}")
    if scale == "linear":
        return np.unique(equal_edges(low, high, bins))
    if scale == "log":
        if low <= 0 <= high:
            raise ValueError(f"a log scale does not cross zero, as {low} to {high} does")
        sign = 1.0 if low > 0 else -1.0
        inner = sign * np.exp(np.linspace(math.log(sign * low), math.log(sign * high), bins + 1))
    else:
        unit = max(max(abs(low), abs(high)) / 1e6, math.ulp(0))
        first, last = (math.copysign(math.log1p(abs(end) / unit), end) for end in (low, high))
        bent = np.linspace(first, last, bins + 1)
        inner = np.copysign(np.expm1(np.abs(bent)) * unit, bent)
    inner = inner[1:-1]
    return np.unique(np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]]))


def from_distribution(distribution: Distribution, edges: Floats) -> Histogram:
    """Return the histogram that follows from the distribution alone."""
    least, most = distribution.rebinned(edges)
    if (least == most).all():
        return Histogram(least, edges)
    low, high = (bound.astype(np.float64) for bound in distribution.bounds())
    ends = np.concatenate([[0], np.cumsum(distribution.counts)])
    # Values below an edge: the bins that end below it, and a share of the bin that it cuts.
    cut = np.searchsorted(high, edges, side="left")
    cut[-1] = np.searchsorted(high, edges[-1], side="right")
    at = np.minimum(cut, len(low) - 1)
    inside = edges / 2 - low[at] / 2
    width = np.maximum(high[at] / 2 - low[at] / 2, np.abs(inside))
    share = np.divide(inside, width, out=np.zeros(len(edges)), where=inside > 0)
    below = ends[cut] + np.rint(share * (ends[at + 1] - ends[cut])).astype(np.int64)
    return Histogram(np.diff(below), edges, exact=False)


class EdgeCounter:
    """Counts the values of the bins of a distribution that an edge cuts."""

    def __init__(self, distribution: Distribution, edges: Floats) -> None:
        self.edges = edges
        first, last = (place(edges, bound) for bound in distribution.bounds())
        self._bins = distribution.bins
        self.keys = distribution.keys[first != last]
        self.counts = np.zeros(len(edges) + 1, np.int64)

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:  # noqa: ARG002 (a pass tells)
        """Count the values of a piece in these bins."""
        bins = place(self.edges, self._bins.inside(chunk, self.keys)) + 1
        self.counts += np.bincount(bins, minlength=len(self.counts))

    def merge(self, other: EdgeCounter) -> None:
        """Add the counts of another."""
        self.counts += other.counts

    def times(self, count: int) -> None:
        """Count all values `count` times."""
        self.counts *= count

    def finish(self, distribution: Distribution) -> Histogram:
        """Return these counts plus the bins that no edge cuts."""
        certain, _ = distribution.rebinned(self.edges)
        return Histogram(certain + self.counts[1:-1], self.edges)


Where: TypeAlias = Callable[[int], int]


@dataclass(slots=True)
class Extremes:
    """Least and largest finite value, and the first positions of special values."""

    low: float | None = None
    high: float | None = None
    minimum: Any = None
    maximum: Any = None
    argmin: int | None = None
    argmax: int | None = None
    first_nan: int | None = None
    first_pos_inf: int | None = None
    first_neg_inf: int | None = None

    def take(
        self,
        low: float,
        high: float,
        chunk: np.ndarray[Any, Any],
        where: Where,
        index: Callable[[float], int] | None = None,
    ) -> None:
        """Extend the bounds by those of a piece; `index` finds a value in it."""
        index = index or (lambda value: int((chunk == value).argmax()))
        if self.low is None or low < self.low:
            at = index(low)
            self.low, self.minimum, self.argmin = low, chunk[at], where(at)
        if self.high is None or high > self.high:
            at = index(high)
            self.high, self.maximum, self.argmax = high, chunk[at], where(at)

    def merge(self, other: Extremes) -> None:
        """Extend the bounds by another's; equal ones keep the earlier position."""
        for name in ("first_nan", "first_pos_inf", "first_neg_inf"):
            setattr(self, name, _earlier(getattr(self, name), getattr(other, name)))
        if other.low is None or other.high is None:
            return
        earlier = other.low == self.low and other.argmin == _earlier(self.argmin, other.argmin)
        if self.low is None or other.low < self.low or earlier:
            self.low, self.minimum, self.argmin = other.low, other.minimum, other.argmin
        earlier = other.high == self.high and other.argmax == _earlier(self.argmax, other.argmax)
        if self.high is None or other.high > self.high or earlier:
            self.high, self.maximum, self.argmax = other.high, other.maximum, other.argmax

    def facts(self) -> dict[str, Any]:
        """Return its fields of :class:`Statistics`."""
        names = ("minimum", "maximum", "argmin", "argmax")
        firsts = ("first_nan", "first_pos_inf", "first_neg_inf")
        return {name: getattr(self, name) for name in (*names, *firsts)}


def _earlier(one: int | None, other: int | None) -> int | None:
    return min((position for position in (one, other) if position is not None), default=None)
