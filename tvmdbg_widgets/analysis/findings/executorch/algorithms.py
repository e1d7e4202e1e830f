"""Convolutions and matrix products that a delegate ran with another kernel than their siblings.

Siblings are operators of one type whose events have the same name but for the kernel, of the same
window. A 1×1 convolution that runs as "Fully Connected" has another name, and is none of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.operators import (
    LoggedOperator,
    attributes,
    certainty,
    doubts,
    fact_of,
    logged,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateNode
from tvmdbg_widgets.model.executorch.xnnpack_names import split_name
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

ALGORITHMS_NAME = "delegate-algorithms"
_MATTERS = 0.01
_CONVOLUTIONS: Final = ("Conv2d", "DepthwiseConv2d", "ConvTranspose2d")
_TYPES: Final = (*_CONVOLUTIONS, "FullyConnected", "BatchMatrixMultiply")
#: Kernels of depthwise convolutions: direct ones, and multiplication by channel of 1×1.
_DEPTHWISE: Final = ("DWConv", "VMulCAddC")


class OddKernel(NamedTuple):
    """An operator that ran otherwise, the kernel that was to be expected, and one that has it."""

    one: LoggedOperator
    kernel: str
    expected: str
    sibling: LoggedOperator | None


def find_algorithms(evidence: RunEvidence) -> Iterable[Finding]:
    """Make a finding a backend."""
    timeline = evidence.parts.timeline
    if timeline is None or not timeline.total_ns > 0:
        return
    for backend, some in logged(evidence).items():
        odd = sorted(_odd(some), key=lambda each: -each.one.ns)
        ns = sum(each.one.ns for each in odd)
        if ns > _MATTERS * timeline.total_ns:
            yield _finding(evidence, backend, odd, ns, timeline.total_ns)


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
        usual = max(kernels, key=lambda kernel: (len(kernels[kernel]), -_ns(kernels[kernel])))
        for kernel, own in kernels.items():
            if kernel != usual:
                yield from (OddKernel(each, kernel, usual, kernels[usual][0]) for each in own)


def _ns(some: list[LoggedOperator]) -> float:
    return sum(each.ns for each in some)


def _is_depthwise(operator: DelegateNode) -> bool:
    fields = operator.fields
    one, groups = fields.get("group_input_channels"), fields.get("groups")
    grouped = one == 1 and isinstance(groups, int) and groups > 1
    return operator.type == "DepthwiseConv2d" or (operator.type == "Conv2d" and grouped)


def _finding(
    evidence: RunEvidence, backend: str, odd: list[OddKernel], ns: float, whole: float
) -> Finding:
    first = odd[0]
    of_whom = "depthwise convolutions" if first.sibling is None else "its siblings"
    title = (
        f"{first.one.name} ran as {first.kernel or 'no kernel'}, not as "
        f"{first.expected or 'no kernel'} like {of_whom}"
    )
    if len(odd) > 1:
        title += f", and so did {counted(len(odd) - 1, 'more operator')} of {backend}"
    facts = []
    for each in odd:
        facts.append(
            fact_of(each.one, whole, "; ".join([*attributes(each.one), *doubts(each.one)]))
        )
        if each.sibling is not None:
            told = "; ".join(attributes(each.sibling))
            facts.append(f"one of its siblings: {fact_of(each.sibling, whole, told)}")
    some = [each.one for each in odd]
    sure = all(each.is_sure for each in some)
    return Finding(
        ALGORITHMS_NAME,
        Severity.HOTSPOT,
        f"{title}: {duration_text(ns)}, {percent(ns / whole)} of the time",
        cut(list(dict.fromkeys(facts))),
        Confidence.HIGH if sure and not evidence.inflated else Confidence.MEDIUM,
        f"the kernel is the last part of the event's name; {certainty(some)}; shares of "
        f"{evidence.whole}{evidence.inflated}",
        tuple(dict.fromkeys(node for each in some for node in each.nodes)),
        (),
        "Compare stride, dilation, groups and channels with those of its siblings: they decide "
        f"which kernel {backend} takes, and so does the CPU.",
        ns / whole / 2,
    )


ALGORITHMS = Rule(ALGORITHMS_NAME, find_algorithms, Basis.TIMES)
