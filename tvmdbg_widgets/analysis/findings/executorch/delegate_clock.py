"""Times of a delegate that cannot be in the runtime's unit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    RecordedDump,
    by_backend,
    nodes_of_calls,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DELEGATE_CLOCK_NAME = "delegate-clock"


def find_delegate_clock(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding a backend."""
    recorded = evidence.recorded
    if recorded is None:
        return
    for backend, calls in by_backend(recorded.delegated).items():
        wrong = [call for call in calls if _facts(recorded, call)]
        if wrong:
            yield _finding(recorded, backend, wrong)


def _facts(recorded: RecordedDump, call: DelegateInstruction) -> list[str]:
    """Say what of the times that a delegate logged in a call is impossible."""
    inner = call.inner
    took, limit = recorded.took[inner], recorded.took[recorded.calls.call[inner]]
    foreign = bool(recorded.calls.foreign[inner].any())
    if not foreign and not placeholders(recorded, call):
        return []
    facts = []
    start, end = recorded.dump.start, recorded.dump.end
    whole = recorded.calls.call[inner]
    outside = np.count_nonzero((start[inner] < start[whole]) | (end[inner] > end[whole]))
    if outside:
        facts.append(f"{outside:,} of {counted(len(inner), 'event')} outside of the call")
    longer = np.count_nonzero(took > limit)
    if longer:
        facts.append(f"{longer:,} longer than the call")
    if took.max() <= 1:
        facts.append("each takes 0 or 1 ticks")
    return facts


def timed_calls(recorded: RecordedDump) -> list[DelegateInstruction]:
    """Return the calls whose delegate logs times in the unit of the runtime's clock."""
    return [
        call
        for call in recorded.delegated
        if len(call.inner)
        and not recorded.calls.foreign[call.inner].any()
        and not placeholders(recorded, call)
    ]


def placeholders(recorded: RecordedDump, call: DelegateInstruction) -> bool:
    """Whether a delegate logged 0 or 1 ticks for all that it did in a call."""
    took = recorded.took[call.inner]
    return bool(len(took)) and float(took.max()) == 1


def _finding(recorded: RecordedDump, backend: str, calls: list[DelegateInstruction]) -> Finding:
    facts = [f"{call.place}: {', '.join(_facts(recorded, call))}" for call in calls]
    events = sum(len(call.inner) for call in calls)
    foreign = any(bool(recorded.calls.foreign[call.inner].any()) for call in calls)
    why = (
        f"{agree(events, 'lies')} outside of its calls"
        if foreign
        else f"{agree(events, 'takes')} 0 or 1 ticks"
    )
    return Finding(
        DELEGATE_CLOCK_NAME,
        Severity.WARNING,
        f"Times of {backend} are not in the runtime's unit: its {counted(events, 'event')} {why}",
        cut(facts),
        Confidence.HIGH,
        "what a delegate does in a call starts and ends within it, on the runtime's clock",
        nodes_of_calls(calls),
        (),
        "These times count in no sum. Log them with event_tracer_start_profiling_delegate, or give "
        "the Inspector a delegate_time_scale_converter.",
        0.75,
    )


DELEGATE_CLOCK = Rule(DELEGATE_CLOCK_NAME, find_delegate_clock, Basis.FILES)
