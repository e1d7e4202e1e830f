"""Findings as the command line tells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.cli.common.hints import for_shell
from tvmdbg_widgets.cli.common.terminal import paragraph, say, styled

if TYPE_CHECKING:
    from tvmdbg_widgets.model.verdicts.findings import Finding

_STYLE = {"error": ("bold", "red"), "warning": ("yellow",), "hotspot": ("cyan",), "info": ("dim",)}
SEVERITIES = tuple(_STYLE)
"""From the worst on."""

_INDENT = 9


def reach(findings: Iterable[Finding], severity: str) -> bool:
    """Return whether any finding is of a severity, or a worse one."""
    bar = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(each.severity.value in bar for each in findings)


def tell_findings(findings: Iterable[Finding]) -> None:
    """Write findings with evidence, confidence, and what to do next; a blank line between them."""
    for number, each in enumerate(findings):
        if number:
            say()
        _tell(each)


def _tell(finding: Finding) -> None:
    severity = finding.severity.value
    mark = f"{severity:<{_INDENT}}"
    paragraph(finding.title, "bold", label=mark, label_styles=_STYLE[severity])
    first, *code = for_shell(finding.next_step).splitlines() or [""]
    facts = (("· ", text) for text in finding.evidence)
    for label, text in (*facts, ("why   ", finding.why), ("next  ", first)):
        if text:
            paragraph(text, label=label, label_styles=("dim",), indent=_INDENT)
    for line in code:
        say(" " * (_INDENT + 6), styled(line))
    where = _numbers("node", finding.nodes) + _numbers("task", finding.tasks)
    told = f"{finding.confidence} confidence · {finding.rule}{where}"
    say(" " * _INDENT, styled(told, "dim"))


def _numbers(noun: str, numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
    return f" · {noun} {shown}" if numbers else ""


def finding_record(finding: Finding) -> dict[str, Any]:
    """Return a run's finding as JSON has it."""
    return {
        **_record(finding),
        "nodes": list(finding.nodes),
        "entries": [list(entry) for entry in finding.entries],
        "next": finding.next_step,
    }


def log_finding_record(finding: Finding) -> dict[str, Any]:
    """Return a tuning log's finding as JSON has it."""
    return {
        **_record(finding),
        "tasks": list(finding.tasks),
        "trials": list(finding.trials),
        "next": finding.next_step,
    }


def _record(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "title": finding.title,
        "evidence": list(finding.evidence),
        "why": finding.why,
    }
