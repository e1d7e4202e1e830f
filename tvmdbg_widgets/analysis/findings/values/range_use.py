"""Rules on outputs of operators that saturate their range, or use little of it.

* Integers of up to 16 bits: at least 5 % of the values at the upper bound, or at the lower one
  unless the function (relu, clip, maximum) cuts there on purpose. Unsigned types are judged by the
  upper bound alone, and a symmetric lower bound (-127) counts as one. A sound int8 network has up
  to 0.7 % there; parameters reach their bound by design and are left out.
* float16: any value at ±65,504, the result of a saturating conversion. 8-bit floats: as integers.
* Functions that end in sigmoid, tanh or relu6: at least half of the values at 0 or 1, -1 or 1, or
  6. Bounds of other clips are not in the dump.

Outputs of fewer than 100 values are left out, except for float16. An output also counts if in some
channels, at most a quarter of them, at least a third of the values lie at an end of an integer
type. Twins of the worst output say whether its operator saturates by design.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

import ml_dtypes
import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more
from tvmdbg_widgets.analysis.findings.rule import Basis, edge_doubts, rule, tensor_doubts
from tvmdbg_widgets.analysis.findings.twins import LEAST as LEAST_TWINS
from tvmdbg_widgets.analysis.findings.twins import TwinSet
from tvmdbg_widgets.analysis.findings.values.channels import ChannelsWithin, OutputChannels, within
from tvmdbg_widgets.analysis.findings.values.twin_ranges import twins_text
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.analysis.tensor_scan import Flags, Subject
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Premise, Severity
from tvmdbg_widgets.model.graph.graph import node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import bare, parts
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch, comparable
from tvmdbg_widgets.model.tensors.tensors import Tensor

SHARE = 0.05  # least share of values at an end of the type for a saturated tensor
_FUNCTION_SHARE = 0.5
LEAST = 100  # least number of values; of float16 any counts
_OF_CHANNEL = 1 / 3
_LEAST_OF_CHANNEL = 16
_OF_TWIN = 1 / 4  # largest share of a twin, as a part of this one, for twins to be named first
_CUTS_BELOW = frozenset({"relu", "relu6", "clip", "maximum", "leaky_relu"})
_ENDS = {
    "sigmoid": (0.0, 1.0),
    "fast_sigmoid": (0.0, 1.0),
    "hard_sigmoid": (0.0, 1.0),
    "hardsigmoid": (0.0, 1.0),
    "tanh": (-1.0, 1.0),
    "fast_tanh": (-1.0, 1.0),
    "relu6": (None, 6.0),
}
_FIRST_OPERATOR = 2


class Ends(NamedTuple):
    """Counts of values at the ends of a range; `least` is the share that is too many."""

    low: float | None
    high: float
    at_low: int
    at_high: int
    size: int
    by_name: bool
    least: float
    channels: ChannelsWithin | None = None

    @property
    def share(self) -> float:
        """Share of the values at either end."""
        return (self.at_low + self.at_high) / self.size

    @property
    def many(self) -> bool:
        """Whether enough values lie there to count as saturated."""
        enough = self.share >= self.least or self.channels is not None
        return self.at_low + self.at_high > 0 and enough


def is_judged(run: RunParts, entry: Entry, tensor: Tensor, stats: Statistics) -> bool:
    """Return whether the ends of an entry's range are known, so that values there are counted."""
    named = _operators_of(run, entry)
    return named is not None and bool(stats.finite) and _limits(tensor, stats, named) is not None


def probe_saturated(subject: Subject) -> Ends | None:
    """Count the values at the ends of their range, if any."""
    stats = subject.statistics
    named = _operators_of(subject.parts, subject.entry)
    if named is None or not stats.finite:
        return None
    limits = _limits(subject.tensor, stats, named)
    if limits is None:
        return None
    low, high, least, by_name = limits
    at_low = low is not None and stats.minimum <= low
    if not at_low and stats.maximum < high:
        return None
    below = 0
    if at_low and low is not None:
        below = subject.count_exactly(-math.inf, low) + stats.neg_inf
    above = subject.count_exactly(high, high)
    if not below + above:
        return None
    channels = None
    if not by_name and below + above < stats.size // 2:
        bounds = -math.inf if low is None else low, high
        channels = _saturated_channels(subject, bounds, below + above, _OF_CHANNEL if least else 0)
    return Ends(low if at_low else None, high, below, above, stats.size, by_name, least, channels)


