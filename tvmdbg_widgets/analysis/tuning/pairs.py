"""Schedules common to two logs, by workload and steps, whatever the target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.tuning.identity import identity, target_keys
from tvmdbg_widgets.analysis.tuning.trial_queries import ranked
from tvmdbg_widgets.formats.tuning.record import read_schedule
from tvmdbg_widgets.model.tuning.parts import Task, TuningParts

_MOST_TASKS = 100_000
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SchedulePairs:
    """P schedules that both logs measured, by task."""

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

    @property
    def ratio(self) -> Floats:
        """New over old cost; NaN where either failed (float64 [P])."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return self.new_cost / self.old_cost

    def take(self, rows: slice | npt.NDArray[np.intp]) -> SchedulePairs:
        """Return some of the pairs."""
        return SchedulePairs(*(getattr(self, field.name)[rows] for field in fields(self)))


def common_tasks(old: TuningParts, new: TuningParts) -> list[tuple[int, int]]:
    """Return the pairs of tasks of the same workload, whatever their targets."""
    known: Mapping[Any, list[int]] = defaultdict(list)
    for task in new.tasks:
        known[task.tuner, identity(task.workload, task.tuner)].append(task.index)
    there = [known.get((task.tuner, identity(task.workload, task.tuner)), []) for task in old.tasks]
    if sum(map(len, there)) > _MOST_TASKS:
        raise ValueError(
            "both logs have one workload for very many targets: compare some of their records"
        )
    return [(one, other) for one, others in enumerate(there) for other in others]


def matched(
    old: TuningParts, new: TuningParts, tasks: Sequence[tuple[int, int]], *, progress: bool = True
) -> tuple[SchedulePairs, Ints, Ints, Ints]:
    """Pair the schedules of paired tasks by equal steps; return their offsets and sums, too."""
    before, of_old = measured(old, {one for one, _ in tasks}, "old log", progress=progress)
    after, of_new = measured(new, {other for _, other in tasks}, "new log", progress=progress)
    places: list[tuple[int, int]] = []
    sizes = [0]
    for one, other in tasks:
        there = after[other]
        places += [(place, there[key]) for key, place in before[one].items() if key in there]
        sizes.append(len(places))
    at = np.array(places, np.intp).reshape(-1, 2).T
    columns = [
        column[where]
        for sides in zip(of_old, of_new, strict=True)
        for column, where in zip(sides, at, strict=True)
    ]
    return (
        SchedulePairs(*columns),
        np.array(sizes, np.int64),
        np.bincount(of_old[0], minlength=len(old.tasks)),
        np.bincount(of_new[0], minlength=len(new.tasks)),
    )


def distilled(parts: TuningParts, k: int = 1) -> npt.NDArray[np.int64]:
    """Return the rows of the `k` best schedules per workload and target key."""
    if k < 1:
        raise ValueError(f"k is how many records to keep of each workload: 1 or more, not {k}")
    rows, tasks = ranked(parts.trials)
    of_task = np.split(rows, np.searchsorted(tasks, np.arange(1, len(parts.tasks))))
    best = [_best_schedules(own, parts, k) for own in of_task]
    measured_tasks = [task for task in parts.tasks if best[task.index]]
    measured_tasks.sort(key=lambda task: int(of_task[task.index].min()))
    kept: dict[int, None] = {}
    for members in _tasks_by_group(measured_tasks):
        rivals = sorted(
            (float(parts.trials.cost[row]), row) for index in members for row in best[index]
        )
        kept.update(dict.fromkeys(row for _, row in rivals[:k]))
    return np.array(list(kept), np.int64)


def _best_schedules(rows: npt.NDArray[np.int64], parts: TuningParts, k: int) -> list[int]:
    _, at = np.unique(parts.trials.schedule[rows], return_index=True)
    best: list[int] = rows[np.sort(at)[:k]].tolist()
    return best


def _tasks_by_group(tasks: Iterable[Task]) -> Iterator[list[int]]:
    groups: dict[str, dict[str, dict[object, list[int]]]] = {}
    for task in tasks:
        name, args = identity(task.workload, task.tuner)
        for key in _keys(task):
            of_name = groups.setdefault(key, {}).setdefault(f"{task.tuner} {name}", {})
            of_name.setdefault(args, []).append(task.index)
    for of_key in groups.values():
        for of_name in of_key.values():
            yield from of_name.values()


def _keys(task: Task) -> tuple[str, ...]:
    if task.tuner == "metaschedule":
        return ("",)
    return target_keys(task.target) or (task.target.text,)


def subset(parts: TuningParts, rows: npt.ArrayLike, title: str) -> TuningParts:
    """Return some records with their tasks, numbered anew by first appearance."""
    at = np.asarray(rows, np.intp)
    trials = parts.trials.take(at)
    kept_tasks, first = np.unique(trials.task, return_index=True)
    order = kept_tasks[np.argsort(first)]
    number = np.zeros(len(parts.tasks), np.int32)
    number[order] = np.arange(len(order))
    tasks = tuple(replace(parts.tasks[old], index=new) for new, old in enumerate(order.tolist()))
    place = np.full(len(parts.trials), -1)
    place[at] = np.arange(len(at))
    return replace(
        parts,
        title=title,
        tasks=tasks,
        trials=replace(trials, task=number[trials.task]),
        messages=tuple(
            replace(message, row=int(place[message.row]))
            for message in parts.messages
            if message.row >= 0 and place[message.row] >= 0
        ),
    )


def measured(
    parts: TuningParts, tasks: set[int], name: str, *, progress: bool = True
) -> tuple[dict[int, dict[bytes, int]], tuple[npt.NDArray[Any], ...]]:
    """Return the schedules of some tasks by digest: task, first row, trials, cost and error."""
    trials = parts.trials
    rows = np.flatnonzero(np.isin(trials.task, list(tasks)))
    # Equal digests within a log are one schedule: only one line of them is read.
    _, first, group = np.unique(trials.schedule[rows], return_index=True, return_inverse=True)
    places: dict[int, dict[bytes, int]] = {task: {} for task in tasks}
    place_of = np.zeros(len(first), np.int64)
    rows_of: list[int] = []
    look = {"desc": f"matching, {name}", "unit": " schedules", "delay": 1, "leave": False}
    for at in tqdm(np.argsort(first).tolist(), disable=not progress, **look):
        row = int(rows[first[at]])
        known = places[int(trials.task[row])]
        place_of[at] = known.setdefault(_digest(parts, row), len(rows_of))
        if place_of[at] == len(rows_of):
            rows_of.append(row)
    place, size = place_of[group], len(rows_of)
    valid = ~trials.failed[rows]
    count = np.bincount(place[valid], minlength=size)
    cost = np.bincount(place[valid], trials.cost[rows[valid]], minlength=size)
    error = np.zeros(size, np.int64)
    error[place] = trials.error[rows]  # of equal indices the last one wins
    error[count > 0] = 0
    with np.errstate(invalid="ignore"):
        mean = cost / count
    row_of = np.array(rows_of, np.int64)
    all_of = np.bincount(place, minlength=size)
    return places, (trials.task[row_of].astype(np.int64), row_of, all_of, mean, error)


def _digest(parts: TuningParts, row: int) -> bytes:
    raw = read_schedule(parts, row).translate(None, b" \t\r\n")
    return blake2b(raw, digest_size=16).digest()
