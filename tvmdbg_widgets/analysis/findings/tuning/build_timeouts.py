"""Many build timeouts of which the log does not tell why."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts, remedies, thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.model.base.numbers import percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

BUILD_TIMEOUTS_NAME = "build-timeouts"


def find_build_timeouts(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where timeouts are more than usual and no other rule has a cause."""
    builds = evidence.builds
    if builds.cause is not Cause.UNCLEAR:
        return
    many = builds.share >= thresholds.HIGH
    tasks = builds.by_task.keys[builds.by_task.lost > 0].tolist()
    yield Finding(
        BUILD_TIMEOUTS_NAME,
        Severity.WARNING if many else Severity.INFO,
        f"{percent(builds.share)} of the trials hit the build timeout; the log does not tell why",
        (
            build_facts.how_many(evidence),
            build_facts.by_task(evidence),
            *build_facts.by_unroll(evidence),
            build_facts.by_round(evidence),
            build_facts.cost(evidence),
        ),
        Confidence.LOW,
        _why(evidence),
        next_step=remedies.for_each(
            evidence.tuners_of(builds.lost),
            lambda tuner: remedies.fewer_builds(tuner, builds.timeout),
        ),
        weight=builds.share,
        tasks=tuple(tasks),
        trials=evidence.rows(builds.lost),
    )


def _why(evidence: LogEvidence) -> str:
    if int(np.count_nonzero(evidence.builds.judged)) < 2:
        return (
            "with one task alone, too many builds at once and programs that are slow to compile "
            "look the same"
        )
    return (
        "the timeouts are neither in most tasks nor in few, and not only in programs that are "
        "unrolled far"
    )


BUILD_TIMEOUTS = LogRule(BUILD_TIMEOUTS_NAME, find_build_timeouts, LogBasis.SHARES)
