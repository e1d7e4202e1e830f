"""Ranked statements about a run: one file a rule, one line a rule below."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.disagreements import DISAGREEMENTS
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.algorithms import ALGORITHMS
from tvmdbg_widgets.analysis.findings.executorch.debug_values import DEBUG_VALUES
from tvmdbg_widgets.analysis.findings.executorch.delegate_clock import DELEGATE_CLOCK
from tvmdbg_widgets.analysis.findings.executorch.delegate_conversions import DELEGATE_CONVERSIONS
from tvmdbg_widgets.analysis.findings.executorch.delegate_events import DELEGATE_EVENTS
from tvmdbg_widgets.analysis.findings.executorch.delegate_sums import DELEGATE_SUMS
from tvmdbg_widgets.analysis.findings.executorch.delegate_time import DELEGATE_TIME
from tvmdbg_widgets.analysis.findings.executorch.delegation import DELEGATION
from tvmdbg_widgets.analysis.findings.executorch.load_time import LOAD_TIME
from tvmdbg_widgets.analysis.findings.executorch.reference_outputs import REFERENCE_OUTPUTS
from tvmdbg_widgets.analysis.findings.executorch.repeated_events import REPEATED_EVENTS
from tvmdbg_widgets.analysis.findings.executorch.splits import SPLITS
from tvmdbg_widgets.analysis.findings.executorch.unlogged import UNLOGGED
from tvmdbg_widgets.analysis.findings.executorch.unmapped import UNMAPPED_EVENTS
from tvmdbg_widgets.analysis.findings.executorch.unseen import UNSEEN
from tvmdbg_widgets.analysis.findings.files import FILES
from tvmdbg_widgets.analysis.findings.joins import JOINS
from tvmdbg_widgets.analysis.findings.lost_values import LOST_VALUES
from tvmdbg_widgets.analysis.findings.missing import MISSING
from tvmdbg_widgets.analysis.findings.movement import MOVEMENT
from tvmdbg_widgets.analysis.findings.names import NAMES
from tvmdbg_widgets.analysis.findings.noise import NOISE
from tvmdbg_widgets.analysis.findings.overwritten import OVERWRITTEN
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.findings.scanned import SCANNED
from tvmdbg_widgets.analysis.findings.slowest import SLOWEST
from tvmdbg_widgets.analysis.findings.stale import STALE
from tvmdbg_widgets.analysis.findings.storage_ids import STORAGE_IDS
from tvmdbg_widgets.analysis.findings.unused import UNUSED
from tvmdbg_widgets.analysis.findings.values.constant import CONSTANT
from tvmdbg_widgets.analysis.findings.values.dead_channels import DEAD_CHANNELS
from tvmdbg_widgets.analysis.findings.values.first_nonfinite import FIRST_NONFINITE
from tvmdbg_widgets.analysis.findings.values.narrow_channels import NARROW_CHANNELS
from tvmdbg_widgets.analysis.findings.values.narrow_range import NARROW_RANGE
from tvmdbg_widgets.analysis.findings.values.odd_bools import ODD_BOOLS
from tvmdbg_widgets.analysis.findings.values.ranges import RANGES
from tvmdbg_widgets.analysis.findings.values.repeated import REPEATED
from tvmdbg_widgets.analysis.findings.values.saturated import SATURATED
from tvmdbg_widgets.analysis.findings.warm_up import WARM_UP
from tvmdbg_widgets.analysis.findings.work import WORK
from tvmdbg_widgets.analysis.scan.tensor_scan import Probe, Screen
from tvmdbg_widgets.model.verdicts.findings import Findings

RULES: Final[tuple[Rule, ...]] = (
    FIRST_NONFINITE,
    FILES,
    DISAGREEMENTS,
    STALE,
    OVERWRITTEN,
    LOST_VALUES,
    STORAGE_IDS,
    MISSING,
    JOINS,
    NAMES,
    ODD_BOOLS,
    CONSTANT,
    SATURATED,
    NARROW_RANGE,
    NARROW_CHANNELS,
    DEAD_CHANNELS,
    RANGES,
    WARM_UP,
    NOISE,
    SLOWEST,
    WORK,
    MOVEMENT,
    UNUSED,
    REPEATED,
    SCANNED,
    DELEGATION,
    DELEGATE_TIME,
    DELEGATE_EVENTS,
    DELEGATE_CONVERSIONS,
    ALGORITHMS,
    SPLITS,
    UNMAPPED_EVENTS,
    UNSEEN,
    DELEGATE_CLOCK,
    DELEGATE_SUMS,
    REPEATED_EVENTS,
    DEBUG_VALUES,
    UNLOGGED,
    REFERENCE_OUTPUTS,
    LOAD_TIME,
)
"""Every rule; a new one is a file with a ``RULE`` and a line here."""


def probes() -> dict[str, Probe]:
    """Return what the rules read of each tensor, by rule."""
    return {rule.name: rule.probe for rule in RULES if rule.probe is not None}


def screens() -> dict[str, Screen]:
    """Return which of many small tensors these are read of, by rule."""
    return {rule.name: rule.screen for rule in RULES if rule.screen is not None}


def find(evidence: RunEvidence) -> Findings:
    """Apply every rule to a run as far as its tensors were scanned."""
    scanned = evidence.scanned
    return Findings(
        (finding for rule in RULES for finding in rule.findings(evidence)),
        complete=scanned.complete,
        scanned=scanned.done,
        to_scan=scanned.total,
    )
