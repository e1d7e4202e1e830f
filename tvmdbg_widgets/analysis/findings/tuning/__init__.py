"""Findings on a tuning log, ranked: all rules and their application."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.tuning import build_facts, course, errors, running
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence, LogRule
from tvmdbg_widgets.model.findings import Findings

RULES: Final[tuple[LogRule, ...]] = (
    errors.find_no_valid_schedule,
    build_facts.find_build_starvation,
    running.find_dead_workers,
    course.find_slow_task,
    course.find_unroll_bloat,
    running.find_contention,
    build_facts.find_build_timeouts,
    running.find_run_timeouts,
    errors.find_frequent_errors,
    running.find_noisy_costs,
    course.find_duplicates,
    errors.find_unread_lines,
    course.find_resumed,
    course.find_distilled,
)
"""Every rule; a new one has a line here."""

_WITHOUT_FAILURES: Final = (
    running.find_noisy_costs,
    course.find_duplicates,
    errors.find_unread_lines,
    course.find_resumed,
    course.find_distilled,
)


def find(evidence: LogEvidence) -> Findings:
    """Apply every rule to a log; failures that none of them explains are counted in one."""
    found = [finding for rule in RULES for finding in rule.findings(evidence)]
    others = {rule.name for rule in _WITHOUT_FAILURES}
    if all(finding.rule in others for finding in found):
        found += errors.find_few_failures.findings(evidence)
    return Findings(found)
