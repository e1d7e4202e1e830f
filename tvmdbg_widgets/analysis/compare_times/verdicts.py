"""Whether two times differ by more than noise, and why that is said."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import NO_MATCH, Aligned
from tvmdbg_widgets.analysis.compare_times.rank_test import adjusted, least_p, rank_tests
from tvmdbg_widgets.analysis.compare_times.samples import Samples
from tvmdbg_widgets.analysis.matching import Certainty

Floats = npt.NDArray[np.float64]

#: A difference is told from noise where its corrected p value is at most this.
ALPHA = 0.05
#: TVM prints repeats in microseconds with three decimals: each is off by so many nanoseconds.
ROUNDING_NS = 0.5


class TimeVerdict(enum.IntEnum):
    """What is said of a row."""

    SLOWER = 0
    FASTER = 1
    NOISE = 2
    UNKNOWN = 3
    ONLY_A = 4
    ONLY_B = 5

    @property
    def label(self) -> str:
        """In lower case, as views show it."""
        return {self.ONLY_A: "only in A", self.ONLY_B: "only in B"}.get(self, self.name.lower())


class Ground(enum.IntEnum):
    """What a verdict rests on."""

    TOLD = 0
    NOT_TOLD = 1
    CLOCK = 2
    ODDS = 3
    FEW = 4
    NO_REPEATS = 5
    UNEVEN = 6
    NO_TIME = 7
    POSSIBLE = 8
    ALONE = 9


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Tests and verdicts of R rows."""

    p: Floats
    q: Floats
    shift: Floats
    low: Floats
    high: Floats
    verdict: npt.NDArray[np.uint8]
    ground: npt.NDArray[np.uint8]
    tests: int

    @property
    def untested(self) -> npt.NDArray[np.bool_]:
        """Rows whose times are known, but nothing that tells their difference from noise."""
        return np.isin(self.ground, (Ground.FEW, Ground.NO_REPEATS, Ground.UNEVEN))

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        """Rows whose difference has a color: all that are not noise, unsure or unknown."""
        unsure = np.isin(self.verdict, (TimeVerdict.NOISE, TimeVerdict.UNKNOWN))
        return self.untested | ~unsure


def judge(a: Samples, b: Samples, aligned: Aligned) -> Verdicts:
    """Test all rows whose samples can show anything, and say which differ by more than noise.

    Only they are counted where p values are corrected. A match that is only possible is never
    the ground of a verdict.
    """
    count = len(aligned)
    p, shift, low, high = (np.full(count, np.nan) for _ in range(4))
    sizes_a, sizes_b = np.diff(a.offsets), np.diff(b.offsets)
    both = (sizes_a > 0) & (sizes_b > 0)
    for n, m in sorted(set(zip(sizes_a[both].tolist(), sizes_b[both].tolist(), strict=True))):
        rows = np.flatnonzero((sizes_a == n) & (sizes_b == m))
        found = rank_tests(
            a.repeats[a.offsets[rows][:, None] + np.arange(n)],
            b.repeats[b.offsets[rows][:, None] + np.arange(m)],
        )
        p[rows], shift[rows], low[rows], high[rows] = found.p, found.shift, found.low, found.high
    least = np.ones(count)
    least[both] = _least(sizes_a[both], sizes_b[both])
    alone = aligned.certainty == NO_MATCH
    with np.errstate(invalid="ignore"):
        change = b.ns - a.ns
        nodes = np.diff(aligned.offsets_a) + np.diff(aligned.offsets_b)
        below = (np.abs(change) <= ROUNDING_NS * nodes) | (np.abs(shift) <= ROUNDING_NS * nodes)
        odds = (np.sign(shift) != np.sign(change)) & ~below
    ground = np.full(count, Ground.TOLD, np.uint8)
    ground[odds] = Ground.ODDS
    ground[below] = Ground.CLOCK
    ground[least > ALPHA] = Ground.FEW
    ground[~both] = Ground.NO_REPEATS
    ground[(a.uneven | b.uneven) & ~both] = Ground.UNEVEN
    ground[aligned.certainty == Certainty.POSSIBLE] = Ground.POSSIBLE
    ground[(a.unknown > 0) | (b.unknown > 0)] = Ground.NO_TIME
    ground[alone] = Ground.ALONE
    tested = (ground <= Ground.ODDS) & both
    q = adjusted(np.where(tested, p, np.nan))
    with np.errstate(invalid="ignore"):
        noise = tested & (ground != Ground.CLOCK) & (q > ALPHA)
    ground[noise] = Ground.NOT_TOLD
    verdict = np.full(count, TimeVerdict.UNKNOWN, np.uint8)
    told = ground == Ground.TOLD
    verdict[told & (change > 0)] = TimeVerdict.SLOWER
    verdict[told & (change < 0)] = TimeVerdict.FASTER
    verdict[(ground == Ground.NOT_TOLD) | (ground == Ground.CLOCK)] = TimeVerdict.NOISE
    verdict[alone] = np.where(
        np.diff(aligned.offsets_a)[alone] > 0, TimeVerdict.ONLY_A, TimeVerdict.ONLY_B
    )
    return Verdicts(p, q, shift, low, high, verdict, ground, int(tested.sum()))


def _least(n: npt.NDArray[np.int64], m: npt.NDArray[np.int64]) -> list[float]:
    return [least_p(*each) for each in zip(n.tolist(), m.tolist(), strict=True)]
