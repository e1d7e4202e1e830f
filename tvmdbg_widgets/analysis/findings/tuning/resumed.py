"""Logs that were written in several sessions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import remedies
from tvmdbg_widgets.analysis.findings.tuning.distilled import is_distilled
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.analysis.tuning.sessions import SESSION_GAP, TuningSession, seconds_text, utc
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

RESUMED_NAME = "resumed-log"
_SHOWN = 8
_SURE = 3600.0


def find_resumed(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where records have long pauses between them, or go back in time."""
    found = evidence.sessions
    if len(found) < 2 or is_distilled(evidence.parts):
        return
    older = any(each.gap < 0 for each in found)
    sure = older or any(each.gap > _SURE for each in found)
    spent = sum(each.seconds for each in found)
    rest = len(found) - _SHOWN
    yield Finding(
        RESUMED_NAME,
        Severity.INFO,
        f"The log was written in {counted(len(found), 'session')}, {seconds_text(spent)} in all",
        (
            *(_words(number, each) for number, each in enumerate(found[:_SHOWN])),
            *([f"and {counted(rest, 'more session')}"] if rest > 0 else []),
        ),
        Confidence.HIGH if sure else Confidence.MEDIUM,
        "records go back in time: files were put together"
        if older
        else f"no record for over {seconds_text(SESSION_GAP)} beside the time of the next trial",
        next_step="Curves over time leave the pauses out. The search starts anew in each session "
        "unless it was told to go on. "
        + remedies.for_each(
            evidence.tuners_of(np.ones(len(evidence.trials), bool)), remedies.going_on
        ),
        trials=tuple(each.first_row for each in found[1:]),
    )


def _words(number: int, session: TuningSession) -> str:
    gap = session.gap
    pause = ""
    if gap >= 0:
        pause = f", after a pause of {seconds_text(gap)}"
    elif gap < 0:
        pause = ", older than the one before"
    return (
        f"session {number}: {counted(session.trials, 'trial')} in {seconds_text(session.seconds)} "
        f"from {utc(session.start)}{pause}"
    )


RESUMED = LogRule(RESUMED_NAME, find_resumed, LogBasis.EVERY)
