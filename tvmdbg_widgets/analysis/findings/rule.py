"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis, premises
from tvmdbg_widgets.analysis.scan.tensor_scan import Probe, Screen
from tvmdbg_widgets.model.verdicts.findings import Finding


@dataclass(frozen=True)
class Rule:
    """One kind of statement about a run."""

    name: str
    find: Callable[[RunEvidence], Iterable[Finding]]
    rests_on: Basis
    probe: Probe | None = None
    screen: Screen | None = None

    def findings(self, evidence: RunEvidence) -> Iterator[Finding]:
        """Yield the findings, each no surer than its weakest premise."""
        for each in self.find(evidence):
            yield each.resting_on(premises(self.rests_on, evidence, each))
