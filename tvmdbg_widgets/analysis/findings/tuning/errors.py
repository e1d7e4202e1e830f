"""Rules on errors: frequent ones other than timeouts, tasks without a schedule, unread lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import lost_builds, remedies
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogBasis, LogEvidence, log_rule
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import Bools
from tvmdbg_widgets.analysis.tuning.error_tables import hidden_run_timeouts
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

_MESSAGE = 160
_MESSAGES = 3
_OTHER_RULES = (MeasureError.NO_ERROR, MeasureError.BUILD_TIMEOUT, MeasureError.RUN_TIMEOUT)
_MEANS = {
    MeasureError.UNRECORDED: "the log does not say why",
    MeasureError.COMPILE_HOST: "lowering or compiling failed",
    MeasureError.COMPILE_DEVICE: "the built program could not be loaded on the device",
    MeasureError.RUNTIME_DEVICE: "the program failed as it ran",
    MeasureError.WRONG_ANSWER: "the result was wrong",
    MeasureError.UNKNOWN_ERROR: "TVM itself writes no such error",
}
_REFUSED = {
    "ansor": "Ansor could not apply the steps to the compute DAG",
    "autotvm": "AutoTVM's template refused the config, or the program exceeds the GPU's limits "
    "('Skipped because of invalid gpu kernel'); it was not compiled",
}


@log_rule("frequent-errors", LogBasis.SHARES)
def find_frequent_errors(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding for each error in at least a tenth of the trials."""
    trials = evidence.trials
    if len(trials) < lost_builds.FEW:
        return
    hidden = hidden_run_timeouts(trials) | evidence.builds.dead
    for error in MeasureError:
        rows = (trials.error == error) & ~hidden
        count = int(np.count_nonzero(rows))
        if error in _OTHER_RULES or count < lost_builds.FREQUENT * len(trials):
            continue
        tasks = evidence.tasks_of(rows)
        messages = _frequent_messages(evidence, rows)
        share = count / len(trials)
        tuners = evidence.tuners_of(rows)
        # AutoTVM rejects programs beyond the GPU's limits so: a usual share of them.
        usual = error is MeasureError.INSTANTIATION_ERROR and tuners == ["autotvm"]
        named = "" if error is MeasureError.UNRECORDED else f" with {error.label}"
        yield Finding(
            Severity.INFO if usual else Severity.WARNING,
            f"{percent(share)} of the trials failed{named}",
            (
                f"{count:,} of {counted(len(trials), 'trial')}: {_means(error, tuners)}",
                evidence.in_tasks(tasks),
                *messages,
            ),
            Confidence.HIGH,
            "the log itself says which trials failed",
            next_step="" if messages else remedies.for_each(tuners, remedies.error_texts),
            weight=share,
            tasks=tuple(tasks),
            trials=evidence.rows(rows),
        )


def _means(error: MeasureError, tuners: list[str]) -> str:
    if error is MeasureError.INSTANTIATION_ERROR:
        return "; ".join(_REFUSED[tuner] for tuner in tuners if tuner in _REFUSED)
    return _MEANS[error]


def _frequent_messages(evidence: LogEvidence, rows: Bools) -> list[str]:
    messages = Counter(
        one_line(message.message.strip().splitlines()[-1])[:_MESSAGE]
        for message in evidence.parts.messages
        if 0 <= message.row < len(rows) and rows[message.row] and message.message.strip()
    )
    return [f"{count:,} × {text}" for text, count in messages.most_common(_MESSAGES)]


_TOTAL = "while a task has none, Ansor prints the total latency as - or N/A"


