"""Schedules that two logs have in common, by workload and steps; the target may differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.records.identity import identity
from tvmdbg_widgets.analysis.tuning.transfer.schedules import measured
from tvmdbg_widgets.model.tuning.parts import TuningParts

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

    def take(self, rows: slice | npt.NDArray[np.intp]) -> SchedulePairs:
        """Return some of the pairs."""
        return SchedulePairs(*(getattr(self, each.name)[rows] for each in fields(self)))


class MatchedSchedules(NamedTuple):
    """Pairs of schedules, in the order of the pairs of tasks."""

    pairs: SchedulePairs
    offsets: Ints
    old: Ints
    new: Ints


def common_tasks(old: TuningParts, new: TuningParts) -> list[tuple[int, int]]:
    """Return the pairs of tasks of the same workload, whatever their targets."""
    known: Mapping[Any, list[int]] = defaultdict(list)
    for task in new.tasks:
        known[task.tuner, identity(task.workload, task.tuner)].append(task.index)
    there = [known.get((each.tuner, identity(each.workload, each.tuner)), []) for each in old.tasks]
    if sum(map(len, there)) > _MOST_TASKS:
        raise ValueError(
            "both logs have one workload for very many targets: compare some of their records"
        )
    return [(one, other) for one, others in enumerate(there) for other in others]


def matched(
    old: TuningParts, new: TuningParts, tasks: Sequence[tuple[int, int]], *, progress: bool = True
) -> MatchedSchedules:
    """Pair the schedules of pairs of tasks: the same steps are the same schedule."""
    before = measured(old, {one for one, _ in tasks}, "old log", progress=progress)
    after = measured(new, {other for _, other in tasks}, "new log", progress=progress)
    places: list[tuple[int, int]] = []
    sizes = [0]
    for one, other in tasks:
        there = after.places[other]
        places += [(place, there[key]) for key, place in before.places[one].items() if key in there]
        sizes.append(len(places))
    at = np.array(places, np.intp).reshape(-1, 2).T
    columns = [
        getattr(side, name)[where]
        for name in ("task", "row", "count", "cost", "error")
        for side, where in zip((before, after), at, strict=True)
    ]
    return MatchedSchedules(
        SchedulePairs(*columns),
        np.array(sizes, np.int64),
        np.bincount(before.task, minlength=len(old.tasks)),
        np.bincount(after.task, minlength=len(new.tasks)),
    )
