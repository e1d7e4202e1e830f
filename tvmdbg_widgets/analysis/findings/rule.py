"""Rules on runs, and premises that limit the confidence of findings."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.memory.lifetimes import Credibility
from tvmdbg_widgets.analysis.tensor_scan import Probe, Screen
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.findings import Confidence, Finding, Premise
from tvmdbg_widgets.model.graph.nodes import NodeKind, roles_text


class Basis(enum.Flag):
    """Premises of a rule beside the files' literal content, which alone is ``FILES``."""

    FILES = 0
    TENSORS = enum.auto()
    ALL_TENSORS = enum.auto()
    EDGES = enum.auto()
    ALL_EDGES = enum.auto()
    ROLES = enum.auto()
    TIMES = enum.auto()
    SLOTS = enum.auto()


@dataclass(frozen=True)
class Rule:
    """One kind of finding."""

    name: str
    find: Callable[[RunEvidence], Iterable[Finding]]
    rests_on: Basis
    probe: Probe | None = None
    screen: Screen | None = None

    def findings(self, evidence: RunEvidence) -> Iterator[Finding]:
        """Yield the findings, none surer than its weakest premise."""
        for finding in self.find(evidence):
            named = replace(finding, rule=self.name)
            yield named.resting_on(premises(self.rests_on, evidence, finding))


def rule(
    name: str, rests_on: Basis, probe: Probe | None = None, screen: Screen | None = None
) -> Callable[[Callable[[RunEvidence], Iterable[Finding]]], Rule]:
    """Make a function that yields findings a rule."""
    return lambda find: Rule(name, find, rests_on, probe, screen)


def premises(rests_on: Basis, evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    """Yield doubts about a finding's premises."""
    for basis in rests_on:
        yield from _DOUBTS[basis](evidence, finding)


def _tensors(evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    entries = finding.entries or tuple((node, 0) for node in finding.nodes)
    yield from tensor_doubts(evidence, entries)


def _all_tensors(evidence: RunEvidence, _finding: Finding) -> Iterator[Premise]:
    yield from tensor_doubts(evidence, tuple(evidence.tensors))


def tensor_doubts(evidence: RunEvidence, entries: tuple[tuple[int, int], ...]) -> Iterator[Premise]:
    """Yield doubts about the tensors of some entries."""
    tensors = evidence.tensors
    joined = [tensors[entry] for entry in entries if entry in tensors]
    if not joined:
        return
    confidence, why = evidence.joined(entries)
    if confidence is not Confidence.HIGH:
        yield Premise(confidence, why)
    if evidence.of_rules("stale-tensors", "tables-disagree"):
        why = "the module ran more than once, and the tensors may be of another run"
        yield Premise(Confidence.MEDIUM, why)
    if any(not tensor.record.complete for tensor in joined):
        yield Premise(Confidence.MEDIUM, "some of these tensors are only partly in the file")


def _edges(evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    yield from edge_doubts(evidence, finding.nodes)


def edge_doubts(evidence: RunEvidence, nodes: tuple[int, ...]) -> Iterator[Premise]:
    """Yield doubts about the edges into some nodes."""
    graph = evidence.parts.graph
    if graph is None:
        return
    own = np.isin(graph.edge_target, np.array(nodes, np.int64))
    yield from _trusted(graph.edge_trust[own])
    yield from _reader_doubts(evidence, nodes)


def _all_edges(evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    graph = evidence.parts.graph
    if graph is None:
        return
    yield from _trusted(graph.edge_trust)
    yield from _reader_doubts(evidence, (*finding.nodes, *graph.heads[:, 0].tolist()))


def _trusted(trust: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Iterator[Premise]:
    for grade, how in ((Trust.BY_ORDER, "by order"), (Trust.BY_NAME, "by name")):
        if (trust == grade).any():
            yield Premise(Confidence.MEDIUM, f"some edges of these nodes are matched {how}")
    if (trust >= Trust.AMBIGUOUS).any():
        yield Premise(Confidence.MEDIUM, "some edges of these nodes are ambiguous or not known")


def _reader_doubts(evidence: RunEvidence, nodes: tuple[int, ...]) -> Iterator[Premise]:
    graph = evidence.parts.graph
    if graph is None:
        return
    known = (graph.attrs[node] for node in nodes if 0 <= node < graph.num_nodes)
    doubts = dict.fromkeys(str(fields["uncertain"]) for fields in known if fields.get("uncertain"))
    if doubts:
        yield Premise(Confidence.LOW, f"these nodes are uncertain: {', '.join(doubts)}")


def _roles(evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    graph = evidence.parts.graph
    if graph is None or not roles_text(graph):
        return
    nodes = [node for node in finding.nodes if 0 <= node < graph.num_nodes]
    bases = {
        graph.nodes[node].role_basis for node in nodes if graph.kinds[node] <= NodeKind.PARAMETER
    }
    doubtful = sorted(bases & {"structure", "name", "unknown"})
    if doubtful:
        known = " and ".join(basis for basis in doubtful if basis != "unknown")
        how = f"only {known} distinguishes them" if known else "nothing distinguishes them"
        why = f"no params file lists the parameters among the inputs; {how}"
        yield Premise(Confidence.MEDIUM, why)


def _times(evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    timeline = evidence.parts.timeline
    if timeline is None:
        return
    known = [node for node in finding.nodes if 0 <= node < len(timeline.node_trust)]
    if (timeline.node_trust[known] == Trust.AMBIGUOUS).any():
        yield Premise(Confidence.MEDIUM, "some of these times are matched ambiguously")
    if evidence.inflated:
        yield Premise(Confidence.MEDIUM, evidence.inflated.removeprefix("; "))


def _slots(evidence: RunEvidence, finding: Finding) -> Iterator[Premise]:
    plan = evidence.plan
    if plan is None:
        return
    if plan.credibility is Credibility.MEANINGLESS:
        yield Premise(Confidence.LOW, "storage_id says nothing about memory in this graph")
    elif plan.credibility is Credibility.UNCONFIRMED:
        why = "too few outputs of this graph reuse a slot to confirm its storage ids"
        yield Premise(Confidence.MEDIUM, why)
    yield from _edges(evidence, finding)


_DOUBTS: Final[dict[Basis, Callable[[RunEvidence, Finding], Iterator[Premise]]]] = {
    Basis.TENSORS: _tensors,
    Basis.ALL_TENSORS: _all_tensors,
    Basis.EDGES: _edges,
    Basis.ALL_EDGES: _all_edges,
    Basis.ROLES: _roles,
    Basis.TIMES: _times,
    Basis.SLOTS: _slots,
}
