"""Rules on limits of float16 and int8, on odd bytes of bools, and on repeated work.

* float16, finite: a magnitude within a factor of two of 65,504, or at least a tenth of the nonzero
  values below the normal numbers (6.1e-5), where digits are lost. Sound float16 weights have up to
  0.2 % there.
* float32: magnitudes beyond 65,504, which become Inf in float16.
* float32: ranges so wide that one int8 scale for the tensor (its largest magnitude / 127) rounds at
  least half of the nonzero values to zero, counted where the distribution allows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.analysis.findings.values.twin_ranges import contrast, grouped_text
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.analysis.tensor_scan import Flags, Subject
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.statistics.passes import Distinct, every
from tvmdbg_widgets.model.tensors.tensors import Tensor

_MAX = 65504.0
NEAR = _MAX / 2  # magnitudes above it are within a factor of two of the largest float16
_SMALLEST_NORMAL = 2.0**-14
_SUBNORMAL_SHARE = 0.1
_LEAST = 100
_LOST = 0.5
_INT8_STEPS = 254  # half steps of a scale from -127 to 127


def probe_ranges(subject: Subject) -> int | None:
    """Count the nonzero values that float16 or an int8 scale represents badly."""
    stats, name = subject.statistics, subject.tensor.dtype.name
    nonzero = stats.finite - stats.zero
    if nonzero < _LEAST:
        return None
    if name == "float16":
        below, least = _SMALLEST_NORMAL, _SUBNORMAL_SHARE * nonzero
    elif name == "float32":
        below, least = _peak(stats) / _INT8_STEPS, _LOST * nonzero
    else:
        return None
    largest = math.nextafter(below, 0)
    if subject.count(-largest, largest)[1] - stats.zero < least:
        return None
    count = subject.count_exactly(-largest, largest) - stats.zero
    return count if count >= least else None


def screen_ranges(batch: Batch) -> Flags:
    """Return which rows have enough such values."""
    return batch.finite - batch.zero >= _LEAST


def is_near_limit(tensor: Tensor, stats: Statistics) -> bool:
    """Return whether a finite float16 tensor is within a factor of two of the largest float16."""
    finite = stats.finite and stats.finite == stats.size
    return bool(finite and tensor.dtype.name == "float16" and _peak(stats) > NEAR)


@rule("dynamic-range", Basis.TENSORS, probe_ranges, screen_ranges)
def find_ranges(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield up to four findings, one per limit."""
    tensors = evidence.tensors
    columns, read = evidence.columns, evidence.statistics
    large = (columns.finite == columns.size) & (columns.peak > NEAR)
    whole = {entry: read[entry] for entry in columns.where(large)}
    floats = [entry for entry in whole if tensors[entry].dtype.name == "float32"]
    near = [entry for entry in whole if is_near_limit(tensors[entry], whole[entry])]
    if near:
        yield _of_limit(
            evidence,
            near,
            f"is within a factor of 2 of the float16 maximum ({_MAX:,.0f})",
            [f"{evidence.entry_name(e)}: {grouped_text(_larger_bound(whole[e]))}" for e in near],
            step="A larger input would overflow: keep these nodes in float32, or rescale.",
            weight=0.6,
            severity=Severity.WARNING,
            cause=True,
        )
    small: dict[Entry, int] = evidence.probed("dynamic-range")
    lost = {e: count for e, count in small.items() if tensors[e].dtype.name == "float16"}
    if lost:
        facts = [
            f"{evidence.entry_name(e)}: {count:,} of the {read[e].finite - read[e].zero:,} nonzero"
            for e, count in lost.items()
        ]
        what = "has values too small for full float16 precision (below 6.1e-5)"
        step = "Rescale these values, or keep them in float32."
        yield _of_limit(evidence, list(lost), what, facts, step=step, weight=0.6)
    beyond = [entry for entry in floats if _peak(whole[entry]) > _MAX]
    if beyond:
        facts = [
            f"{evidence.entry_name(e)}: {grouped_text(_larger_bound(whole[e]))}" for e in beyond
        ]
        what = f"has values beyond {_MAX:,.0f}, which would be Inf in float16"
        step = "Keep these nodes in float32 when converting to float16."
        yield _of_limit(evidence, beyond, what, facts, step=step, weight=0.7, cause=True)
    wide = {e: count for e, count in small.items() if tensors[e].dtype.name == "float32"}
    if wide:
        facts = [
            f"{evidence.entry_name(e)}: {wide[e]:,} of {read[e].finite - read[e].zero:,} nonzero"
            f"; largest magnitude {grouped_text(_larger_bound(read[e]))}"
            for e in wide
        ]
        what = "has too wide a range for one int8 scale: most values would round to zero"
        step = "When quantizing, use per-channel scales for this tensor, or clip large values."
        yield _of_limit(evidence, list(wide), what, facts, step=step, weight=0.4)


