"""How much of a program went to delegates, and what did not, as ExecuTorch counted it."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.recorded import shortened
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DELEGATION_NAME = "delegation"
_SHOWN = 8


def find_delegation(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of the counts."""
    files = evidence.parts.executorch
    info = files.delegation if files is not None else None
    if info is None or info.delegated is None:
        return
    left = info.left_out()
    facts = [f"{shortened(name)}: {count:,} not delegated" for name, count in left.items()][:_SHOWN]
    if len(left) > _SHOWN:
        facts.append(f"{counted(len(left) - _SHOWN, 'operator')} more in run.delegation.left_out()")
    first = next(iter(left), "")
    yield Finding(
        DELEGATION_NAME,
        Severity.INFO,
        f"{info.title}" + (f"; left out most: {shortened(first)}" if first else ""),
        tuple(facts),
        Confidence.HIGH if info.complete else Confidence.MEDIUM,
        "ExecuTorch counted the nodes after partitioning"
        + ("" if info.complete else "; the table of operators is not whole"),
        (),
        (),
        "Ask the partitioner why it left these operators to the portable kernels."
        if left
        else "Nothing is left to delegate.",
        0.3,
    )


DELEGATION = Rule(DELEGATION_NAME, find_delegation, Basis.FILES)
