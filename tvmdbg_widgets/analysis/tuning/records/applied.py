"""Which record TVM would apply for a workload on a target, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tvmdbg_widgets.analysis.tuning.records.lookup import TrialLookup
from tvmdbg_widgets.analysis.tuning.records.reasons import Asked, reasons
from tvmdbg_widgets.analysis.tuning.records.tasks import TaskLike, task_meant, tasks_named
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.workload import Workload


@dataclass(frozen=True)
class Candidate:
    """What one of TVM's lookups finds.

    Attributes
    ----------
    record : Record
    found_by : str
        ``"model t4"``, ``"key cuda"``; ``"the workload"`` in MetaSchedule's database.
    factor : float
        1 for the workload itself; for a compatible one the number that TVM multiplies its cost
        with.
    """

    record: Record
    found_by: str
    factor: float


@dataclass(frozen=True)
class Applied:
    """The record that TVM applies.

    Attributes
    ----------
    record : Record or None
        None where the log has none for this target: TVM uses its default schedule.
    why : tuple of str
        Sentences.
    candidates : tuple of Candidate
        What each lookup finds, in TVM's order; the first one is applied.
    """

    record: Record | None
    why: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    def __repr__(self) -> str:
        head = "no record" if self.record is None else f"row {self.record.row}"
        return "\n  ".join([f"Applied: {head}", *map(one_line, self.why)])


def applied(
    parts: TuningParts,
    task: TaskLike,
    target: Target | str | None = None,
    *,
    include_compatible: bool = False,
) -> Applied:
    """Return the record that TVM would apply for a workload, and why.

    Parameters
    ----------
    task : int, Task or str
        Index, task, or workload key, which the log need not have where a target is given.
    target : Target or str, optional
        What TVM compiles for: ``"cuda -keys=cuda,gpu -model=t4"``; the task's own by default.
    include_compatible : bool
        As ``ApplyHistoryBest(…, include_compatible=True)``: also workloads of the same name
        whose arguments divide those asked for.

    Raises
    ------
    IndexError, KeyError
        There is no such task, or several are of this workload key and no target is given.
    """
    asked = _asked(parts, task, target, include_compatible)
    lookup = TrialLookup(parts, asked.tuner)
    if asked.tuner == "metaschedule":
        hit = lookup.anywhere(asked.identity)
        hits = [] if hit is None else [hit]
    else:
        hits = list(
            lookup.hits(asked.target, asked.identity, include_compatible=asked.include_compatible)
        )
    records = {hit.row: read_record(parts, hit.row) for hit in hits}
    candidates = tuple(Candidate(records[hit.row], hit.of, hit.factor) for hit in hits)
    why = tuple(reasons(parts, asked, lookup, hits))
    return Applied(candidates[0].record if candidates else None, why, candidates)


def _asked(
    parts: TuningParts, task: TaskLike, target: Target | str | None, include_compatible: bool
) -> Asked:
    wanted = Target.parse(target) if isinstance(target, str) else target
    if isinstance(task, str) and wanted is not None:
        named = tasks_named(parts, task)
        if not named:
            return Asked(_decoded(task), parts.tuner, wanted, include_compatible)
        meant = named[0]
    else:
        meant = task_meant(parts, task)
    return Asked(meant.workload, meant.tuner, wanted or meant.target, include_compatible)


def _decoded(key: str) -> Workload:
    try:
        return Workload.of(key, json.loads(key))
    except (ValueError, RecursionError):
        return Workload.of(key, None)
