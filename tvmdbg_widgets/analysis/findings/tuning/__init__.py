"""Ranked statements about a tuning log: one file a rule, one line a rule below."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogRule
from tvmdbg_widgets.model.verdicts.findings import Findings


def _rule(module: str) -> LogRule:
    found: LogRule = import_module(f"{__name__}.{module}").RULE
    return found


RULES: Final[tuple[LogRule, ...]] = (
    _rule("no_valid_schedule"),
    _rule("build_starvation"),
    _rule("dead_workers"),
    _rule("slow_task"),
    _rule("unroll_bloat"),
    _rule("contention"),
    _rule("build_timeouts"),
    _rule("run_timeouts"),
    _rule("frequent_errors"),
    _rule("noisy_costs"),
    _rule("duplicates"),
    _rule("unread_lines"),
    _rule("resumed"),
    _rule("distilled"),
)
"""Every rule; a new one is a file with a ``RULE`` and a line here."""


def find(evidence: LogEvidence) -> Findings:
    """Apply every rule to a log."""
    return Findings(finding for rule in RULES for finding in rule.findings(evidence))
