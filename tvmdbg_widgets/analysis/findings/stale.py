"""Dumps of a module that ran more than once: tensors of the first run, times of the last."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

STALE_NAME = "stale-tensors"


def find_stale(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding where the tables show several runs."""
    issues = evidence.of_rules("stale-tensors", "tables-disagree")
    if not issues:
        return
    certain = any(issue.rule == "stale-tensors" for issue in issues)
    yield Finding(
        STALE_NAME,
        Severity.WARNING,
        "run() was called more than once: tensors are from the first run, times from the last",
        cut([one_line(issue.message) for issue in issues]),
        Confidence.HIGH if certain else Confidence.MEDIUM,
        "one log holds several tables"
        if certain
        else "this dump has tables with different times; they may also be from different modules",
        next_step="Create a new GraphModuleDebug with its own dump folder for each run.",
        weight=1.0,
    )


STALE = Rule(STALE_NAME, find_stale, Basis.FILES)
