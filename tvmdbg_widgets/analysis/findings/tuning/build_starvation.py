"""More builds at once than the machine has cores for: all of them slow down until they time out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts, remedies, thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

BUILD_STARVATION_NAME = "build-starvation"
_MANY = 3


def find_build_starvation(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where timeouts are in most tasks and at every unroll setting."""
    builds = evidence.builds
    if builds.cause is not Cause.STARVATION:
        return
    judged, high = int(builds.judged.sum()), int(builds.high.sum())
    low = builds.low_unroll(np.ones(len(evidence.trials), bool))
    unroll_known = low[1] >= thresholds.FEW
    if not unroll_known:
        confidence = Confidence.LOW
        why = (
            f"{high} of {counted(judged, 'task')} {agree(high, 'loses')} a tenth or more, but how "
            "far programs were unrolled is not known: large programs would look the same"
        )
    else:
        everywhere = high == judged >= _MANY
        confidence = Confidence.HIGH if everywhere else Confidence.MEDIUM
        why = (
            f"{high} of {counted(judged, 'task')} {agree(high, 'loses')} a tenth or more, and so "
            f"do programs that are hardly unrolled ({percent(low[0] / low[1])} of {low[1]:,})"
        )
        why += "" if everywhere else "; tasks that are slow to compile would look similar"
    cores = _cores(evidence)
    facts = [
        build_facts.how_many(evidence),
        build_facts.by_task(evidence),
        *build_facts.by_unroll(evidence),
        build_facts.by_round(evidence),
        build_facts.cost(evidence),
        f"how many builds ran at once (n_parallel) is not in the log{cores}",
    ]
    yield Finding(
        BUILD_STARVATION_NAME,
        Severity.WARNING if confidence is Confidence.LOW else Severity.ERROR,
        f"Build starvation: {percent(builds.share)} of the trials hit the build timeout, "
        f"{'mostly ' if high < judged else ''}in {high} of {counted(judged, 'task')}",
        tuple(facts),
        confidence,
        why,
        next_step=remedies.for_each(
            evidence.tuners_of(builds.lost),
            lambda tuner: remedies.fewer_builds(tuner, builds.timeout),
        ),
        weight=builds.share,
        tasks=tuple(builds.by_task.keys[builds.high].tolist()),
        trials=evidence.rows(builds.lost),
    )


def _cores(evidence: LogEvidence) -> str:
    known = {each.hardware.num_cores for each in evidence.parts.tasks if each.hardware is not None}
    if len(known) != 1 or min(known) <= 0:
        return ""
    return f"; TVM counted {counted(known.pop(), 'core')} for the programs themselves"


BUILD_STARVATION = LogRule(BUILD_STARVATION_NAME, find_build_starvation, LogBasis.SHARES)
