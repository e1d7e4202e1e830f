"""Findings on a tuning log, ranked: all rules and their application."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.tuning.build_facts import (
    find_build_starvation,
    find_build_timeouts,
)
from tvmdbg_widgets.analysis.findings.tuning.course import (
    find_distilled,
    find_duplicates,
    find_resumed,
    find_slow_task,
    find_unroll_bloat,
)
from tvmdbg_widgets.analysis.findings.tuning.errors import (
    find_frequent_errors,
    find_no_valid_schedule,
    find_unread_lines,
)
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence, LogRule
from tvmdbg_widgets.analysis.findings.tuning.running import (
    find_contention,
    find_dead_workers,
    find_noisy_costs,
    find_run_timeouts,
)
from tvmdbg_widgets.model.findings import Findings

RULES: Final[tuple[LogRule, ...]] = (
    find_no_valid_schedule,
    find_build_starvation,
    find_dead_workers,
    find_slow_task,
    find_unroll_bloat,
    find_contention,
    find_build_timeouts,
    find_run_timeouts,
    find_frequent_errors,
    find_noisy_costs,
    find_duplicates,
    find_unread_lines,
    find_resumed,
    find_distilled,
)
"""Every rule; a new one has a line here."""


def find(evidence: LogEvidence) -> Findings:
    """Apply every rule to a log."""
    return Findings(finding for rule in RULES for finding in rule.findings(evidence))