def _of_limit(
    evidence: RunEvidence,
    entries: list[Entry],
    what: str,
    facts: list[str],
    *,
    step: str,
    weight: float,
    severity: Severity = Severity.INFO,
    cause: bool = False,
) -> Finding:
    first = entries[0]
    more = and_more(len(entries) - 1, "tensor")
    # Values are large from here on: twins tell whether the operands of this node are the reason.
    found = contrast(evidence, first[0]) if cause and evidence.is_operator(first[0]) else None
    if found is None or not found.operands:
        title = f"{evidence.entry_name(first)} {what}{more}"
        return evidence.of_entries(severity, title, facts, entries, step=step, weight=weight)
    title = f"{evidence.entry_name(first)} {what}; {found.clause}{more}"
    facts[1:1] = found.facts(evidence)
    step = f"{found.step(evidence)} {step}"
    finding = evidence.of_entries(severity, title, facts, entries, step=step, weight=weight)
    return finding.resting_on(found.doubts(evidence))


def _larger_bound(stats: Statistics) -> object:
    end: object = stats.minimum if -float(stats.minimum) > float(stats.maximum) else stats.maximum
    return end


def _peak(stats: Statistics) -> float:
    return max(abs(float(stats.minimum)), abs(float(stats.maximum)))


class OddBoolCount(NamedTuple):
    """Number of bytes of a bool array other than 0 and 1, and the position of the first."""

    number: int
    first: int


def probe_odd_bools(subject: Subject) -> OddBoolCount | None:
    """Count such bytes, if any."""
    values = subject.tensor.values()
    if not subject.tensor.dtype.is_bool or values.is_packed:
        return None
    count = OddBoolCount(0, values.count)
    source = every(values.codes)
    groups = source.groups() if isinstance(source, Distinct) else [(1, source)]
    for often, pieces in groups:
        for chunk, where in pieces:
            odd = chunk > 1
            if odd.any():
                first = min(count.first, where(int(odd.argmax())))
                count = OddBoolCount(count.number + often * int(np.count_nonzero(odd)), first)
    return count if count.number else None


def screen_odd_bools(batch: Batch) -> Flags:
    """Return which rows have such bytes."""
    codes = np.zeros((len(batch), 0)) if batch.codes is None else batch.codes
    odd: Flags = np.count_nonzero(codes > 1, axis=1) > 0
    return odd


