"""Operators that no output of the graph depends on.

Said only where every edge is known, since a missing edge would make a used node look unused, and
not of the instructions of a program, which also jump and change buffers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

UNUSED_NAME = "unused-work"


def find_unused(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all such operators."""
    graph = evidence.parts.graph
    if graph is None or graph.form == "program":
        return
    if not len(graph.heads) or np.any(graph.edge_trust >= Trust.AMBIGUOUS):
        return
    heads = [node for node in graph.heads[:, 0].tolist() if 0 <= node < graph.num_nodes]
    if len(heads) < len(graph.heads):
        return
    used = graph.ancestors(heads) | set(heads)
    nodes = [n for n in range(graph.num_nodes) if n not in used and evidence.is_operator(n)]
    if not nodes:
        return
    share = float(evidence.shares[nodes].sum()) if len(evidence.shares) else 0.0
    told = f" ({percent(share)} of the time)" if share else ""
    verb = agree(len(nodes), "is")
    yield Finding(
        UNUSED_NAME,
        Severity.HOTSPOT,
        f"{counted(len(nodes), 'operator')} {verb} unused: no graph output depends on "
        f"{agree(len(nodes), 'it', 'them')}{told}",
        (evidence.list(nodes, 10),),
        Confidence.HIGH,
        "every edge of the graph is known",
        tuple(nodes),
        (),
        "Remove it from the model, or return its result."
        if evidence.of_executorch
        else "Remove at compile time (DeadCodeElimination), or make the result a graph output.",
        share,
    )


UNUSED = Rule(UNUSED_NAME, find_unused, Basis.ALL_EDGES)
