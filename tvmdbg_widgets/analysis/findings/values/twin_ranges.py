"""Comparison of an operator's operands with those of its twins: why NaN or Inf appeared there.

An operand stands out where its largest magnitude is ten times that of every twin's, or where it is
zero throughout and no twin's is. Twins whose operand has NaN or Inf, is only partly in the file or
has another dtype or rank are left out, and nothing is said of fewer than two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.rule import edge_doubts, tensor_doubts
from tvmdbg_widgets.analysis.findings.twins import LEAST, TwinSet
from tvmdbg_widgets.analysis.scan_results import Entry
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.findings import Premise

_FAR: Final = 10.0
_WEIGHT_RANK: Final = 2
_SHOWN: Final = 8
_PARAMETER: Final = "parameter"
_EXACT_TO: Final = 1e15


class OperandContrast(NamedTuple):
    """An operand that stands out, with the largest magnitudes of it and of its twins."""

    entry: Entry
    kind: str
    peak: float
    others: tuple[Entry, ...]
    least: float
    most: float

    @property
    def stands_out(self) -> bool:
        """Whether it is far larger than every twin's, or zero where no twin's is."""
        return self.peak > _FAR * self.most or (not self.peak and self.least > 0)

    @property
    def is_parameter(self) -> bool:
        """Whether the operand is given, not computed."""
        return self.kind != "input"

    @property
    def ratio(self) -> float:
        """How many times larger; infinite where the twins' are zero."""
        return self.peak / self.most if self.most else math.inf


