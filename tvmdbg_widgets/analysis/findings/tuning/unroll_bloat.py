"""Programs that are unrolled so far that compiling them takes too long."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts, remedies, thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.findings.tuning.shares import share_of
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

UNROLL_BLOAT_NAME = "unroll-bloat"


def find_unroll_bloat(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where timeouts come with much unrolling."""
    builds = evidence.builds
    if builds.cause is not Cause.UNROLL:
        return
    high = builds.high_unroll(builds.concerned)
    low = builds.low_unroll(builds.concerned)
    where = ""
    if builds.high.any() and not builds.concerned.all():
        tasks = counted(len(builds.high), "task")
        where = f", in {np.count_nonzero(builds.high)} of {tasks}"
    yield Finding(
        UNROLL_BLOAT_NAME,
        Severity.WARNING,
        f"Unrolling makes programs too long to compile: {percent(share_of(high))} of the trials "
        f"with auto_unroll_max_step {thresholds.HIGH_UNROLL} or more hit the build timeout, "
        f"{percent(share_of(low))} with {thresholds.LOW_UNROLL} or less{where}",
        (
            build_facts.how_many(evidence),
            *build_facts.by_unroll(evidence),
            build_facts.by_task(evidence),
            build_facts.cost(evidence),
        ),
        Confidence.MEDIUM,
        f"{counted(high[1], 'trial')} with much and {low[1]:,} with little unrolling were compared"
        + (", of the tasks that lose a tenth or more" if where else "")
        + "; on a machine that is a little overloaded the longest builds are lost first, too",
        next_step=remedies.for_each(
            evidence.tuners_of(builds.lost),
            lambda tuner: remedies.longer_builds(tuner, builds.timeout),
        )
        + "\nThese programs are often no faster than less unrolled ones: compare "
        'log.errors_by("unroll") with the best costs before you wait for them.',
        weight=builds.share,
        tasks=tuple(builds.by_task.keys[builds.high].tolist()),
        trials=evidence.rows(builds.lost),
    )


UNROLL_BLOAT = LogRule(UNROLL_BLOAT_NAME, find_unroll_bloat, LogBasis.SHARES)
