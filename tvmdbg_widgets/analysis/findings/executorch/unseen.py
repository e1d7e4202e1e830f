"""Identifiers in the map of a delegate that ran, but which it never logged."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import (
    Instruction,
    RecordedDump,
    place,
    shortened,
)
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.executorch.event_nodes import UNMAPPED
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

UNSEEN_NAME = "unseen-identifiers"
_NAMED = 3


def find_unseen(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all of them; a warning where the delegate logged others instead."""
    recorded = evidence.recorded
    if recorded is None or recorded.files.record is None:
        return
    unseen, total = _unseen(recorded)
    if not unseen:
        return
    count = sum(map(len, unseen.values()))
    shown = ", ".join([repr(shortened(key)) for keys in unseen.values() for key in keys][:_NAMED])
    more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
    whose = recorded.backend(next(iter(unseen))) if len(unseen) == 1 else "delegates"
    others = any(each.how == UNMAPPED and each.at in unseen for each in recorded.identified)
    program = recorded.files.record.edge_programs.get(recorded.files.method)
    nodes = {
        node: None
        for at, keys in unseen.items()
        for handles in keys.values()
        for handle in handles
        for node in (program.by_handle.get(handle, ()) if program is not None else ())
    }
    yield Finding(
        UNSEEN_NAME,
        Severity.WARNING if others else Severity.INFO,
        f"{count:,} of {counted(total, 'identifier')} in the map of {whose} "
        f"{agree(count, 'was')} never logged: {shown}{more}",
        cut(
            [
                f"{place(recorded.dump, at)} ({recorded.backend(at)}): "
                + ", ".join(repr(shortened(key)) for key in list(keys)[:_NAMED])
                + (f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else "")
                for at, keys in unseen.items()
            ]
        ),
        Confidence.HIGH,
        "the delegates were called, and every event of the dump was looked at"
        + ("; they logged identifiers that are not in their map" if others else ""),
        tuple(nodes),
        (),
        "Check that the delegate logs the identifiers of its map; it need not log all of them.",
        0.6,
    )


def _unseen(recorded: RecordedDump) -> tuple[dict[Instruction, dict[str, tuple[int, ...]]], int]:
    """Return, by instruction, identifiers that were not logged, and how many those maps hold."""
    files = recorded.files
    calls = (files.record.delegate_map or {}).get(files.method, {}) if files.record else {}
    seen = {(each.at, each.key) for each in recorded.identified}
    ran = {call.at for call in recorded.delegated} | {each.at for each in recorded.identified}
    found, total = {}, 0
    for at in sorted(ran):
        call = calls.get(str(at[1])) if at[0] == 0 else None
        if call is None or not call.identifiers:
            continue
        missing = {
            key: tuple(handles)
            for key, handles in call.identifiers.items()
            if (at, key) not in seen
        }
        if missing:
            found[at] = missing
            total += len(call.identifiers)
    return found, total


UNSEEN = Rule(UNSEEN_NAME, find_unseen, Basis.FILES)
