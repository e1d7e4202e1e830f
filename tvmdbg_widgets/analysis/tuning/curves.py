"""Curves of best cost, gains still expected, weights of tasks, and scheduler rounds.

A trial's cost is the mean of its runs; failed trials are counted but never the minimum. The total
is ``sum(weight * best)``, unknown while a task has no valid measurement
(``TaskScheduler._compute_score``, python/tvm/auto_scheduler/task_scheduler.py).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.sessions import elapsed, session_of
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.short_tracebacks import perhaps
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.tuning.measure_errors import ANSOR_FAILED_COST
from tvmdbg_widgets.model.tuning.parts import Task, TuningParts
from tvmdbg_widgets.model.tuning.trials import Trials

if TYPE_CHECKING:
    import pandas as pd


Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


def best_so_far(trials: Trials) -> Floats:
    """Return the lowest cost so far in a row's task, by row."""
    order, ends = trials.by_task
    lowest = trials.cost[order]
    for start, end in pairwise(ends.tolist()):
        np.fmin.accumulate(lowest[start:end], out=lowest[start:end])
    best = np.empty_like(lowest)
    best[order] = lowest
    return best


def best_costs(trials: Trials, num_tasks: int) -> Floats:
    """Return the lowest cost per task, seconds; NaN without a valid trial (float64 [T])."""
    best = np.full(num_tasks, np.nan)
    np.fmin.at(best, trials.task, trials.cost)
    return best


def known_weights(weights: Sequence[float] | None, num_tasks: int) -> Floats:
    """Return one weight per task (float64 [T]), 1 by default."""
    if weights is None:
        return np.ones(num_tasks)
    given = np.array(weights, np.float64)
    if given.shape != (num_tasks,):
        raise ValueError(
            f"{counted(given.size, 'weight')} for {counted(num_tasks, 'task')}: give one per task, "
            "in the order of log.tasks"
        )
    if not np.isfinite(given).all():
        raise ValueError("weights must be finite numbers: how often the model calls each task")
    return given


def total(trials: Trials, num_tasks: int, weights: Sequence[float] | None = None) -> Floats:
    """Return the weighted sum of the best costs so far, by row."""
    weight = known_weights(weights, num_tasks)
    best, steps = best_so_far(trials), improvements(trials)
    totals = np.full(len(trials), np.nan)
    of_step = trials.task[steps]
    begins = np.searchsorted(of_step, np.arange(num_tasks + 1))
    if not len(steps) or (np.diff(begins) == 0).any():
        return totals
    known = steps[begins[:-1]].max()
    changes = np.sort(steps[steps >= known])
    sums = np.zeros(len(changes))
    for task, (begin, end) in enumerate(pairwise(begins.tolist())):
        own = steps[begin:end]
        with np.errstate(over="ignore"):
            sums += weight[task] * best[own[np.searchsorted(own, changes, "right") - 1]]
    totals[known:] = sums[np.searchsorted(changes, np.arange(known, len(trials)), "right") - 1]
    return totals


def improvements(trials: Trials) -> Rows:
    """Return the rows whose trials were their task's fastest so far, by task."""
    order, ends = trials.by_task
    return order[_improvements(best_so_far(trials)[order], ends[:-1])]


