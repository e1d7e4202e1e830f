"""Findings on a tuning log, ranked: all rules and their application."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.tuning.build_facts import BUILD_STARVATION, BUILD_TIMEOUTS
from tvmdbg_widgets.analysis.findings.tuning.course import (
    DISTILLED,
    DUPLICATES,
    RESUMED,
    SLOW_TASK,
    UNROLL_BLOAT,
)
from tvmdbg_widgets.analysis.findings.tuning.errors import (
    FREQUENT_ERRORS,
    NO_VALID_SCHEDULE,
    UNREAD_LINES,
)
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence, LogRule
from tvmdbg_widgets.analysis.findings.tuning.running import (
    CONTENTION,
    DEAD_WORKERS,
    NOISY_COSTS,
    RUN_TIMEOUTS,
)
from tvmdbg_widgets.model.findings import Findings

RULES: Final[tuple[LogRule, ...]] = (
    NO_VALID_SCHEDULE,
    BUILD_STARVATION,
    DEAD_WORKERS,
    SLOW_TASK,
    UNROLL_BLOAT,
    CONTENTION,
    BUILD_TIMEOUTS,
    RUN_TIMEOUTS,
    FREQUENT_ERRORS,
    NOISY_COSTS,
    DUPLICATES,
    UNREAD_LINES,
    RESUMED,
    DISTILLED,
)
"""Every rule; a new one has a line here."""


def find(evidence: LogEvidence) -> Findings:
    """Apply every rule to a log."""
    return Findings(finding for rule in RULES for finding in rule.findings(evidence))
