"""Tasks of which no trial has a measurement."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

NO_VALID_SCHEDULE_NAME = "no-valid-schedule"
_TOTAL = "while a task has none, Ansor prints the total latency as - or N/A"


def find_no_valid_schedule(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding of all tasks without a valid trial."""
    trials, size = evidence.trials, len(evidence.parts.tasks)
    count = np.bincount(trials.task, minlength=size)
    valid = np.bincount(trials.task[~trials.failed], minlength=size)
    tasks = np.flatnonzero((count > 0) & (valid == 0)).tolist()
    if not tasks:
        return
    several = len(tasks) > 1
    first = evidence.task(tasks[0])
    title = (
        f"{len(tasks):,} of {counted(size, 'task')} {agree(len(tasks), 'has')} no valid schedule"
        if several
        else f"{first[0].upper()}{first[1:]} has no valid schedule"
    )
    their = "their" if several else "its"
    tuners = evidence.tuners_of(np.isin(trials.task, tasks))
    told = [f"{evidence.task(task)}: {_errors(evidence, task)}" for task in tasks]
    rest = len(told) - 8
    yield Finding(
        NO_VALID_SCHEDULE_NAME,
        Severity.ERROR,
        title,
        (
            *told[:8],
            *([f"and {counted(rest, 'more task')}"] if rest > 0 else []),
            *([_TOTAL] if "ansor" in tuners else []),
        ),
        Confidence.HIGH,
        "every trial failed; more of them may still find one",
        next_step=f"{remedies.for_each(tuners, remedies.no_schedule)} See why {their} trials fail: "
        f'log.errors_by("task"), log.select("task:{tasks[0]}").',
        weight=len(tasks) / size,
        tasks=tuple(tasks),
    )


def _errors(evidence: LogEvidence, task: int) -> str:
    errors = evidence.trials.error[evidence.trials.of_task(task)]
    codes, counts = np.unique(errors, return_counts=True)
    told = [
        f"{count:,} × {MeasureError(code).label}"
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    ]
    return ", ".join(told)


NO_VALID_SCHEDULE = LogRule(NO_VALID_SCHEDULE_NAME, find_no_valid_schedule, LogBasis.EVERY)
