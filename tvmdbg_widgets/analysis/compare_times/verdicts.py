"""Verdicts on differences of times: samples, rank tests, and significance."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import NO_MATCH, Aligned, NodeRows
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.model.base.ranges import flat_ranges
from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.model.timeline.timeline import Timeline

Floats = npt.NDArray[np.float64]

ALPHA = 0.05  # largest corrected p value of a significant difference
#: Rounding error of TVM's printed repeats, nanoseconds: microseconds with three decimals.
ROUNDING_NS = 0.5


class TimeVerdict(enum.IntEnum):
    """Verdict on a row."""

    SLOWER = 0
    FASTER = 1
    NOISE = 2
    UNKNOWN = 3
    ONLY_A = 4
    ONLY_B = 5

    @property
    def label(self) -> str:
        """The verdict in lower case, as views show it."""
        return {self.ONLY_A: "only in A", self.ONLY_B: "only in B"}.get(self, self.name.lower())


class Ground(enum.IntEnum):
    """Evidence of a verdict."""

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
        """Rows with known times but untested differences."""
        return np.isin(self.ground, (Ground.FEW, Ground.NO_REPEATS, Ground.UNEVEN))

    @property
    def shown(self) -> npt.NDArray[np.bool_]:
        """Rows with a color: all but noise, unsure and unknown."""
        unsure = np.isin(self.verdict, (TimeVerdict.NOISE, TimeVerdict.UNKNOWN))
        return self.untested | ~unsure


def judge(a: Samples, b: Samples, aligned: Aligned) -> Verdicts:
    """Test rows with enough repeats; a merely possible match is never evidence."""
    count = len(aligned)
    p, shift, low, high = (np.full(count, np.nan) for _ in range(4))
    sizes_a, sizes_b = np.diff(a.offsets), np.diff(b.offsets)
    both = (sizes_a > 0) & (sizes_b > 0)
    for n, m in sorted(set(zip(sizes_a[both].tolist(), sizes_b[both].tolist(), strict=True))):
        rows = np.flatnonzero((sizes_a == n) & (sizes_b == m))
        _, p[rows], shift[rows], low[rows], high[rows] = rank_tests(
            a.repeats[a.offsets[rows][:, None] + np.arange(n)],
            b.repeats[b.offsets[rows][:, None] + np.arange(m)],
        )
    least = np.ones(count)
    sizes = zip(sizes_a[both].tolist(), sizes_b[both].tolist(), strict=True)
    least[both] = [least_p(n, m) for n, m in sizes]
    alone = aligned.certainty == NO_MATCH
    with np.errstate(invalid="ignore"):
        change = b.ns - a.ns
        nodes = aligned.a.sizes + aligned.b.sizes
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
    significant = ground == Ground.TOLD
    verdict[significant & (change > 0)] = TimeVerdict.SLOWER
    verdict[significant & (change < 0)] = TimeVerdict.FASTER
    verdict[(ground == Ground.NOT_TOLD) | (ground == Ground.CLOCK)] = TimeVerdict.NOISE
    only = np.where(aligned.a.sizes > 0, TimeVerdict.ONLY_A, TimeVerdict.ONLY_B)
    verdict[alone] = only[alone]
    return Verdicts(p, q, shift, low, high, verdict, ground, int(tested.sum()))


#: Most pairs of values with an exact p without ties, and most values with ties.
EXACT_PAIRS, EXACT_TIED = 2_500, 40
_AT_ONCE = 1 << 21
_LEVEL = 0.95  # of confidence intervals
_MOST_DIFFERENCES = 1 << 21


class RankTests(NamedTuple):
    """Tests of R pairs of samples, as columns of float64 [R]."""

    u: Floats
    p: Floats
    shift: Floats
    low: Floats
    high: Floats


def rank_tests(a: npt.ArrayLike, b: npt.ArrayLike) -> RankTests:
    """Test R pairs of samples of one size each."""
    x, y = np.atleast_2d(np.asarray(a, float)), np.atleast_2d(np.asarray(b, float))
    if len(x) != len(y) or not x.shape[1] or not y.shape[1]:
        raise ValueError(f"samples of shapes {x.shape} and {y.shape} cannot be paired")
    tests = RankTests(*(np.full(len(x), np.nan) for _ in RankTests._fields))
    pairs = x.shape[1] * y.shape[1]
    step = max(1, _AT_ONCE // pairs)
    for first in range(0, len(x), step):
        rows = slice(first, first + step)
        _test_chunk(x[rows], y[rows], RankTests(*(column[rows] for column in tests)))
    return tests


def _test_chunk(x: Floats, y: Floats, tests: RankTests) -> None:
    n, m = x.shape[1], y.shape[1]
    pooled = np.sort(np.concatenate((x, y), axis=1), axis=1)
    tied = (pooled[:, 1:] == pooled[:, :-1]).any(axis=1)
    if n * m > _MOST_DIFFERENCES:
        tests.u[:] = [_u_sorted(one, other) for one, other in zip(x, y, strict=True)]
        tests.shift[:] = np.median(y, axis=1) - np.median(x, axis=1)
    else:
        apart = (y[:, None, :] - x[:, :, None]).reshape(len(x), -1)
        tests.u[:] = (apart > 0).sum(axis=1) + 0.5 * (apart == 0).sum(axis=1)
        cut, last = _interval_bound(n, m), n * m - 1
        apart.partition(sorted({max(cut, 0), last // 2, n * m // 2, last - max(cut, 0)}), axis=1)
        tests.shift[:] = apart[:, [last // 2, n * m // 2]].mean(axis=1)
        if cut >= 0:
            tests.low[:], tests.high[:] = apart[:, cut], apart[:, last - cut]
    for row in range(len(x)):
        tests.p[row] = _two_sided_p(float(tests.u[row]), n, m, pooled[row] if tied[row] else None)


def _u_sorted(x: Floats, y: Floats) -> float:
    own = np.sort(x)
    below = np.searchsorted(own, y, "left").sum()
    return 0.5 * float(below + np.searchsorted(own, y, "right").sum())


def _two_sided_p(u: float, n: int, m: int, tied: Floats | None) -> float:
    if tied is None:
        if n * m <= EXACT_PAIRS:
            return _untied_tails(min(n, m), max(n, m))[int(min(u, n * m - u))]
        return _normal(u, n, m, ())
    _, counts = np.unique(tied, return_counts=True)
    ties = tuple(counts.tolist())
    if n + m > EXACT_TIED:
        return _normal(u, n, m, ties)
    doubled = 2 * u + m * (m + 1) if m <= n else 2 * (n * m - u) + n * (n + 1)
    return _tied_tails(min(n, m), ties)[round(doubled)]


def _normal(u: float, n: int, m: int, ties: tuple[int, ...]) -> float:
    size = n + m
    lost = sum(count**3 - count for count in ties) / (size * (size - 1))
    variance = n * m / 12 * (size + 1 - lost)
    if variance <= 0:
        return 1.0
    away = max(0.0, abs(u - n * m / 2) - 0.5)
    return math.erfc(away / math.sqrt(2 * variance))


@lru_cache(maxsize=4096)
def _tied_tails(size: int, ties: tuple[int, ...]) -> tuple[float, ...]:
    below = np.concatenate(([0], np.cumsum(ties)))
    ranks = [first + last + 1 for first, last in pairwise(below.tolist())]
    ways = np.zeros((size + 1, sum(r * t for r, t in zip(ranks, ties, strict=True)) + 1), np.int64)
    ways[0, 0] = 1
    for rank, count in zip(ranks, ties, strict=True):
        for _ in range(count):
            for taken in range(size, 0, -1):
                ways[taken, rank:] += ways[taken - 1, :-rank]
    up_to = np.cumsum(ways[size])
    total = int(up_to[-1])
    at_least = total - up_to + ways[size]
    return tuple(min(1.0, 2 * ways / total) for ways in np.minimum(up_to, at_least).tolist())


@lru_cache(maxsize=64)
def u_counts(n: int, m: int) -> tuple[int, ...]:
    """Return the number of ways to get each U up to n*m: Gaussian binomial coefficients."""
    counts = [1] + [0] * (n * m)
    for i in range(1, n + 1):
        for at in range(n * m, m + i - 1, -1):
            counts[at] -= counts[at - m - i]
        for at in range(i, n * m + 1):
            counts[at] += counts[at - i]
    return tuple(counts)


@lru_cache(maxsize=64)
def _untied_tails(n: int, m: int) -> tuple[float, ...]:
    total, below, tails = math.comb(n + m, n), 0, []
    for count in u_counts(n, m)[: n * m // 2 + 1]:
        below += count
        tails.append(min(1.0, 2 * below / total))
    return tuple(tails)


def _interval_bound(n: int, m: int) -> int:
    if n * m > EXACT_PAIRS:
        away = NormalDist().inv_cdf((1 + _LEVEL) / 2) * math.sqrt(n * m * (n + m + 1) / 12)
        return math.floor(n * m / 2 - away - 0.5)
    total, below, cut = math.comb(n + m, n), 0, -1
    for at, count in enumerate(u_counts(min(n, m), max(n, m))):
        below += count
        if below / total > (1 - _LEVEL) / 2:
            return cut
        cut = at
    return cut


def least_p(n: int, m: int) -> float:
    """Return the least two-sided p value of samples of these sizes; 1 without values."""
    return min(1.0, 2 / math.comb(n + m, n)) if n > 0 and m > 0 else 1.0


def adjusted(p: npt.ArrayLike) -> Floats:
    """Return p values corrected by Benjamini and Hochberg's false discovery rate (1995)."""
    given = np.asarray(p, float)
    q = np.full(given.shape, np.nan)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    scaled = given[order] * len(order) / np.arange(1, len(order) + 1)
    q[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return q


Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Samples:
    """Times and repeats of R rows of nodes."""

    ns: Floats
    unknown: Ints
    offsets: Ints
    repeats: Floats
    uneven: npt.NDArray[np.bool_]

    def of(self, row: int) -> Floats:
        """Return the repeats of a row."""
        return self.repeats[self.offsets[row] : self.offsets[row + 1]]


class NodeSamples:
    """Times and repeats of a timeline's nodes, ready for comparison."""

    def __init__(self, timeline: Timeline, warm_up: int) -> None:
        given = [timeline.repeats(node) for node in range(timeline.num_nodes)]
        self.rounding_ns = timeline.rounding_ns
        self.ns: Floats = timeline.node_ns.copy()
        self.ns[~np.isfinite(self.ns)] = np.nan
        self.call: Ints = np.full(timeline.num_nodes, -1)
        if timeline.shared is not None:
            _place_call_times(timeline.shared, self.ns, self.call, given)
        counts = np.array([len(repeats_of) for repeats_of in given], np.int64)
        repeats = np.concatenate(given) if given else np.zeros(0)
        within = flat_ranges(np.zeros_like(counts), counts)
        node = np.repeat(np.arange(timeline.num_nodes), counts)
        kept = np.isfinite(repeats) & (within >= warm_up)
        kept &= timeline.measured is TimeMeaning.MEAN
        self.repeats: Floats = repeats[kept]
        number = np.bincount(node[kept], minlength=timeline.num_nodes)
        self.offsets: Ints = np.concatenate(([0], np.cumsum(number))).astype(np.int64)
        if warm_up:
            sums = np.bincount(node[kept], weights=self.repeats, minlength=timeline.num_nodes)
            some = number > 0
            self.ns[some] = sums[some] / number[some]
            if timeline.measured is TimeMeaning.MEAN:
                self.ns[(counts > 0) & ~some] = np.nan

    def rows(self, rows: NodeRows) -> Samples:
        """Sum the nodes by row."""
        nodes, row, count = rows.nodes, rows.row, len(rows.sizes)
        times = self.ns[nodes]
        known = ~np.isnan(times)
        ns = np.bincount(row[known], weights=times[known], minlength=count).astype(np.float64)
        unknown = np.bincount(row[~known], minlength=count).astype(np.int64)
        ns[(unknown > 0) & (unknown == rows.sizes)] = np.nan
        number = np.diff(self.offsets)[nodes]
        most = np.zeros(count, np.int64)
        np.maximum.at(most, row, number)
        uneven = np.zeros(count, np.bool_)
        # Without time there are no repeats.
        np.logical_or.at(uneven, row, (number != most[row]) & ~(times == 0))
        most[uneven] = 0
        starts = np.concatenate(([0], np.cumsum(most))).astype(np.int64)
        repeats = np.zeros(int(starts[-1]))
        used = (most[row] > 0) & (number > 0)
        sizes = number[used]
        into = flat_ranges(starts[row[used]], sizes)
        np.add.at(repeats, into, self.repeats[flat_ranges(self.offsets[nodes[used]], sizes)])
        return Samples(ns, unknown, starts, repeats, uneven)


def _place_call_times(sets: NodeSets, ns: Floats, call: Ints, repeats: list[Floats]) -> None:
    inside = np.isnan(ns)
    for number in np.argsort(np.diff(sets.offsets), kind="stable").tolist():
        nodes = np.array(sets.of(number), np.int64)
        if not len(nodes) or np.isnan(sets.own_ns[number]) or sets.apart[number]:
            continue
        free = nodes[inside[nodes] & (call[nodes] < 0)]
        own = sets.repeats_ns[sets.repeats_offsets[number] : sets.repeats_offsets[number + 1]]
        if len(free):
            at = int(free[-1])
            ns[at], call[at], repeats[at] = sets.own_ns[number], number, own
            others = nodes[inside[nodes] & (call[nodes] < 0)]
            ns[others] = 0.0
        else:
            at = int(nodes[-1])
            both = len(repeats[at]) == len(own)
            ns[at] += sets.own_ns[number]
            repeats[at] = repeats[at] + own if both else np.zeros(0)
