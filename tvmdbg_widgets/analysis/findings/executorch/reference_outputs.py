"""Outputs of the program against the reference outputs of the ETRecord."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.executorch.gap.metrics import snr
from tvmdbg_widgets.analysis.executorch.reference_tensors import reference_tensors
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.tensors.tensor import Tensor
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

REFERENCE_OUTPUTS_NAME = "reference-outputs"
#: Below it outputs have a percent and more of noise in their energy; 8-bit models reach 30 to 40.
_LEAST_DB = 20.0
_LARGEST = 1 << 26


def find_reference_outputs(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding on the outputs that have a reference."""
    files, graph = evidence.parts.executorch, evidence.parts.graph
    if files is None or graph is None or not evidence.tensors:
        return
    try:
        references = reference_tensors(files, graph)
    except (ValueError, OSError):
        return
    pairs = [
        (evidence.tensors[entry], reference)
        for entry, reference in references.items()
        if entry in evidence.tensors and reference.nbytes <= _LARGEST
    ]
    told = [(pair[0], *_apart(*pair)) for pair in pairs if pair[0].shape == pair[1].shape]
    known = [
        (tensor, decibels, largest) for tensor, decibels, largest in told if not np.isnan(decibels)
    ]
    if not known:
        return
    known.sort(key=lambda each: each[1])
    worst, decibels, largest = known[0]
    ratio = "no difference" if decibels == np.inf else f"SNR {decibels:.4g} dB"
    what = f"{counted(len(known), 'output')} {agree(len(known), 'is')}"
    far = decibels < _LEAST_DB
    name = evidence.name(worst.node)
    title = (
        f"Output {name} is far from its reference: {ratio}, largest difference {largest:.4g}"
        if far
        else f"{what} as the ETRecord's reference says: {ratio}, largest difference {largest:.4g}"
    )
    sure = references[worst.node, worst.output].trust is Trust.EXACT
    yield Finding(
        REFERENCE_OUTPUTS_NAME,
        Severity.WARNING if far else Severity.INFO,
        title,
        tuple(
            f"{evidence.name(tensor.node)}: largest difference {most:.4g}"
            for tensor, _, most in known[:5]
        ),
        Confidence.HIGH if sure else Confidence.MEDIUM,
        "the dump names the case of the bundle that ran"
        if sure
        else "the ETRecord has one case, and the dump does not tell whether its inputs ran",
        nodes=tuple(tensor.node for tensor, _, _ in known),
        entries=tuple((tensor.node, tensor.output) for tensor, _, _ in known),
        next_step="run.reference has the values; run.inspector.calculate_numeric_gap() compares "
        "what lies before.",
        weight=0.5 if far else 0.0,
    )


def _apart(tensor: Tensor, reference: Tensor) -> tuple[float, float]:
    """Return signal-to-noise ratio in dB and the largest difference; NaN where none is known."""
    try:
        ours, theirs = tensor.numpy(), reference.numpy()
        ratio = snr(theirs, ours)  # refuses complex values
        difference = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
        return ratio, float(difference.max(initial=0.0))
    except (FormatError, OSError, TypeError, ValueError):
        return float("nan"), float("nan")


REFERENCE_OUTPUTS = Rule(REFERENCE_OUTPUTS_NAME, find_reference_outputs, Basis.TENSORS)
