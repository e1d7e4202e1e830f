"""The slowest events that a delegate logs in its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.executorch.delegate_clock import timed_calls
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    by_backend,
    shortened,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.findings.executorch.recorded import Call, Recorded

NAME = "delegate-events"
_SHOWN = 5


class Event(NamedTuple):
    """What a delegate logs under one identifier in one call, per execution."""

    name: str
    call: Call
    ns: float
    nodes: tuple[int, ...]


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make a finding a backend that logs several events."""
    timeline = evidence.parts.timeline
    if timeline is None or not timeline.total_ns > 0:
        return
    for backend, events in logged(evidence).items():
        events.sort(key=lambda event: -event.ns)
        if len(events) > 1 and events[0].ns > 0:
            yield _slowest(evidence, backend, events, timeline.total_ns)


def logged(evidence: Evidence) -> dict[str, list[Event]]:
    """Return what each backend logs in the unit of the runtime's clock."""
    recorded = evidence.recorded
    if recorded is None:
        return {}
    known = timed_calls(recorded)
    return {
        backend: [event for call in calls for event in _events(recorded, call)]
        for backend, calls in by_backend(known).items()
    }


def _events(recorded: Recorded, call: Call) -> Iterable[Event]:
    dump, rows = recorded.dump, call.inner
    of: dict[tuple[int, str], list[int]] = {}
    for row in rows.tolist():
        key = (int(dump.delegate_id_int[row]), dump.delegate_names[row])
        of.setdefault(key, []).append(row)
    for (number, text), own in of.items():
        name = text if number == -1 else str(number)
        ns = recorded.per_execution(np.array(own))
        yield Event(shortened(name), call, ns, recorded.nodes.of(own[0]) or call.nodes)


def _slowest(evidence: Evidence, backend: str, events: list[Event], whole: float) -> Finding:
    first = events[0]
    return Finding(
        NAME,
        Severity.HOTSPOT,
        f"{first.name} is the slowest event of {backend}: {duration_text(first.ns)}, "
        f"{percent(first.ns / whole)} of the time",
        facts_of(events, whole),
        Confidence.MEDIUM if evidence.inflated else Confidence.HIGH,
        f"times as the delegate logged them; shares of {evidence.whole}{evidence.inflated}",
        first.nodes,
        (),
        "run.times('name') lists all events; each is in the flamechart below its call.",
        first.ns / whole / 2,
    )


def facts_of(events: list[Event], whole: float) -> tuple[str, ...]:
    """Name the first events with their calls and their share of the whole."""
    return tuple(
        f"{event.name}, {event.call.place}: {duration_text(event.ns)}, {percent(event.ns / whole)}"
        for event in events[:_SHOWN]
    )


RULE = Rule(NAME, find, Basis.TIMES)
