"""Entries that were read after a later node had written to their buffer (TVM v0.6, v0.7)."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

OVERWRITTEN_NAME = "overwritten"


def find_overwritten(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all such entries."""
    lost, tensors, graph = evidence.overwritten, evidence.parts.tensors, evidence.parts.graph
    if not lost or tensors is None or graph is None:
        return
    entries = tuple(sorted(lost))
    computed = sum(evidence.is_operator(node) for node, _ in tensors)
    facts = [
        f"{evidence.entry_name(entry)}: overwritten by {evidence.name(lost[entry])}"
        for entry in entries
    ]
    number = f"{counted(len(entries), 'tensor')} {agree(len(entries), 'is')}"
    yield Finding(
        OVERWRITTEN_NAME,
        Severity.WARNING,
        f"{number} overwritten: {len(entries):,} of {counted(computed, 'output')} "
        f"{agree(len(entries), 'was')} captured after the buffer was reused",
        cut(facts),
        Confidence.HIGH,
        "the graph gives a later node the same storage_id, and TVM v0.6 and v0.7 capture tensors "
        "after the whole run",
        nodes_of(entries),
        entries,
        "Ignore these values. Dump with TVM v0.8 or later, or give each output its own storage_id "
        "before the run.",
        0.9,
    )


OVERWRITTEN = Rule(OVERWRITTEN_NAME, find_overwritten, Basis.SLOTS)
