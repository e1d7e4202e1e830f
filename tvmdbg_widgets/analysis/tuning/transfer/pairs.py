"""Schedules that two logs have in common, by workload and steps; the target may differ."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.tuning.records.identity import identity
from tvmdbg_widgets.formats.tuning.json_line import decode
from tvmdbg_widgets.formats.tuning.record import read_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tvmdbg_widgets.model.tuning.parts import TuningParts

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SchedulePairs:
    """P schedules that both logs measured, by task.

    Attributes
    ----------
    old_task, new_task : int64 [P]
        Index of the task in each log.
    old_row, new_row : int64 [P]
        The first trial of the schedule.
    old_count, new_count : int64 [P]
        How often it was measured.
    old_cost, new_cost : float64 [P]
        Mean over its valid trials of their mean costs, seconds; NaN where each failed.
    old_error, new_error : int64 [P]
        0 where a trial is valid, else the error of the last one.
    """

    old_task: Ints
    new_task: Ints
    old_row: Ints
    new_row: Ints
    old_count: Ints
    new_count: Ints
    old_cost: Floats
    new_cost: Floats
    old_error: Ints
    new_error: Ints

    def __len__(self) -> int:
        return len(self.old_task)

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        """Whether both logs have a cost (bool [P])."""
        return np.asarray((self.old_error == 0) & (self.new_error == 0))

    def take(self, rows: npt.ArrayLike) -> SchedulePairs:
        """Return some of the pairs."""
        at = np.asarray(rows)
        return SchedulePairs(*(getattr(self, each.name)[at] for each in fields(self)))


@dataclass(frozen=True)
class Measured:
    """All trials of one schedule in one log."""

    row: int
    count: int
    cost: float
    error: int


_MEASURED = (("row", np.int64), ("count", np.int64), ("cost", np.float64), ("error", np.int64))


class Matched(NamedTuple):
    """Pairs, and how many different schedules each of the tasks has in either log."""

    pairs: SchedulePairs
    old: dict[int, int]
    new: dict[int, int]


def common_tasks(old: TuningParts, new: TuningParts) -> list[tuple[int, int]]:
    """Return the pairs of tasks of the same workload, whatever their targets."""
    known: Mapping[Any, list[int]] = defaultdict(list)
    for task in new.tasks:
        known[task.tuner, identity(task.workload, task.tuner)].append(task.index)
    return [
        (task.index, other)
        for task in old.tasks
        for other in known[task.tuner, identity(task.workload, task.tuner)]
    ]


def matched(
    old: TuningParts, new: TuningParts, tasks: Iterable[tuple[int, int]], *, progress: bool = True
) -> Matched:
    """Pair the schedules of pairs of tasks: the same steps are the same schedule."""
    pairs = list(tasks)
    before = schedules(old, {one for one, _ in pairs}, "old log", progress=progress)
    after = schedules(new, {other for _, other in pairs}, "new log", progress=progress)
    rows = [
        (one, other, found, there[key])
        for one, other in pairs
        for there in [after[other]]
        for key, found in before[one].items()
        if key in there
    ]
    columns: list[Any] = [np.array([each[side] for each in rows], np.int64) for side in (0, 1)]
    columns += [
        np.array([getattr(each[side], name) for each in rows], kind)
        for name, kind in _MEASURED
        for side in (2, 3)
    ]
    counts = [{task: len(of) for task, of in side.items()} for side in (before, after)]
    return Matched(SchedulePairs(*columns), *counts)


def schedules(
    parts: TuningParts, tasks: set[int], name: str, *, progress: bool = True
) -> dict[int, dict[bytes, Measured]]:
    """Return the schedules of some tasks, by task and by the JSON of their steps."""
    trials = parts.trials
    rows = np.flatnonzero(np.isin(trials.task, list(tasks)))
    # Trials of one log with the same digest are of one schedule: one line is read for all.
    _, first, group = np.unique(trials.schedule[rows], return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    members = np.split(rows[order], np.cumsum(np.bincount(group))[:-1]) if len(rows) else []
    found: dict[int, dict[bytes, list[int]]] = {task: {} for task in tasks}
    look = {"desc": f"matching, {name}", "unit": " schedules", "delay": 1, "leave": False}
    for of in tqdm([members[place] for place in np.argsort(first)], disable=not progress, **look):
        known = found[int(trials.task[of[0]])]
        known.setdefault(_key(parts, int(of[0])), []).extend(of.tolist())
    return {
        task: {key: _measured(parts, sorted(of)) for key, of in known.items()}
        for task, known in found.items()
    }


def _key(parts: TuningParts, row: int) -> bytes:
    """Return the steps of a record, or what other tuners call a schedule, as JSON."""
    tuner = parts.tasks[parts.trials.task[row]].tuner
    document = decode(read_line(parts, row))
    if tuner == "ansor":
        return msgspec.json.encode(document["i"][1][1])
    if tuner == "metaschedule":
        return msgspec.json.encode(document[1][0])
    return msgspec.json.encode(document["config"] if "config" in document else document["i"][5])


def _measured(parts: TuningParts, rows: list[int]) -> Measured:
    trials = parts.trials
    costs = trials.cost[rows]
    valid = costs[~trials.failed[rows]]
    cost = float(valid.mean()) if len(valid) else np.nan
    error = 0 if len(valid) else int(trials.error[rows[-1]])
    return Measured(rows[0], len(rows), cost, error)
