"""The best records of each workload, as TVM's own tools keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.records.choose import ranked
from tvmdbg_widgets.analysis.tuning.records.identity import identity, target_keys
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.task import Task


def distilled(parts: TuningParts, k: int = 1) -> npt.NDArray[np.int64]:
    """Return the rows of the `k` best schedules of each workload and target key.

    For Ansor and ``k=1`` these are the records of ``distill_record_file``
    (auto_scheduler/measure_record.py), in its order: by target key, then by workload, both by
    the first valid record that has them. A record that is the best of several keys is kept once.
    MetaSchedule's database knows no target keys: there it is the workload alone. A schedule that
    was measured several times counts once, by its lowest mean.
    """
    if k < 1:
        raise ValueError(f"k is how many records to keep of each workload: 1 or more, not {k}")
    rows, tasks = ranked(parts.trials)
    starts = np.searchsorted(tasks, np.arange(len(parts.tasks) + 1))
    best = {
        task.index: _first_of_each(rows[starts[task.index] : starts[task.index + 1]], parts, k)
        for task in parts.tasks
    }
    first = {
        index: int(rows[starts[index] : starts[index + 1]].min())
        for index, own in best.items()
        if own
    }
    kept: dict[int, None] = {}
    for members in _groups([parts.tasks[index] for index in sorted(first, key=first.__getitem__)]):
        rivals = sorted(
            (float(parts.trials.cost[row]), row) for index in members for row in best[index]
        )
        kept.update(dict.fromkeys(row for _, row in rivals[:k]))
    return np.array(list(kept), np.int64)


def _first_of_each(rows: npt.NDArray[np.int64], parts: TuningParts, k: int) -> list[int]:
    """Return the first `k` rows of different schedules."""
    _, at = np.unique(parts.trials.schedule[rows], return_index=True)
    found: list[int] = rows[np.sort(at)[:k]].tolist()
    return found


def _groups(tasks: Iterable[Task]) -> Iterator[list[int]]:
    """Yield the tasks that stand for each key and workload, in the order of TVM's nested maps."""
    found: dict[str, dict[str, dict[object, list[int]]]] = {}
    for task in tasks:
        name, args = identity(task.workload, task.tuner)
        for key in _keys(task):
            of_name = found.setdefault(key, {}).setdefault(f"{task.tuner} {name}", {})
            of_name.setdefault(args, []).append(task.index)
    for of_key in found.values():
        for of_name in of_key.values():
            yield from of_name.values()


def _keys(task: Task) -> tuple[str, ...]:
    if task.tuner == "metaschedule":
        return ("",)
    return target_keys(task.target) or (task.target.text,)