@rule("odd-bools", Basis.TENSORS, probe_odd_bools, screen_odd_bools)
def find_odd_bools(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all such arrays."""
    odd: dict[Entry, OddBoolCount] = evidence.probed("odd-bools")
    entries = list(odd)
    if not entries:
        return
    count, size = odd[entries[0]].number, evidence.statistics[entries[0]].size
    verb = agree(count, "is")
    yield evidence.of_entries(
        Severity.WARNING,
        f"{evidence.entry_name(entries[0])}: {count:,} of {counted(size, 'bool')} {verb} stored "
        f"as a byte other than 0 or 1{and_more(len(entries) - 1)}",
        [_fact(evidence, entry, count) for entry, count in odd.items()],
        entries,
        step="They count as true. See the bytes with tensor.raw(); if the type is wrong, set it "
        "with tensor.with_dtype(…).",
        weight=0.7,
    )


def _fact(evidence: RunEvidence, entry: Entry, odd: OddBoolCount) -> str:
    index = ", ".join(map(str, np.unravel_index(odd.first, evidence.tensors[entry].view_shape)))
    size = counted(evidence.statistics[entry].size, "value")
    return f"{evidence.entry_name(entry)}: {odd.number:,} of {size}, the first at [{index}]"


_RANDOM = frozenset({"uniform", "normal", "multinomial", "dropout", "threefry_generate"})
#: Attributes on an operator's origin in the model, not on its function.
_WHERE = frozenset({"debug_handle", "module_type", "nn_module_stack", "stack_trace"})

#: Large odd numbers, so that sums of their products are rarely equal by chance.
_ODD = (0x1F3D5B79A1C4E685, 0x2545F4914F6CDD1D, 0x369DEA0F31A53F85, 0x4F1BBCDCBFA53E0B)


@rule("repeated-work", Basis.TENSORS | Basis.EDGES)
def find_repeated(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all repetitions."""
    graph = evidence.parts.graph
    if graph is None:
        return
    called: dict[object, list[int]] = {}
    for node in _equal_operators(graph):
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
    share_words = f" ({percent(share)} of the time)" if share else ""
    outputs = ((node, at) for node in again for at in range(graph.nodes[node].num_outputs))
    read = all(entry in evidence.statistics for entry in outputs)
    yield Finding(
        Severity.HOTSPOT,
        f"{counted(len(again), 'operator')} {agree(len(again), 'repeats')} the work "
        f"of an earlier one{share_words}",
        cut([f"{evidence.list(nodes)}: same function, same inputs" for nodes in groups]),
        Confidence.HIGH if read else Confidence.MEDIUM,
        "same function, same inputs, same output statistics"
        if read
        else "same function and same inputs; outputs were not compared",
        tuple(node for nodes in groups for node in nodes),
        next_step="Compute it once in the model."
        if evidence.of_executorch
        else "Let the compiler merge them (EliminateCommonSubexpr).",
        weight=share,
    )


def _equal_operators(graph: Graph) -> list[int]:
    ends = np.searchsorted(graph.edge_target, np.arange(graph.num_nodes + 1))
    groups: dict[object, list[int]] = {}
    for node in _equal_hashes(graph, ends):
        first, end = ends[node], ends[node + 1]
        read = graph.edge_source[first:end].tobytes(), graph.edge_output[first:end].tobytes()
        groups.setdefault((int(graph.func_names.codes[node]), *read), []).append(node)
    return sorted(node for nodes in groups.values() if len(nodes) > 1 for node in nodes)


def _equal_hashes(graph: Graph, ends: np.ndarray[Any, np.dtype[np.intp]]) -> list[int]:
    reads = np.diff(ends) > 0
    nodes = np.flatnonzero((graph.kinds == NodeKind.OPERATOR) & reads)
    place = np.arange(graph.num_edges) - ends[graph.edge_target]
    operands = graph.edge_source * np.int64(_ODD[0]) + graph.edge_output * np.int64(_ODD[1]) + 1
    sums = np.concatenate([[0], np.cumsum(operands * (place * _ODD[2] + 1))])
    numbers = (sums[ends[1:]] - sums[ends[:-1]] + graph.func_names.codes * np.int64(_ODD[3]))[nodes]
    _, inverse, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    equal: list[int] = nodes[counts[inverse] > 1].tolist()
    return equal


def _values(evidence: RunEvidence, entry: tuple[int, int]) -> object:
    stats = evidence.statistics.get(entry)
    if stats is None:
        return None
    bounds = str(stats.minimum), str(stats.maximum)
    return (stats.size, stats.nan, stats.zero, *bounds, str(stats.mean), str(stats.std))
