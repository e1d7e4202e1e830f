"""Operators that compute again what another node has computed.

Nodes that call one function on the same entries in the same order, where both outputs have the
same shapes and dtypes and, as far as they were read, the same statistics. Random operators are
left out, and so is whatever stands behind an edge that is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.evidence import cut
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.numbers import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "repeated-work"
_RANDOM = frozenset({"uniform", "normal", "multinomial", "dropout", "threefry_generate"})


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of all repetitions."""
    graph = evidence.parts.graph
    if graph is None:
        return
    called: dict[object, list[int]] = {}
    for node in graph.nodes:
        if node.kind is not NodeKind.OPERATOR or not node.func_name:
            continue
        reads = evidence.reads(node.id)
        if not reads or not all(read.sure for read in reads):
            continue
        if _RANDOM & set(evidence.operator_parts(node.id)):
            continue
        key = (
            node.func_name,
            tuple(read.entry for read in reads),
            node.shapes,
            node.dtypes,
            tuple(_values(evidence, (node.id, output)) for output in range(node.num_outputs)),
            tuple(sorted((k, str(v)) for k, v in node.attrs.items())),
        )
        called.setdefault(key, []).append(node.id)
    groups = [nodes for nodes in called.values() if len(nodes) > 1]
    again = [node for nodes in groups for node in nodes[1:]]
    if not again:
        return
    share = float(evidence.shares[again].sum()) if len(evidence.shares) else 0.0
    told = f"; they take {percent(share)} of the time" if share else ""
    if len(again) == 1:
        told = told.replace("they take", "it takes")
    read = all((node, 0) in evidence.statistics for nodes in groups for node in nodes)
    yield Finding(
        NAME,
        Kind.COST,
        f"{counted(len(again), 'operator')} {'computes' if len(again) == 1 else 'compute'} again "
        f"what an earlier one has{told}",
        cut([f"{evidence.list(nodes)}: the same function of the same entries" for nodes in groups]),
        Certainty.CERTAIN if read else Certainty.LIKELY,
        "same function, same entries, same statistics of the outputs"
        if read
        else "same function and same entries; the outputs were not compared",
        tuple(node for nodes in groups for node in nodes),
        (),
        "Let the compiler merge them (EliminateCommonSubexpr).",
        share,
    )


def _values(evidence: Evidence, entry: tuple[int, int]) -> object:
    found = evidence.statistics.get(entry)
    if found is None:
        return None
    bounds = str(found.minimum), str(found.maximum)
    return found.size, found.nan, found.zero, *bounds, str(found.mean), str(found.std)


RULE = Rule(NAME, find)