class TwinContrast(NamedTuple):
    """Operands of a node that stand out from those of its twins, the most telling one first."""

    twins: TwinSet
    compared: int
    operands: tuple[OperandContrast, ...]
    output: OperandContrast | None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Entries compared, those of the twins included."""
        return tuple(entry for each in self.operands for entry in (each.entry, *each.others))

    def doubts(self, evidence: RunEvidence) -> Iterator[Premise]:
        """Yield doubts about the comparison: about its tensors, and the edges to the twins."""
        yield from tensor_doubts(evidence, self.entries)
        yield from edge_doubts(evidence, self.twins.nodes)

    @property
    def clause(self) -> str:
        """``"weights reach 8,376 (0.411 in 6 twins)"``: short, as it is the end of a title."""
        first = self.operands[0]
        several = first.kind == "weights"
        most = f"({magnitude_text(first.most)} in {counted(len(first.others), 'twin')})"
        if not first.peak:
            return f"{first.kind} {'are' if several else 'is'} all zero {most}"
        verb = "reach" if several else "reaches"
        return f"{first.kind} {verb} {magnitude_text(first.peak)} {most}"

    def step(self, evidence: RunEvidence) -> str:
        """Return what to do about the operand that stands out most."""
        first = self.operands[0]
        name = evidence.entry_name(first.entry)
        if not first.is_parameter:
            return (
                f"Follow {name} upstream: the values are out of range before this node reads them."
            )
        given = [evidence.entry_name(each.entry) for each in self.operands if each.is_parameter]
        node = first.entry[0]
        return (
            f"Compare {' and '.join(given)} with the model: run.tensors[{node}].numpy() has the "
            "values of the dump. If they are right, compute this node in a wider type."
        )

    def facts(self, evidence: RunEvidence) -> list[str]:
        """Return a line for each operand, and one on the twins."""
        lines = []
        for each in self.operands:
            name = f"{evidence.entry_name(each.entry)} ({each.kind})"
            twins, most = counted(len(each.others), "twin"), magnitude_text(each.most)
            if not each.peak:
                lines.append(f"{name} is all zero; in its {twins} up to {most}")
            elif each.most:
                lines.append(
                    f"{name} reaches {magnitude_text(each.peak)}, {ratio_text(each.ratio)} the "
                    f"maximum of its {twins} ({most})"
                )
            else:
                lines.append(
                    f"{name} reaches {magnitude_text(each.peak)}; its {twins} are all zero"
                )
        if not lines:
            twins = counted(len(self.twins.nodes), "twin")
            lines = [f"inputs and parameters: no larger than in its {twins}"]
        if self.output is not None:
            before = counted(len(self.output.others), "twin")
            lines.append(
                f"finite outputs reach {magnitude_text(self.output.peak)}; in {before} without NaN "
                f"or Inf at most {magnitude_text(self.output.most)}"
            )
        return [*lines, twins_text(self.twins)]


def twins_text(twins: TwinSet) -> str:
    """``"twins: #10, #16 and 4 more, at the same place in blocks A, C and E (sizes differ)"``."""
    shown = ", ".join(f"#{node}" for node in twins.nodes[:_SHOWN])
    more = len(twins.nodes) - _SHOWN
    return f"twins: {shown}{f' and {more:,} more' if more > 0 else ''}, at {twins.where()}"


def contrast(evidence: RunEvidence, node: int) -> TwinContrast | None:
    """Compare a node's operands with its twins'; None without twins or comparable operands."""
    twins = None if evidence.twins is None else evidence.twins.similar(node)
    if twins is None:
        return None
    operands = [_operands(evidence, twin) for twin in twins.nodes]
    compared: list[OperandContrast] = []
    for position, entry in _operands(evidence, node).items():
        others = [own[position] for own in operands if position in own]
        each = _compared(evidence, entry, _kind(evidence, entry), others)
        compared += [] if each is None else [each]
    if not compared:
        return None
    found = [each for each in compared if each.stands_out]
    found.sort(key=lambda each: (not each.is_parameter, each.kind != "weights", -each.ratio))
    outputs = [(twin, 0) for twin in twins.nodes]
    output = _compared(evidence, (node, 0), "output", outputs, finite=False)
    return TwinContrast(twins, len(compared), tuple(found), output)


def _compared(
    evidence: RunEvidence, entry: Entry, kind: str, others: list[Entry], *, finite: bool = True
) -> OperandContrast | None:
    peak = _peak(evidence, entry, finite=finite)
    peaks = {
        other: value
        for other in others
        if other != entry
        and (value := _peak(evidence, other)) is not None
        and _comparable(evidence, entry, other)
    }
    if peak is None or len(peaks) < LEAST:
        return None
    bounds = min(peaks.values()), max(peaks.values())
    return OperandContrast(entry, kind, peak, tuple(sorted(peaks)), *bounds)


def _operands(evidence: RunEvidence, node: int) -> dict[int, Entry]:
    """Return the operands by position, as far as the dump surely has their source."""
    graph = evidence.parts.graph
    if graph is None:
        return {}
    edges = graph.in_edges(node)
    return {
        position: (source, output)
        for position, source, output, trust in zip(
            graph.edge_position[edges].tolist(),
            graph.edge_source[edges].tolist(),
            graph.edge_output[edges].tolist(),
            graph.edge_trust[edges].tolist(),
            strict=True,
        )
        if source >= 0 and trust != Trust.AMBIGUOUS
    }


def _peak(evidence: RunEvidence, entry: Entry, *, finite: bool = True) -> float | None:
    stats = evidence.statistics.get(entry)
    if stats is None or not stats.finite or (finite and stats.finite != stats.size):
        return None
    if not evidence.tensors[entry].complete:
        return None
    return max(abs(float(stats.minimum)), abs(float(stats.maximum)))


def _comparable(evidence: RunEvidence, entry: Entry, other: Entry) -> bool:
    one, two = evidence.tensors[entry], evidence.tensors[other]
    return one.dtype == two.dtype and len(one.shape) == len(two.shape)


def _kind(evidence: RunEvidence, entry: Entry) -> str:
    if evidence.role(entry[0]) != _PARAMETER:
        return "input"
    tensor = evidence.tensors.get(entry)
    wide = tensor is not None and sum(size > 1 for size in tensor.shape) >= _WEIGHT_RANK
    return "weights" if wide else _PARAMETER


def magnitude_text(value: float) -> str:
    """Write a magnitude with three significant digits, or all of a whole number: ``"8,376"``."""
    if value.is_integer() and abs(value) < _EXACT_TO:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 999.5 <= abs(value) < _EXACT_TO else f"{value:.3g}"


def grouped_text(value: object) -> str:
    """Write a value of a tensor, with separators between the thousands of whole numbers."""
    text = number_text(value)
    digits = text.removeprefix("-")
    return f"{int(text):,}" if digits.isdecimal() and digits.isascii() else text


def ratio_text(ratio: float) -> str:
    """``"3.1×"``, ``"20,000×"``: two significant digits, as a ratio of extremes has no more."""
    rounded = float(f"{ratio:.2g}")
    return f"{rounded:,.0f}×" if rounded >= 10 else f"{rounded:.1f}×"
