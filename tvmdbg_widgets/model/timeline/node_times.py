"""Statistics of the measured repeats, per node, and the ranking of nodes by time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.student_t import student_t

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
            int(self.n[node]),
            **numbers,
            noisy=bool(self.noisy[node]),
            rounding_ns=self.rounding_ns,
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
    """Yield the rows of each number of values from one on: the number, their ids, their values.

    Values of row i are ``values[offsets[i]:offsets[i + 1]]``; the last is float64[rows, number].
    """
    counts = np.diff(offsets)
    order = np.argsort(counts, kind="stable")
    sizes, first = np.unique(counts[order], return_index=True)
    for size, ids in zip(sizes.tolist(), np.split(order, first[1:]), strict=False):
        if size:
            yield size, ids, values[offsets[ids][:, None] + np.arange(size)]


def node_statistics(
    offsets: npt.NDArray[np.int64],
    repeats_ns: Floats,
    node_ns: Floats,
    rounding_ns: float = 0.0,
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
