"""Ranked statements about a tuning log: one file a rule, one line a rule below."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.tuning.build_starvation import BUILD_STARVATION
from tvmdbg_widgets.analysis.findings.tuning.build_timeouts import BUILD_TIMEOUTS
from tvmdbg_widgets.analysis.findings.tuning.contention import CONTENTION
from tvmdbg_widgets.analysis.findings.tuning.dead_workers import DEAD_WORKERS
from tvmdbg_widgets.analysis.findings.tuning.distilled import DISTILLED
from tvmdbg_widgets.analysis.findings.tuning.duplicates import DUPLICATES
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.frequent_errors import FREQUENT_ERRORS
from tvmdbg_widgets.analysis.findings.tuning.no_valid_schedule import NO_VALID_SCHEDULE
from tvmdbg_widgets.analysis.findings.tuning.noisy_costs import NOISY_COSTS
from tvmdbg_widgets.analysis.findings.tuning.resumed import RESUMED
from tvmdbg_widgets.analysis.findings.tuning.rule import LogRule
from tvmdbg_widgets.analysis.findings.tuning.run_timeouts import RUN_TIMEOUTS
from tvmdbg_widgets.analysis.findings.tuning.slow_task import SLOW_TASK
from tvmdbg_widgets.analysis.findings.tuning.unread_lines import UNREAD_LINES
from tvmdbg_widgets.analysis.findings.tuning.unroll_bloat import UNROLL_BLOAT
from tvmdbg_widgets.model.verdicts.findings import Findings

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
"""Every rule; a new one is a file with a ``RULE`` and a line here."""


def find(evidence: LogEvidence) -> Findings:
    """Apply every rule to a log."""
    return Findings(finding for rule in RULES for finding in rule.findings(evidence))
