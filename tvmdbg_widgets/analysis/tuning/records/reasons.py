"""Why TVM applies one record and no other, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tvmdbg_widgets.analysis.tuning.records.identity import Identity, identity, target_keys
from tvmdbg_widgets.analysis.tuning.records.lookup import Hit, TrialLookup
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.task import Task
from tvmdbg_widgets.model.tuning.workload import Workload

_DEFAULT = "TVM uses its default schedule, which may be slow, or fail to compile on a GPU"
_SHOWN = 4


@dataclass(frozen=True)
class Asked:
    """A workload, and the target TVM compiles it for."""

    workload: Workload
    tuner: str
    target: Target
    include_compatible: bool

    @property
    def identity(self) -> Identity:
        """What the workload is looked up by."""
        return identity(self.workload, self.tuner)

    def is_of(self, task: Task) -> bool:
        """Whether a task computes the same."""
        same_tuner = task.tuner == self.tuner
        return same_tuner and identity(task.workload, task.tuner) == self.identity


def reasons(
    parts: TuningParts, asked: Asked, lookup: TrialLookup, hits: Sequence[Hit]
) -> Iterator[str]:
    """Yield the sentences, for what the lookups found."""
    if asked.tuner == "metaschedule":
        yield "MetaSchedule's database looks up the workload alone, for whatever target."
    else:
        yield from _order(asked.target)
    if hits:
        yield from _found(parts, hits)
    else:
        yield f"Nothing is found there: {_DEFAULT}."
    yield from _targets(parts, asked, hits)
    if asked.tuner == "ansor":
        yield from _apply_best(parts, asked, lookup, hits)
        if asked.workload.is_hash and asked.workload.args == ():
            yield (
                "The workload key has no shapes, as before January 2021: TVM 0.8 and later look "
                "up keys with shapes and do not find it."
            )
    if asked.tuner == "autotvm" and hits and parts.trials.version[hits[0].row] == "0.1":
        yield "The record is of version 0.1, which TVM 0.7 and later refuse to load."


def _order(target: Target) -> Iterator[str]:
    keys = target_keys(target)
    if keys is None:
        kind = one_line(target.kind)
        yield f"Keys of a target {kind!r} are not known here: write them out, as -keys=cuda,gpu."
    model = [f"model {target.model}"] if target.model else []
    looked_up = ", then ".join([*model, *(f"key {key}" for key in keys or ())]) or "nothing"
    yield (
        f"ApplyHistoryBest looks up {one_line(looked_up)}: the first that has the workload counts."
    )


def _found(parts: TuningParts, hits: Sequence[Hit]) -> Iterator[str]:
    trials, first = parts.trials, hits[0]
    cost = trials.cost[first.row]
    rivals = np.isin(trials.task, first.tasks) & ~trials.failed
    told = one_line(f"{first.of[0].upper()}{first.of[1:]} finds row {first.row}, {_ms(cost)}")
    if first.factor == 1:
        count = int(rivals.sum())
        among = (
            "the only valid trial"
            if count == 1
            else f"the lowest mean of {counted(count, 'valid trial')}"
        )
        yield f"{told}: {among}."
    else:
        task = parts.tasks[trials.task[first.row]]
        scaled = f"{_ms(cost)} × {first.factor:g} = {_ms(cost * first.factor)}"
        yield (
            f"{told}, of a compatible workload, {one_line(task.name)}: by size that is {scaled}, "
            "the lowest of those compatible."
        )
    ties = int((rivals & (trials.cost == cost)).sum()) - 1
    if ties and first.factor == 1:
        yield f"{counted(ties, 'later trial')} took as long: TVM keeps the first."
    for hit in hits[1:]:
        if hit.row != first.row:
            cost = trials.cost[hit.row]
            yield f"Only {one_line(hit.of)} would find row {hit.row}, {_ms(cost)}."


def _targets(parts: TuningParts, asked: Asked, hits: Sequence[Hit]) -> Iterator[str]:
    """Say whose measurements these are, where the log has the workload for several targets."""
    same = [task for task in parts.tasks if asked.is_of(task)]
    if hits:
        measured_for = parts.tasks[parts.trials.task[hits[0].row]].target
        if measured_for.text != asked.target.text:
            told = one_line(measured_for.text)
            yield f"The row was measured for another target: {told}."
    if len(same) > 1 or (same and not hits):
        targets = "; ".join(one_line(task.target.text) for task in same[:_SHOWN])
        more = f"; and {len(same) - _SHOWN:,} more" if len(same) > _SHOWN else ""
        yield f"The log has this workload for {counted(len(same), 'target')}: {targets}{more}."


def _apply_best(
    parts: TuningParts, asked: Asked, lookup: TrialLookup, hits: Sequence[Hit]
) -> Iterator[str]:
    """Say where ``SearchTask.apply_best`` (search_task.py) takes another record."""
    row = hits[0].row if hits else None
    for hit, how in (
        (lookup.anywhere(asked.identity), "task.apply_best(log) looks at no target"),
        (
            lookup.anywhere(asked.identity, asked.target.kind),
            f"load_best_record(log, key, target) looks at the kind {asked.target.kind} alone",
        ),
    ):
        if hit is not None and hit.row != row:
            row = hit.row
            cost = parts.trials.cost[row]
            yield f"{one_line(how)}: it takes row {row}, {_ms(cost)}."


def _ms(seconds: float) -> str:
    return duration_text(float(seconds) * 1e9)
