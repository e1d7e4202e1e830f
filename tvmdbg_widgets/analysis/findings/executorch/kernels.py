"""Operators that split a backend's calls, and kernels that differ from sibling operators'.

Operators outside of delegates split a backend where they lie on a path between two calls. They cost
their own time and that of conversions at the borders of the calls.

Siblings are operators of one type and window whose events are named equally except for the kernel.
A 1×1 convolution that runs as "Fully Connected" is none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.operators import (
    LoggedOperator,
    attributes,
    certainty,
    converts,
    doubts,
    fact_of,
    logged,
    neighbors,
)
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    by_backend,
    spelled,
)
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted, duration_text, percent
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateNode
from tvmdbg_widgets.model.executorch.etdump import split_name
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity

_NAMED = 2


@rule("delegate-splits", Basis.ALL_EDGES)
def find_splits(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding per backend."""
    recorded, graph = evidence.recorded, evidence.parts.graph
    if recorded is None or graph is None:
        return
    for backend, calls in by_backend(recorded.delegated).items():
        own = {node for call in calls for node in call.nodes}
        between = graph.descendants(own) & graph.ancestors(own) - recorded.taken
        nodes = sorted(node for node in between if evidence.is_operator(node))
        reached = graph.descendants(nodes) | graph.ancestors(nodes)
        apart = [call for call in calls if reached & set(call.nodes)]
        if nodes and len(apart) > 1:
            around = _border_conversions(evidence, backend, nodes)
            yield _finding(evidence, backend, apart, nodes, around)


def _border_conversions(
    evidence: RunEvidence, backend: str, between: list[int]
) -> list[LoggedOperator]:
    conversions = []
    for operator in logged(evidence).get(backend, ()):
        if operator.inserted and operator.ns > 0 and converts(operator):
            sources, targets = neighbors(evidence, operator)
            if {*sources, *targets} and {*sources, *targets} <= set(between):
                conversions.append(operator)
    return conversions


def _finding(
    evidence: RunEvidence,
    backend: str,
    calls: list[DelegateInstruction],
    nodes: list[int],
    around: list[LoggedOperator],
) -> Finding:
    whole, graph = evidence.total_ns, evidence.parts.graph
    share = float(evidence.shares[nodes].sum()) if len(evidence.shares) else 0.0
    converting = sum(conversion.ns for conversion in around)
    cost = share + (converting / whole if whole > 0 else 0.0)
    unsure = graph is not None and bool(np.any(graph.edge_trust >= Trust.AMBIGUOUS))
    title = (
        f"{evidence.list(nodes, _NAMED)} {agree(len(nodes), 'splits')} {spelled(backend)} "
        f"into {counted(len(calls), 'call')}"
    )
    if cost:
        title += f": {duration_text(cost * whole)}, {percent(cost)} of the time"
        title += " with the conversions around" if around else ""
    facts = [f"{evidence.name(node)}{_share(evidence, node)}" for node in nodes]
    if around:
        facts.append(
            f"conversions that lowering inserted around: {duration_text(converting)} "
            f"({', '.join(f'{each.name} in {each.call.place}' for each in around[:_NAMED])}"
            + (f" and {len(around) - _NAMED} more" if len(around) > _NAMED else "")
            + ")"
        )
    return Finding(
        Severity.HOTSPOT,
        title,
        (*cut(facts), *cut([evidence.call_name(call) for call in calls])),
        Confidence.MEDIUM
        if unsure or not all(conversion.is_sure for conversion in around)
        else Confidence.HIGH,
        "no delegate took these operators, and they lie on a path from one call to another"
        + ("; some edges of the graph are ambiguous" if unsure else "")
        + (
            ""
            if all(conversion.is_sure for conversion in around)
            else "; conversions are matched by order"
        ),
        tuple(nodes),
        next_step=f"Replace or move {evidence.list(nodes, _NAMED)}: with fewer calls, the runtime "
        "passes on fewer tensors.",
        weight=cost / 2,
    )


def _share(evidence: RunEvidence, node: int) -> str:
    share = float(evidence.shares[node]) if len(evidence.shares) else 0.0
    return f": {percent(share)} of the time" if share else ""


