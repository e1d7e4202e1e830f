"""Findings and issues as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.cli.common.terminal import for_shell, paragraph, say, styled

if TYPE_CHECKING:
    from tvmdbg_widgets.model.base.text import Issue
    from tvmdbg_widgets.model.findings import Finding

_FINDING_STYLE = {
    "error": ("bold", "red"),
    "warning": ("yellow",),
    "hotspot": ("cyan",),
    "info": ("dim",),
}
_ISSUE_STYLE = {"error": ("bold", "red"), "warning": ("yellow",), "note": ("dim",)}
#: From the worst on.
SEVERITIES = tuple(_FINDING_STYLE)

_INDENT = 9


def reach(findings: Iterable[Finding], severity: str) -> bool:
    """Whether any finding has this severity or a worse one."""
    bar = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(finding.severity.value in bar for finding in findings)


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings with evidence, confidence and next step."""
    for number, finding in enumerate(findings):
        if number:
            say()
        _print(finding)


def _print(finding: Finding) -> None:
    severity = finding.severity.value
    mark = f"{severity:<{_INDENT}}"
    paragraph(finding.title, "bold", label=mark, label_styles=_FINDING_STYLE[severity])
    first, *code = for_shell(finding.next_step).splitlines() or [""]
    facts = (("· ", text) for text in finding.evidence)
    for label, text in (*facts, ("why   ", finding.why), ("next  ", first)):
        if text:
            paragraph(text, label=label, label_styles=("dim",), indent=_INDENT)
    for line in code:
        say(" " * (_INDENT + 6), styled(line))
    where = _listed("node", finding.nodes) + _listed("task", finding.tasks)
    footer = f"{finding.confidence} confidence · {finding.rule}{where}"
    say(" " * _INDENT, styled(footer, "dim"))


def _listed(noun: str, numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
    return f" · {noun} {shown}" if numbers else ""


def finding_record(finding: Finding, *where: str) -> dict[str, Any]:
    """Return a finding as JSON, with some of the fields that say where it is."""
    from tvmdbg_widgets.model.findings import finding_fields

    places = {name: getattr(finding, name) for name in where}
    return {**finding_fields(finding), **places, "next": finding.next_step}


def print_issues(issues: Iterable[Issue]) -> None:
    """Print issues with severity, message, file and rule."""
    for issue in issues:
        weight = issue.severity.value
        paragraph(
            for_shell(issue.message),
            label=f"{weight:<9}",
            label_styles=_ISSUE_STYLE[weight],
            indent=2,
        )
        where = f"{issue.rule} · {issue.file}" if issue.file else issue.rule
        say(" " * 11, styled(where, "dim"))


def issue_record(issue: Issue) -> dict[str, Any]:
    """Return an issue as JSON."""
    names = ("rule", "severity", "message", "nodes", "entries", "file")
    return {name: getattr(issue, name) for name in names}
