"""Issues as the command line tells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.cli.common.hints import for_shell
from tvmdbg_widgets.cli.common.terminal import paragraph, say, styled

if TYPE_CHECKING:
    from tvmdbg_widgets.model.base.issues import Issue

_STYLE = {"error": ("bold", "red"), "warning": ("yellow",), "note": ("dim",)}


def tell_issues(issues: Iterable[Issue]) -> None:
    """Write issues: the weight, the message folded beside it, file and rule below."""
    for issue in issues:
        weight = issue.severity.value
        paragraph(
            for_shell(issue.message), label=f"{weight:<9}", label_styles=_STYLE[weight], indent=2
        )
        where = f"{issue.rule} · {issue.file}" if issue.file else issue.rule
        say(" " * 11, styled(where, "dim"))


def as_json(issue: Issue) -> dict[str, Any]:
    """Return an issue as JSON has it."""
    return {
        "rule": issue.rule,
        "severity": issue.severity.value,
        "message": issue.message,
        "nodes": list(issue.nodes),
        "entries": [list(entry) for entry in issue.entries],
        "file": issue.file,
    }
