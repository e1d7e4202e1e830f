"""Issues as our own files keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tvmdbg_widgets.formats.json_fields import Int64
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity


class StoredIssue(msgspec.Struct):
    """An issue in a file."""

    rule: str
    severity: str
    message: str
    nodes: tuple[Int64, ...]
    entries: tuple[tuple[Int64, Int64], ...]
    file: str


def issues_document(issues: Iterable[Issue], files: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return issues as a JSON value; ``files`` gives the new names of files."""
    moved = {old: new for old, new in files.items() if old != new}
    return [
        {
            "rule": issue.rule,
            "severity": issue.severity.value,
            "message": _renamed(issue.message, {issue.file: _bare(issue.file)} | moved),
            "nodes": list(issue.nodes),
            "entries": [list(entry) for entry in issue.entries],
            "file": files.get(issue.file, _bare(issue.file)),
        }
        for issue in issues
    ]


def read_issues(stored: Sequence[StoredIssue], file: str) -> Issues:
    """Return issues as they were before :func:`issues_document`."""
    return Issues(_issue(each, f"issues[{i}]", file) for i, each in enumerate(stored))


def _issue(stored: StoredIssue, path: str, file: str) -> Issue:
    if stored.severity not in set(IssueSeverity):
        raise FormatError(
            "this severity is unknown",
            file=file,
            field=f"{path}.severity",
            expected=", ".join(IssueSeverity),
            found=stored.severity,
        )
    severity = IssueSeverity(stored.severity)
    return Issue(stored.rule, severity, stored.message, stored.nodes, stored.entries, stored.file)


def _renamed(message: str, moved: Mapping[str, str]) -> str:
    """Name files in a message by their new names, the longest of the old ones first."""
    for old in sorted(filter(None, moved), key=len, reverse=True):
        message = message.replace(old, moved[old])
    return message


def _bare(path: str) -> str:
    """A folder of this machine is nobody else's business."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]
