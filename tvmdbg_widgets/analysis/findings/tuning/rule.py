"""What a rule on tuning logs is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
    from tvmdbg_widgets.model.verdicts.findings import Finding


@dataclass(frozen=True)
class LogRule:
    """One kind of statement about a tuning log.

    Attributes
    ----------
    name : str
        Kebab-case, stable between releases; what ``Finding.rule`` says.
    find : callable
        Makes the findings from the evidence.
    """

    name: str
    find: Callable[[LogEvidence], Iterable[Finding]]
