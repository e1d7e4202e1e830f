"""Rules on measuring: run timeouts, bursts of lost builds, dead workers, noisy costs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import build_facts, lost_builds, remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import (
    LogBasis,
    LogEvidence,
    log_rule,
    runs_of,
)
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Bools, Cause, share_of
from tvmdbg_widgets.analysis.tuning.error_tables import RUN_TIMEOUT, hidden_run_timeouts
from tvmdbg_widgets.analysis.tuning.sessions import seconds_text, utc
from tvmdbg_widgets.analysis.tuning.trial_queries import spreads
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

_NEXT = """Most of these programs are slow: a longer timeout makes tuning slower, not better.
Allow more time only if good programs need it or the device was busy.
"""

_DIED = "; AutoTVM writes the same of a build whose process died"


@log_rule("run-timeouts", LogBasis.SHARES)
def find_run_timeouts(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where a twentieth of the trials ran into the timeout."""
    trials = evidence.trials
    hidden = hidden_run_timeouts(trials)
    timed_out = np.asarray(trials.error == MeasureError.RUN_TIMEOUT)
    rows = hidden | timed_out
    count = int(np.count_nonzero(rows))
    if len(trials) < lost_builds.FEW or count < lost_builds.RUN_TIMEOUTS * len(trials):
        return
    num_hidden = int(np.count_nonzero(hidden))
    facts = (
        [f"{counted(int(timed_out.sum()), 'trial')} with RunTimeoutError"]
        if timed_out.any()
        else []
    )
    if num_hidden:
        median = seconds_text(float(np.median(trials.all_cost[hidden])))
        facts.append(
            f"{counted(num_hidden, 'trial')} with RuntimeDeviceError took "
            f"{seconds_text(RUN_TIMEOUT)} or longer to build and run (median {median}), "
            f"{int(np.count_nonzero(trials.error == MeasureError.RUNTIME_DEVICE)) - num_hidden:,} "
            "took less"
        )
    tasks = evidence.tasks_of(rows)
    facts.append(evidence.in_tasks(tasks))
    if not trials.failed.all():
        best = duration_text(float(np.nanmin(trials.cost)) * 1e9)
        facts.append(f"the best program of the log takes {best}")
    probably = " probably" if num_hidden else ""
    yield Finding(
        Severity.WARNING,
        f"{percent(count / len(trials))} of the trials{probably} hit the run timeout"
        + (", recorded as RuntimeDeviceError" if num_hidden == count else ""),
        tuple(facts),
        Confidence.MEDIUM if num_hidden else Confidence.HIGH,
        "the RPC runner records its timeout as RuntimeDeviceError; a build of over "
        f"{seconds_text(RUN_TIMEOUT)} before another failure looks the same, and so does a late "
        "failure where a longer timeout was set" + _DIED * ("autotvm" in evidence.tuners_of(hidden))
        if num_hidden
        else "the runner recorded them as timeouts",
        next_step=_NEXT + evidence.remedy(rows, remedies.longer_runs),
        weight=count / len(trials),
        tasks=tuple(tasks),
        trials=evidence.rows(rows),
    )


@log_rule("temporary-contention", LogBasis.SHARES)
def find_contention(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where a few rounds lost many builds and all others hardly any."""
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


def _when(evidence: LogEvidence, rows: Bools) -> list[str]:
    stamps = evidence.trials.timestamp[rows & ~np.isnan(evidence.trials.timestamp)]
    if not len(stamps):
        return []
    first, last = (utc(float(stamp), "%Y-%m-%d %H:%M:%S") for stamp in (stamps.min(), stamps.max()))
    return [f"from {first} to {last}"]


@log_rule("dead-build-workers", LogBasis.LINES)
def find_dead_workers(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where builds ended without a result."""
    builds = evidence.builds
    if builds.cause is not Cause.DEAD_WORKERS:
        return
    dead = int(np.count_nonzero(builds.dead))
    tasks = evidence.tasks_of(builds.dead)
    share = percent(dead / len(evidence.trials))
    timed_out = [build_facts.how_many(evidence)] if builds.count else []
    yield Finding(
        Severity.ERROR,
        f"Build workers died: {counted(dead, 'trial')} ({share}) ended without a program or an "
        "error of the compiler",
        (
            f"CompileHostError after exactly {seconds_text(builds.timeout)}, the build timeout: "
            + counted(dead, "trial"),
            evidence.in_tasks(tasks),
            *timed_out,
            build_facts.cost(evidence),
            "how many builds ran at once (n_parallel) is not in the log",
        ),
        Confidence.HIGH,
        "Ansor writes the timeout as the time of such a build only where its worker raised or "
        "ended, else the time it took; why it ended is not in the log, most often memory ran out",
        next_step="\n".join(
            [
                "See whether the kernel killed compilers for lack of memory:",
                'dmesg -T | grep -i "killed process"',
                evidence.remedy(builds.dead, remedies.half_the_builds, builds.timeout),
            ]
        ),
        weight=(dead + builds.count) / len(evidence.trials),
        tasks=tuple(tasks),
        trials=evidence.rows(builds.dead),
    )


@log_rule("noisy-costs", LogBasis.SHARES)
def find_noisy_costs(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where the repeats of most trials differ by a tenth or more."""
    trials = evidence.trials
    repeats = np.diff(trials.run_offsets)
    rows = np.flatnonzero((trials.cost > 0) & (repeats >= lost_builds.REPEATS))
    if len(rows) < lost_builds.FEW:
        return
    spread = spreads(trials)[rows]
    median = float(np.median(spread))
    if median < lost_builds.NOISY:
        return
    tail = percent(float(np.percentile(spread, 90)))
    most = int(np.bincount(repeats[rows]).argmax())
    yield Finding(
        Severity.WARNING,
        f"Costs are noisy: repeats of a trial differ by {percent(median)} in the median",
        (
            f"{counted(len(rows), 'trial')} with {lost_builds.REPEATS} or more repeats: {most}",
            f"(highest - lowest) / mean: median {percent(median)}, a tenth of them over {tail}",
        ),
        Confidence.HIGH,
        "TVM ranks by the mean of the repeats, so one slow repeat hides a good schedule",
        next_step=evidence.remedy(np.isin(np.arange(len(trials)), rows), remedies.longer_measuring)
        + "\nMeasure the best few again before you rely on their order.",
        weight=median,
        trials=tuple(rows[spread >= lost_builds.NOISY].tolist()),
    )
