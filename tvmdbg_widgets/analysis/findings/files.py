"""Files that are broken, cut off or contradict each other, and tensors that could not be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

FILES_NAME = "files"
_LONGEST = 100
#: Issues of which another rule makes its own finding.
_TOLD_ELSEWHERE = frozenset(
    {
        "buffer-reused",
        "edge-ambiguous",
        "stale-tensors",
        "table-rows-ambiguous",
        "tables-disagree",
        "tensor-disagrees",
        "tensor-overwritten",
    }
)

#: Warnings that come before all others: the files are not of one run.
_FIRST = frozenset({"executorch-disagree"})


def find_files(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of unreadable tensors, one of errors and one of warnings.

    Files that are not of one run are told first.
    """
    if evidence.scanned.broken:
        yield _unread(evidence)
    others = [issue for issue in evidence.issues if issue.rule not in _TOLD_ELSEWHERE]
    errors = [issue for issue in others if issue.severity is IssueSeverity.ERROR]
    if errors:
        yield _of(errors, Severity.ERROR)
    warnings = [issue for issue in others if issue.severity is IssueSeverity.WARNING]
    foreign = [issue for issue in warnings if issue.rule in _FIRST]
    if foreign:
        yield replace(_of(foreign, Severity.WARNING), weight=1.0)
    warnings = [issue for issue in warnings if issue.rule not in _FIRST]
    if warnings:
        yield _of(warnings, Severity.WARNING)


def _unread(evidence: RunEvidence) -> Finding:
    broken, total = evidence.scanned.broken, evidence.scanned.total
    entries = tuple(sorted(broken))
    reasons: dict[str, list[Entry]] = {}
    for entry in entries:
        reasons.setdefault(one_line(broken[entry]), []).append(entry)
    return Finding(
        FILES_NAME,
        Severity.ERROR,
        f"{len(entries):,} of {counted(total, 'tensor')} could not be read: "
        f"{next(iter(reasons))}{and_more(len(reasons) - 1, 'reason')}",
        cut([f"{evidence.list_entries(some)}: {reason}" for reason, some in reasons.items()]),
        Confidence.HIGH,
        "reading failed" + ("; the other tensors were read" if len(entries) < total else ""),
        nodes_of(entries),
        entries,
        "Open the dump again once it is fully written, or copy it again from its source.",
        1.0,
    )


def _of(issues: list[Issue], severity: Severity) -> Finding:
    files = dict.fromkeys(one_line(issue.file) for issue in issues if issue.file)
    placed = [issue for issue in issues if issue.file]
    first = next(iter(files)).rpartition("/")[2] if files else ""
    if len(placed) <= 1:
        said = one_line((placed or issues)[0].message)
        said = said if len(said) <= _LONGEST else said[:_LONGEST].rpartition(" ")[0] + " …"
        title = f"{first}: {said}" if files else said[:1].upper() + said[1:]
    else:
        which = f"{counted(len(files), 'file')} have" if len(files) > 1 else f"{first} has"
        title = f"{which} {counted(len(placed), severity)}"
    title += and_more(len(issues) - max(1, len(placed)), severity)
    return Finding(
        FILES_NAME,
        severity,
        title,
        cut([one_line(str(issue)) for issue in issues]),
        Confidence.HIGH,
        "files were read as far as possible; run.check() lists every issue",
        tuple(dict.fromkeys(node for issue in issues for node in issue.nodes)),
        tuple(dict.fromkeys(entry for issue in issues for entry in issue.entries)),
        "See run.check(). If a file is truncated or from another run, copy or write it again.",
        0.85,
    )


FILES = Rule(FILES_NAME, find_files, Basis.FILES)
