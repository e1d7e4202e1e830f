"""Operators that no delegate took and that split what a backend could run in one call.

They lie on a path from one call of a backend to another one of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import by_backend
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.findings.executorch.recorded import Call
    from tvmdbg_widgets.model.graph.graph import Graph

NAME = "delegate-splits"
_NAMED = 2


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding a backend."""
    recorded, graph = evidence.recorded, evidence.parts.graph
    if recorded is None or graph is None:
        return
    taken = {node for call in recorded.delegated for node in call.nodes}
    for backend, calls in by_backend(recorded.delegated).items():
        own = {node for call in calls for node in call.nodes}
        between = graph.descendants(own) & graph.ancestors(own) - taken
        nodes = sorted(node for node in between if evidence.is_operator(node))
        apart = _split(graph, calls, nodes)
        if nodes and len(apart) > 1:
            yield _finding(evidence, backend, apart, nodes)


def _split(graph: Graph, calls: list[Call], between: list[int]) -> list[Call]:
    """Return the calls that come before or behind some operators."""
    reached = graph.descendants(between) | graph.ancestors(between)
    return [call for call in calls if reached & set(call.nodes)]


def _finding(evidence: Evidence, backend: str, calls: list[Call], nodes: list[int]) -> Finding:
    share = float(evidence.shares[nodes].sum()) if len(evidence.shares) else 0.0
    graph = evidence.parts.graph
    unsure = graph is not None and bool(np.any(graph.edge_trust >= Trust.AMBIGUOUS))
    facts = [f"{evidence.name(node)}{_share(evidence, node)}" for node in nodes]
    facts += [evidence.call_name(call) for call in calls]
    return Finding(
        NAME,
        Severity.HOTSPOT,
        f"{evidence.list(nodes, _NAMED)} {agree(len(nodes), 'splits')} {backend} "
        f"into {counted(len(calls), 'call')}",
        cut(facts),
        Confidence.MEDIUM if unsure else Confidence.HIGH,
        "no delegate took these operators, and they lie on a path from one call to another"
        + ("; some edges of the graph are ambiguous" if unsure else ""),
        tuple(nodes),
        (),
        f"Check why the partitioner of {backend} left {agree(len(nodes), 'it', 'them')} out: "
        "each call more passes its tensors through the runtime.",
        share / 2,
    )


def _share(evidence: Evidence, node: int) -> str:
    share = float(evidence.shares[node]) if len(evidence.shares) else 0.0
    return f": {percent(share)} of the time" if share else ""


RULE = Rule(NAME, find, Basis.ALL_EDGES)
