"""Comparison of two logs: which schedules keep their rank on another machine, and which fail."""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.curves import best_costs
from tvmdbg_widgets.analysis.tuning.error_tables import seconds_cell, table_html, table_text
from tvmdbg_widgets.analysis.tuning.pairs import SchedulePairs, common_tasks, matched
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import Task, TuningParts

if TYPE_CHECKING:
    import pandas as pd


_HEADS = (
    *("task", "pairs", "rank correlation (95 % CI)", "new/old", "old's best, on new", "regret"),
    *("same of top", "now fail"),
)


@dataclass(frozen=True, eq=False, repr=False)
class MachineComparison:
    """Comparison of two logs of the same schedules, from two machines or two sessions.

    Attributes
    ----------
    titles : (str, str)
        Of the old log and of the new one.
    tasks : tuple of TaskTransfer
        The workloads that both logs measured, in the order of the old log.
    pairs : SchedulePairs
        All schedules that both measured.
    old_only, new_only : int
        How many tasks one log alone has.
    """

    titles: tuple[str, str]
    tasks: tuple[TaskTransfer, ...]
    pairs: SchedulePairs
    old_only: int
    new_only: int

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def correlation(self) -> RankCorrelation:
        """Common rank correlation within tasks; costs of different tasks are not compared."""
        return pooled([task.correlation for task in self.tasks])

    @property
    def failing(self) -> Counter[MeasureError]:
        """Number of schedules that ran on the old machine and fail on the new one, by error."""
        return sum((task.failing for task in self.tasks), Counter())

    def slower_by(self, share: float) -> tuple[TaskTransfer, ...]:
        """Return the tasks whose best of the new log is slower by more than a share.

        Parameters
        ----------
        share : float
            0.05 for 5 %. A task without a valid trial in the new log is slower.
        """
        return tuple(
            task
            for task in self.tasks
            if not math.isnan(task.old_best) and not task.new_best <= task.old_best * (1 + share)
        )

    @property
    def caption(self) -> tuple[str, ...]:
        """The sentences above the tasks."""
        valid = int(np.count_nonzero(self.pairs.valid))
        both = counted(len(self.pairs), "schedule")
        workloads = counted(len(self.tasks), "workload")
        lines = [
            "old: {}, new: {}".format(*map(one_line, self.titles)),
            f"{both} of {workloads} in both logs, {valid:,} of them valid in both"
            if len(self.pairs)
            else "no schedule is in both logs: workload and all steps must be the same",
        ]
        if self.tasks:
            lines.append(f"rank correlation within tasks (95 % CI): {self.correlation}")
        if failing := self.failing:
            errors = ", ".join(f"{count:,} {error.label}" for error, count in failing.most_common())
            lines.append(f"valid in the old log and failing in the new one: {errors}")
        if rescued := sum(task.rescued for task in self.tasks):
            lines.append(f"failing in the old log and valid in the new one: {rescued:,}")
        lines += self._unmatched()
        repeated = int(np.count_nonzero((self.pairs.old_count > 1) | (self.pairs.new_count > 1)))
        if repeated:
            lines.append(f"{counted(repeated, 'schedule')} measured repeatedly: the mean counts")
        return tuple(lines)

    def _unmatched(self) -> list[str]:
        sides = (
            ("old", self.old_only, sum(task.old_only for task in self.tasks)),
            ("new", self.new_only, sum(task.new_only for task in self.tasks)),
        )
        return [
            f"only in the {side} log: {counted(tasks, 'task')}, and "
            f"{counted(schedules, 'schedule')} of the common workloads"
            for side, tasks, schedules in sides
            if tasks or schedules
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per schedule that both logs measured (needs pandas).

        Returns
        -------
        pandas.DataFrame
            ``task``, ``new_task`` (indexes), ``name``; ``row``, ``new_row`` (first trial of the
            schedule); ``cost_s``, ``new_cost_s`` (means, seconds, NaN for failures), ``ratio``;
            ``error``, ``new_error`` (names, empty for none); ``trials``, ``new_trials``.
        """
        import pandas as pd

        pairs = self.pairs
        names = {task.old.index: task.old.name for task in self.tasks}
        return pd.DataFrame(
            {
                "task": pairs.old_task,
                "new_task": pairs.new_task,
                "name": [names[task] for task in pairs.old_task.tolist()],
                "row": pairs.old_row,
                "new_row": pairs.new_row,
                "cost_s": pairs.old_cost,
                "new_cost_s": pairs.new_cost,
                "ratio": pairs.ratio,
                "error": [_error(error) for error in pairs.old_error.tolist()],
                "new_error": [_error(error) for error in pairs.new_error.tolist()],
                "trials": pairs.old_count,
                "new_trials": pairs.new_count,
            }
        )

    def cells(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """Return head and rows of a table with one row per task."""
        return _HEADS, [_cells(task) for task in self.tasks]

    def __repr__(self) -> str:
        table = [table_text(*self.cells())] if self.tasks else []
        return "\n".join([*self.caption, *table])

    def _repr_html_(self) -> str:
        caption = "".join(f"<p>{html.escape(line)}</p>" for line in self.caption)
        return caption + (table_html(*self.cells()) if self.tasks else "")


def _cells(task: TaskTransfer) -> list[str]:
    top = task.top
    fails = task.fastest is not None and math.isnan(task.transferred)
    return [
        f"{task.old.index} {task.old.name}",
        f"{len(task.pairs):,}",
        str(task.correlation),
        "–" if math.isnan(task.ratio) else f"{task.ratio:.3g} ×",
        "fails" if fails else seconds_cell(task.transferred),
        percent(task.regret) if math.isfinite(task.regret) else "–",
        "–" if top is None else f"{top[0]} of {top[1]}",
        f"{sum(task.failing.values()):,}",
    ]


def _error(number: int) -> str:
    return MeasureError(number).label if number else ""


def compare_machines(
    old: TuningParts, new: TuningParts, *, progress: bool = True
) -> MachineComparison:
    """Compare two logs by schedules of equal workload and steps."""
    tasks = common_tasks(old, new)
    pairs, offsets, old_count, new_count = matched(old, new, tasks, progress=progress)
    bests = best_costs(old.trials, len(old.tasks)), best_costs(new.trials, len(new.tasks))
    transfers = []
    for (one, other), begin, end in zip(tasks, offsets[:-1], offsets[1:], strict=True):
        own = pairs.take(slice(begin, end))
        transfers.append(
            TaskTransfer(
                old.tasks[one],
                new.tasks[other],
                own,
                old_only=old_count[one] - len(own),
                new_only=new_count[other] - len(own),
                old_best=float(bests[0][one]),
                new_best=float(bests[1][other]),
            )
        )
    return MachineComparison(
        (old.title, new.title),
        tuple(transfers),
        pairs,
        len(old.tasks) - len({one for one, _ in tasks}),
        len(new.tasks) - len({other for _, other in tasks}),
    )


_MOST_TOP = 10


@dataclass(frozen=True, eq=False)
class TaskTransfer:
    """One workload on two machines."""

    old: Task
    new: Task
    pairs: SchedulePairs
    old_only: int
    new_only: int
    old_best: float
    new_best: float

    @cached_property
    def correlation(self) -> RankCorrelation:
        """Rank correlation of the costs of the schedules that are valid on both machines."""
        valid = self.pairs.valid
        return spearman(self.pairs.old_cost[valid], self.pairs.new_cost[valid])

    @cached_property
    def fastest(self) -> int | None:
        """Index of the fastest pair on the old machine; None if none was valid."""
        costs = self.pairs.old_cost
        return None if np.isnan(costs).all() else int(np.nanargmin(costs))

    @property
    def transferred(self) -> float:
        """Cost of that schedule on the new machine, seconds; NaN if it failed or there is none."""
        return math.nan if self.fastest is None else float(self.pairs.new_cost[self.fastest])

    @property
    def regret(self) -> float:
        """How much slower that is there than the new log's best, as a share; inf if it fails."""
        alone = len(self.pairs) + self.new_only < 2
        if alone or self.fastest is None or not self.new_best > 0:
            return math.nan
        return math.inf if math.isnan(self.transferred) else self.transferred / self.new_best - 1

    @property
    def ratio(self) -> float:
        """Median ratio of new to old cost; NaN without a usable valid pair."""
        valid = self.pairs.valid & (self.pairs.old_cost > 0)
        ratios = self.pairs.ratio[valid]
        return float(np.median(ratios)) if len(ratios) else math.nan

    @property
    def top(self) -> tuple[int, int] | None:
        """Number of common schedules among the k ≤ 10 fastest of both machines, and k."""
        valid = np.flatnonzero(self.pairs.valid)
        if len(valid) < LEAST_PAIRS:
            return None
        k = min(_MOST_TOP, len(valid) // 2)
        sides = (self.pairs.old_cost[valid], self.pairs.new_cost[valid])
        one, other = (set(np.argsort(side, kind="stable")[:k].tolist()) for side in sides)
        return len(one & other), k

    @property
    def failing(self) -> Counter[MeasureError]:
        """Number of schedules that ran on the old machine and fail on the new one, by error."""
        lost = (self.pairs.old_error == 0) & (self.pairs.new_error != 0)
        return Counter(map(MeasureError, self.pairs.new_error[lost].tolist()))

    @property
    def rescued(self) -> int:
        """Number of schedules that failed on the old machine and run on the new one."""
        return int(np.count_nonzero((self.pairs.old_error != 0) & (self.pairs.new_error == 0)))


LEAST_PAIRS = 4  # least number of pairs: the variance of the interval is 1 / (pairs - 3)
_NORMAL_975 = 1.959963984540054


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rank correlation."""

    pairs: int
    rho: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def is_known(self) -> bool:
        """Whether the correlation is known."""
        return not math.isnan(self.rho)

    def __str__(self) -> str:
        if self.is_known:
            return f"{self.rho:.2f} ({self.low:.2f} … {self.high:.2f})"
        few = self.pairs < LEAST_PAIRS
        return f"unknown: fewer than {LEAST_PAIRS} pairs" if few else "unknown: equal costs"


def ranks(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return ranks from 1; equal values get their mean rank (float64 [N])."""
    _, place, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: npt.NDArray[np.float64] = (2 * last - counts + 1) / 2
    return shared[place]


def spearman(a: npt.ArrayLike, b: npt.ArrayLike) -> RankCorrelation:
    """Return the rank correlation of two columns, its interval by Bonett and Wright (2000)."""
    one, other = ranks(a), ranks(b)
    if len(one) < LEAST_PAIRS or not np.ptp(one) or not np.ptp(other):
        return RankCorrelation(len(one))
    rho = float(np.clip(np.corrcoef(one, other)[0, 1].round(12), -1, 1))
    z, weight = _z_and_weight(rho, len(one))
    return _interval(len(one), rho, z, weight)


def pooled(correlations: Sequence[RankCorrelation]) -> RankCorrelation:
    """Return the common correlation of several groups: the mean of z by inverse variance."""
    known = [correlation for correlation in correlations if correlation.is_known]
    if not known:
        return RankCorrelation(sum(correlation.pairs for correlation in correlations))
    pairs = sum(correlation.pairs for correlation in known)
    if len(known) == 1:
        return known[0]
    transformed = [_z_and_weight(correlation.rho, correlation.pairs) for correlation in known]
    weight = math.fsum(w for _, w in transformed)
    z = math.fsum(z * w for z, w in transformed) / weight
    return _interval(pairs, math.tanh(z), z, weight)


def _z_and_weight(rho: float, pairs: int) -> tuple[float, float]:
    most = 1 - 12 / (pairs * (pairs**2 - 1))  # the value with two neighboring ranks exchanged
    near = min(max(rho, -most), most)
    return math.atanh(near), (pairs - 3) / (1 + near**2 / 2)


def _interval(pairs: int, rho: float, z: float, weight: float) -> RankCorrelation:
    half = _NORMAL_975 / math.sqrt(weight)
    low, high = math.tanh(z - half), math.tanh(z + half)
    return RankCorrelation(pairs, rho, min(low, rho), max(high, rho))
