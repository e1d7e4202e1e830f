"""Times that a delegate logged, against the calls that it logged them in.

Where a run logs values, the runtime does so within the calls, so nothing is said of their rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.delegate_clock import timed_calls
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    RecordedDump,
    by_backend,
    nodes_of_calls,
    sentence,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import duration_text, fixed, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DELEGATE_SUMS_NAME = "delegate-sums"
_LEAST = 0.2
_LEAST_NS = 10_000
_MATTERS = 0.01
#: XNNPACK counts in whole microseconds.
_ROUNDING_NS = 1000
_ABOVE = 1.05
_WITH_OPERATORS = (
    "What is left of these calls, outside of their operators, is set-up, resizing and rounding: "
    "XNNPACK counts whole microseconds. Fewer calls of more operators have less of it."
)


def find_delegate_sums(evidence: RunEvidence) -> Iterable[Finding]:
    """Make up to two findings a backend: of time it does not tell of, and of sums above calls."""
    recorded, timeline = evidence.recorded, evidence.parts.timeline
    if recorded is None or timeline is None:
        return
    whole = timeline.total_ns
    told_of = timed_calls(recorded)
    for backend, calls in by_backend(told_of).items():
        above = [call for call in calls if _is_above(recorded, call)]
        if above:
            yield _above(evidence, recorded, backend, above)
        below = [call for call in calls if call not in above]
        outer, inner = _sums(recorded, below)
        left = outer - inner
        if not evidence.inflated and left > max(outer * _LEAST, _LEAST_NS, whole * _MATTERS):
            yield _below(evidence, recorded, backend, below, whole)


def _sums(recorded: RecordedDump, calls: list[DelegateInstruction]) -> tuple[float, float]:
    outer = sum(recorded.per_execution(call.rows) for call in calls)
    return outer, sum(recorded.per_execution(call.inner) for call in calls)


def _is_above(recorded: RecordedDump, call: DelegateInstruction) -> bool:
    outer, inner = _sums(recorded, [call])
    return inner > max(outer * _ABOVE, outer + _ROUNDING_NS)


def _facts(
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
    evidence: RunEvidence,
    recorded: RecordedDump,
    backend: str,
    calls: list[DelegateInstruction],
    whole: float,
) -> Finding:
    outer, inner = _sums(recorded, calls)
    left = outer - inner
    return Finding(
        DELEGATE_SUMS_NAME,
        Severity.HOTSPOT,
        sentence(
            f"{backend} does not account for {percent(left / outer)} of its calls: "
            f"{duration_text(left)} per execution"
        ),
        _facts(evidence, recorded, calls),
        Confidence.HIGH,
        "the calls were timed by the runtime, the events in them by the delegate",
        nodes_of_calls(calls),
        (),
        _WITH_OPERATORS
        if all(call.at in recorded.aligned for call in calls)
        else "Between its events a delegate copies, converts or waits. Let it log these too, or "
        "profile it with its own tools.",
        left / whole,
    )


def _above(
    evidence: RunEvidence, recorded: RecordedDump, backend: str, calls: list[DelegateInstruction]
) -> Finding:
    outer, inner = _sums(recorded, calls)
    return Finding(
        DELEGATE_SUMS_NAME,
        Severity.WARNING,
        f"Events of {backend} add up to {fixed(inner / outer, 2)}× the time of its calls: they "
        "overlap",
        _facts(evidence, recorded, calls),
        Confidence.HIGH,
        "the events lie within their calls, yet their sum is longer",
        nodes_of_calls(calls),
        (),
        "Do not add these times up: the delegate logs nested events, or runs several at once.",
        0.6,
    )


DELEGATE_SUMS = Rule(DELEGATE_SUMS_NAME, find_delegate_sums, Basis.FILES)