def _saturated_channels(
    subject: Subject, bounds: tuple[float, float], count: int, least: float
) -> ChannelsWithin | None:
    axis = OutputChannels.of(subject.parts, subject.entry, subject.tensor)
    if axis is None or axis.each < _LEAST_OF_CHANNEL or count <= least * axis.each:
        return None
    low, high = bounds

    def at_end(chunk: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        values = comparable(chunk)
        return (values <= low) | (values >= high)

    return within(subject, at_end, least)


def screen_saturated(batch: Batch) -> Flags:
    """Return which rows have enough values, or a float16 value at an end."""
    if batch.size >= LEAST:
        return batch.finite > 0
    if batch.values.dtype != np.float16:
        return np.zeros(len(batch), np.bool_)
    return batch.at_lowest + batch.at_highest > 0


def _operators_of(run: RunParts, entry: Entry) -> tuple[str, ...] | None:
    graph, node = run.graph, entry[0]
    if graph is None or not 0 <= node < graph.num_nodes or graph.kinds[node] < _FIRST_OPERATOR:
        return None
    return tuple(bare(part) for part in parts(graph.func_names[node]))


def _limits(
    tensor: Tensor, stats: Statistics, named: tuple[str, ...]
) -> tuple[float | None, float, float, bool] | None:
    dtype = tensor.dtype
    if dtype.lanes != 1 or dtype.is_bool:
        return None
    if dtype.name == "float16":
        return -65504.0, 65504.0, 0.0, False
    if stats.size < LEAST:
        return None
    if dtype.name.startswith("float8"):
        limit = float(ml_dtypes.finfo(tensor.record.values().numpy_dtype).max)  # type: ignore[no-untyped-call]
        return -limit, limit, SHARE, False
    if dtype.name.startswith("uint") and dtype.bits <= 16:
        return None, (1 << dtype.bits) - 1, SHARE, False
    if dtype.name.startswith("int") and dtype.bits <= 16:
        high = (1 << (dtype.bits - 1)) - 1
        return None if _CUTS_BELOW & set(named) else -high, high, SHARE, False
    if named and named[-1] in _ENDS and dtype.name.startswith(("float", "bfloat")):
        low, top = _ENDS[named[-1]]
        return low, top, _FUNCTION_SHARE, True
    return None


@rule("saturated", Basis.TENSORS, probe_saturated, screen_saturated)
def find_saturated(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all saturated outputs, the worst first."""
    probed: dict[Entry, Ends] = evidence.probed("saturated")
    saturated = {entry: ends for entry, ends in probed.items() if ends.many}
    if not saturated:
        return
    entries = sorted(saturated, key=lambda entry: (-saturated[entry].share, entry))
    worst = saturated[entries[0]]
    confidence, why = evidence.joined(entries)
    if any(ends.by_name for ends in saturated.values()) and confidence is Confidence.HIGH:
        confidence, why = Confidence.MEDIUM, f"{why}; some ranges are inferred from function names"
    facts = []
    for entry in entries:
        ends = saturated[entry]
        low = f", {ends.at_low:,} at {ends.low:g}" if ends.low is not None else ""
        facts.append(
            f"{evidence.entry_name(entry)}: {ends.at_high:,} of {counted(ends.size, 'value')} at "
            f"{ends.high:g}{low}" + (f", in {ends.channels}" if ends.channels is not None else "")
        )
    what = f"{percent(worst.share)} of its values at {_ends(worst)}"
    if worst.share < worst.least:
        what = f"a third or more of {worst.channels} at {_ends(worst)}"
    title = f"{evidence.entry_name(entries[0])} saturates {what}"
    twins = _twin_shares(evidence, entries[0], probed)
    doubts: list[Premise] = []
    if twins is not None:
        least, most = min(twins.shares.values()), max(twins.shares.values())
        number = counted(len(twins.shares), "twin")
        if most <= _OF_TWIN * worst.share:
            title += f"; its {number} at most {percent(most)}"
        between = percent(least) if least == most else f"{percent(least)} … {percent(most)}"
        facts[1:1] = [f"its {number}: {between}", twins_text(twins.twins)]
        doubts = [*tensor_doubts(evidence, tuple(twins.shares))]
        doubts += edge_doubts(evidence, twins.twins.nodes)
    yield evidence.of_entries(
        Severity.WARNING,
        f"{title}{and_more(len(entries) - 1)}",
        facts,
        entries,
        step="Compare the scale (or clip) of this output with the calibrated one: values beyond "
        "its range are lost.",
        weight=0.6,
        joined=(confidence, why),
    ).resting_on(doubts)


class _TwinShares(NamedTuple):
    """Twins of an output, and the share of values at the ends of their range."""

    twins: TwinSet
    shares: dict[Entry, float]


def _twin_shares(
    evidence: RunEvidence, entry: Entry, probed: Mapping[Entry, Ends]
) -> _TwinShares | None:
    node, output = entry
    twins = None if evidence.twins is None else evidence.twins.similar(node)
    if twins is None:
        return None
    tensors, read = evidence.tensors, evidence.statistics
    shares = {
        other: probed[other].share if other in probed else 0.0
        for twin in twins.nodes
        if (other := (twin, output)) in read
        and tensors[other].dtype == tensors[entry].dtype
        and tensors[other].complete
        and is_judged(evidence.parts, other, tensors[other], read[other])
    }
    return _TwinShares(twins, shares) if len(shares) >= LEAST_TWINS else None


def _ends(ends: Ends) -> str:
    if ends.low is None or not ends.at_low:
        return f"{ends.high:g}"
    return f"{ends.low:g} or {ends.high:g}" if ends.at_high else f"{ends.low:g}"


_PART: Final = 1 / 6
_WELL: Final = 0.5
_READ: Final = 0.4
_PEERS: Final = 3
_LEAST: Final = 100
_KINDS: Final = frozenset({"convolution", "matmul", "elementwise", "activation", "cast/quantize"})
_BOUNDED: Final = ("sigmoid", "tanh", "softmax", "equal", "greater", "less", "logical", "isnan")
_RANGES: Final = {"int8": (-128, 127), "uint8": (0, 255)}


class _RangeUse(NamedTuple):
    low: int
    high: int
    share: float

    def __str__(self) -> str:
        return f"{self.low} … {self.high}"


@rule("narrow-range", Basis.TENSORS | Basis.EDGES)
def find_narrow_range(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all such outputs."""
    uses, groups = _range_uses(evidence)
    usual: dict[Entry, tuple[float, int, str]] = {}
    for (kind, _), entries in groups.items():
        for entry, others in zip(
            entries, _medians_of_others([uses[e].share for e in entries]), strict=True
        ):
            narrow = others >= _WELL and uses[entry].share <= _PART * others
            if narrow and len(entries) > _PEERS and _operands_use_range(evidence, uses, entry):
                usual[entry] = others, len(entries) - 1, kind
    if not usual:
        return
    entries = sorted(usual)
    first = entries[0]
    others, count, kind = usual[first]
    confidence, why = evidence.joined(entries)
    why = f"{why}; judged by how comparable outputs of this run use their range"
    yield evidence.of_entries(
        Severity.WARNING,
        f"{evidence.entry_name(first)} uses only {uses[first]} of "
        f"{evidence.tensors[first].dtype.name} ({percent(uses[first].share)} of the range); the "
        f"{count:,} other {kind} outputs use a median of {percent(others)}"
        f"{and_more(len(entries) - 1)}",
        [_fact(evidence, entry, uses[entry], usual[entry][0]) for entry in entries],
        entries,
        step="Check the scale (multiplier or shift) of this output against the calibrated one.",
        weight=0.65,
        joined=(max(confidence, Confidence.MEDIUM, key=list(Confidence).index), why),
    )


def _range_uses(
    evidence: RunEvidence,
) -> tuple[dict[Entry, _RangeUse], dict[tuple[str, str], list[Entry]]]:
    uses: dict[Entry, _RangeUse] = {}
    groups: dict[tuple[str, str], list[Entry]] = {}
    graph = evidence.parts.graph
    if graph is None:
        return uses, groups
    kinds: Sequence[str] | None = None
    computed = (graph.kinds >= NodeKind.OPERATOR).tolist()
    for entry in sorted(evidence.tensors):
        if not 0 <= entry[0] < len(computed) or not computed[entry[0]]:
            continue
        tensor = evidence.tensors[entry]
        name = tensor.dtype.name
        if name not in _RANGES or tensor.size < _LEAST:
            continue
        stats = evidence.statistics.get(entry)
        if stats is None or not stats.finite:
            continue
        kinds = node_op_kinds(graph) if kinds is None else kinds
        low, high, (least, most) = int(stats.minimum), int(stats.maximum), _RANGES[name]
        # For a function that cuts below zero only the upper half counts.
        share = high / most if least < 0 <= low else (high - low) / (most - least)
        use = uses[entry] = _RangeUse(low, high, share)
        kind = kinds[entry[0]]
        if kind in _KINDS and use.high - use.low > 1 and not _has_own_range(evidence, entry[0]):
            groups.setdefault((kind, name), []).append(entry)
    return uses, groups


def _has_own_range(evidence: RunEvidence, node: int) -> bool:
    graph = evidence.parts.graph
    if graph is None or graph.kinds[node] != NodeKind.OPERATOR:
        return True
    return any(word in part for part in evidence.operator_parts(node) for word in _BOUNDED)


def _medians_of_others(shares: list[float]) -> list[float]:
    if len(shares) < 2:
        return [math.nan] * len(shares)
    ordered = sorted(shares)
    lower, upper = median(ordered[1:]), median(ordered[:-1])
    middle = median(ordered[: len(ordered) // 2] + ordered[len(ordered) // 2 + 1 :])
    at = ordered[len(ordered) // 2]
    return [lower if share < at else upper if share > at else middle for share in shares]


def _operands_use_range(
    evidence: RunEvidence, uses: Mapping[Entry, _RangeUse], entry: Entry
) -> bool:
    return all(
        read.sure and (read.entry not in uses or uses[read.entry].share >= _READ)
        for read in evidence.reads(entry[0])
    )


def _fact(evidence: RunEvidence, entry: Entry, use: _RangeUse, others: float) -> str:
    return (
        f"{evidence.entry_name(entry)}: {use}, {percent(use.share)} of the range; others "
        f"use {percent(others)}, as if the scale were about "
        f"{others / max(use.share, 1 / 255):.0f}× too large"
    )