def _improvements(values: Floats, starts: Rows) -> Rows:
    before = np.concatenate([[np.nan], values])
    before[starts] = np.nan
    before = before[: len(values)]
    return np.flatnonzero((values < before) | (np.isnan(before) & ~np.isnan(values)))


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve over trials and time, of one task or of the weighted total.

    Attributes
    ----------
    title : str
    rows : intp [M]
        Rows of the log by point, ascending.
    trial : int64 [M]
        How many trials of those shown there were by then, failed ones too: 1, 2, ….
    seconds : float64 [M]
        Tuning time without gaps between sessions; NaN without timestamps.
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
        """The final value, seconds; NaN where it stays unknown."""
        return float(self.best[-1]) if len(self) else math.nan

    @property
    def steps(self) -> Rows:
        """Points at which the value became known or fell (intp [K])."""
        return _improvements(self.best, np.zeros(1, np.intp))

    @property
    def reached(self) -> int | None:
        """Number of trials until the final value was reached; None where it is unknown."""
        return int(self.trial[self.steps[-1]]) if len(self.steps) else None

    @property
    def lost(self) -> float:
        """Share of trials without a valid measurement; NaN for none."""
        return 1 - self.valid / len(self) if len(self) else math.nan

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per point (needs pandas)."""
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


def curve(
    parts: TuningParts, task: TaskLike | None = None, weights: Sequence[float] | None = None
) -> Curve:
    """Return the curve of a task over its own trials, or of the weighted total over all."""
    trials, rows = parts.trials, np.arange(len(parts.trials))
    if task is not None:
        chosen = task_meant(parts, task)
        title, rows = chosen.name, trials.of_task(chosen.index)
        best = best_so_far(trials)[rows]
    else:
        title = "the sum over tasks" if weights is None else "the weighted sum over tasks"
        best = total(trials, len(parts.tasks), weights)
    return Curve(
        title,
        rows,
        np.arange(1, len(rows) + 1),
        elapsed(trials)[rows],
        trials.timestamp[rows],
        best,
        int(np.count_nonzero(~trials.failed[rows])),
    )


_ALPHA = 0.2
_WINDOW = 3


@dataclass(frozen=True, eq=False)
class Gains:
    """Estimated gains of T tasks.

    Attributes
    ----------
    gradient : float64 [T]
        Seconds of the weighted total by the next round; 1e10 s stand for no valid trial, as in TVM.
    gain : float64 [T]
        The same as a positive number; NaN where 1e10 s take part, which are no time.
    rounds : int64 [T]
        Rounds so far.
    order : intp [T]
        The tasks as the scheduler would choose them; equal ones in their own order.
    """

    gradient: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]
    rounds: npt.NDArray[np.int64]
    order: npt.NDArray[np.intp]


def gains(trials: Trials, num_tasks: int, weights: Sequence[float] | None = None) -> Gains:
    """Estimate the tasks' further gains."""
    weight = known_weights(weights, num_tasks)
    starts = np.flatnonzero(np.diff(round_of(trials), prepend=-1))
    ends = np.append(starts[1:], len(trials)) - 1 if len(starts) else starts
    costs = np.nan_to_num(best_so_far(trials)[ends], nan=ANSOR_FAILED_COST)
    of_round = trials.task[ends]
    order = np.argsort(of_round, kind="stable")
    history = costs[order]
    count = np.bincount(of_round, minlength=num_tasks)
    last = np.cumsum(count) - 1
    gradient = np.zeros(num_tasks)
    slowed = np.zeros(num_tasks, bool)
    for task in np.flatnonzero(count):
        own = history[last[task] + 1 - count[task] : last[task] + 1]
        best, rounds = float(own[-1]), len(own)
        backward = (best - float(own[-1 - _WINDOW])) / _WINDOW if rounds > _WINDOW else 0.0
        forward = (best - best / rounds) - best
        gradient[task] = float(weight[task]) * (_ALPHA * backward + (1 - _ALPHA) * forward)
        looked_at = own[-1 - _WINDOW :: _WINDOW] if rounds > _WINDOW else own[-1:]
        slowed[task] = (looked_at == ANSOR_FAILED_COST).any()
    gain = np.where(slowed, np.nan, -gradient)
    return Gains(gradient, gain, count, np.argsort(gradient, kind="stable"))


Weights: TypeAlias = Sequence[float] | Mapping[str | int, float]


