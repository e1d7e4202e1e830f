"""Events that occur several times within one run, of which the Inspector keeps the last."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.executorch.run_patterns import RunPattern, RunPatterns
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import place, shortened
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etdump import ETDump, EventKind
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

REPEATED_EVENTS_NAME = "repeated-events"


def find_repeated_events(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all of them."""
    recorded = evidence.recorded
    if recorded is None:
        return
    dump = recorded.dump
    lost = 0
    most: dict[int, int] = {}
    known: dict[RunPattern, dict[int, int]] = {}
    for run, pattern in RunPatterns(dump, compat=True):
        if pattern not in known:
            known[pattern] = {
                event.profiles[0]: len(event.profiles)
                for event in pattern.events
                if len(event.profiles) > 1
            }
            start = int(dump.run_offsets[run])
            most |= {start + at: times for at, times in known[pattern].items()}
        lost += sum(known[pattern].values()) - len(known[pattern])
    if not lost:
        return
    first = max(most, key=lambda event: most[event])
    whole = int((dump.kind == EventKind.PROFILE).sum())
    nodes = dict.fromkeys(node for event in most for node in recorded.nodes.of(event))
    yield Finding(
        REPEATED_EVENTS_NAME,
        Severity.INFO,
        f"The Inspector would leave out {lost:,} of {counted(whole, 'event')}: {_name(dump, first)}"
        f" occurs {counted(most[first], 'time')} in a run; here all are kept",
        cut(
            list(
                dict.fromkeys(
                    f"{_name(dump, event)} in {_place(dump, event)}: {counted(times, 'time')}"
                    for event, times in most.items()
                )
            )
        ),
        Confidence.HIGH,
        "the Inspector takes events of one run with the same name, identifier and instruction for "
        "one and keeps the last",
        tuple(nodes),
        (),
        "run.timeline.to_dataframe() lists every event.",
        0.4,
    )


def _name(dump: ETDump, event: int) -> str:
    number = int(dump.delegate_id_int[event])
    text = dump.delegate_names[event] or dump.names[event]
    return str(number) if number != -1 else shortened(text) or "an event without a name"


def _place(dump: ETDump, event: int) -> str:
    at = (int(dump.chain_index[event]), int(dump.instruction_id[event]))
    return place(dump, at) if at[0] >= 0 else "the framework"


REPEATED_EVENTS = Rule(REPEATED_EVENTS_NAME, find_repeated_events, Basis.FILES)
