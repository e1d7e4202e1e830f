"""Our own recording of a run: ``tvmdbg_recording.json`` beside the files it speaks of.

``docs/recording.md`` specifies it. The graph and the tensors stay in TVM's own formats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from tvmdbg_widgets.formats.json_fields import Count
from tvmdbg_widgets.formats.recording.issues import StoredIssue, issues_document, read_issues
from tvmdbg_widgets.formats.recording.version import read_versioned
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.parts import Provenance, RunFile, RunParts
from tvmdbg_widgets.sources.byte_source import ByteSource

FORMAT, VERSION = "tvmdbg-recording", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-recording"')


class _RecordedProvenance(msgspec.Struct):
    releases: str
    evidence: list[str]
    device: str


class _File(msgspec.Struct):
    path: str
    size: Count


class _RecordedOptions(msgspec.Struct, omit_defaults=True):
    """What the caller of ``open`` had said; those who take the options check their values."""

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
    """What a saved run knew beside the content of its files."""

    title: str
    provenance: Provenance
    files: tuple[tuple[str, int], ...]
    options: Mapping[str, Any]
    issues: Issues
    file: str

    def place(self, file: RunFile) -> int:
        """Return when the file was read; files that were not saved come last."""
        return self._places.get(file.path, len(self.files))

    @cached_property
    def _places(self) -> dict[str, int]:
        folder = self.file.rpartition("/")[0]
        paths = [_below(folder, path) for path, _ in self.files]
        return {path: place for place, path in reversed(list(enumerate(paths)))}

    def changes(self, files: Sequence[RunFile]) -> Issue | None:
        """Return an issue where the files are not those that were saved."""
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
            "files differ from those that were saved, so that times and checks of this recording "
            f"may be of others: {listed(changed)}"
        )
        return Issue("recording-changed", IssueSeverity.WARNING, text, file=self.file)


def sniff(head: bytes) -> bool:
    """Tell whether a file is a recording: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def read_recording(source: ByteSource) -> Recording:
    """Read a recording; FormatError where a field is missing, wrong, or of a newer version."""
    read = read_versioned(source, _RecordingDocument, FORMAT, VERSION)
    made = read.provenance
    return Recording(
        title=read.title,
        provenance=Provenance(made.releases, tuple(made.evidence), made.device),
        files=tuple((each.path, each.size) for each in read.files),
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


def encoded(document: Mapping[str, Any]) -> bytes:
    """Return a JSON value as the bytes of a file: the same bytes for the same value."""
    lines = [f" {json.dumps(key)}: {_compact(value)}" for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def merged(stored: Iterable[Issue], found: Iterable[Issue]) -> list[Issue]:
    """Return the issues that were stored, then those that were found now and are new."""
    first = dict.fromkeys(stored)
    return [*first, *(issue for issue in found if issue not in first)]


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _below(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _now(size: int | None) -> str:
    return "missing now" if size is None else f"{size:,} now"
