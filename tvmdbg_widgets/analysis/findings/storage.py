"""Rules on memory and stale tensors: overwritten values, storage ids, unused work."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut, nodes_of
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.analysis.memory.lifetimes import Credibility
from tvmdbg_widgets.analysis.memory.sentences import loss_text, meaningless
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity


@rule("overwritten", Basis.SLOTS)
def find_overwritten(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all overwritten entries."""
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


@rule("lost-values", Basis.SLOTS)
def find_lost_values(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all lost entries, where nodes run by id and slots are a plan."""
    plan = evidence.plan
    if plan is None or not plan.losses or bool((np.diff(plan.order) < 0).any()):
        return
    if plan.credibility is Credibility.MEANINGLESS:
        return
    entries = tuple(loss.entry for loss in plan.losses)
    number = f"{counted(len(entries), 'output')} {agree(len(entries), 'is')}"
    both = [node for loss in plan.losses for node in (loss.writer, loss.reader)]
    others = [node for node in both if node >= 0]
    shared = "the same storage_id" if plan.ranges is None else "the same bytes of a buffer"
    yield Finding(
        Severity.ERROR,
        f"{number} overwritten before {agree(len(entries), 'its')} last consumer ran: "
        f"{loss_text(plan, plan.losses[0])}",
        cut([loss_text(plan, loss) for loss in plan.losses]),
        Confidence.HIGH,
        f"the graph gives both {shared}, and nodes run in order",
        tuple(dict.fromkeys([*(entry.node for entry in entries), *others])),
        entries,
        "See run.memory_plan(): the memory planner reused a slot that was still in use.",
        1.0,
    )


@rule("stale-tensors", Basis.FILES)
def find_stale(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding where the tables show several runs."""
    issues = evidence.of_rules("stale-tensors", "tables-disagree")
    if not issues:
        return
    certain = any(issue.rule == "stale-tensors" for issue in issues)
    yield Finding(
        Severity.WARNING,
        "run() was called more than once: tensors are from the first run, times from the last",
        cut([one_line(issue.message) for issue in issues]),
        Confidence.HIGH if certain else Confidence.MEDIUM,
        "one log holds several tables"
        if certain
        else "this dump has tables with different times; they may also be from different modules",
        next_step="Create a new GraphModuleDebug with its own dump folder for each run.",
        weight=1.0,
    )


@rule("storage-ids", Basis.FILES)
def find_storage_ids(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding that replaces those on lost values."""
    plan = evidence.plan
    if plan is None or plan.credibility is not Credibility.MEANINGLESS:
        return
    yield Finding(
        Severity.WARNING,
        meaningless(plan),
        cut([loss_text(plan, loss) for loss in plan.losses], 3),
        Confidence.MEDIUM,
        "a memory planner reuses the slot of an output that is no longer read",
        next_step="Open the graph as the compiler wrote it: open(…, graph=lib.get_graph_json()). "
        "Sums of memory mean nothing here.",
        weight=0.5,
    )


@rule("unused-work", Basis.ALL_EDGES)
def find_unused(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all unused operators."""
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
    share_words = f" ({percent(share)} of the time)" if share else ""
    verb = agree(len(nodes), "is")
    yield Finding(
        Severity.HOTSPOT,
        f"{counted(len(nodes), 'operator')} {verb} unused: no graph output depends on "
        f"{agree(len(nodes), 'it', 'them')}{share_words}",
        (evidence.list(nodes, 10),),
        Confidence.HIGH,
        "every edge of the graph is known",
        tuple(nodes),
        next_step="Remove it from the model, or return its result."
        if evidence.of_executorch
        else "Remove at compile time (DeadCodeElimination), or make the result a graph output.",
        weight=share,
    )
