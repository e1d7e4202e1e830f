"""What ``ApplyHistoryBest`` holds of a log: the best record by model, and by target key."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tvmdbg_widgets.analysis.tuning.records.choose import best_rows
from tvmdbg_widgets.analysis.tuning.records.identity import (
    Identity,
    distance,
    identity,
    target_keys,
)
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.task import Task


@dataclass(frozen=True)
class Hit:
    """What one lookup finds."""

    row: int
    of: str
    tasks: tuple[int, ...]
    factor: float = 1.0


class TrialLookup:
    """The valid trials of one tuner's tasks, as ``ApplyHistoryBest`` keeps them (dispatcher.py)."""

    def __init__(self, parts: TuningParts, tuner: str) -> None:
        trials = parts.trials
        best = best_rows(trials, len(parts.tasks)).tolist()
        first = np.full(len(parts.tasks), len(trials))
        valid = np.flatnonzero(~trials.failed)
        np.minimum.at(first, trials.task[valid], valid)
        self._first = first.tolist()
        self._best = best
        self._costs = trials.cost
        self._tasks = [
            (task, identity(task.workload, task.tuner))
            for task in parts.tasks
            if task.tuner == tuner and best[task.index] >= 0
        ]

    def hits(
        self, target: Target, wanted: Identity, *, include_compatible: bool = False
    ) -> Iterator[Hit]:
        """Yield what each lookup finds, in the order of TVM's lookups: it applies the first."""
        held: dict[str, list[tuple[Task, Identity]]] = {}
        if target.model:
            held[f"model {target.model}"] = [
                each for each in self._tasks if each[0].target.model == target.model
            ]
        for key in target_keys(target) or ():
            held[f"key {key}"] = [
                each for each in self._tasks if key in (target_keys(each[0].target) or ())
            ]
        for of, tasks in held.items():
            hit = self._same(of, tasks, wanted)
            if hit is None and include_compatible:
                hit = self._compatible(of, tasks, wanted)
            if hit is not None:
                yield hit

    def anywhere(self, wanted: Identity, kind: str | None = None) -> Hit | None:
        """Return what ``load_best_record`` takes: it asks at most for the target's kind."""
        tasks = [each for each in self._tasks if kind in (None, each[0].target.kind)]
        return self._same("the workload", tasks, wanted)

    def _same(self, of: str, tasks: list[tuple[Task, Identity]], wanted: Identity) -> Hit | None:
        same = tuple(task.index for task, found in tasks if found == wanted)
        if not same:
            return None
        rows = [self._best[index] for index in same]
        return Hit(min(rows, key=lambda row: (float(self._costs[row]), row)), of, same)

    def _compatible(
        self, of: str, tasks: list[tuple[Task, Identity]], wanted: Identity
    ) -> Hit | None:
        factors = [(distance(wanted, found), task.index) for task, found in tasks]
        scaled = [
            (float(self._costs[self._best[index]]) * factor, self._first[index], index, factor)
            for factor, index in factors
            if math.isfinite(factor)
        ]
        if not scaled:
            return None
        _, _, index, factor = min(scaled)
        return Hit(self._best[index], of, tuple(each[2] for each in scaled), factor)
