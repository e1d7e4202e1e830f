"""Operators that compute again what another node has computed.

Nodes that call one function on the same entries in the same order, where both outputs have the
same shapes and dtypes and, as far as they were read, the same statistics. Random operators are
left out, and so is whatever stands behind an edge that is not known, and what a delegate compiles
its own way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

REPEATED_NAME = "repeated-work"
_RANDOM = frozenset({"uniform", "normal", "multinomial", "dropout", "threefry_generate"})
#: Attributes that tell where in a model an operator comes from, not what it does.
_WHERE = frozenset({"debug_handle", "module_type", "nn_module_stack", "stack_trace"})

#: Large odd numbers, so that sums of their products are rarely equal by chance.
_ODD = (0x1F3D5B79A1C4E685, 0x2545F4914F6CDD1D, 0x369DEA0F31A53F85, 0x4F1BBCDCBFA53E0B)


def find_repeated(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all repetitions."""
    graph = evidence.parts.graph
    if graph is None:
        return
    called: dict[object, list[int]] = {}
    for node in _alike(graph):
        view = graph.nodes[node]
        reads = evidence.reads(node)
        random = _RANDOM & set(evidence.operator_parts(node))
        known = view.func_name and all(read.sure for read in reads)
        if not known or random or "delegate" in view.attrs:
            continue
        key = (
            view.func_name,
            tuple(read.entry for read in reads),
            view.shapes,
            view.dtypes,
            tuple(_values(evidence, (node, output)) for output in range(view.num_outputs)),
            tuple(
                sorted((name, str(view.attrs[name])) for name in view.attrs if name not in _WHERE)
            ),
        )
        called.setdefault(key, []).append(node)
    groups = [nodes for nodes in called.values() if len(nodes) > 1]
    again = [node for nodes in groups for node in nodes[1:]]
    if not again:
        return
    share = float(evidence.shares[again].sum()) if len(evidence.shares) else 0.0
    told = f" ({percent(share)} of the time)" if share else ""
    read = all((node, 0) in evidence.statistics for nodes in groups for node in nodes)
    yield Finding(
        REPEATED_NAME,
        Severity.HOTSPOT,
        f"{counted(len(again), 'operator')} {agree(len(again), 'repeats')} the work "
        f"of an earlier one{told}",
        cut([f"{evidence.list(nodes)}: same function, same inputs" for nodes in groups]),
        Confidence.HIGH if read else Confidence.MEDIUM,
        "same function, same inputs, same output statistics"
        if read
        else "same function and same inputs; outputs were not compared",
        tuple(node for nodes in groups for node in nodes),
        (),
        "Compute it once in the model."
        if evidence.of_executorch
        else "Let the compiler merge them (EliminateCommonSubexpr).",
        share,
    )


def _alike(graph: Graph) -> list[int]:
    """Operators that share function and operands with another one."""
    ends = np.searchsorted(graph.edge_target, np.arange(graph.num_nodes + 1))
    groups: dict[object, list[int]] = {}
    for node in _candidates(graph, ends):
        first, end = ends[node], ends[node + 1]
        read = graph.edge_source[first:end].tobytes(), graph.edge_output[first:end].tobytes()
        groups.setdefault((int(graph.func_names.codes[node]), *read), []).append(node)
    return sorted(node for nodes in groups.values() if len(nodes) > 1 for node in nodes)


def _candidates(graph: Graph, ends: np.ndarray[Any, np.dtype[np.intp]]) -> list[int]:
    """Operators whose function and operands, as one number each, are those of another one."""
    reads = np.diff(ends) > 0
    nodes = np.flatnonzero((graph.kinds == NodeKind.OPERATOR) & reads)
    place = np.arange(graph.num_edges) - ends[graph.edge_target]
    operands = graph.edge_source * np.int64(_ODD[0]) + graph.edge_output * np.int64(_ODD[1]) + 1
    sums = np.concatenate([[0], np.cumsum(operands * (place * _ODD[2] + 1))])
    numbers = (sums[ends[1:]] - sums[ends[:-1]] + graph.func_names.codes * np.int64(_ODD[3]))[nodes]
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    found: list[int] = nodes[counts[inverse] > 1].tolist()
    return found


def _values(evidence: RunEvidence, entry: tuple[int, int]) -> object:
    found = evidence.statistics.get(entry)
    if found is None:
        return None
    bounds = str(found.minimum), str(found.maximum)
    return found.size, found.nan, found.zero, *bounds, str(found.mean), str(found.std)


REPEATED = Rule(REPEATED_NAME, find_repeated, Basis.TENSORS | Basis.EDGES)
