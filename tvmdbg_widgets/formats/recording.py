"""The description of a saved run: its writer, files and issues."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.json_fields import FORMAT, VERSION, Count, Int64, read_versioned
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity, listed
from tvmdbg_widgets.model.parts import Provenance, RunFile, RunParts
from tvmdbg_widgets.sources.byte_source import ByteSource

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-recording"')


class _RecordedProvenance(msgspec.Struct):
    releases: str
    evidence: list[str]
    device: str


class _File(msgspec.Struct):
    path: str
    size: Count


class _RecordedOptions(msgspec.Struct, omit_defaults=True):
    """Options of ``open`` as given; their users check the values."""

    dtype_layout: str | None = None
    float8: str | None = None
    method: str | None = None
    execution: Count | None = None
    dtypes: dict[str, str] | None = None


class _RecordingDocument(msgspec.Struct):
    title: str
    provenance: _RecordedProvenance
    files: list[_File]
    options: _RecordedOptions
    issues: list[StoredIssue]


@dataclass(frozen=True)
class Recording:
    """Facts of a saved run that its files lack."""

    title: str
    provenance: Provenance
    files: tuple[tuple[str, int], ...]
    options: Mapping[str, Any]
    issues: Issues
    file: str

    def place(self, file: RunFile) -> int:
        """Return the position in reading order; files that were not saved come last."""
        return self._places.get(file.path, len(self.files))

    @cached_property
    def _places(self) -> dict[str, int]:
        folder = self.file.rpartition("/")[0]
        paths = [_below(folder, path) for path, _ in self.files]
        return {path: place for place, path in reversed(list(enumerate(paths)))}

    def changes(self, files: Sequence[RunFile]) -> Issue | None:
        """Return an issue if the files are not the saved ones."""
        sizes = {file.path: file.source.size for file in files}
        folder = self.file.rpartition("/")[0]
        changed = [
            f"{path} ({counted(size, 'byte')} then, {_now(sizes.get(_below(folder, path)))})"
            for path, size in self.files
            if sizes.get(_below(folder, path)) != size
        ]
        if not changed:
            return None
        text = (
            "files differ from those that were saved; times and checks of this recording "
            f"may be of others: {listed(changed)}"
        )
        return Issue("recording-changed", IssueSeverity.WARNING, text, file=self.file)


def sniff(head: bytes) -> bool:
    """Return whether a file is a recording: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def read_recording(source: ByteSource) -> Recording:
    """Read a recording; FormatError if a field is missing, wrong, or of a newer version."""
    read = read_versioned(source, _RecordingDocument, FORMAT, VERSION)
    made = read.provenance
    return Recording(
        title=read.title,
        provenance=Provenance(made.releases, tuple(made.evidence), made.device),
        files=tuple((item.path, item.size) for item in read.files),
        options=msgspec.to_builtins(read.options),
        issues=read_issues(read.issues, source.name),
        file=source.name,
    )


def recording_document(
    parts: RunParts, paths: Sequence[tuple[RunFile, str]], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return a recording as the JSON value of a file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": parts.title,
        "provenance": {
            "releases": parts.provenance.releases,
            "evidence": list(parts.provenance.evidence),
            "device": parts.provenance.device,
        },
        "files": [
            {"part": file.part, "path": path, "size": file.source.size} for file, path in paths
        ],
        "options": dict(parts.options),
        "issues": issues_document(parts.issues, files),
    }


def _below(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _now(size: int | None) -> str:
    return "missing now" if size is None else f"{size:,} now"


class StoredIssue(msgspec.Struct):
    """An issue in a file."""

    rule: str
    severity: str
    message: str
    nodes: tuple[Int64, ...]
    entries: tuple[tuple[Int64, Int64], ...]
    file: str


def issues_document(issues: Iterable[Issue], files: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return issues as a JSON value; ``files`` maps old to new names of files."""
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
    """Return the issues of :func:`issues_document`."""
    return Issues(_issue(item, f"issues[{i}]", file) for i, item in enumerate(stored))


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
    """Rename files in a message, longest old name first."""
    for old in sorted(filter(None, moved), key=len, reverse=True):
        message = message.replace(old, moved[old])
    return message


def _bare(path: str) -> str:
    """Return a path without the folders of this machine."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


KIND = Kind("recording", "recording", sniff, read_recording, "recording")
