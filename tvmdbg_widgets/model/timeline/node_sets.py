"""Sets of nodes that share slices, counters and flows of traces, statistics of repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.columns import StringColumn, freeze
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.graph.groups import Groups


@dataclass(frozen=True, eq=False)
class NodeSets:
    """The C sets of nodes that slices of a timeline belong to. Every array is read-only."""

    slice_set: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    nodes: npt.NDArray[np.int32]
    own_ns: npt.NDArray[np.float64]
    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    repeats_offsets: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    repeats_ns: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    apart: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        count = len(self.own_ns)
        if not len(self.apart):
            object.__setattr__(self, "apart", np.zeros(count, np.bool_))
        if not len(self.repeats_offsets):
            object.__setattr__(self, "repeats_offsets", np.zeros(count + 1, np.int64))
        for name, words in (("names", "together"), ("kinds", "other")):
            object.__setattr__(self, name, getattr(self, name) or (words,) * count)
        freeze(self)
        if len(self.offsets) != count + 1 or self.offsets[-1] != len(self.nodes):
            raise ValueError(
                f"offsets do not fit {counted(count, 'set')} of {counted(len(self.nodes), 'node')}"
            )
        if ((np.diff(self.offsets) == 1) & ~self.apart).any():
            raise ValueError("a set that is not apart has no node or several")
        if len(self.slice_set) and not -1 <= self.slice_set.min() <= self.slice_set.max() < count:
            raise ValueError(f"slice_set must lie in -1 … {count - 1}")

    def __len__(self) -> int:
        return len(self.own_ns)

    @property
    def left(self) -> npt.NDArray[np.bool_]:
        """The sets that hold the rest of calls whose operators are timed (bool [C])."""
        calls = np.array([kind == "delegate" for kind in self.kinds], np.bool_)
        left: npt.NDArray[np.bool_] = self.apart & calls
        return left

    @property
    def hidden(self) -> bool:
        """Whether there are delegate calls whose operators no file names."""
        sizes = np.diff(self.offsets).tolist()
        return any(
            kind == "delegate" and not size for kind, size in zip(self.kinds, sizes, strict=True)
        )

    def of(self, number: int) -> tuple[int, ...]:
        """Return the nodes of a set."""
        return tuple(self.nodes[self.offsets[number] : self.offsets[number + 1]].tolist())

    def statistics(self) -> NodeStatistics:
        """Return statistics of the executions of the sets."""
        return node_statistics(self.repeats_offsets, self.repeats_ns, self.own_ns)

    def smallest(self, num_nodes: int) -> npt.NDArray[np.int32]:
        """Return the smallest set with a known time around each node, or -1."""
        smallest = np.full(num_nodes, -1, np.int32)
        sizes = np.diff(self.offsets)
        for number in np.argsort(-sizes, kind="stable").tolist():
            if self.own_ns[number] >= 0 and not self.apart[number]:
                smallest[self.nodes[self.offsets[number] : self.offsets[number + 1]]] = number
        return smallest

    @property
    def total_ns(self) -> float:
        """Time of all sets as such, without unknown ones."""
        return float(np.nansum(self.own_ns))

    def within_groups(self, groups: Groups) -> npt.NDArray[np.float64]:
        """Return the time of the sets inside each group (float64 [G])."""
        some = np.flatnonzero(np.diff(self.offsets))
        if not len(some):
            return np.zeros(len(groups))
        place = np.empty(len(groups.order), np.int64)
        place[groups.order] = np.arange(len(groups.order))
        places = place[self.nodes]
        first = np.minimum.reduceat(places, self.offsets[some])
        last = np.maximum.reduceat(places, self.offsets[some])
        own = np.nan_to_num(self.own_ns[some])
        return np.array(
            [
                float(own[(first >= start) & (last < end)].sum())
                for start, end in zip(groups.start.tolist(), groups.end.tolist(), strict=True)
            ]
        )

    def groups_around(self, groups: Groups) -> npt.NDArray[np.int64]:
        """Return the innermost group that holds all nodes of each set, or -1 (int64 [C])."""
        innermost = np.full(len(self), -1, np.int64)
        for number in range(len(self)):
            around = [{group.id for group in groups.of(node)} for node in self.of(number)]
            if around:
                innermost[number] = max(set.intersection(*around), default=-1)
        return innermost

    def within(self, members: npt.NDArray[np.bool_]) -> float:
        """Return the time of the sets of which all nodes are in a mask (bool [N])."""
        # The rest of a call of one node is not the node's time.
        some = np.flatnonzero(np.diff(self.offsets) > (1 if np.count_nonzero(members) == 1 else 0))
        if not len(some):
            return 0.0
        inside = np.logical_and.reduceat(members[self.nodes], self.offsets[some])
        return float(np.nansum(self.own_ns[some[inside]]))


@dataclass(frozen=True, eq=False)
class Counters:
    """K series of V values in time, as columns."""

    names: tuple[str, ...]
    series: tuple[str, ...]
    devices: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    ns: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Counters: {counted(len(self.values), 'value')} of {counted(len(self), 'series')}"

    def to_dataframe(self) -> Any:
        """One row per value (``pandas.DataFrame``); ImportError without pandas."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets)).tolist()
        return data_frame(
            {
                "name": [self.names[k] for k in rows],
                "series": [self.series[k] for k in rows],
                "device": [self.devices[k] for k in rows],
                "ns": self.ns,
                "value": self.values,
            }
        )


