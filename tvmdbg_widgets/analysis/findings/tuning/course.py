"""Rules on the course of tuning: repeated records, pauses, slow builds, distilled logs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import build_facts, lost_builds, remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogBasis, LogEvidence, log_rule
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Bools, Cause, share_of
from tvmdbg_widgets.analysis.tuning.sessions import SESSION_GAP, TuningSession, seconds_text, utc
from tvmdbg_widgets.analysis.tuning.trial_queries import duplicated, repeated
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.trials import Trials


@log_rule("duplicates", LogBasis.LINES)
def find_duplicates(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding of equal records, and one of schedules measured again."""
    trials = evidence.trials
    again, equal = repeated(trials), duplicated(trials)
    if equal.any():
        yield _equal(evidence, equal)
    measured = again & ~equal
    if measured.any():
        yield _measured_again(evidence, measured)


def _equal(evidence: LogEvidence, rows: Bools) -> Finding:
    count = int(np.count_nonzero(rows))
    tasks = evidence.tasks_of(rows)
    return Finding(
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


def _measured_again(evidence: LogEvidence, rows: Bools) -> Finding:
    trials = evidence.trials
    count = int(np.count_nonzero(rows))
    tasks = evidence.tasks_of(rows)
    spread, changed = _cost_changes(trials, rows)
    facts = [evidence.in_tasks(tasks)]
    if len(spread):
        facts.append(
            f"costs differ by {percent(float(np.median(spread)))} in the median, by at most "
            f"{percent(float(spread.max()))}"
        )
    if changed:
        facts.append(f"{changed:,} of {counted(count, 'pair')} failed in one of both measurements")
    return Finding(
        Severity.INFO,
        f"{counted(count, 'trial')} measured a schedule that had been measured before",
        tuple(facts),
        Confidence.HIGH,
        "the schedules are the same bytes; within one search TVM measures none twice",
        next_step="The log was probably continued without what was measured before, or several "
        "logs were put together. "
        + evidence.remedy(rows, remedies.going_on)
        + " How far equal schedules differ tells how much a difference of costs means.",
        weight=count / len(trials),
        tasks=tuple(tasks),
        trials=evidence.rows(rows),
    )


def _cost_changes(trials: Trials, rows: Bools) -> tuple[npt.NDArray[np.float64], int]:
    order = np.argsort(trials.schedule, kind="stable")
    before = np.full(len(order), -1)
    before[order[1:]] = order[:-1]
    later = np.flatnonzero(rows)
    first, second = trials.cost[before[later]], trials.cost[later]
    both = (first > 0) & ~np.isnan(second)
    changed = int(np.count_nonzero(np.isnan(first) != np.isnan(second)))
    with np.errstate(over="ignore"):
        return np.abs(second[both] - first[both]) / first[both], changed


_SHOWN = 8
_SURE = 3600.0


@log_rule("resumed-log", LogBasis.EVERY)
def find_resumed(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where records have long pauses, or go back in time."""
    sessions = evidence.sessions
    if len(sessions) < 2 or is_distilled(evidence.parts):
        return
    older = any(session.gap < 0 for session in sessions)
    sure = older or any(session.gap > _SURE for session in sessions)
    spent = sum(session.seconds for session in sessions)
    rest = len(sessions) - _SHOWN
    yield Finding(
        Severity.INFO,
        f"The log was written in {counted(len(sessions), 'session')}, {seconds_text(spent)} in all",
        (
            *(_words(number, session) for number, session in enumerate(sessions[:_SHOWN])),
            *([f"and {counted(rest, 'more session')}"] if rest > 0 else []),
        ),
        Confidence.HIGH if sure else Confidence.MEDIUM,
        "records go back in time: files were put together"
        if older
        else f"no record for over {seconds_text(SESSION_GAP)} plus the time of the next trial",
        next_step="Curves over time leave the pauses out. Each session restarts the search "
        "unless it was set to resume. "
        + evidence.remedy(np.ones(len(evidence.trials), bool), remedies.going_on),
        trials=tuple(session.first_row for session in sessions[1:]),
    )


def _words(number: int, session: TuningSession) -> str:
    pause = ", older than the one before" if session.gap < 0 else ""
    if session.gap >= 0:
        pause = f", after a pause of {seconds_text(session.gap)}"
    return (
        f"session {number}: {counted(session.trials, 'trial')} in {seconds_text(session.seconds)} "
        f"from {utc(session.start)}{pause}"
    )


def is_distilled(parts: TuningParts) -> bool:
    """Return whether a log has about one record per task and no failed one."""
    trials = parts.trials
    if not len(trials) or trials.failed.any():
        return False
    return len(trials) <= lost_builds.DISTILLED * len(parts.tasks)


_MOST_OF_IT = 0.5
_MANY = 3


@log_rule("slow-compiling-task", LogBasis.SHARES)
def find_slow_task(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where few tasks lose builds and the others hardly any."""
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
        Severity.WARNING,
        f"{name[0].upper()}{name[1:]}{more} {verb} slow to compile: {percent(lost)} of the trials "
        f"hit the build timeout, {rest} elsewhere",
        build_facts.all_facts(evidence),
        Confidence.HIGH if sure else Confidence.MEDIUM,
        f"{counted(int(others.sum()), 'other task')} on the same machine "
        f"{agree(int(others.sum()), 'loses')} less than a twentieth each",
        next_step=evidence.remedy(builds.lost, remedies.longer_builds, builds.timeout),
        weight=builds.share,
        tasks=tuple(tasks),
        trials=evidence.rows(builds.lost & np.isin(evidence.trials.task, tasks)),
    )


@log_rule("unroll-bloat", LogBasis.SHARES)
def find_unroll_bloat(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where timeouts come with much unrolling."""
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
        Severity.WARNING,
        f"Unrolling makes programs too long to compile: {percent(share_of(high))} of the trials "
        f"with auto_unroll_max_step {lost_builds.HIGH_UNROLL} or more hit the build timeout, "
        f"{percent(share_of(low))} with {lost_builds.LOW_UNROLL} or less{where}",
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
        next_step=evidence.remedy(builds.lost, remedies.longer_builds, builds.timeout)
        + "\nThese programs are often no faster than less unrolled ones: compare "
        'log.errors_by("unroll") with the best costs before you wait for them.',
        weight=builds.share,
        tasks=tuple(builds.by_task.keys[builds.high].tolist()),
        trials=evidence.rows(builds.lost),
    )


@log_rule("distilled-log", LogBasis.EVERY)
def find_distilled(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding where a log has about one record per task."""
    if not is_distilled(evidence.parts):
        return
    records, tasks = len(evidence.trials), len(evidence.parts.tasks)
    most = int(np.bincount(evidence.trials.task).max())
    yield Finding(
        Severity.INFO,
        f"Best records only: {counted(records, 'record')} of {counted(tasks, 'task')}, no curve",
        (f"no record has an error; at most {counted(most, 'record')} of one task",),
        Confidence.HIGH if records == tasks else Confidence.MEDIUM,
        "one record a task is what distilling leaves"
        if records == tasks
        else "a tuning of so few trials would look the same",
        next_step="Open the log of the tuning itself to see its course and its errors.",
    )
