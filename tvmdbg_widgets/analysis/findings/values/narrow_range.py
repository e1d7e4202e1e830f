"""8-bit outputs that use a small part of their range, which outputs like them use well.

What an output uses is its largest value less its smallest, as a share of the range; of a signed
type without values below zero, where ReLU cut them, the largest value as a share of the largest.
Zero points do not change it, and a scale that is k times too large divides it by k. An output is
told where it uses a sixth or less of what others of the run do, in the median, which are made by
the same kind of operator and are of its type: at least three others, which use half of the range or
more. The 8-bit outputs that it is computed from use 40 % or more themselves, so that what follows
from one narrow output is not told again, nor what follows from a dark picture.

Measured on a ResNet-20 in int8 (31 outputs, scales set by one picture), computed again bit by bit:
for 14 inputs, mirrored, inverted, dark, cut, noise or constant, no output used less than 0.56 of
the median where that was half of the range, and 0.35 where it was not, but for the first
convolution of a black picture (0.18). A scale made k times too large was told at that output and at
no other. Where what follows knows of it, so that only its steps are too coarse, that is so for all
30 outputs that have peers at k = 8 and 16; where nothing does, for 23 of the 31 at k = 8, 26 at
k = 16 and 32, 8 at k = 6: the other faults make all that follows narrow. At k = 4 and 2, where
sound networks may lie, nothing is told.

Left out are outputs of fewer than 100 values, whose largest says little; what is 0 and 1 alone, as
masks; what only moves, pools or normalises values, or looks them up, and functions that end in
sigmoid or tanh: their range is another's, or fixed by what they are. Single channels are not judged
by it: in sound networks theirs differ by more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry
from tvmdbg_widgets.model.base.numbers import percent
from tvmdbg_widgets.model.graph.node_words import node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

NARROW_RANGE_NAME = "narrow-range"
_PART: Final = 1 / 6
_WELL: Final = 0.5
_READ: Final = 0.4
_PEERS: Final = 3
_LEAST: Final = 100
_KINDS: Final = frozenset({"convolution", "matmul", "elementwise", "activation", "cast/quantize"})
_BOUNDED: Final = ("sigmoid", "tanh", "softmax", "equal", "greater", "less", "logical", "isnan")
_RANGES: Final = {"int8": (-128, 127), "uint8": (0, 255)}


class _RangeUse(NamedTuple):
    """What an output uses of its range."""

    low: int
    high: int
    share: float


def find_narrow_range(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all such outputs."""
    uses, groups = _uses(evidence)
    usual: dict[Entry, tuple[float, int, str]] = {}
    for (kind, _), entries in groups.items():
        for entry, others in zip(entries, _medians([uses[e].share for e in entries]), strict=True):
            narrow = others >= _WELL and uses[entry].share <= _PART * others
            if narrow and len(entries) > _PEERS and _reads_well(evidence, uses, entry):
                usual[entry] = others, len(entries) - 1, kind
    if not usual:
        return
    entries = sorted(usual)
    first = entries[0]
    others, count, kind = usual[first]
    confidence, why = evidence.joined(entries)
    yield Finding(
        NARROW_RANGE_NAME,
        Severity.WARNING,
        f"{evidence.entry_name(first)} uses only {_text(uses[first])} of "
        f"{_dtype(evidence, first)} ({percent(uses[first].share)} of the range); the {count:,} "
        f"other {kind} outputs use a median of {percent(others)}{and_more(len(entries) - 1)}",
        cut([_fact(evidence, entry, uses[entry], usual[entry][0]) for entry in entries]),
        max(confidence, Confidence.MEDIUM, key=list(Confidence).index),
        f"{why}; judged by how comparable outputs of this run use their range",
        nodes_of(entries),
        tuple(entries),
        "Check the scale (multiplier or shift) of this output against the calibrated one.",
        0.65,
    )


def _uses(
    evidence: RunEvidence,
) -> tuple[dict[Entry, _RangeUse], dict[tuple[str, str], list[Entry]]]:
    """Return what the 8-bit outputs of operators use, and those that can be compared by group."""
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
        found = evidence.statistics.get(entry)
        if found is None or not found.finite:
            continue
        kinds = node_op_kinds(graph) if kinds is None else kinds
        use = uses[entry] = _use(int(found.minimum), int(found.maximum), name)
        kind = kinds[entry[0]]
        if kind in _KINDS and use.high - use.low > 1 and not _bounded(evidence, entry[0]):
            groups.setdefault((kind, name), []).append(entry)
    return uses, groups


def _use(low: int, high: int, name: str) -> _RangeUse:
    least, most = _RANGES[name]
    cut_below = least < 0 <= low
    return _RangeUse(low, high, high / most if cut_below else (high - low) / (most - least))


def _bounded(evidence: RunEvidence, node: int) -> bool:
    """Whether a function has an operator whose range is its own."""
    graph = evidence.parts.graph
    if graph is None or graph.kinds[node] != NodeKind.OPERATOR:
        return True
    return any(word in part for part in evidence.operator_parts(node) for word in _BOUNDED)


def _medians(shares: list[float]) -> list[float]:
    """Return for each the median of all others."""
    if len(shares) < 2:
        return [math.nan] * len(shares)
    ordered = sorted(shares)
    lower, upper = median(ordered[1:]), median(ordered[:-1])
    middle = median(ordered[: len(ordered) // 2] + ordered[len(ordered) // 2 + 1 :])
    at = ordered[len(ordered) // 2]
    return [lower if each < at else upper if each > at else middle for each in shares]


def _reads_well(evidence: RunEvidence, uses: Mapping[Entry, _RangeUse], entry: Entry) -> bool:
    """Whether the 8-bit outputs that a node reads use their range; not where one is not known."""
    for read in evidence.reads(entry[0]):
        known = uses.get(read.entry)
        if not read.sure or (known is not None and known.share < _READ):
            return False
    return True


def _fact(evidence: RunEvidence, entry: Entry, use: _RangeUse, others: float) -> str:
    return (
        f"{evidence.entry_name(entry)}: {_text(use)}, {percent(use.share)} of the range; others "
        f"use {percent(others)}, as if the scale were about "
        f"{others / max(use.share, 1 / 255):.0f}× too large"
    )


def _text(use: _RangeUse) -> str:
    return f"{use.low} … {use.high}"


def _dtype(evidence: RunEvidence, entry: Entry) -> str:
    return evidence.tensors[entry].dtype.name


NARROW_RANGE = Rule(NARROW_RANGE_NAME, find_narrow_range, Basis.TENSORS | Basis.EDGES)
