"""Issues as our own files keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tvmdbg_widgets.formats.json_fields import Fields


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


def read_issues(fields: Fields, name: str) -> list[Issue]:
    """Read what :func:`issues_document` made; FormatError where it is something else."""
    return [_issue(each) for each in fields.objects(name)]


def _issue(fields: Fields) -> Issue:
    severity = fields.text("severity")
    if severity not in set(Severity):
        raise FormatError(
            "this severity is unknown",
            file=fields.file,
            field=f"{fields.path}.severity",
            expected=", ".join(Severity),
            found=severity,
        )
    offsets, entries = fields.ragged("entries", "int64")
    if (offsets[1:] - offsets[:-1] != 2).any():
        raise FormatError(
            "an entry is a node and an output",
            file=fields.file,
            field=f"{fields.path}.entries",
            expected="lists of two numbers",
        )
    return Issue(
        rule=fields.text("rule"),
        severity=Severity(severity),
        message=fields.text("message"),
        nodes=tuple(fields.numbers("nodes", "int64").tolist()),
        entries=tuple((node, output) for node, output in entries.reshape(-1, 2).tolist()),
        file=fields.text("file"),
    )


def _renamed(message: str, moved: Mapping[str, str]) -> str:
    """Name files in a message by their new names, the longest of the old ones first."""
    for old in sorted(filter(None, moved), key=len, reverse=True):
        message = message.replace(old, moved[old])
    return message


def _bare(path: str) -> str:
    """A folder of this machine is nobody else's business."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]
