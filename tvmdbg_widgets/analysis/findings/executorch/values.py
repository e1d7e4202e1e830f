"""Rules on ExecuTorch values: contents of the debug buffer, and distance from a reference."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.executorch.metrics import snr
from tvmdbg_widgets.analysis.executorch.recorded_calls import reference_tensors
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import RecordedDump
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.etdump import EventKind
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.tensors.tensors import Tensor

_BUFFER = "Open it with the buffer of the same run: open(…, debug_buffer='debug_buffer.bin')."


@rule("debug-values", Basis.FILES)
def find_debug_values(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of the buffer, and one of debug events without a value."""
    recorded = evidence.recorded
    if recorded is None:
        return
    tensors = sum(len(value.tensors) for value in recorded.dump.values.values())
    buffer = recorded.files.buffer
    if tensors and buffer is None:
        yield _finding(
            Severity.INFO,
            f"{counted(tensors, 'tensor')} {agree(tensors, 'was')} logged, but there "
            "is no debug buffer: values are unknown",
            "the dump has only offsets into the debug buffer; the Inspector would show zeros",
            _BUFFER,
        )
    elif buffer is not None and not tensors:
        yield _finding(
            Severity.WARNING,
            "The dump logged no tensors: nothing in the debug buffer can be shown "
            f"({counted(buffer.size, 'byte')})",
            "every event of the dump was checked",
            "The two files are of different runs, or the run did not log intermediate outputs.",
        )
    elif evidence.blank:
        count = int(np.count_nonzero(evidence.columns.size))
        yield _finding(
            Severity.WARNING,
            f"All values of {counted(count, 'tensor')} in the debug buffer are zero",
            "every value was read",
            "Was the buffer saved before the run, or from another one? "
            "write_etdump_result_to_file(etdump, buffer) writes both after the run.",
        )
    rows = np.flatnonzero(recorded.dump.kind == EventKind.DEBUG).tolist()
    empty = [event for event in rows if event not in recorded.dump.values]
    if empty:
        yield _without_entry(recorded, empty)


def _without_entry(recorded: RecordedDump, empty: list[int]) -> Finding:
    dump = recorded.dump
    nodes = dict.fromkeys(node for event in empty for node in recorded.nodes.of(event))
    return _finding(
        Severity.WARNING,
        f"{counted(len(empty), 'debug event')} {agree(len(empty), 'has')} no value",
        "every event of the dump was checked; the Inspector refuses such a dump",
        "The dump may be damaged, or was written by another tool: record it again.",
        facts=[
            dump.place_text(at) if at[0] >= 0 else "a program output"
            for at in dict.fromkeys(map(dump.place, empty))
        ],
        nodes=tuple(nodes),
    )


def _finding(
    severity: Severity,
    title: str,
    why: str,
    step: str,
    *,
    facts: Iterable[str] = (),
    nodes: tuple[int, ...] = (),
) -> Finding:
    shown = cut(list(facts))
    return Finding(severity, title, shown, Confidence.HIGH, why, nodes, next_step=step, weight=0.8)


#: Below it outputs have a percent and more of noise in their energy; 8-bit models reach 30 to 40.
_LEAST_DB = 20.0
_LARGEST = 1 << 26


@rule("reference-outputs", Basis.TENSORS)
def find_reference_outputs(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of the outputs that have a reference."""
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
    facts = [
        (pair[0], *_distance_to_reference(*pair))
        for pair in pairs
        if pair[0].shape == pair[1].shape
    ]
    known = [
        (tensor, decibels, largest) for tensor, decibels, largest in facts if not np.isnan(decibels)
    ]
    if not known:
        return
    known.sort(key=lambda each: each[1])
    worst, decibels, largest = known[0]
    ratio = "no difference" if decibels == np.inf else f"SNR {decibels:.4g} dB"
    what = f"{counted(len(known), 'output')} {agree(len(known), 'matches')}"
    far = decibels < _LEAST_DB
    name = evidence.name(worst.node)
    title = (
        f"Output {name} is far from its reference: {ratio}, largest difference {largest:.4g}"
        if far
        else f"{what} the ETRecord's reference: {ratio}, largest difference {largest:.4g}"
    )
    sure = references[worst.node, worst.output].trust is Trust.EXACT
    yield Finding(
        Severity.WARNING if far else Severity.INFO,
        title,
        tuple(
            f"{evidence.name(tensor.node)}: largest difference {most:.4g}"
            for tensor, _, most in known[:5]
        ),
        Confidence.HIGH if sure else Confidence.MEDIUM,
        "the dump names the case of the bundle that ran"
        if sure
        else "the ETRecord has one case; whether this run used its inputs is not recorded",
        nodes=tuple(tensor.node for tensor, _, _ in known),
        entries=tuple((tensor.node, tensor.output) for tensor, _, _ in known),
        next_step="run.reference has the values; run.inspector.calculate_numeric_gap() compares "
        "intermediate outputs.",
        weight=0.5 if far else 0.0,
    )


def _distance_to_reference(tensor: Tensor, reference: Tensor) -> tuple[float, float]:
    try:
        ours, theirs = tensor.numpy(), reference.numpy()
        ratio = snr(theirs, ours)  # refuses complex values
        difference = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
        return ratio, float(difference.max(initial=0.0))
    except (FormatError, OSError, TypeError, ValueError):
        return float("nan"), float("nan")
