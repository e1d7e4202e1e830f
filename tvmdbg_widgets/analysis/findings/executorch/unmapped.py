"""Events of delegates that neither a map nor the delegate's own graph ties to operators.

Dumps of another program have the issue ``executorch-disagree``; nothing is said of their events
here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    Identified,
    RecordedDump,
    by_backend,
    place,
    sentence,
    shortened,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_alignment import AMBIGUOUS, NONE
from tvmdbg_widgets.model.executorch.event_nodes import UNMAPPED, WHOLE_INSTRUCTION
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

UNMAPPED_NAME = "unmapped-events"
_BUILDER = "DelegateMappingBuilder, debug_handle_map of PreprocessResult"


def find_unmapped(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding a backend whose graph has no operator for some of its events.

    Another one is of identifiers that maps lack, and one of backends without map or graph.
    """
    recorded = evidence.recorded
    if recorded is None:
        return
    yield from _unmatched(recorded)
    if recorded.files.record is None:
        return
    unmapped = [each for each in recorded.identified if each.how == UNMAPPED]
    if unmapped:
        yield _unmapped(recorded, unmapped)
    whole = [each for each in recorded.identified if each.how == WHOLE_INSTRUCTION]
    whole = [each for each in whole if each.at not in recorded.aligned]
    if whole:
        yield _without_map(recorded, whole)


def _unmatched(recorded: RecordedDump) -> Iterable[Finding]:
    """Say which events are of no operator of their delegate's graph, and why."""
    for backend, calls in by_backend(recorded.delegated).items():
        told = [each for call in calls for each in _reasons(recorded, call)]
        lost = Counter((name, reason) for name, reason in told if reason)
        if lost:
            yield _without_operator(backend, lost, len(told))


def _reasons(recorded: RecordedDump, call: DelegateInstruction) -> Iterable[tuple[str, str]]:
    """Yield each event of a call, and why it is of no operator; empty where it is of one."""
    for row in call.rows.tolist():
        told = recorded.files.insides.calls.get(row)
        if told is None or not told.fits or not (told.alignment or told.unsure_of):
            continue
        matches = () if told.alignment is None else told.alignment.events
        reasons = [each.reason if each.match in (AMBIGUOUS, NONE) else "" for each in matches]
        for event, reason in zip_longest(told.events, reasons, fillvalue=told.unsure_of):
            name = shortened(recorded.dump.delegate_names[int(event)])
            yield f"{name}, {call.place}", reason


def _without_operator(backend: str, lost: Counter[tuple[str, str]], total: int) -> Finding:
    count = lost.total()
    return Finding(
        UNMAPPED_NAME,
        Severity.INFO,
        sentence(
            f"{count:,} of {counted(total, 'event')} of {backend} "
            f"{agree(count, 'is')} tied to no operator: {next(iter(lost))[1]}"
        ),
        cut(
            [
                f"{name}: {reason}" + (f" ({counted(times, 'event')})" if times > 1 else "")
                for (name, reason), times in lost.items()
            ]
        ),
        Confidence.HIGH,
        "the delegate's graph is in the program, and its events were laid along its operators",
        (),
        (),
        "Their time counts to the whole call. run.delegate_calls() has what is known of each.",
        0.5,
    )


def _unmapped(recorded: RecordedDump, identified: list[Identified]) -> Finding:
    events = sum(each.events for each in identified)
    first = identified[0]
    subject = f"{first.shown} is not in the map of {recorded.backend(first.at)}: its"
    if len(identified) > 1:
        subject = (
            f"{counted(len(identified), 'identifier')} {agree(len(identified), 'is')} not in the "
            "delegate's map: their"
        )
    return Finding(
        UNMAPPED_NAME,
        Severity.WARNING,
        f"{subject} {counted(events, 'event')} {agree(events, 'matches')} no operator",
        cut(
            [
                f"{each.shown}: {counted(each.events, 'event')} in {place(recorded.dump, each.at)} "
                f"({recorded.backend(each.at)})"
                for each in identified
            ]
        ),
        Confidence.HIGH,
        "identifiers are looked up as a whole in the delegate map of the ETRecord; the Inspector "
        "also takes any key that an identifier contains",
        (),
        (),
        "Make sure that dump and ETRecord are of the same export, and that the delegate logs the "
        f"identifiers that it put into its map ({_BUILDER}).",
        0.7,
    )


def _without_map(recorded: RecordedDump, identified: list[Identified]) -> Finding:
    events: Counter[str] = Counter()
    identifiers: Counter[str] = Counter()
    for each in identified:
        backend = recorded.backend(each.at)
        events[backend] += each.events
        identifiers[backend] += 1
    names = list(events)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    verb = "have" if more else "has"
    return Finding(
        UNMAPPED_NAME,
        Severity.INFO,
        sentence(
            f"{names[0]}{more} {verb} no map from identifiers to operators: "
            f"{counted(events.total(), 'event')} can only be attributed to the whole call"
        ),
        tuple(
            f"{name}: {counted(events[name], 'event')} with "
            f"{counted(identifiers[name], 'identifier')}"
            for name in names
        ),
        Confidence.HIGH,
        "the delegate map of the ETRecord has no entries for these calls",
        (),
        (),
        _where_to_look(recorded, names),
        0.5,
    )


def _where_to_look(recorded: RecordedDump, backends: list[str]) -> str:
    """Say what would tie the events to operators: the delegate's graph, or a map."""
    families = [(name, family_of(name)) for name in backends]
    readable = [name for name, each in families if each is not None and each.align is not None]
    if readable and recorded.files.program is None:
        return (
            f"Open the program (.pte) too: it has the graph of {listed(readable)}, which ties "
            "events to operators."
        )
    return (
        "Times of single operators in such a call are not known. A delegate of your own can give a "
        f"map ({_BUILDER})."
    )


UNMAPPED_EVENTS = Rule(UNMAPPED_NAME, find_unmapped, Basis.FILES)