_MATTERS = 0.01
_CONVOLUTIONS: Final = ("Conv2d", "DepthwiseConv2d", "ConvTranspose2d")
_TYPES: Final = (*_CONVOLUTIONS, "FullyConnected", "BatchMatrixMultiply")
#: Kernels of depthwise convolutions: direct ones, and multiplication by channel of 1×1.
_DEPTHWISE: Final = ("DWConv", "VMulCAddC")


class OddKernel(NamedTuple):
    """An operator with an unusual kernel, the expected one, and an operator that has it."""

    one: LoggedOperator
    kernel: str
    expected: str
    sibling: LoggedOperator | None


@rule("delegate-algorithms", Basis.TIMES)
def find_algorithms(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding per backend."""
    if not evidence.total_ns:
        return
    for backend, some in logged(evidence).items():
        odd = sorted(_odd(some), key=lambda each: -each.one.ns)
        ns = sum(kernel.one.ns for kernel in odd)
        if ns > _MATTERS * evidence.total_ns:
            yield _algorithms(evidence, backend, odd, ns)


def _odd(some: Iterable[LoggedOperator]) -> Iterator[OddKernel]:
    alike: dict[tuple[object, ...], dict[str, list[LoggedOperator]]] = {}
    for each in some:
        operator = each.operator
        if operator is None or operator.type not in _TYPES:
            continue
        name = split_name(each.events[0])
        depthwise = _is_depthwise(operator)
        if depthwise and name.base == "Convolution" and name.kernel:
            if not name.kernel.endswith(_DEPTHWISE):
                yield OddKernel(each, name.kernel, _DEPTHWISE[0], None)
            continue
        window = [operator.fields.get(f"kernel_{side}") for side in ("height", "width")]
        key = (operator.type, depthwise, name.base, name.types, *window)
        alike.setdefault(key, defaultdict(list))[name.kernel].append(each)
    for kernels in alike.values():
        took = {kernel: sum(operator.ns for operator in own) for kernel, own in kernels.items()}
        usual = max(kernels, key=lambda kernel: (len(kernels[kernel]), -took[kernel]))
        for kernel, own in kernels.items():
            if kernel != usual:
                yield from (
                    OddKernel(operator, kernel, usual, kernels[usual][0]) for operator in own
                )


def _is_depthwise(operator: DelegateNode) -> bool:
    fields = operator.fields
    one, groups = fields.get("group_input_channels"), fields.get("groups")
    grouped = one == 1 and isinstance(groups, int) and groups > 1
    return operator.type == "DepthwiseConv2d" or (operator.type == "Conv2d" and grouped)


def _algorithms(evidence: RunEvidence, backend: str, odd: list[OddKernel], ns: float) -> Finding:
    first, whole = odd[0], evidence.total_ns
    of_whom = "depthwise convolutions" if first.sibling is None else "its siblings"
    title = (
        f"{first.one.name} ran as {first.kernel or 'no kernel'}, not as "
        f"{first.expected or 'no kernel'} like {of_whom}"
    )
    if len(odd) > 1:
        title += f", and so did {counted(len(odd) - 1, 'more operator')} of {spelled(backend)}"
    facts = []
    for each in odd:
        facts.append(
            fact_of(each.one, whole, "; ".join([*attributes(each.one), *doubts(each.one)]))
        )
        if each.sibling is not None:
            sizes = "; ".join(attributes(each.sibling))
            facts.append(f"one of its siblings: {fact_of(each.sibling, whole, sizes)}")
    some = [kernel.one for kernel in odd]
    sure = all(operator.is_sure for operator in some)
    return Finding(
        Severity.HOTSPOT,
        f"{title}: {duration_text(ns)}, {percent(ns / whole)} of the time",
        cut(list(dict.fromkeys(facts))),
        Confidence.HIGH if sure and not evidence.inflated else Confidence.MEDIUM,
        f"the kernel is the last part of the event's name; {certainty(some)}; shares of "
        f"{evidence.whole}{evidence.inflated}",
        tuple(dict.fromkeys(node for operator in some for node in operator.nodes)),
        next_step="Compare stride, dilation, groups and channels with those of its siblings: they "
        f"decide which kernel {spelled(backend)} takes, and so does the CPU.",
        weight=ns / whole / 2,
    )
