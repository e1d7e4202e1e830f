"""How often a network calls each task: what the log does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.tuning.curves import known_weights
from tvmdbg_widgets.analysis.tuning.records.tasks import task_meant
from tvmdbg_widgets.model.base.choice import perhaps
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.task import Task

Weights: TypeAlias = Sequence[float] | Mapping[str | int, float]


def weights_of(parts: TuningParts, given: Weights) -> tuple[float, ...]:
    """Return the weight of each task."""
    try:
        found = list(_by_name(parts, given) if isinstance(given, Mapping) else given)
        numbers = np.array(found, np.float64)
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
    """Return the weights of the tasks of another log, in which a new task counts once."""
    if weights is None:
        return None
    known = {
        (task.workload_key, task.target.text): weight
        for task, weight in zip(tasks, weights, strict=True)
    }
    return tuple(known.get((task.workload_key, task.target.text), 1.0) for task in now)


def _by_name(parts: TuningParts, given: Mapping[str | int, float]) -> list[float]:
    found = [1.0] * len(parts.tasks)
    for name, weight in given.items():
        if isinstance(name, str):
            found_tasks = [task for task in parts.tasks if task.workload_key == name]
            if not found_tasks:
                near = perhaps(name, (task.workload_key for task in parts.tasks))
                raise KeyError(f"weights: no task of the log has the key {one_line(name)!r}{near}")
        else:
            found_tasks = [task_meant(parts, name)]
        for task in found_tasks:
            found[task.index] = weight
    return found
