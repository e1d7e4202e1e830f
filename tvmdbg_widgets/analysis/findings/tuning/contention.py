"""A burst of build timeouts: something else used the machine for a while."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence, runs_of
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.findings.tuning.shares import share_of
from tvmdbg_widgets.analysis.tuning.sessions import utc
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

CONTENTION_NAME = "temporary-contention"


def find_contention(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where a few rounds lost many builds and all others hardly any."""
    builds = evidence.builds
    if builds.cause is not Cause.BURST:
        return
    bad = builds.bad_rounds
    rows = bad[evidence.rounds]
    inside, outside = builds.by_round.within(bad), builds.by_round.within(~bad)
    numbers = np.flatnonzero(bad).tolist()
    which = f"round{'s' if len(numbers) > 1 else ''} {runs_of(numbers)}"
    tasks = evidence.tasks_of(rows & builds.lost)
    yield Finding(
        CONTENTION_NAME,
        Severity.WARNING,
        f"A burst of build timeouts: {percent(share_of(inside))} of the trials in {which}, "
        f"{percent(share_of(outside))} in all other rounds",
        (
            build_facts.how_many(evidence),
            build_facts.by_round(evidence),
            *_when(evidence, rows),
            evidence.in_tasks(tasks),
            build_facts.cost(evidence),
        ),
        Confidence.MEDIUM,
        f"{len(numbers)} of {counted(len(bad), 'round')}; the same tasks were fine before or "
        "after. What else ran then is not in the log",
        next_step="Look for what ran on the host at that time: another tuning, a backup, a build. "
        "The lost programs may be measured again: tune the tasks for a few more rounds.",
        weight=builds.share,
        tasks=tuple(tasks),
        trials=evidence.rows(rows & builds.lost),
    )


def _when(evidence: LogEvidence, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[str]:
    stamps = evidence.trials.timestamp[rows & ~np.isnan(evidence.trials.timestamp)]
    if not len(stamps):
        return []
    first, last = (utc(float(each), "%Y-%m-%d %H:%M:%S") for each in (stamps.min(), stamps.max()))
    return [f"from {first} to {last}"]


CONTENTION = LogRule(CONTENTION_NAME, find_contention, LogBasis.SHARES)