def weights_of(parts: TuningParts, given: Weights) -> tuple[float, ...]:
    """Return the weights of the tasks."""
    try:
        known = list(_by_name(parts, given) if isinstance(given, Mapping) else given)
        is_text = any(isinstance(weight, str | bytes) for weight in (given, *known))
        numbers = np.empty((0, 0)) if is_text else np.array(known, np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1:
        raise ValueError("weights must be numbers: how often the network calls each task")
    weights: list[float] = known_weights(numbers.tolist(), len(parts.tasks)).tolist()
    if min(weights, default=0) < 0:
        raise ValueError(f"a task cannot be called {min(weights):g} times: weights are 0 or more")
    return tuple(weights)


def kept_weights(
    tasks: Iterable[Task], weights: Iterable[float] | None, now: Iterable[Task]
) -> tuple[float, ...] | None:
    """Return weights for the tasks of another log; new tasks weigh 1."""
    if weights is None:
        return None
    known = {
        (task.workload_key, task.target.text): weight
        for task, weight in zip(tasks, weights, strict=True)
    }
    return tuple(known.get((task.workload_key, task.target.text), 1.0) for task in now)


def _by_name(parts: TuningParts, given: Mapping[str | int, float]) -> list[float]:
    weights = [1.0] * len(parts.tasks)
    for name, weight in given.items():
        if isinstance(name, str):
            found_tasks = [task for task in parts.tasks if task.workload_key == name]
            if not found_tasks:
                near = perhaps(name, (task.workload_key for task in parts.tasks))
                raise KeyError(f"weights: no task of the log has the key {one_line(name)!r}{near}")
        else:
            found_tasks = [task_meant(parts, name)]
        for task in found_tasks:
            weights[task.index] = weight
    return weights


ROUND = 64  # ``TuningOptions(num_measures_per_round=64)``
_SEEN = 3


def round_of(trials: Trials) -> npt.NDArray[np.int32]:
    """Return the rounds of rows, from 0 (int32 [N])."""
    keys = (trials.task, trials.source, session_of(trials))
    begins = np.zeros(len(trials), bool)
    for key in keys:
        begins |= np.diff(key, prepend=-1) != 0
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(trials))
    within = np.arange(len(trials)) - np.repeat(starts, lengths)
    full = within % _round_size(lengths) == 0
    return np.asarray(np.cumsum(full) - 1, np.int32)


def _round_size(blocks: npt.NDArray[np.intp]) -> int:
    lengths, counts = np.unique(blocks, return_counts=True)
    if not len(lengths):
        return ROUND
    most = int(np.argmax(counts))
    seen = int(counts[most])
    believed = seen >= _SEEN and 2 * seen >= len(blocks)
    return min(ROUND, int(lengths[most])) if believed else ROUND


TaskLike: TypeAlias = SupportsIndex | Task | str

_SHOWN = 6


def task_meant(parts: TuningParts, task: TaskLike) -> Task:
    """Return the task for an index, a name or a task."""
    if isinstance(task, str):
        tasks = tasks_named(parts, task)
        if len(tasks) > 1:
            targets = "; ".join(f"{task.index} on {task.target.text}" for task in tasks[:_SHOWN])
            raise KeyError(
                f"{counted(len(tasks), 'task')} are called {one_line(task)!r}: give the index of "
                f"one: {one_line(targets)}"
            )
        if tasks:
            return tasks[0]
        close = perhaps(task, (one_line(task.name) for task in parts.tasks))
        raise KeyError(f"no task is called {one_line(task)!r}{close}; the log has {_all_of(parts)}")
    if isinstance(task, Task):
        for other in parts.tasks:
            if (other.workload_key, other.target.text) == (task.workload_key, task.target.text):
                return other
        raise KeyError(f"{task!r} is not of this log, which has {_all_of(parts)}")
    try:
        index = operator.index(task)
    except TypeError:
        name = type(task).__name__
        raise TypeError(f"a task is an index, a Task or a workload key, not {name}") from None
    if not -len(parts.tasks) <= index < len(parts.tasks):
        raise IndexError(f"there is no task {index}; the log has {_all_of(parts)}")
    return parts.tasks[index]


def tasks_named(parts: TuningParts, text: str) -> list[Task]:
    """Return tasks by workload key, else by function name or hash."""
    by_key = [task for task in parts.tasks if task.workload_key == text]
    return by_key or [task for task in parts.tasks if text in (task.workload.name, task.name)]


def _all_of(parts: TuningParts) -> str:
    if not parts.tasks:
        return "no tasks"
    names = ", ".join(f"{task.index} ({one_line(task.name)})" for task in parts.tasks[:_SHOWN])
    more = f" and {len(parts.tasks) - _SHOWN:,} more" if len(parts.tasks) > _SHOWN else ""
    return f"{counted(len(parts.tasks), 'task')}: {names}{more}"