@dataclass(frozen=True, eq=False)
class FlowEnds:
    """F events that arrows between slices begin, pass and end at, in order of time."""

    flow: npt.NDArray[np.int32]
    phase: npt.NDArray[np.uint8]
    ns: npt.NDArray[np.float64]
    track: npt.NDArray[np.int32]
    encloses: npt.NDArray[np.bool_]
    names: StringColumn
    slices: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.flow)

    @cached_property
    def from_slice(self) -> npt.NDArray[np.bool_]:
        """Ends that are declared by their slice itself (bool[F])."""
        if self.slices is None:
            return np.zeros(len(self), np.bool_)
        return self.slices >= 0


@dataclass(frozen=True, eq=False)
class TraceExtras:
    """Contents of a trace beside its slices."""

    counters: Counters
    flow_ends: FlowEnds
    counts: Mapping[str, int]

    @cached_property
    def flows(self) -> int:
        """Number of flows."""
        return len(np.unique(self.flow_ends.flow))

    def __repr__(self) -> str:
        phases = ", ".join(f"{count:,} {phase}" for phase, count in sorted(self.counts.items()))
        return (
            f"TraceExtras: {counted(len(self.counters.values), 'value')} of "
            f"{counted(len(self.counters), 'counter series')}, {counted(self.flows, 'flow')}; "
            f"events by phase: {phases or 'none'}"
        )


Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

NOISY_RATIO = 1.2
NOISY_REPEATS = 5

_NUMBERS = ("min", "p10", "p50", "p90", "max", "mean", "sd", "low", "high")


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """Statistics of the repeats of one node, in nanoseconds.

    ``n`` counts the repeats that are numbers. Percentiles interpolate linearly between the sorted
    repeats; ``sd`` is the sample standard deviation (divisor n - 1); ``low`` and ``high`` bound the
    95 % confidence interval of the mean, ``mean ± t sd / sqrt(n)`` with Student's t of n - 1
    degrees of freedom. Both are NaN below two repeats. The interval takes the repeats to be
    independent and near normal: a warm-up or a drift in them makes it no more than a hint.
    Without repeats ``mean`` is the node's time as the trace or table gives it and the rest is NaN.
    ``noisy``: at least 5 repeats and p90 / p10 above 1.2. ``rounding_ns`` is that of the timeline.
    """

    n: int
    min: float
    p10: float
    p50: float
    p90: float
    max: float
    mean: float
    sd: float
    low: float
    high: float
    noisy: bool
    rounding_ns: float = 0.0

    def __repr__(self) -> str:
        text = partial(duration_text, rounding_ns=self.rounding_ns)
        if self.n == 0:
            return f"NodeTimes: {text(self.mean)}, no repeats known"
        if self.n == 1:
            return f"NodeTimes: {text(self.mean)}, measured once"
        spread = "" if np.isnan(self.sd) else f" ± {duration_text(self.sd)}"
        sure = ""
        if not np.isnan(self.low):
            sure = f", 95 % CI {text(self.low)} … {text(self.high)}"
        return (
            f"NodeTimes: {text(self.mean)}{spread} over "
            f"{counted(self.n, 'repeat')}{sure}, min {text(self.min)}, "
            f"median {text(self.p50)}, p10 to p90 {text(self.p10)} to "
            f"{text(self.p90)}{'; noisy' if self.noisy else ''}"
        )


