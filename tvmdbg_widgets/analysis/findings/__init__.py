"""Findings on a run, ranked: all rules and their application."""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.delegate_clock import (
    find_delegate_clock,
    find_delegate_sums,
)
from tvmdbg_widgets.analysis.findings.executorch.delegate_time import (
    find_delegate_events,
    find_delegate_time,
)
from tvmdbg_widgets.analysis.findings.executorch.events import (
    find_load_time,
    find_repeated_events,
    find_unlogged,
)
from tvmdbg_widgets.analysis.findings.executorch.kernels import find_algorithms, find_splits
from tvmdbg_widgets.analysis.findings.executorch.mapping import (
    find_delegation,
    find_unmapped,
    find_unseen,
)
from tvmdbg_widgets.analysis.findings.executorch.not_delegated import find_not_delegated
from tvmdbg_widgets.analysis.findings.executorch.operators import find_delegate_conversions
from tvmdbg_widgets.analysis.findings.executorch.values import (
    find_debug_values,
    find_reference_outputs,
)
from tvmdbg_widgets.analysis.findings.files import (
    find_disagreements,
    find_files,
    find_joins,
    find_missing,
    find_names,
    find_scanned,
)
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.findings.slow_twins import find_slow_twins
from tvmdbg_widgets.analysis.findings.storage import (
    find_lost_values,
    find_overwritten,
    find_stale,
    find_storage_ids,
    find_unused,
)
from tvmdbg_widgets.analysis.findings.times import (
    find_movement,
    find_noise,
    find_slowest,
    find_warm_up,
    find_work,
)
from tvmdbg_widgets.analysis.findings.values.channels import find_narrow_channels
from tvmdbg_widgets.analysis.findings.values.constant import find_constant, find_dead_channels
from tvmdbg_widgets.analysis.findings.values.first_nonfinite import find_first_nonfinite
from tvmdbg_widgets.analysis.findings.values.odd_values import (
    find_odd_bools,
    find_ranges,
    find_repeated,
)
from tvmdbg_widgets.analysis.findings.values.range_use import find_narrow_range, find_saturated
from tvmdbg_widgets.analysis.tensor_scan import Probe, Screen
from tvmdbg_widgets.model.findings import Findings

RULES: Final[tuple[Rule, ...]] = (
    find_first_nonfinite,
    find_files,
    find_disagreements,
    find_stale,
    find_overwritten,
    find_lost_values,
    find_storage_ids,
    find_missing,
    find_joins,
    find_names,
    find_odd_bools,
    find_constant,
    find_saturated,
    find_narrow_range,
    find_narrow_channels,
    find_dead_channels,
    find_ranges,
    find_warm_up,
    find_noise,
    find_slowest,
    find_slow_twins,
    find_work,
    find_movement,
    find_unused,
    find_repeated,
    find_scanned,
    find_delegation,
    find_delegate_time,
    find_delegate_events,
    find_delegate_conversions,
    find_algorithms,
    find_splits,
    find_not_delegated,
    find_unmapped,
    find_unseen,
    find_delegate_clock,
    find_delegate_sums,
    find_repeated_events,
    find_debug_values,
    find_unlogged,
    find_reference_outputs,
    find_load_time,
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
