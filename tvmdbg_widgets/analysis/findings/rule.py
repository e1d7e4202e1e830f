"""What a rule is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.premises import Basis, premises

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.scan.tensor_scan import Probe, Screen
    from tvmdbg_widgets.model.verdicts.findings import Finding


@dataclass(frozen=True)
class Rule:
    """One kind of statement about a run.

    Attributes
    ----------
    name : str
        Kebab-case, stable between releases; what ``Finding.rule`` says.
    find : callable
        Makes the findings from the evidence.
    rests_on : Basis
        What its findings take for granted: none is surer than that.
    probe : callable or None
        What to read of each tensor beyond its statistics; its answers are ``evidence.probed``.
    screen : callable or None
        Tells from the columns of a batch of small tensors which of them the probe may have
        something to say of, so that it is not asked of the others; never fewer than those.
    """

    name: str
    find: Callable[[Evidence], Iterable[Finding]]
    rests_on: Basis
    probe: Probe | None = None
    screen: Screen | None = None

    def findings(self, evidence: Evidence) -> Iterator[Finding]:
        """Yield the findings, each no surer than its weakest premise."""
        for each in self.find(evidence):
            yield each.resting_on(premises(self.rests_on, evidence, each))
