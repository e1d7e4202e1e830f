"""Logged values that cannot be shown: without a debug buffer, without an entry, never written."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import RecordedDump, place
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.executorch.etdump import DebugTensor, EventKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DEBUG_VALUES_NAME = "debug-values"
_BUFFER = "Open it with the buffer of the same run: open(…, debug_buffer='debug_buffer.bin')."


def find_debug_values(evidence: RunEvidence) -> Iterable[Finding]:
    """Make a finding of the buffer, and one of debug events without a value."""
    recorded = evidence.recorded
    if recorded is None:
        return
    tensors = _tensors(recorded)
    buffer = recorded.files.buffer
    if tensors and buffer is None:
        yield _found(
            Severity.INFO,
            f"{counted(tensors, 'tensor')} {agree(tensors, 'was')} logged, but there "
            "is no debug buffer: values are unknown",
            "the dump tells where in the debug buffer the values lie; the Inspector would show "
            "zeros",
            _BUFFER,
        )
    elif buffer is not None and not tensors:
        yield _found(
            Severity.WARNING,
            "The dump logged no tensors: nothing in the debug buffer can be shown "
            f"({counted(buffer.size, 'byte')})",
            "every event of the dump was looked at",
            "The two files are of different runs, or the run did not log intermediate outputs.",
        )
    elif evidence.blank:
        count = int(np.count_nonzero(evidence.columns.size))
        yield _found(
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


def _tensors(recorded: RecordedDump) -> int:
    values = (each.value for each in recorded.dump.values.values())
    return sum(
        len(each) if isinstance(each, tuple) else isinstance(each, DebugTensor) for each in values
    )


def _without_entry(recorded: RecordedDump, empty: list[int]) -> Finding:
    dump = recorded.dump
    at = [(int(dump.chain_index[event]), int(dump.instruction_id[event])) for event in empty]
    nodes = dict.fromkeys(node for event in empty for node in recorded.nodes.of(event))
    return _found(
        Severity.WARNING,
        f"{counted(len(empty), 'debug event')} {agree(len(empty), 'has')} no value",
        "every event of the dump was looked at; the Inspector refuses such a dump",
        "The dump may be damaged, or was written by another tool: record it again.",
        facts=[
            place(dump, each) if each[0] >= 0 else "a program output" for each in dict.fromkeys(at)
        ],
        nodes=tuple(nodes),
    )


def _found(
    severity: Severity,
    title: str,
    why: str,
    step: str,
    *,
    facts: Iterable[str] = (),
    nodes: tuple[int, ...] = (),
) -> Finding:
    told = cut(list(facts))
    return Finding(
        DEBUG_VALUES_NAME, severity, title, told, Confidence.HIGH, why, nodes, (), step, 0.8
    )


DEBUG_VALUES = Rule(DEBUG_VALUES_NAME, find_debug_values, Basis.FILES)
