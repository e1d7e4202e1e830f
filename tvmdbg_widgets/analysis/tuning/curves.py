"""How the best cost fell: per task and over all, as TVM's task scheduler counts it.

A trial's cost is the mean of its runs; failed trials take part in the count and never in the
minimum. The total is ``sum(weight * best)``, unknown while a task has no valid measurement
(``TaskScheduler._compute_score``, python/tvm/auto_scheduler/task_scheduler.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.records.tasks import TaskLike, task_meant
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.trials import Trials

if TYPE_CHECKING:
    import pandas as pd


Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def best_so_far(trials: Trials) -> Floats:
    """Return the lowest cost of each row's own task up to that row."""
    order, starts = _by_task(trials)
    lowest = trials.cost[order]
    for start, end in pairwise([*starts.tolist(), len(order)]):
        np.fmin.accumulate(lowest[start:end], out=lowest[start:end])
    found = np.empty_like(lowest)
    found[order] = lowest
    return found


def _by_task(trials: Trials) -> tuple[Rows, Rows]:
    """Return the rows sorted by task, each task's in log order, and where each task begins."""
    order = np.argsort(trials.task, kind="stable")
    of_task = trials.task[order]
    return order, np.flatnonzero(np.diff(of_task, prepend=-1))


def best_costs(trials: Trials, num_tasks: int) -> Floats:
    """Return the lowest cost of each task, seconds; NaN where no trial is valid (float64 [T])."""
    found = np.full(num_tasks, np.nan)
    np.fmin.at(found, trials.task, trials.cost)
    return found


def known_weights(weights: Sequence[float] | None, num_tasks: int) -> Floats:
    """Return one weight a task (float64 [T]); 1 for each where none are given."""
    if weights is None:
        return np.ones(num_tasks)
    given = np.array(weights, np.float64)
    if given.shape != (num_tasks,):
        raise ValueError(
            f"{counted(given.size, 'weight')} for {counted(num_tasks, 'task')}: give one a task, "
            "in the order of log.tasks"
        )
    if not np.isfinite(given).all():
        raise ValueError("weights must be finite numbers: how often the model calls each task")
    return given


def total(trials: Trials, num_tasks: int, weights: Sequence[float] | None = None) -> Floats:
    """Return the weighted sum of the best costs after each row."""
    weight = known_weights(weights, num_tasks)
    best = best_so_far(trials)
    order, starts = _by_task(trials)
    found = np.full(len(trials), np.nan)
    steps = order[_falls(best[order], starts)]
    of_step = trials.task[steps]
    begins = np.searchsorted(of_step, np.arange(num_tasks + 1))
    if not len(steps) or (np.diff(begins) == 0).any():
        return found
    known = steps[begins[:-1]].max()
    changes = np.sort(steps[steps >= known])
    sums = np.zeros(len(changes))
    for task, (begin, end) in enumerate(pairwise(begins.tolist())):
        own = steps[begin:end]
        with np.errstate(over="ignore"):
            sums += weight[task] * best[own[np.searchsorted(own, changes, "right") - 1]]
    found[known:] = sums[np.searchsorted(changes, np.arange(known, len(trials)), "right") - 1]
    return found


def _falls(values: Floats, starts: Rows) -> Rows:
    """Return where a curve becomes known or falls, for curves one after the other."""
    before = np.concatenate([[np.nan], values[:-1]])[: len(values)]
    before[starts] = np.nan
    return np.flatnonzero((values < before) | (np.isnan(before) & ~np.isnan(values)))


def weighted_sum(best: Floats, weights: Floats) -> float:
    """Return ``sum(weight * best)`` in the order of the tasks; NaN where one is unknown."""
    found = 0.0
    for weight, cost in zip(weights.tolist(), best.tolist(), strict=True):
        found += weight * cost
    return found if len(best) else math.nan


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve over trials and over time: of one task, or of the weighted total.

    Attributes
    ----------
    title : str
    rows : intp [M]
        Row of the log that each point belongs to, ascending.
    trial : int64 [M]
        How many trials of those shown there were by then, failed ones too: 1, 2, ….
    seconds : float64 [M]
        Tuning time since the first record of the log, without the gaps between sessions; NaN
        where the tuner writes no timestamps. Trials of a batch may share one value.
    timestamp : float64 [M]
        Unix time as recorded.
    best : float64 [M]
        Seconds; NaN while unknown.
    valid : int
        How many of the trials have a measurement.
    """

    title: str
    rows: Rows
    trial: npt.NDArray[np.int64]
    seconds: Floats
    timestamp: Floats
    best: Floats
    valid: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def last(self) -> float:
        """Where the curve ends, seconds; NaN where it is unknown to the end."""
        return float(self.best[-1]) if len(self) else math.nan

    @property
    def steps(self) -> Rows:
        """Points at which the value became known or fell (intp [K])."""
        return _falls(self.best, np.zeros(min(1, len(self)), np.intp))

    @property
    def reached(self) -> int | None:
        """How many trials it took to reach the last value; None where it is unknown."""
        return int(self.trial[self.steps[-1]]) if len(self.steps) else None

    @property
    def lost(self) -> float:
        """Share of the trials without a valid measurement; NaN for none.

        What the curve would have been with them is not in the log.
        """
        return 1 - self.valid / len(self) if len(self) else math.nan

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a point (needs pandas)."""
        names = ("rows", "trial", "seconds", "timestamp", "best")
        frame: pd.DataFrame = data_frame({name: getattr(self, name) for name in names})
        return frame.rename(columns={"rows": "row"})

    def __repr__(self) -> str:
        end = "unknown" if self.reached is None else duration_text(self.last * 1e9)
        reached = (
            "" if self.reached is None else f", reached after {counted(self.reached, 'trial')}"
        )
        lost = f"; {percent(self.lost)} of the trials have no measurement" if len(self) else ""
        return (
            f"Curve of {one_line(self.title)}: {counted(len(self), 'trial')}, {end}{reached}{lost}"
        )


def task_curve(parts: TuningParts, task: TaskLike) -> Curve:
    """Return the curve of one task over its own trials."""
    found = task_meant(parts, task)
    rows = parts.trials.of_task(found.index)
    return _curve(found.name, parts.trials, rows, best_so_far(parts.trials)[rows])


def total_curve(parts: TuningParts, weights: Sequence[float] | None = None) -> Curve:
    """Return the curve of the weighted total over all trials."""
    title = "the sum over tasks" if weights is None else "the weighted sum over tasks"
    rows = np.arange(len(parts.trials))
    return _curve(title, parts.trials, rows, total(parts.trials, len(parts.tasks), weights))


def _curve(title: str, trials: Trials, rows: Rows, best: Floats) -> Curve:
    return Curve(
        title,
        rows,
        np.arange(1, len(rows) + 1),
        elapsed(trials)[rows],
        trials.timestamp[rows],
        best,
        int(np.count_nonzero(~trials.failed[rows])),
    )
