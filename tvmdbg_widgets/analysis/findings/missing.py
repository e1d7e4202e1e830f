"""Operators without a tensor where others of the dump have theirs.

TVM's debugger stores every output of every node, so a gap is of what happened to the file since,
or of names that two nodes share, which has a rule of its own. Files of parameters alone, which
have no output of any operator, are no dumps and not judged. What ExecuTorch logs has a rule of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

MISSING_NAME = "missing-tensors"


def find_missing(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all outputs of operators that have no tensor."""
    graph, tensors = evidence.parts.graph, evidence.parts.tensors
    if graph is None or tensors is None or evidence.recorded is not None:
        return
    told = {node for issue in evidence.of_rules("tensor-overwritten") for node in issue.nodes}
    computed = np.flatnonzero(graph.kinds >= NodeKind.OPERATOR)
    widths = np.diff(graph.entry_offsets)[computed]
    outputs = [
        (node, output)
        for node, width in zip(computed.tolist(), widths.tolist(), strict=True)
        if node not in told
        for output in range(width)
    ]
    stored = set(tensors)
    entries = [entry for entry in outputs if entry not in stored]
    if not entries or (len(entries) == len(outputs) and len(tensors)):
        return
    first = evidence.entry_name(entries[0])
    counted_of = f"{len(entries):,} of {counted(len(outputs), 'operator output')}"
    yield Finding(
        MISSING_NAME,
        Severity.WARNING,
        f"{first} has no tensor in this dump{and_more(len(entries) - 1)}",
        cut([counted_of, *(evidence.entry_name(entry) for entry in entries[1:])]),
        Confidence.HIGH,
        "TVM's debugger stores every output; these are missing",
        nodes_of(entries),
        tuple(entries),
        "Copy the dump again; if the run was interrupted, let it finish.",
        0.65,
    )


MISSING = Rule(MISSING_NAME, find_missing, Basis.ALL_TENSORS)
