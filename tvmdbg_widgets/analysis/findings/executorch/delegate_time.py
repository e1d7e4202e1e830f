"""Rules on time in delegates: shares of backends, and their slowest events."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.operators import (
    LoggedOperator,
    certainty,
    facts_of,
    logged,
)
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    by_backend,
    nodes_of_calls,
    sentence,
    spelled,
)
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity

_NAMED = 2


@rule("delegate-time", Basis.TIMES)
def find_delegate_time(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all backends, the slowest first."""
    recorded, whole = evidence.recorded, evidence.total_ns
    if recorded is None or not recorded.delegated or not whole:
        return
    took = {call.key: recorded.per_execution(call.rows) for call in recorded.delegated}
    calls = by_backend(recorded.delegated)
    shares = {name: sum(took[call.key] for call in some) / whole for name, some in calls.items()}
    names = sorted(shares, key=lambda name: -shares[name])
    together = sum(shares.values())
    facts = [
        f"{spelled(name)} {'' if at else 'takes '}{percent(shares[name])}"
        f"{'' if at else ' of the time'} in {counted(len(calls[name]), 'call')}"
        for at, name in enumerate(names[:_NAMED])
    ]
    if len(names) > _NAMED:
        facts.append(f"and {counted(len(names) - _NAMED, 'more backend')}")
    outside = max(0.0, 1 - together)
    rest = percent(outside) if outside else "nothing runs"
    slowest = sorted(recorded.delegated, key=lambda call: -took[call.key])
    yield Finding(
        Severity.HOTSPOT,
        sentence(f"{', '.join(facts)}; {rest} outside of delegates"),
        cut(
            [
                f"{evidence.call_name(call)}: {duration_text(took[call.key])}, "
                f"{percent(took[call.key] / whole)}"
                for call in slowest
            ]
        ),
        Confidence.MEDIUM if evidence.inflated else Confidence.HIGH,
        f"shares of {evidence.whole}{evidence.inflated}",
        nodes_of_calls(slowest),
        next_step=_step(evidence),
        weight=together,
    )


def _step(evidence: RunEvidence) -> str:
    graph = evidence.parts.graph
    if graph is not None and graph.form == "edge":
        return "GraphView(run) draws the operators of each call as a group."
    if graph is not None and "delegate_node" in graph.attr_names:
        return "GraphView(run) draws the delegate's operators, with an ETRecord the edge program's."
    if graph is None:
        return (
            "Open the program (.pte) too: it has the operators of XNNPACK. An ETRecord has those "
            "of the edge program."
        )
    return "An ETRecord has the operators inside of the calls: open(…, 'etrecord.bin')."


@rule("delegate-events", Basis.TIMES)
def find_delegate_events(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding per backend that logs several events."""
    if not evidence.total_ns:
        return
    for backend, events in logged(evidence).items():
        events.sort(key=lambda event: -event.ns)
        if len(events) > 1 and events[0].ns > 0:
            yield _slowest(evidence, backend, events)


def _slowest(evidence: RunEvidence, backend: str, events: list[LoggedOperator]) -> Finding:
    first, whole = events[0], evidence.total_ns
    unsure = first.operator is not None and not first.is_sure
    matched = certainty(events)
    return Finding(
        Severity.HOTSPOT,
        f"{first.name} is the slowest {'event' if first.operator is None else 'operator'} of "
        f"{spelled(backend)}: {duration_text(first.ns)}, {percent(first.ns / whole)} of the time",
        facts_of(events, whole),
        Confidence.MEDIUM if evidence.inflated or unsure else Confidence.HIGH,
        f"times as the delegate logged them{matched and '; '}{matched}; shares of "
        f"{evidence.whole}{evidence.inflated}",
        first.nodes,
        next_step="run.times('name') lists all events; each is in the flamechart below its call."
        if first.operator is None
        else "run.delegate_calls() has each call's graph and what each event covers; "
        "GraphView(run) draws the operators inside of the calls.",
        weight=first.ns / whole / 2,
    )
