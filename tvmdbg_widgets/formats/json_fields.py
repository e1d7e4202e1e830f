"""JSON read as the types it should have, and the recording of a run, which is such JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NoReturn, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import RECORDING_LIMIT, Kind, collector_paused
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import (
    FormatError,
    Issue,
    Issues,
    IssueSeverity,
    cut,
    listed,
    one_line,
    paired_json,
)
from tvmdbg_widgets.model.parts import Provenance, RunFile, RunParts
from tvmdbg_widgets.sources.byte_source import ByteSource

T = TypeVar("T")
Count = Annotated[int, msgspec.Meta(ge=0)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_STEP = re.compile(r"\.([^.\[]+)|\[(?:(\d+)|\.\.\.)\]")
_SHOWN = 60
_KIND = re.compile(r"`([a-z| ]+)`")
_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def read_json(source: ByteSource, kind: type[T], *, halves: bool = False) -> T:
    """Read a whole file; numbers that JSON does not know (NaN, Infinity) are refused.

    Halves of surrogate pairs become U+FFFD unless `halves` are wanted.
    """
    with collector_paused():
        data = source.read(0, source.size)
        value = parse(data, source.name, halves=halves, parse_constant=_no_constant)
        return convert(value, kind, source.name)


def decode(data: bytes, kind: type[T], file: str) -> T:
    """Decode a JSON text; ``NaN`` and ``Infinity``, which Python writes, are read too."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return convert(parse(data, file), kind, file)


def parse(data: bytes, file: str, *, halves: bool = False, **options: Any) -> Any:
    """Parse a JSON text as ``json.loads`` does, with its options."""
    try:
        text = data.decode(json.detect_encoding(data), "surrogatepass")
        return json.loads(text if halves else paired_json(text)[0], **options)
    except json.JSONDecodeError as problem:
        raise FormatError(
            "this is not JSON",
            file=file,
            offset=problem.pos,
            expected="one JSON value",
            found=problem.msg,
            hint="The file may be cut off: copy or write it again.",
        ) from None
    except (ValueError, RecursionError) as problem:
        raise FormatError(
            "this JSON cannot be read: a number too long, lists too deep, or no text",
            file=file,
            expected="one JSON value",
            found=one_line(str(problem)),
        ) from None


def convert(value: object, kind: type[T], file: str, path: str = "") -> T:
    """Return parsed JSON, which stands at this path of its file, as the types it should have."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        text, _, at = str(problem).partition(" - at `$")
    found: Any = value
    for key, index in _STEP.findall(at.rstrip("`")):
        step = key or int(index or -1)
        if not key and not index:
            step = _wrong_key(found, value, kind)
            at = at.replace("[...]", f".{step}", 1)
        found = found[step]
    told: str | None = cut(repr(found), _SHOWN)
    field = (path + at.rstrip("`")).lstrip(".")
    if text.startswith("Object missing required field"):
        field = f"{field}.{text.split('`')[1]}".lstrip(".")
        text, told = "Expected this field", "none"
    text = text.replace("Number out of range", "Expected numbers that float64 holds")
    text = _KIND.sub(_plain, text.partition(", got ")[0]).replace(" >= 0", ", 0 or more")
    raise FormatError(
        "this field cannot be read",
        file=file,
        field=one_line(field) or "document",
        expected=one_line(text.removeprefix("Expected ")),
        found=told,
    )


def _wrong_key(among: dict[str, Any], value: object, kind: Any) -> str:
    """Return a key whose value is wrong, which msgspec does not tell; others are taken out."""
    keys = list(among)
    while len(keys) > 1:
        half = keys[: len(keys) // 2]
        rest = {key: among.pop(key) for key in keys[len(half) :]}
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            keys = half
        else:
            keys = list(rest)
            among.clear()
            among.update(rest)
    return keys[0]


def _plain(kinds: re.Match[str]) -> str:
    words = [_WORDS.get(kind, kind) for kind in kinds[1].split(" | ") if kind != "null"]
    return " or ".join(words) or "null"


def numbers(
    values: Sequence[float | None], dtype: npt.DTypeLike, file: str, field: str
) -> npt.NDArray[Any]:
    """Return numbers as an array; null is NaN."""
    try:
        return np.array([np.nan if each is None else each for each in values], dtype)
    except OverflowError:
        raise FormatError(
            "this field cannot be read",
            file=file,
            field=field,
            expected=f"numbers that {np.dtype(dtype)} holds",
            found="a larger one",
        ) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name}, which is no JSON number")


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
    compact = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
    lines = [f" {json.dumps(key)}: {compact(value)}" for key, value in document.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("ascii")


def merged(stored: Iterable[Issue], found: Iterable[Issue]) -> list[Issue]:
    """Return the issues that were stored, then those that were found now and are new."""
    first = dict.fromkeys(stored)
    return [*first, *(issue for issue in found if issue not in first)]


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


class _Start(msgspec.Struct):
    format: str
    version: Count


def read_versioned(
    source: ByteSource, kind: type[T], form: str, version: int, *, halves: bool = False
) -> T:
    """Read a file; FormatError unless it is of this format, and of a version known here."""
    value = read_json(source, object, halves=halves)
    start = convert(value, _Start, source.name)
    if start.format != form:
        raise FormatError(
            "this is another kind of file",
            file=source.name,
            field="format",
            expected=repr(form),
            found=repr(start.format),
        )
    if start.version > version:
        raise FormatError(
            "this file is of a newer version",
            file=source.name,
            field="version",
            expected=f"at most {version}",
            found=start.version,
            hint="Update tvmdbg-widgets: pip install --upgrade tvmdbg-widgets.",
        )
    return convert(value, kind, source.name)


KIND = Kind("recording", "recording", sniff, read_recording, RECORDING_LIMIT)
