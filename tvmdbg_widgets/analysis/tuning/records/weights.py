"""How often a model calls each task: what the log does not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.curves import known_weights
from tvmdbg_widgets.analysis.tuning.records.tasks import task_meant
from tvmdbg_widgets.model.numbers import counted
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.task import Task


def weights_of(
    parts: TuningParts, given: Mapping[str | int | Task, float] | Sequence[float]
) -> tuple[float, ...]:
    """Return the weight of each task.

    Parameters
    ----------
    parts : TuningParts
    given : sequence or mapping
        One number a task, in the order of ``log.tasks``; or numbers by workload key (of tasks of
        any target; keys that the log does not have are left out), index or task.

    Raises
    ------
    ValueError
        There are more or fewer weights than tasks, or one is no finite number.
    KeyError
        A task has none, or an index or name is of no task.
    """
    if isinstance(given, Mapping):
        by_task: dict[int, float] = {}
        for key, weight in given.items():
            if not isinstance(key, str):
                by_task[task_meant(parts, key).index] = weight
        for task in parts.tasks:
            if task.workload_key in given:
                by_task.setdefault(task.index, given[task.workload_key])
        lacking = [task for task in parts.tasks if task.index not in by_task]
        if lacking:
            raise KeyError(
                f"{counted(len(lacking), 'task')} have no weight, the first is {lacking[0].index} "
                f"({one_line(lacking[0].name)}): give each one; 0 leaves it out of the total"
            )
        weights = [by_task[task.index] for task in parts.tasks]
    else:
        weights = list(given)
    return tuple(known_weights(weights, len(parts.tasks)).tolist())
