"""Ranked statements about a run: one file a rule, one line a rule below."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from tvmdbg_widgets.analysis.findings.evidence import Evidence
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.scan.tensor_scan import Probe, Screen
from tvmdbg_widgets.model.verdicts.findings import Findings


def _rule(module: str) -> Rule:
    found: Rule = import_module(f"{__name__}.{module}").RULE
    return found


RULES: Final[tuple[Rule, ...]] = (
    _rule("values.first_nonfinite"),
    _rule("files"),
    _rule("disagreements"),
    _rule("stale"),
    _rule("overwritten"),
    _rule("lost_values"),
    _rule("storage_ids"),
    _rule("missing"),
    _rule("joins"),
    _rule("names"),
    _rule("values.odd_bools"),
    _rule("values.constant"),
    _rule("values.saturated"),
    _rule("values.narrow_range"),
    _rule("values.narrow_channels"),
    _rule("values.dead_channels"),
    _rule("values.ranges"),
    _rule("warm_up"),
    _rule("noise"),
    _rule("slowest"),
    _rule("work"),
    _rule("movement"),
    _rule("unused"),
    _rule("values.repeated"),
    _rule("scanned"),
    _rule("executorch.delegation"),
    _rule("executorch.delegate_time"),
    _rule("executorch.delegate_events"),
    _rule("executorch.delegate_conversions"),
    _rule("executorch.algorithms"),
    _rule("executorch.splits"),
    _rule("executorch.unmapped"),
    _rule("executorch.unseen"),
    _rule("executorch.delegate_clock"),
    _rule("executorch.delegate_sums"),
    _rule("executorch.repeated_events"),
    _rule("executorch.debug_values"),
    _rule("executorch.unlogged"),
    _rule("executorch.reference_outputs"),
    _rule("executorch.load_time"),
)
"""Every rule; a new one is a file with a ``RULE`` and a line here."""


def probes() -> dict[str, Probe]:
    """Return what the rules read of each tensor, by rule."""
    return {rule.name: rule.probe for rule in RULES if rule.probe is not None}


def screens() -> dict[str, Screen]:
    """Return which of many small tensors these are read of, by rule."""
    return {rule.name: rule.screen for rule in RULES if rule.screen is not None}


def find(evidence: Evidence) -> Findings:
    """Apply every rule to a run as far as its tensors were scanned."""
    scanned = evidence.scanned
    return Findings(
        (finding for rule in RULES for finding in rule.findings(evidence)),
        complete=scanned.complete,
        scanned=scanned.done,
        to_scan=scanned.total,
    )
