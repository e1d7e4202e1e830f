"""Events of delegates that no map ties to operators."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.evidence import cut
from tvmdbg_widgets.analysis.findings.executorch.recorded import place, sentence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.executorch.event_nodes import UNMAPPED, WHOLE_INSTRUCTION
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.analysis.findings.executorch.recorded import Identified, Recorded

NAME = "unmapped-events"
_BUILDER = "DelegateMappingBuilder, debug_handle_map of PreprocessResult"


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of identifiers that maps lack, and one of backends without a map."""
    recorded = evidence.recorded
    if recorded is None or recorded.files.record is None:
        return
    unmapped = [each for each in recorded.identified if each.how == UNMAPPED]
    if unmapped:
        yield _unmapped(recorded, unmapped)
    whole = [each for each in recorded.identified if each.how == WHOLE_INSTRUCTION]
    if whole:
        yield _without_map(recorded, whole)


def _unmapped(recorded: Recorded, identified: list[Identified]) -> Finding:
    events = sum(each.events for each in identified)
    first = identified[0]
    subject = f"{first.shown} is not in the map of {recorded.backend(first.at)}: its"
    if len(identified) > 1:
        subject = (
            f"{counted(len(identified), 'identifier')} {agree(len(identified), 'is')} not in the "
            "delegate's map: their"
        )
    return Finding(
        NAME,
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


def _without_map(recorded: Recorded, identified: list[Identified]) -> Finding:
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
        NAME,
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
        "Times of single operators in such a call are not known. A delegate of your own can give a "
        f"map ({_BUILDER}).",
        0.5,
    )


RULE = Rule(NAME, find, Basis.FILES)
