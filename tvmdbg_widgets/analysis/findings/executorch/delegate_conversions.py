"""What part of a delegate's time its events spend on converting layouts and types.

Of a delegate whose graph is known, what lowering inserted is told from what the program asked for,
with the operator that each serves and what lies beyond the call's border; of others the names of
the events have to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.operators import (
    LoggedOperator,
    certainty,
    doubts,
    fact_of,
    logged,
    neighbors,
)
from tvmdbg_widgets.analysis.findings.executorch.recorded import sentence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

DELEGATE_CONVERSIONS_NAME = "delegate-conversions"
#: Of the time of its calls.
_MATTERS = 0.05
_CONVERTING = frozenset({"layout/copy", "cast/quantize"})
#: Operators of delegates that compute nothing.
_TYPES: Final = frozenset({"StaticTranspose", "StaticReshape", "Convert", "Copy"})
_NAMED = 3


def find_delegate_conversions(evidence: RunEvidence) -> Iterable[Finding]:
    """Make a finding a backend whose conversions matter."""
    recorded, timeline = evidence.recorded, evidence.parts.timeline
    if recorded is None or timeline is None or not timeline.total_ns > 0:
        return
    for backend, events in logged(evidence).items():
        some = sorted(
            (event for event in events if event.ns > 0 and converts(event)),
            key=lambda event: -event.ns,
        )
        calls = {event.call.key: event.call for event in events}
        took = sum(recorded.per_execution(call.rows) for call in calls.values())
        if some and sum(event.ns for event in some) >= _MATTERS * took:
            yield _finding(evidence, backend, some, took)


def _finding(
    evidence: RunEvidence, backend: str, some: list[LoggedOperator], took: float
) -> Finding:
    timeline = evidence.parts.timeline
    whole = float("nan") if timeline is None else timeline.total_ns
    ns = sum(event.ns for event in some)
    inserted = sum(event.ns for event in some if event.inserted)
    title = (
        f"{backend} spends {duration_text(ns)} on layout and type conversions: "
        f"{percent(ns / took)} of its calls, {percent(ns / whole)} of the time"
    )
    if inserted:
        how_much = "all" if all(event.inserted for event in some) else duration_text(inserted)
        title += f"; {how_much} of it in operators that lowering inserted"
    known = all(event.operator is not None for event in some)
    how = certainty(some) or f"{counted(len(some), 'event')} named so (transpose, copy, convert)"
    return Finding(
        DELEGATE_CONVERSIONS_NAME,
        Severity.HOTSPOT,
        sentence(title),
        cut([fact_of(event, whole, _cause(evidence, event)) for event in some]),
        Confidence.HIGH
        if known and all(event.is_sure for event in some) and not evidence.inflated
        else Confidence.MEDIUM,
        f"{how}; calls took {duration_text(took)}; shares of {evidence.whole}{evidence.inflated}",
        tuple(dict.fromkeys(node for event in some for node in event.nodes)),
        (),
        "Keep one memory format from end to end, and let one call hold what is converted back "
        "and forth between two.",
        ns / whole / 2,
    )


def _cause(evidence: RunEvidence, event: LoggedOperator) -> str:
    """Say what a conversion is for, and what beyond the border of its call it lies next to."""
    if event.operator is None:
        return ""
    told = []
    if event.inserted:
        serves = "" if event.serves is None else f" for {event.serves.name}"
        told.append(f"inserted by lowering{serves}")
    else:
        told.append("the program has it")
    sources, targets = neighbors(evidence, event)
    told += [f"its call reads {_beyond(evidence, sources)}"] if sources else []
    told += [f"{_beyond(evidence, targets)} reads from its call"] if targets else []
    return "; ".join([*told, *doubts(event)])


def _beyond(evidence: RunEvidence, nodes: tuple[int, ...]) -> str:
    recorded = evidence.recorded
    taken = () if recorded is None else recorded.taken
    named = []
    for node in nodes[:_NAMED]:
        kind = "input" if evidence.role(node) else "another call" if node in taken else "native"
        named.append(f"{evidence.name(node)} ({kind})")
    more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
    return ", ".join(named) + more


def converts(event: LoggedOperator) -> bool:
    """Whether an operator or event converts a layout or a type, or copies."""
    if event.of_xnnpack and event.operator is not None:
        return event.operator.type in _TYPES
    kind = op_kind(event.events[0], NodeKind.OPERATOR)
    return kind in _CONVERTING and "pad" not in event.events[0].lower()


DELEGATE_CONVERSIONS = Rule(DELEGATE_CONVERSIONS_NAME, find_delegate_conversions, Basis.TIMES)
