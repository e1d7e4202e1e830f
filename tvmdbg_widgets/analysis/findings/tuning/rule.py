"""What a rule on tuning logs is."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Premise

_FEW = 0.01


class LogBasis(enum.Enum):
    """What findings of a rule rest on.

    ``LINES``: the lines that were read, and no others. ``SHARES``: that those not read are too few
    to change a share. ``EVERY``: that every line was read.
    """

    LINES = "lines"
    SHARES = "shares"
    EVERY = "every line"


@dataclass(frozen=True)
class LogRule:
    """One kind of statement about a tuning log."""

    name: str
    find: Callable[[LogEvidence], Iterable[Finding]]
    rests_on: LogBasis

    def findings(self, evidence: LogEvidence) -> Iterator[Finding]:
        """Yield the findings, each no surer than its weakest premise."""
        doubts = list(self._doubts(evidence))
        for each in self.find(evidence):
            yield each.resting_on(doubts)

    def _doubts(self, evidence: LogEvidence) -> Iterator[Premise]:
        parts = evidence.parts
        unread = parts.num_refused + sum(parts.undecoded.values())
        few = 0.0 if self.rests_on is LogBasis.EVERY else _FEW * len(parts.trials)
        if self.rests_on is not LogBasis.LINES and unread > few:
            yield Premise(Confidence.MEDIUM, f"{counted(unread, 'line')} could not be read")
