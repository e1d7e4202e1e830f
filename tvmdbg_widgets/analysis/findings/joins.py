"""Edges, tensors and times that could belong to more than one place."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

JOINS_NAME = "ambiguous-joins"
_NEXT_EDGES = (
    "Open the dump with the graph that was given to TVM: open(…, graph=lib.get_graph_json())."
)
_OUTPUTS = "the dump names the producer, not which of its outputs"
_BRANCHES = "what was written last depends on the branches taken"
_ALIKE = "which of identical operators a delegate's operator came from is not recorded"
_NEXT_ALIKE = (
    "Read these times as those of any of the identical operators; only which of them is not known."
)
_NEXT = "Make sure that all files come from the same run; run.check() lists what does not match."


def find_joins(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all that is ambiguous."""
    facts, told = [], []
    several, edges, alike = 0, False, False
    nodes: dict[int, None] = {}
    graph, timeline = evidence.parts.graph, evidence.parts.timeline
    if graph is not None:
        unsure = np.flatnonzero(graph.edge_trust == Trust.AMBIGUOUS)
        if len(unsure):
            targets = list(dict.fromkeys(graph.edge_target[unsure].tolist()))
            told.append(counted(len(unsure), "edge"))
            several, edges = len(unsure), True
            facts.append(
                f"{counted(len(unsure), 'edge')} of {graph.num_edges:,} into "
                f"{evidence.list(targets)}: {_BRANCHES if evidence.of_executorch else _OUTPUTS}"
            )
            nodes |= dict.fromkeys(targets)
    entries = tuple(
        entry for entry, tensor in evidence.tensors.items() if tensor.trust is Trust.AMBIGUOUS
    )
    if entries:
        told.append(counted(len(entries), "tensor"))
        several += len(entries)
        facts.append(f"{counted(len(entries), 'tensor')}: {evidence.list(nodes_of(entries))}")
        nodes |= dict.fromkeys(nodes_of(entries))
    if timeline is not None and graph is not None:
        timed = np.flatnonzero(timeline.node_trust == Trust.AMBIGUOUS).tolist()
        if timed:
            told.append(counted(len(timed), "node time"))
            several += len(timed)
            alike = all("came from" in graph.attrs[node] for node in timed)
            why = f": {_ALIKE}" if alike else ""
            facts.append(f"times of {counted(len(timed), 'node')}: {evidence.list(timed)}{why}")
            nodes |= dict.fromkeys(timed)
    if not facts:
        return
    alike = alike and len(facts) == 1
    verb, place = agree(several, "is"), agree(several, "it belongs", "they belong")
    yield Finding(
        JOINS_NAME,
        Severity.INFO if alike else Severity.WARNING,
        f"{' and '.join(told)} {verb} ambiguous: these files do not say where {place}",
        tuple(facts),
        Confidence.HIGH,
        "names and order fit several places; none of these is used to trace NaN or Inf",
        tuple(nodes),
        entries,
        _NEXT_ALIKE if alike else _NEXT_EDGES if edges and not evidence.of_executorch else _NEXT,
        0.8,
    )


JOINS = Rule(JOINS_NAME, find_joins, Basis.FILES)
