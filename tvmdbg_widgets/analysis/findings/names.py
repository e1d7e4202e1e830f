"""Nodes that share a name, and tensors lost by that (TVM v0.8 writes one tensor a name)."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

NAMES_NAME = "duplicate-names"


def find_names(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding: a doubt where tensors were lost, else a note."""
    graph = evidence.parts.graph
    if graph is None or len(set(graph.names.unique)) == graph.num_nodes:
        return
    named: dict[str, list[int]] = {}
    for node, name in enumerate(graph.names):
        named.setdefault(name, []).append(node)
    groups = [nodes for nodes in named.values() if len(nodes) > 1]
    if not groups:
        return
    lost = tuple(node for i in evidence.of_rules("tensor-overwritten") for node in i.nodes)
    facts = [
        f"{evidence.short_name(nodes[0])}: "
        + ", ".join(f"#{node}" for node in nodes[:5])
        + (f" and {len(nodes) - 5:,} more" if len(nodes) > 5 else "")
        for nodes in groups
    ]
    shared = sum(map(len, groups))
    if lost:
        told = (
            f"; the tensors of {counted(len(lost), 'node')} {agree(len(lost), 'was')} lost "
            "because of it"
        )
        facts.insert(0, f"no tensor: {evidence.list(lost)}")
    else:
        told = "; their ids tell them apart"
    yield Finding(
        NAMES_NAME,
        Severity.WARNING if lost else Severity.INFO,
        f"{counted(shared, 'node')} share {counted(len(groups), 'name')}{told}",
        cut(facts),
        Confidence.HIGH,
        "the graph file lists every name"
        + (", and TVM v0.8 keeps the last tensor of a name" if lost else ""),
        tuple(node for nodes in groups for node in nodes),
        (),
        "Refer to these nodes by id. In the model, give each layer a unique name.",
        0.8 if lost else 0.5,
    )


NAMES = Rule(NAMES_NAME, find_names, Basis.FILES)
