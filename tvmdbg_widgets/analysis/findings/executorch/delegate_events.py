"""The slowest operators inside a delegate, and the slowest events that are tied to none."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.executorch.operators import (
    LoggedOperator,
    certainty,
    facts_of,
    logged,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DELEGATE_EVENTS_NAME = "delegate-events"


def find_delegate_events(evidence: RunEvidence) -> Iterable[Finding]:
    """Make a finding a backend that logs several events."""
    timeline = evidence.parts.timeline
    if timeline is None or not timeline.total_ns > 0:
        return
    for backend, events in logged(evidence).items():
        events.sort(key=lambda event: -event.ns)
        if len(events) > 1 and events[0].ns > 0:
            yield _slowest(evidence, backend, events, timeline.total_ns)


def _slowest(
    evidence: RunEvidence, backend: str, events: list[LoggedOperator], whole: float
) -> Finding:
    first = events[0]
    unsure = first.operator is not None and not first.is_sure
    matched = certainty(events)
    return Finding(
        DELEGATE_EVENTS_NAME,
        Severity.HOTSPOT,
        f"{first.name} is the slowest {'event' if first.operator is None else 'operator'} of "
        f"{backend}: {duration_text(first.ns)}, {percent(first.ns / whole)} of the time",
        facts_of(events, whole),
        Confidence.MEDIUM if evidence.inflated or unsure else Confidence.HIGH,
        f"times as the delegate logged them{matched and '; '}{matched}; shares of "
        f"{evidence.whole}{evidence.inflated}",
        first.nodes,
        (),
        "run.times('name') lists all events; each is in the flamechart below its call."
        if first.operator is None
        else "run.delegate_calls() has each call's graph and what each event covers; "
        "GraphView(run) draws the operators inside of the calls.",
        first.ns / whole / 2,
    )


DELEGATE_EVENTS = Rule(DELEGATE_EVENTS_NAME, find_delegate_events, Basis.TIMES)
