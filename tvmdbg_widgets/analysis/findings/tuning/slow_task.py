"""One task, or a few, whose programs take longer to compile than builds may."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts, remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.findings.tuning.shares import share_of
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

SLOW_TASK_NAME = "slow-compiling-task"
_MOST_OF_IT = 0.5
_MANY = 3


def find_slow_task(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where few tasks lose builds and the others hardly any."""
    builds = evidence.builds
    if builds.cause is not Cause.SLOW_TASK:
        return
    high = np.flatnonzero(builds.high)
    worst = high[np.argmax(builds.by_task.share[high])]
    tasks = builds.by_task.keys[high].tolist()
    lost = share_of(builds.by_task.within(builds.high))
    others = builds.judged & ~builds.high
    rest = percent(share_of(builds.by_task.within(others)))
    name = evidence.task(int(builds.by_task.keys[worst]))
    more = f" and {counted(len(tasks) - 1, 'other task')}" if len(tasks) > 1 else ""
    verb = "are" if len(tasks) > 1 else "is"
    sure = lost >= _MOST_OF_IT and int(others.sum()) >= _MANY
    yield Finding(
        SLOW_TASK_NAME,
        Severity.WARNING,
        f"{name[0].upper()}{name[1:]}{more} {verb} slow to compile: {percent(lost)} of the trials "
        f"hit the build timeout, {rest} elsewhere",
        (
            build_facts.how_many(evidence),
            build_facts.by_task(evidence),
            *build_facts.by_unroll(evidence),
            build_facts.by_round(evidence),
            build_facts.cost(evidence),
        ),
        Confidence.HIGH if sure else Confidence.MEDIUM,
        f"{counted(int(others.sum()), 'other task')} on the same machine "
        f"{agree(int(others.sum()), 'loses')} less than a twentieth each",
        next_step=remedies.for_each(
            evidence.tuners_of(builds.lost),
            lambda tuner: remedies.longer_builds(tuner, builds.timeout),
        ),
        weight=builds.share,
        tasks=tuple(tasks),
        trials=evidence.rows(builds.lost & np.isin(evidence.trials.task, tasks)),
    )


SLOW_TASK = LogRule(SLOW_TASK_NAME, find_slow_task, LogBasis.SHARES)
