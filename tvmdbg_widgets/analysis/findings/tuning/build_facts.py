"""Facts on builds that timed out, shared by rules, and rules without a closer cause."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import lost_builds, remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import (
    LogBasis,
    LogEvidence,
    log_rule,
    runs_of,
)
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Cause
from tvmdbg_widgets.analysis.tuning.error_tables import wasted_seconds
from tvmdbg_widgets.analysis.tuning.sessions import seconds_text
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity


def how_many(evidence: LogEvidence) -> str:
    """Return ``"1,638 of 3,008 trials (54.5 %) hit the build timeout of 15 s"``."""
    builds = evidence.builds
    return (
        f"{builds.count:,} of {counted(len(evidence.trials), 'trial')} ({percent(builds.share)}) "
        f"hit the build timeout of {seconds_text(builds.timeout)}"
    )


def by_task(evidence: LogEvidence) -> str:
    """Return the shares of the tasks, highest first."""
    shares = evidence.builds.by_task
    names = [f"in {evidence.task(key)}" for key in shares.keys.tolist()]
    words = shares.words(names)
    order = np.argsort(-shares.share, kind="stable").tolist()
    return "by task: " + evidence.listed([words[place] for place in order], "task")


def by_unroll(evidence: LogEvidence) -> list[str]:
    """Return the shares of the unroll settings; nothing without such settings."""
    shares = evidence.builds.by_unroll
    if not (shares.keys >= 0).any():
        return []
    names = [f"at {key}" if key >= 0 else "without one" for key in shares.keys.tolist()]
    return ["by auto_unroll_max_step: " + ", ".join(shares.words(names))]


def by_round(evidence: LogEvidence) -> str:
    """Return the usual and the worst round, and the bad rounds."""
    builds = evidence.builds
    shares = builds.by_round
    worst = int(np.argmax(shares.lost))
    median = percent(float(np.median(shares.share)))
    summary = (
        f"by round: median {median}, at most {int(shares.lost[worst]):,} of "
        f"{int(shares.trials[worst]):,} (round {worst:,})"
    )
    bad = np.flatnonzero(builds.bad_rounds)
    if not 0 < len(bad) < len(shares.keys):
        return summary
    rest = percent(shares.within(~builds.bad_rounds)[0] / shares.within(~builds.bad_rounds)[1])
    return (
        f"{summary}; a quarter or more lost in {len(bad):,} of "
        f"{counted(len(shares.keys), 'round')} ({runs_of(bad.tolist())}), {rest} in the others"
    )


def cost(evidence: LogEvidence) -> str:
    """Return time spent on lost builds, and the schedules left."""
    spent = seconds_text(wasted_seconds(evidence.trials))
    left = int(np.count_nonzero(~evidence.trials.failed))
    return (
        f"{spent} of building went into them (builds run in parallel: this is not wall time); "
        f"{counted(left, 'trial')} {agree(left, 'has')} a measurement"
    )


_MANY = 3


def all_facts(evidence: LogEvidence) -> tuple[str, ...]:
    """Return the counts, the shares by task, unroll setting and round, and the cost."""
    shares = (by_task(evidence), *by_unroll(evidence), by_round(evidence))
    return how_many(evidence), *shares, cost(evidence)


@log_rule("build-starvation", LogBasis.SHARES)
def find_build_starvation(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where timeouts are in most tasks and at every unroll setting."""
    builds = evidence.builds
    if builds.cause is not Cause.STARVATION:
        return
    judged, high = int(builds.judged.sum()), int(builds.high.sum())
    low = builds.low_unroll(np.ones(len(evidence.trials), bool))
    unroll_known = low[1] >= lost_builds.FEW
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
    cores = {task.hardware.num_cores for task in evidence.parts.tasks if task.hardware is not None}
    for_programs = ""
    if len(cores) == 1 and min(cores) > 0:
        for_programs = f"; TVM counted {counted(min(cores), 'core')} for the programs themselves"
    facts = [
        *all_facts(evidence),
        f"how many builds ran at once (n_parallel) is not in the log{for_programs}",
    ]
    yield Finding(
        Severity.WARNING if confidence is Confidence.LOW else Severity.ERROR,
        f"Build starvation: {percent(builds.share)} of the trials hit the build timeout, "
        f"{'mostly ' if high < judged else ''}in {high} of {counted(judged, 'task')}",
        tuple(facts),
        confidence,
        why,
        next_step=evidence.remedy(builds.lost, remedies.fewer_builds, builds.timeout),
        weight=builds.share,
        tasks=tuple(builds.by_task.keys[builds.high].tolist()),
        trials=evidence.rows(builds.lost),
    )


@log_rule("build-timeouts", LogBasis.SHARES)
def find_build_timeouts(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where timeouts are frequent and no other rule has a cause."""
    builds = evidence.builds
    if builds.cause is not Cause.UNCLEAR:
        return
    many = builds.share >= lost_builds.HIGH
    tasks = builds.by_task.keys[builds.by_task.lost > 0].tolist()
    yield Finding(
        Severity.WARNING if many else Severity.INFO,
        f"{percent(builds.share)} of the trials hit the build timeout; the log does not tell why",
        all_facts(evidence),
        Confidence.LOW,
        _why(evidence),
        next_step=evidence.remedy(builds.lost, remedies.fewer_builds, builds.timeout),
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
