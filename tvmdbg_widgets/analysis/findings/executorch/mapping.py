"""Rules on maps of delegates: events without an operator, identifiers not logged, counts.

Dumps of another program have the issue ``executorch-disagree`` and no findings here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    DelegateInstruction,
    Identified,
    Instruction,
    RecordedDump,
    by_backend,
    sentence,
    shortened,
    spelled,
)
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.formats.executorch.delegates.families import family_of
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.executorch.delegate_graph import AMBIGUOUS, NONE
from tvmdbg_widgets.model.executorch.etrecord import maps_of
from tvmdbg_widgets.model.executorch.event_nodes import UNMAPPED, WHOLE_INSTRUCTION
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity

_BUILDER = "DelegateMappingBuilder, debug_handle_map of PreprocessResult"


@rule("unmapped-events", Basis.FILES)
def find_unmapped(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield findings of events without an operator, missing identifiers, and missing maps."""
    recorded = evidence.recorded
    if recorded is None:
        return
    for backend, calls in by_backend(recorded.delegated).items():
        reasons = [event for call in calls for event in _reasons_by_event(recorded, call)]
        if lost := Counter((name, reason) for name, reason in reasons if reason):
            yield _without_operator(backend, lost, len(reasons))
    if recorded.files.record is None:
        return
    unmapped = [log for log in recorded.identified if log.how == UNMAPPED]
    if unmapped:
        yield _unmapped(recorded, unmapped)
    whole = [log for log in recorded.identified if log.how == WHOLE_INSTRUCTION]
    whole = [log for log in whole if log.at not in recorded.aligned]
    if whole:
        yield _without_map(recorded, whole)


def _reasons_by_event(
    recorded: RecordedDump, call: DelegateInstruction
) -> Iterable[tuple[str, str]]:
    for row in call.rows.tolist():
        contents = recorded.files.insides.calls.get(row)
        if contents is None or not contents.fits or not (contents.alignment or contents.unsure_of):
            continue
        matches = () if contents.alignment is None else contents.alignment.events
        reasons = [match.reason if match.match in (AMBIGUOUS, NONE) else "" for match in matches]
        for event, reason in zip_longest(contents.events, reasons, fillvalue=contents.unsure_of):
            name = shortened(recorded.dump.delegate_names[int(event)])
            yield f"{name}, {call.place}", reason


def _without_operator(backend: str, lost: Counter[tuple[str, str]], total: int) -> Finding:
    count = lost.total()
    return Finding(
        Severity.INFO,
        sentence(
            f"{count:,} of {counted(total, 'event')} of {spelled(backend)} "
            f"{agree(count, 'matches')} no operator: {next(iter(lost))[1]}"
        ),
        cut(
            [
                f"{name}: {reason}" + (f" ({counted(times, 'event')})" if times > 1 else "")
                for (name, reason), times in lost.items()
            ]
        ),
        Confidence.HIGH,
        "the delegate's graph is in the program; its events were aligned with its operators",
        next_step="Their time counts for the whole call. run.delegate_calls() lists them.",
        weight=0.5,
    )


def _unmapped(recorded: RecordedDump, identified: list[Identified]) -> Finding:
    events = sum(log.events for log in identified)
    first = identified[0]
    subject = f"{first.shown} is not in the map of {spelled(recorded.backend(first.at))}: its"
    if len(identified) > 1:
        subject = (
            f"{counted(len(identified), 'identifier')} {agree(len(identified), 'is')} not in the "
            "delegate's map: their"
        )
    return Finding(
        Severity.WARNING,
        f"{subject} {counted(events, 'event')} {agree(events, 'matches')} no operator",
        cut(
            [
                f"{log.shown}: {counted(log.events, 'event')} in {recorded.call_title(log.at)}"
                for log in identified
            ]
        ),
        Confidence.HIGH,
        "identifiers are looked up as a whole in the delegate map of the ETRecord; the Inspector "
        "also takes any key that an identifier contains",
        next_step="Make sure that dump and ETRecord are of the same export, and that the delegate "
        f"logs the identifiers that it put into its map ({_BUILDER}).",
        weight=0.7,
    )


