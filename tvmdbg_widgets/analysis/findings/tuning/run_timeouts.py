"""Runs that timed out, also where the log calls them something else."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import remedies, thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.tuning.error_tables import RUN_TIMEOUT, hidden_run_timeouts
from tvmdbg_widgets.analysis.tuning.sessions import seconds_text
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

RUN_TIMEOUTS_NAME = "run-timeouts"
_NEXT = """Most of these programs are slow: a longer timeout makes tuning slower, not better.
Where even good ones need longer, or the device was busy:
"""

_DIED = "; AutoTVM writes the same of a build whose process died"


def find_run_timeouts(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where a twentieth of the trials ran until the timeout."""
    trials = evidence.trials
    hidden = hidden_run_timeouts(trials)
    said = np.asarray(trials.error == MeasureError.RUN_TIMEOUT)
    rows = hidden | said
    count = int(np.count_nonzero(rows))
    if len(trials) < thresholds.FEW or count < thresholds.RUN_TIMEOUTS * len(trials):
        return
    num_hidden = int(np.count_nonzero(hidden))
    facts = [f"{counted(int(said.sum()), 'trial')} with RunTimeoutError"] if said.any() else []
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
        RUN_TIMEOUTS_NAME,
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
        next_step=_NEXT + remedies.for_each(evidence.tuners_of(rows), remedies.longer_runs),
        weight=count / len(trials),
        tasks=tuple(tasks),
        trials=evidence.rows(rows),
    )


RUN_TIMEOUTS = LogRule(RUN_TIMEOUTS_NAME, find_run_timeouts, LogBasis.SHARES)
