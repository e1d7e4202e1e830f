"""Errors other than timeouts that many trials have, and what the console said of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import remedies, thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.tuning.error_tables import hidden_run_timeouts
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

FREQUENT_ERRORS_NAME = "frequent-errors"
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


def find_frequent_errors(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding for each error that a tenth of the trials have."""
    trials = evidence.trials
    if len(trials) < thresholds.FEW:
        return
    hidden = hidden_run_timeouts(trials) | evidence.builds.dead
    for error in MeasureError:
        rows = (trials.error == error) & ~hidden
        count = int(np.count_nonzero(rows))
        if error in _OTHER_RULES or count < thresholds.FREQUENT * len(trials):
            continue
        tasks = evidence.tasks_of(rows)
        messages = _messages(evidence, rows)
        share = count / len(trials)
        tuners = evidence.tuners_of(rows)
        # AutoTVM refuses programs that exceed the GPU's limits in this way: a usual share of them.
        usual = error is MeasureError.INSTANTIATION_ERROR and tuners == ["autotvm"]
        named = "" if error is MeasureError.UNRECORDED else f" with {error.label}"
        yield Finding(
            FREQUENT_ERRORS_NAME,
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
        return "; ".join(_REFUSED[each] for each in tuners if each in _REFUSED)
    return _MEANS[error]


def _messages(evidence: LogEvidence, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[str]:
    """Return the most frequent last lines of the texts the console has for these rows."""
    told = Counter(
        one_line(each.message.strip().splitlines()[-1])[:_MESSAGE]
        for each in evidence.parts.messages
        if 0 <= each.row < len(rows) and rows[each.row] and each.message.strip()
    )
    return [f"{count:,} × {text}" for text, count in told.most_common(_MESSAGES)]


FREQUENT_ERRORS = LogRule(FREQUENT_ERRORS_NAME, find_frequent_errors, LogBasis.SHARES)
