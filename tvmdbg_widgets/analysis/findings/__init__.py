"""Findings on a run, ranked: all rules and their application."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.delegate_clock import DELEGATE_CLOCK, DELEGATE_SUMS
from tvmdbg_widgets.analysis.findings.executorch.delegate_time import DELEGATE_EVENTS, DELEGATE_TIME
from tvmdbg_widgets.analysis.findings.executorch.events import LOAD_TIME, REPEATED_EVENTS, UNLOGGED
from tvmdbg_widgets.analysis.findings.executorch.kernels import ALGORITHMS, SPLITS
from tvmdbg_widgets.analysis.findings.executorch.mapping import DELEGATION, UNMAPPED_EVENTS, UNSEEN
from tvmdbg_widgets.analysis.findings.executorch.operators import DELEGATE_CONVERSIONS
from tvmdbg_widgets.analysis.findings.executorch.values import DEBUG_VALUES, REFERENCE_OUTPUTS
from tvmdbg_widgets.analysis.findings.files import (
    DISAGREEMENTS,
    FILES,
    JOINS,
    MISSING,
    NAMES,
    SCANNED,
)
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.findings.storage import (
    LOST_VALUES,
    OVERWRITTEN,
    STALE,
    STORAGE_IDS,
    UNUSED,
)
from tvmdbg_widgets.analysis.findings.times import MOVEMENT, NOISE, SLOWEST, WARM_UP, WORK
from tvmdbg_widgets.analysis.findings.values.channels import NARROW_CHANNELS
from tvmdbg_widgets.analysis.findings.values.constant import CONSTANT, DEAD_CHANNELS
from tvmdbg_widgets.analysis.findings.values.first_nonfinite import FIRST_NONFINITE
from tvmdbg_widgets.analysis.findings.values.odd_values import ODD_BOOLS, RANGES, REPEATED
from tvmdbg_widgets.analysis.findings.values.range_use import NARROW_RANGE, SATURATED
from tvmdbg_widgets.analysis.tensor_scan import Probe, Screen
from tvmdbg_widgets.model.findings import Findings

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
"""Every rule; a new one has a line here."""


def probes() -> dict[str, Probe]:
    """Return the tensor probes of all rules."""
    return {rule.name: rule.probe for rule in RULES if rule.probe is not None}


def screens() -> dict[str, Screen]:
    """Return the screens of probes for small tensors, by rule."""
    return {rule.name: rule.screen for rule in RULES if rule.screen is not None}


def find(evidence: RunEvidence) -> Findings:
    """Apply every rule to a run, as far as its tensors were scanned."""
    scanned = evidence.scanned
    return Findings(
        (finding for rule in RULES for finding in rule.findings(evidence)),
        complete=scanned.complete,
        scanned=scanned.done,
        to_scan=scanned.total,
    )
