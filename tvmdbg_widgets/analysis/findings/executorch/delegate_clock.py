"""Rules on a delegate's clock: times in another unit, and sums that differ from its calls."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    RecordedDump,
    by_backend,
    nodes_of_calls,
    sentence,
    spelled,
)
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, fixed, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity


@rule("delegate-clock", Basis.FILES)
def find_delegate_clock(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding per backend."""
    recorded = evidence.recorded
    if recorded is None:
        return
    for backend, calls in by_backend(recorded.delegated).items():
        wrong = [call for call in calls if _impossible_times(recorded, call)]
        if wrong:
            yield _finding(recorded, backend, wrong)


def _impossible_times(recorded: RecordedDump, call: DelegateInstruction) -> list[str]:
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
    """Return whether a delegate logged only 0 or 1 ticks in a call."""
    took = recorded.took[call.inner]
    return bool(len(took)) and float(took.max()) == 1


def _finding(recorded: RecordedDump, backend: str, calls: list[DelegateInstruction]) -> Finding:
    facts = [f"{call.place}: {', '.join(_impossible_times(recorded, call))}" for call in calls]
    events = sum(len(call.inner) for call in calls)
    foreign = any(bool(recorded.calls.foreign[call.inner].any()) for call in calls)
    why = (
        f"{agree(events, 'lies')} outside of its calls"
        if foreign
        else f"{agree(events, 'takes')} 0 or 1 ticks"
    )
    return Finding(
        Severity.WARNING,
        f"Times of {spelled(backend)} are not in the runtime's unit: its "
        f"{counted(events, 'event')} {why}",
        cut(facts),
        Confidence.HIGH,
        "events of a delegate must start and end within its call, on the runtime's clock",
        nodes_of_calls(calls),
        next_step="These times count in no sum. Log them with "
        "event_tracer_start_profiling_delegate, or give the Inspector a "
        "delegate_time_scale_converter.",
        weight=0.75,
    )


_LEAST = 0.2
_LEAST_NS = 10_000
_MATTERS = 0.01
_ROUNDING_NS = 1000  # XNNPACK counts microseconds
_ABOVE = 1.05
_WITH_OPERATORS = (
    "Outside of its operators a call sets up and resizes, and XNNPACK counts whole microseconds. "
    "Fewer, larger calls lose less time."
)


@rule("delegate-sums", Basis.FILES)
def find_delegate_sums(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield up to two findings per backend: unaccounted time, and sums above calls."""
    recorded, whole = evidence.recorded, evidence.total_ns
    if recorded is None or evidence.parts.timeline is None:
        return
    for backend, calls in by_backend(timed_calls(recorded)).items():
        above = []
        for call in calls:
            outer, inner = _sums(recorded, [call])
            if inner > max(outer * _ABOVE, outer + _ROUNDING_NS):
                above.append(call)
        if above:
            yield _above(evidence, recorded, backend, above)
        below = [call for call in calls if call not in above]
        outer, inner = _sums(recorded, below)
        left = outer - inner
        matters = max(outer * _LEAST, _LEAST_NS, whole * _MATTERS)
        if whole and not evidence.inflated and left > matters:
            yield _below(evidence, recorded, backend, below)


def _sums(recorded: RecordedDump, calls: list[DelegateInstruction]) -> tuple[float, float]:
    outer = sum(recorded.per_execution(call.rows) for call in calls)
    return outer, sum(recorded.per_execution(call.inner) for call in calls)


def _facts_delegate_sums(
    evidence: RunEvidence, recorded: RecordedDump, calls: list[DelegateInstruction]
) -> tuple[str, ...]:
    sums = ((call, *_sums(recorded, [call])) for call in calls)
    timeline = evidence.parts.timeline
    rounding = 0.0 if timeline is None else timeline.rounding_ns
    return cut(
        [
            f"{evidence.call_name(call)}: {duration_text(inner, rounding)} in its events, "
            f"{duration_text(outer)} in all"
            for call, outer, inner in sums
        ]
    )


def _below(
    evidence: RunEvidence, recorded: RecordedDump, backend: str, calls: list[DelegateInstruction]
) -> Finding:
    outer, inner = _sums(recorded, calls)
    left = outer - inner
    return Finding(
        Severity.HOTSPOT,
        sentence(
            f"{spelled(backend)} does not account for {percent(left / outer)} of its calls: "
            f"{duration_text(left)} per execution"
        ),
        _facts_delegate_sums(evidence, recorded, calls),
        Confidence.HIGH,
        "the calls were timed by the runtime, the events in them by the delegate",
        nodes_of_calls(calls),
        next_step=_WITH_OPERATORS
        if all(call.at in recorded.aligned for call in calls)
        else "Between its events a delegate copies, converts or waits. Let it log these too, or "
        "profile it with its own tools.",
        weight=left / evidence.total_ns,
    )


def _above(
    evidence: RunEvidence, recorded: RecordedDump, backend: str, calls: list[DelegateInstruction]
) -> Finding:
    outer, inner = _sums(recorded, calls)
    return Finding(
        Severity.WARNING,
        f"Events of {spelled(backend)} add up to {fixed(inner / outer, 2)}× the time of its calls: "
        "they overlap",
        _facts_delegate_sums(evidence, recorded, calls),
        Confidence.HIGH,
        "the events lie within their calls, yet their sum is longer",
        nodes_of_calls(calls),
        next_step="Do not add these times up: the delegate logs nested events, or runs several at "
        "once.",
        weight=0.6,
    )
