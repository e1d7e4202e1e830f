"""Logs of chosen records: no course of a tuning is in them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DISTILLED_NAME = "distilled-log"


def is_distilled(parts: TuningParts) -> bool:
    """Whether a log has about one record a task and none that failed."""
    trials = parts.trials
    if not len(trials) or trials.failed.any():
        return False
    return len(trials) <= thresholds.DISTILLED * len(parts.tasks)


def find_distilled(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where a log has about one record a task."""
    if not is_distilled(evidence.parts):
        return
    records, tasks = len(evidence.trials), len(evidence.parts.tasks)
    most = int(np.bincount(evidence.trials.task).max())
    yield Finding(
        DISTILLED_NAME,
        Severity.INFO,
        f"Best records only: {counted(records, 'record')} of {counted(tasks, 'task')}, no curve",
        (f"no record has an error; at most {counted(most, 'record')} of one task",),
        Confidence.HIGH if records == tasks else Confidence.MEDIUM,
        "one record a task is what distilling leaves"
        if records == tasks
        else "a tuning of so few trials would look the same",
        next_step="Open the log of the tuning itself to see its course and its errors.",
    )


DISTILLED = LogRule(DISTILLED_NAME, find_distilled, LogBasis.EVERY)