def _without_map(recorded: RecordedDump, identified: list[Identified]) -> Finding:
    events: Counter[str] = Counter()
    identifiers: Counter[str] = Counter()
    for log in identified:
        backend = recorded.backend(log.at)
        events[backend] += log.events
        identifiers[backend] += 1
    names = list(events)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    verb = "have" if more else "has"
    return Finding(
        Severity.INFO,
        sentence(
            f"{spelled(names[0])}{more} {verb} no map from identifiers to operators: "
            f"{counted(events.total(), 'event')} can only be attributed to the whole call"
        ),
        tuple(
            f"{spelled(name)}: {counted(events[name], 'event')} with "
            f"{counted(identifiers[name], 'identifier')}"
            for name in names
        ),
        Confidence.HIGH,
        "the delegate map of the ETRecord has no entries for these calls",
        next_step=_what_would_map(recorded, names),
        weight=0.5,
    )


def _what_would_map(recorded: RecordedDump, backends: list[str]) -> str:
    families = [(name, family_of(name)) for name in backends]
    readable = [
        name for name, family in families if family is not None and family.align is not None
    ]
    if readable and recorded.files.program is None:
        return (
            "Open the program (.pte) too: it has the graph of "
            f"{listed([spelled(name) for name in readable])}, which maps events to operators."
        )
    return (
        "Times of single operators in such a call are not known. A delegate of your own can give a "
        f"map ({_BUILDER})."
    )


_SHOWN = 8


@rule("delegation", Basis.FILES)
def find_delegation(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of the counts."""
    files = evidence.parts.executorch
    info = files.delegation if files is not None else None
    if info is None or info.delegated is None:
        return
    left = info.left_out()
    facts = [f"{shortened(name)}: {count:,} not delegated" for name, count in left.items()][:_SHOWN]
    if len(left) > _SHOWN:
        facts.append(f"{counted(len(left) - _SHOWN, 'operator')} more in run.delegation.left_out()")
    first = next(iter(left), "")
    yield Finding(
        Severity.INFO,
        f"{info.title}" + (f"; left out most: {shortened(first)}" if first else ""),
        tuple(facts),
        Confidence.HIGH if info.complete else Confidence.MEDIUM,
        "ExecuTorch counted the nodes after partitioning"
        + ("" if info.complete else "; the table of operators is incomplete"),
        next_step="Check which operators, dtypes and ranks the partitioner supports; with debug "
        "logging it may say why it skips a node."
        if left
        else "Nothing is left to delegate.",
        weight=0.3,
    )


_NAMED = 3


@rule("unseen-identifiers", Basis.FILES)
def find_unseen(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all; a warning where the delegate logged other identifiers instead."""
    recorded = evidence.recorded
    if recorded is None or recorded.files.record is None:
        return
    unseen, total = _unlogged_identifiers(recorded)
    if not unseen:
        return
    count = sum(map(len, unseen.values()))
    shown = ", ".join([repr(shortened(key)) for keys in unseen.values() for key in keys][:_NAMED])
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    whose = spelled(recorded.backend(next(iter(unseen)))) if len(unseen) == 1 else "delegates"
    others = any(log.how == UNMAPPED and log.at in unseen for log in recorded.identified)
    program = recorded.files.record.edge_programs.get(recorded.files.method)
    nodes = {
        node: None
        for at, keys in unseen.items()
        for handles in keys.values()
        for handle in handles
        for node in (program.by_handle.get(handle, ()) if program is not None else ())
    }
    yield Finding(
        Severity.WARNING if others else Severity.INFO,
        f"{count:,} of {counted(total, 'identifier')} in the map of {whose} "
        f"{agree(count, 'was')} never logged: {shown}{more}",
        cut(
            [
                f"{recorded.call_title(at)}: "
                + ", ".join(repr(shortened(key)) for key in list(keys)[:_NAMED])
                + (f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else "")
                for at, keys in unseen.items()
            ]
        ),
        Confidence.HIGH,
        "the delegates were called, and every event of the dump was checked"
        + ("; they logged identifiers that are not in their map" if others else ""),
        tuple(nodes),
        next_step="Check that the delegate logs the identifiers of its map; it need not log all of "
        "them.",
        weight=0.6,
    )


def _unlogged_identifiers(
    recorded: RecordedDump,
) -> tuple[dict[Instruction, dict[str, tuple[int, ...]]], int]:
    files = recorded.files
    calls = maps_of(files.record, files.method).calls
    seen = {(log.at, log.key) for log in recorded.identified}
    ran = {call.at for call in recorded.delegated} | {log.at for log in recorded.identified}
    by_instruction, total = {}, 0
    for at in sorted(ran):
        call = calls.get(at[1]) if at[0] == 0 else None
        if call is None or not call.identifiers:
            continue
        missing = {
            key: tuple(handles)
            for key, handles in call.identifiers.items()
            if (at, key) not in seen
        }
        if missing:
            by_instruction[at] = missing
            total += len(call.identifiers)
    return by_instruction, total
