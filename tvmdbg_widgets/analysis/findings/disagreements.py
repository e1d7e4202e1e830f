"""Tensors whose shape or dtype is not what the graph says."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DISAGREEMENTS_NAME = "tensor-disagrees"


def find_disagreements(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all that disagree."""
    issues = sorted(
        evidence.of_rules(DISAGREEMENTS_NAME), key=lambda issue: (issue.entries, issue.nodes)
    )
    if not issues:
        return
    entries = tuple(dict.fromkeys(entry for issue in issues for entry in issue.entries))
    nodes = tuple(dict.fromkeys(node for issue in issues for node in issue.nodes))
    tensors = evidence.tensors
    exact = all(tensors[each].trust is Trust.EXACT for each in entries if each in tensors)
    first = evidence.entry_name(entries[0]) if entries else "a tensor"
    yield Finding(
        DISAGREEMENTS_NAME,
        Severity.ERROR,
        f"The tensor of {first} does not match the graph's shape or dtype"
        f"{and_more(len(entries) - 1)}",
        cut([one_line(issue.message) for issue in issues]),
        Confidence.HIGH if exact else Confidence.MEDIUM,
        "both files were read, and the key in the params file names the entry"
        if exact
        else "both files were read; tensors are matched to nodes by order or name",
        nodes,
        entries,
        "Make sure that graph and tensors come from the same run, and check the input shapes the "
        "module was compiled for.",
        1.0,
    )


DISAGREEMENTS = Rule(DISAGREEMENTS_NAME, find_disagreements, Basis.TENSORS)