@dataclass(frozen=True, eq=False)
class NodeStatistics:
    """Statistics of the repeats of every node, as columns."""

    n: npt.NDArray[np.int64]
    min: Floats
    p10: Floats
    p50: Floats
    p90: Floats
    max: Floats
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    noisy: npt.NDArray[np.bool_]
    rounding_ns: float = 0.0

    def __len__(self) -> int:
        return len(self.n)

    def __getitem__(self, node: int) -> NodeTimes:
        """Statistics of one node id."""
        numbers = {name: float(getattr(self, name)[node]) for name in _NUMBERS}
        return NodeTimes(
            int(self.n[node]), **numbers, noisy=bool(self.noisy[node]), rounding_ns=self.rounding_ns
        )

    def __repr__(self) -> str:
        return (
            f"NodeStatistics: {counted(len(self), 'node')}, {int(np.count_nonzero(self.n))} with "
            f"repeats, {int(np.count_nonzero(self.noisy))} noisy (p90/p10 > {NOISY_RATIO}, "
            f"{NOISY_REPEATS} repeats or more)"
        )

    def to_dataframe(self) -> Any:
        """One row per node id (``pandas.DataFrame``); ImportError without pandas."""
        return data_frame(
            {
                "node": np.arange(len(self)),
                "n": self.n,
                **{f"{name}_ns": getattr(self, name) for name in _NUMBERS},
                "noisy": self.noisy,
            }
        )


def by_count(offsets: npt.NDArray[np.int64], values: Floats) -> Iterator[tuple[int, Ids, Floats]]:
    """Yield the rows with 1, 2, … values: the number, their ids, their values."""
    counts = np.diff(offsets)
    order = np.argsort(counts, kind="stable")
    sizes, first = np.unique(counts[order], return_index=True)
    for size, ids in zip(sizes.tolist(), np.split(order, first[1:]), strict=False):
        if size:
            yield size, ids, values[offsets[ids][:, None] + np.arange(size)]


def node_statistics(
    offsets: npt.NDArray[np.int64], repeats_ns: Floats, node_ns: Floats, rounding_ns: float = 0.0
) -> NodeStatistics:
    """Compute the statistics of every node's repeats."""
    count = len(offsets) - 1
    finite = np.isfinite(repeats_ns)
    kept = np.concatenate(([0], np.cumsum(finite)))[offsets]
    values = repeats_ns[finite]
    n = np.diff(kept).astype(np.int64)
    columns = {name: np.full(count, np.nan) for name in _NUMBERS}
    mean = columns["mean"] = node_ns.astype(np.float64, copy=True)
    with np.errstate(invalid="ignore", over="ignore"):
        for size, nodes, block in by_count(kept, values):
            columns["min"][nodes] = block.min(axis=1)
            columns["max"][nodes] = block.max(axis=1)
            percentiles = np.percentile(block, (10, 50, 90), axis=1)
            columns["p10"][nodes], columns["p50"][nodes], columns["p90"][nodes] = percentiles
            mean[nodes] = block.mean(axis=1)
            if size > 1:
                columns["sd"][nodes] = block.std(axis=1, ddof=1)
                half = student_t(size - 1) * columns["sd"][nodes] / np.sqrt(size)
                columns["low"][nodes] = mean[nodes] - half
                columns["high"][nodes] = mean[nodes] + half
        noisy = (n >= NOISY_REPEATS) & (columns["p90"] > NOISY_RATIO * columns["p10"])
    return NodeStatistics(n=n, noisy=noisy, rounding_ns=rounding_ns, **columns)


#: Student's t of 1 to 30 degrees of freedom at 95 %.
_T: Final = (
    *(12.706204736174696, 4.302652729749463, 3.182446305283707, 2.7764451051977934),
    *(2.570581835636315, 2.446911851144967, 2.3646242515927844, 2.3060041352041676),
    *(2.2621571627982027, 2.2281388519862735, 2.200985160091639, 2.1788128296672276),
    *(2.1603686564627917, 2.144786687917805, 2.1314495455597755, 2.1199052992212546),
    *(2.1098155778333174, 2.1009220402410365, 2.0930240544083114, 2.085963447265864),
    *(2.079613844727678, 2.0738730679040227, 2.0686576104190477, 2.0638985616280245),
    *(2.0595385527532954, 2.055529438642874, 2.0518305164802855, 2.048407141795244),
    *(2.045229642132701, 2.0422724563012387),
)
_NORMAL: Final = 1.959963984540054


def student_t(degrees: int) -> float:
    """Return Student's t at 95 %, to 8 digits (Abramowitz and Stegun, 26.7.5)."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    square = _NORMAL * _NORMAL
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return _NORMAL * (1 + sum(term / float(degrees) ** (i + 1) for i, term in enumerate(terms)))
