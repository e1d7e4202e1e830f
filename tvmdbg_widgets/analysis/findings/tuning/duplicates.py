"""Schedules that were measured more than once, and records that repeat others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.tuning.records.columns import duplicated, repeated
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.tuning.trials import Trials
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DUPLICATES_NAME = "duplicates"


def find_duplicates(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding of equal records, and one of schedules measured again."""
    trials = evidence.trials
    again, equal = repeated(trials), duplicated(trials)
    if equal.any():
        yield _equal(evidence, equal)
    measured = again & ~equal
    if measured.any():
        yield _measured_again(evidence, measured)


def _equal(evidence: LogEvidence, rows: npt.NDArray[np.bool_]) -> Finding:
    count = int(np.count_nonzero(rows))
    tasks = evidence.tasks_of(rows)
    return Finding(
        DUPLICATES_NAME,
        Severity.WARNING,
        f"{counted(count, 'record')} "
        f"{agree(count, 'repeats an earlier one', 'repeat earlier ones')}",
        (
            "task, schedule, costs, error and timestamp are those of an earlier record",
            evidence.in_tasks(tasks),
        ),
        Confidence.HIGH,
        "two measurements would not end in the same second with the same numbers",
        next_step="A file was probably appended to itself, or two logs have a part in common: "
        "counts of trials and errors are too high by that much. "
        'log.write(path, log.select("not is:duplicate")) leaves them out.',
        weight=count / len(evidence.trials),
        tasks=tuple(tasks),
        trials=evidence.rows(rows),
    )


def _measured_again(evidence: LogEvidence, rows: npt.NDArray[np.bool_]) -> Finding:
    trials = evidence.trials
    count = int(np.count_nonzero(rows))
    tasks = evidence.tasks_of(rows)
    spread, changed = _between(trials, rows)
    facts = [evidence.in_tasks(tasks)]
    if len(spread):
        facts.append(
            f"costs differ by {percent(float(np.median(spread)))} in the median, by at most "
            f"{percent(float(spread.max()))}"
        )
    if changed:
        facts.append(f"{changed:,} of {counted(count, 'pair')} failed in one of both measurements")
    return Finding(
        DUPLICATES_NAME,
        Severity.INFO,
        f"{counted(count, 'trial')} measured a schedule that had been measured before",
        tuple(facts),
        Confidence.HIGH,
        "the schedules are the same bytes; within one search TVM measures none twice",
        next_step="The log was probably continued without what was measured before, or several "
        "logs were put together. "
        + remedies.for_each(evidence.tuners_of(rows), remedies.going_on)
        + " How far equal schedules differ tells how much a difference of costs means.",
        weight=count / len(trials),
        tasks=tuple(tasks),
        trials=evidence.rows(rows),
    )


def _between(trials: Trials, rows: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.float64], int]:
    """Return |second - first| / first of the costs, and how many failed in one of the two."""
    order = np.argsort(trials.schedule, kind="stable")
    before = np.full(len(order), -1)
    before[order[1:]] = order[:-1]
    later = np.flatnonzero(rows)
    first, second = trials.cost[before[later]], trials.cost[later]
    both = (first > 0) & ~np.isnan(second)
    changed = int(np.count_nonzero(np.isnan(first) != np.isnan(second)))
    with np.errstate(over="ignore"):
        return np.abs(second[both] - first[both]) / first[both], changed


DUPLICATES = LogRule(DUPLICATES_NAME, find_duplicates, LogBasis.LINES)
