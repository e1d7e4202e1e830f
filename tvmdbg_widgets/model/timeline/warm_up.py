"""First repeats that are slower throughout: caches, clocks or compilers warming up.

The cut is found on the totals of all operators, repeat by repeat. It is the largest k up to half
of the repeats such that

* each of the first k totals is above 1.1 times the median of the rest, and above that median by
  more than three times the scaled median absolute deviation of the rest (1.4826 MAD, which is the
  standard deviation where the rest is normal);
* the total after them is not: the slow ones end there;
* so many slow ones at the beginning are no chance: with a share p of the rest as slow, p**k is at
  most 5 %;
* two thirds of the operators are slower in each of the first k than their median over the rest.

Fewer than 4 repeats show nothing, and at least 3 are left. A drift, slow repeats in the middle and
one operator that is slow at first are no warm-up. In the recorded runs that show none, the first
total is at most 1.05 times the median of the others.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import agree, counted, fixed

Floats = npt.NDArray[np.float64]

LEAST_REPEATS: Final = 4
_LEFT: Final = 3
_SLOWER: Final = 1.1
_DEVIATIONS: Final = 3 * 1.4826
_CHANCE: Final = 0.05
_OPERATORS: Final = 2 / 3


@dataclass(frozen=True, eq=False)
class WarmUp:
    """The number of first repeats that are warm-up.

    Attributes
    ----------
    cut : int
        Repeats at the beginning that are slower throughout; 0 for none.
    why : str
        Evidence for the cut, or why there is none.
    totals : float64 [R]
        Sum over the operators that have all R repeats as numbers, repeat by repeat, nanoseconds.
    operators : int
        Number of these operators.
    usual_ns : float
        Median of the totals behind the cut; NaN without totals.
    ratio : float
        Mean of the totals before the cut over ``usual_ns``; of the first total where nothing is
        cut; NaN without totals.
    slower : int
        Operators that are slower in each cut repeat (in the first, where nothing is cut) than
        their median over the rest.
    """

    cut: int
    why: str
    totals: Floats
    operators: int
    usual_ns: float
    ratio: float
    slower: int

    @property
    def inflated(self) -> float:
        """Mean of all totals over :attr:`usual_ns`: the factor that the warm-up adds to means."""
        return float(self.totals.mean()) / self.usual_ns if self.usual_ns > 0 else float("nan")

    def __bool__(self) -> bool:
        return self.cut > 0

    def to_json(self) -> dict[str, Any]:
        """Return cut, reason and totals, as the live view gets them."""
        return {"cut": self.cut, "why": self.why, "totals": self.totals.tolist()}

    def __repr__(self) -> str:
        return f"WarmUp: {self.why}"


def warm_up(offsets: npt.NDArray[np.int64], repeats_ns: Floats) -> WarmUp:
    """Find how many of the first repeats are warm-up."""
    counts = np.diff(offsets)
    most = int(counts.max(initial=0))
    nodes = np.flatnonzero(counts == most) if most else np.zeros(0, np.int64)
    times = repeats_ns[offsets[nodes][:, None] + np.arange(most)]
    times = times[np.isfinite(times).all(axis=1) & (times.sum(axis=1) > 0)]
    operators, count = times.shape
    if count < LEAST_REPEATS or not operators:
        repeats = "no repeats are known" if count < 2 or not operators else counted(count, "repeat")
        totals = times.sum(axis=0)
        why = f"{repeats}: warm-up cannot be detected in fewer than {LEAST_REPEATS} repeats"
        return WarmUp(0, why, totals, operators, float("nan"), float("nan"), 0)
    totals = times.sum(axis=0)
    cut = _cut(times, totals)
    first = max(cut, 1)
    usual = float(np.median(totals[first:]))
    ratio = float(totals[:first].mean()) / usual if usual > 0 else float("nan")
    slower = _slower(times, first)
    return WarmUp(
        cut, _why(cut, count, ratio, slower, operators), totals, operators, usual, ratio, slower
    )


def _cut(times: Floats, totals: Floats) -> int:
    """Return the largest cut that passes; the limits of totals bound the few that are tried."""
    operators, count = times.shape
    least = np.minimum.accumulate(totals).tolist()
    sums = totals.tolist()
    last = min(count // 2, count - _LEFT)
    rest = sorted(sums[last + 1 :])
    for cut in range(last, 0, -1):
        insort(rest, sums[cut])
        if not sums[cut] < least[cut - 1] or not _may_lie(rest, sums[cut], least[cut - 1]):
            continue
        usual = _median(rest)
        deviation = float(np.median(np.abs(np.array(rest) - usual)))
        limit = max(_SLOWER * usual, usual + _DEVIATIONS * deviation)
        share = (len(rest) - bisect_right(rest, limit)) / len(rest)
        if (
            sums[cut] <= limit < least[cut - 1]
            and share**cut <= _CHANCE
            and _slower(times, cut) >= _OPERATORS * operators
        ):
            return cut
    return 0


def _may_lie(rest: list[float], low: float, high: float) -> bool:
    """Return whether the limit of the rest may lie from ``low`` to below ``high``."""
    usual = _median(rest)

    def within(limit: float, slack: float) -> int:
        reach = (limit - usual) / _DEVIATIONS * slack
        return bisect_right(rest, usual + reach) - bisect_left(rest, usual - reach)

    if _SLOWER * usual >= high or 2 * within(high, 1 + 1e-9) < len(rest):
        return False
    return low <= _SLOWER * usual or 2 * within(low, 1 - 1e-9) <= len(rest) + 1


def _median(ascending: list[float]) -> float:
    half = len(ascending) // 2
    upper = ascending[half]
    return upper if len(ascending) % 2 else (ascending[half - 1] + upper) / 2


def _slower(times: Floats, cut: int) -> int:
    usual = np.median(times[:, cut:], axis=1)
    return int(np.count_nonzero((times[:, :cut] > usual[:, None]).all(axis=1)))


def _why(cut: int, count: int, ratio: float, slower: int, operators: int) -> str:
    share = f"{slower:,} of {counted(operators, 'operator')} {agree(slower, 'is')} slower in"
    if not cut:
        return (
            f"no warm-up in {counted(count, 'repeat')}: the first takes {fixed(ratio, 2)} times "
            "the median of the others"
        )
    if cut == 1:
        return (
            f"the first of {counted(count, 'repeat')} takes {fixed(ratio, 2)} times the median of "
            f"the others; {share} it than their median"
        )
    return (
        f"the first {cut} of {counted(count, 'repeat')} take {fixed(ratio, 2)} times the median "
        f"of the others; {share} each of them than their median"
    )


def without_first(
    offsets: npt.NDArray[np.int64], repeats_ns: Floats, cut: int
) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return offsets and repeats of all nodes without the first ``cut`` repeats."""
    counts = np.diff(offsets)
    dropped = np.where(counts == counts.max(initial=0), np.minimum(cut, counts), 0)
    within = np.arange(len(repeats_ns)) - np.repeat(offsets[:-1], counts)
    kept = within >= np.repeat(dropped, counts)
    return np.concatenate(([0], np.cumsum(counts - dropped))), repeats_ns[kept]
