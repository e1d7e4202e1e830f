"""What part of a delegate's time its events spend on converting layouts and types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.executorch.delegate_events import facts_of, logged
from tvmdbg_widgets.analysis.findings.executorch.recorded import nodes_of_calls, sentence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "delegate-conversions"
#: Of the time of its calls.
_MATTERS = 0.05
_CONVERTING = frozenset({"layout/copy", "cast/quantize"})


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make a finding a backend whose conversions matter."""
    recorded, timeline = evidence.recorded, evidence.parts.timeline
    if recorded is None or timeline is None or not timeline.total_ns > 0:
        return
    whole = timeline.total_ns
    for backend, events in logged(evidence).items():
        some = sorted(
            (event for event in events if event.ns > 0 and _converts(event.name)),
            key=lambda event: -event.ns,
        )
        ns = sum(event.ns for event in some)
        calls = {event.call.at: event.call for event in events}
        took = sum(recorded.per_execution(call.rows) for call in calls.values())
        if not some or ns < _MATTERS * took:
            continue
        yield Finding(
            NAME,
            Severity.HOTSPOT,
            sentence(
                f"{backend} spends {duration_text(ns)} on layout and type conversions: "
                f"{percent(ns / took)} of its calls, {percent(ns / whole)} of the time"
            ),
            facts_of(some, whole),
            Confidence.MEDIUM,
            f"{counted(len(some), 'event')} named so (transpose, copy, convert); calls took "
            f"{duration_text(took)}; shares of {evidence.whole}{evidence.inflated}",
            nodes_of_calls(event.call for event in some),
            (),
            "Keep one memory format from end to end, and let one call hold what is converted back "
            "and forth between two.",
            ns / whole / 2,
        )


def _converts(name: str) -> bool:
    return op_kind(name, NodeKind.OPERATOR) in _CONVERTING and "pad" not in name.lower()


RULE = Rule(NAME, find, Basis.TIMES)