@log_rule("no-valid-schedule", LogBasis.EVERY)
def find_no_valid_schedule(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding of all tasks without a valid trial."""
    trials, size = evidence.trials, len(evidence.parts.tasks)
    count = np.bincount(trials.task, minlength=size)
    valid = np.bincount(trials.task[~trials.failed], minlength=size)
    tasks = np.flatnonzero((count > 0) & (valid == 0)).tolist()
    if not tasks:
        return
    several = len(tasks) > 1
    first = evidence.task(tasks[0])
    title = (
        f"{len(tasks):,} of {counted(size, 'task')} {agree(len(tasks), 'has')} no valid schedule"
        if several
        else f"{first[0].upper()}{first[1:]} has no valid schedule"
    )
    their = "their" if several else "its"
    tuners = evidence.tuners_of(np.isin(trials.task, tasks))
    facts = [f"{evidence.task(task)}: {_errors(evidence, task)}" for task in tasks]
    rest = len(facts) - 8
    yield Finding(
        Severity.ERROR,
        title,
        (
            *facts[:8],
            *([f"and {counted(rest, 'more task')}"] if rest > 0 else []),
            *([_TOTAL] if "ansor" in tuners else []),
        ),
        Confidence.HIGH,
        "every trial failed; more of them may still find one",
        next_step=f"Find out why {their} trials fail:\n"
        f'log.errors_by("task"), log.select("task:{tasks[0]}")\n'
        f"{remedies.for_each(tuners, remedies.no_schedule)}",
        weight=len(tasks) / size,
        tasks=tuple(tasks),
    )


@log_rule("few-failures", LogBasis.SHARES)
def find_few_failures(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield a finding of failed trials, for logs where no other rule explains them."""
    trials = evidence.trials
    count = int(np.count_nonzero(trials.failed))
    if not count:
        return
    tasks = evidence.tasks_of(trials.failed)
    share = count / len(trials)
    yield Finding(
        Severity.INFO,
        f"{count:,} of {counted(len(trials), 'trial')} failed ({percent(share)}), too few to "
        "suggest a cause",
        (_counted_errors(trials.error[trials.failed]), evidence.in_tasks(tasks)),
        Confidence.HIGH,
        "the log itself says which trials failed",
        next_step="A few failures are normal: a tuner also tries programs that cannot work. "
        'See where they are: log.errors_by("task"), log.select("is:failed").',
        weight=share,
        tasks=tuple(tasks),
        trials=evidence.rows(trials.failed),
    )


def _errors(evidence: LogEvidence, task: int) -> str:
    return _counted_errors(evidence.trials.error[evidence.trials.of_task(task)])


def _counted_errors(errors: npt.NDArray[np.integer]) -> str:
    codes, counts = np.unique(errors, return_counts=True)
    parts = [
        f"{count:,} × {MeasureError(code).label}"
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
    ]
    return ", ".join(parts)


_SHOWN = 5
_WHY = 200


@log_rule("unread-lines", LogBasis.LINES)
def find_unread_lines(evidence: LogEvidence) -> Iterable[Finding]:
    """Yield findings of refused lines, of a cut last line, and of ignored lines."""
    parts = evidence.parts
    if parts.num_refused:
        facts = [
            f"line {line.line:,}{_file(evidence, line.source)}: {one_line(line.why)[:_WHY]}"
            for line in parts.refused[:_SHOWN]
        ]
        rest = parts.num_refused - len(facts)
        are = agree(parts.num_refused, "is no record", "are no records")
        yield Finding(
            Severity.WARNING,
            f"{counted(parts.num_refused, 'line')} {are}: all numbers leave "
            f"{agree(parts.num_refused, 'it', 'them')} out",
            (*facts, *([f"and {counted(rest, 'more line')}"] if rest > 0 else [])),
            Confidence.HIGH,
            f"{counted(len(parts.trials), 'line')} could be read",
            next_step="TVM stops at such a line. log.write(path) writes the others, byte for byte.",
            weight=1.0,
        )
    if parts.cut:
        yield Finding(
            Severity.INFO,
            "The last line is cut",
            ("it ends in the middle of a record",),
            Confidence.HIGH,
            "tuning was stopped as it wrote the record, or still writes it",
            next_step="log.follow() reads on while tuning runs.",
        )
    if parts.undecoded:
        count = sum(parts.undecoded.values())
        kinds = [f"{number:,} × {one_line(what)}" for what, number in parts.undecoded.items()]
        yield Finding(
            Severity.INFO,
            f"{counted(count, 'line')} {agree(count, 'is')} recognized and not decoded",
            (evidence.listed(kinds, "kind"),),
            Confidence.HIGH,
            "decoding them would run code from the file",
            next_step="Convert them with the TVM that wrote them.",
        )


def _file(evidence: LogEvidence, source: int) -> str:
    sources = evidence.parts.sources
    if len(sources) < 2 or not 0 <= source < len(sources):
        return ""
    return f" of {one_line(sources[source].name)}"
