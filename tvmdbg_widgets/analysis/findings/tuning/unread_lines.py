"""Lines of a log that are not records, or that are not decoded."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

UNREAD_LINES_NAME = "unread-lines"
_SHOWN = 5
_WHY = 200


def find_unread_lines(evidence: LogEvidence) -> Iterable[Finding]:
    """Make a finding for refused lines, for a cut last line, and for lines left alone."""
    parts = evidence.parts
    if parts.num_refused:
        facts = [
            f"line {each.line:,}{_file(evidence, each.source)}: {one_line(each.why)[:_WHY]}"
            for each in parts.refused[:_SHOWN]
        ]
        rest = parts.num_refused - len(facts)
        are = agree(parts.num_refused, "is no record", "are no records")
        yield Finding(
            UNREAD_LINES_NAME,
            Severity.WARNING,
            f"{counted(parts.num_refused, 'line')} {are}: all numbers leave "
            f"{agree(parts.num_refused, 'it', 'them')} out",
            (*facts, *([f"and {counted(rest, 'more line')}"] if rest > 0 else [])),
            Confidence.HIGH,
            f"{counted(len(parts.trials), 'line')} could be read",
            next_step="TVM stops at such a line. log.write(path) writes the others, byte for byte.",
            weight=1.0,
        )
    if parts.cut:
        yield Finding(
            UNREAD_LINES_NAME,
            Severity.INFO,
            "The last line is cut",
            ("it ends in the middle of a record",),
            Confidence.HIGH,
            "tuning was stopped as it wrote the record, or still writes it",
            next_step="log.follow() reads on while tuning runs.",
        )
    if parts.undecoded:
        count = sum(parts.undecoded.values())
        told = [f"{number:,} × {one_line(what)}" for what, number in parts.undecoded.items()]
        yield Finding(
            UNREAD_LINES_NAME,
            Severity.INFO,
            f"{counted(count, 'line')} {agree(count, 'is')} recognized and not decoded",
            (evidence.listed(told, "kind"),),
            Confidence.HIGH,
            "decoding them would run code from the file",
            next_step="Convert them with the TVM that wrote them.",
        )


def _file(evidence: LogEvidence, source: int) -> str:
    sources = evidence.parts.sources
    if len(sources) < 2 or not 0 <= source < len(sources):
        return ""
    return f" of {one_line(sources[source].name)}"


UNREAD_LINES = LogRule(UNREAD_LINES_NAME, find_unread_lines, LogBasis.LINES)
