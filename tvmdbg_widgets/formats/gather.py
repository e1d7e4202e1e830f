"""Sources of any kind to parts: which files there are, what each is, and what each holds."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.registry import FORMATS, HEAD_BYTES, Format, format_of, identify, suspect
from tvmdbg_widgets.formats.tvm.extracted import is_account
from tvmdbg_widgets.formats.tvm.foreign import unknown_file
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.issues import Issue, Severity
from tvmdbg_widgets.model.sources import ByteSource, SourceLike, as_source
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_DEPTH = 4
_FILES = 2_000
_NAMES_SHOWN = 8


@dataclass(frozen=True)
class Part:
    """One file as it was read: what it gives a run, its content, and the folder it lay in."""

    kind: str
    value: Any
    source: ByteSource
    folder: Path | None


@dataclass(frozen=True)
class _Candidate:
    source: ByteSource
    format: Format
    folder: Path | None


def gather(
    sources: Sequence[SourceLike],
    given: Mapping[str, SourceLike],
    *,
    device: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[list[Part], list[Issue]]:
    """Read every file that the sources name.

    Parameters
    ----------
    sources
        Folders, files, bytes, file objects.
    given
        Sources whose part ("graph", "params", "trace", "table") the caller named.
    device
        Part of the folder name of the dump to take where a folder holds several.
    options
        Keyword arguments of the readers, by part.

    Returns
    -------
    parts : list of Part
    issues : list of Issue
        Files that are broken or of no known format, where others could be read.

    Raises
    ------
    FormatError
        No file could be read, or a folder holds several dumps.
    """
    issues: list[Issue] = []
    candidates: list[_Candidate] = []
    problems: list[tuple[str, FormatError | OSError]] = []
    for each in sources:
        if isinstance(each, str | os.PathLike) and os.path.isdir(each):  # noqa: PTH112 (bytes paths)
            candidates += _folder(Path(os.fsdecode(each)), device, issues)
            continue
        source = as_source(each)
        found = identify(source) or suspect(source)
        if found is None:
            known = ", ".join(each.what for each in FORMATS)
            problems.append((source.name, unknown_file(source, known)))
        else:
            candidates.append(_Candidate(source, found, None))
    candidates += [
        _Candidate(as_source(each), format_of(part), None) for part, each in given.items()
    ]
    candidates.sort(key=lambda each: each.format.part != "recording")
    parts: list[Part] = []
    for candidate in tqdm(candidates, desc="reading", unit="file", delay=1, leave=False):
        kind = candidate.format.part
        try:
            value = candidate.format.read(candidate.source, **_options(kind, options, parts))
        except (FormatError, OSError) as problem:
            problems.append((candidate.source.name, problem))
        else:
            parts.append(Part(kind, value, candidate.source, candidate.folder))
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, issues)
    issues += [_unreadable(name, problem) for name, problem in problems]
    return parts, issues


def _options(
    kind: str, options: Mapping[str, Mapping[str, Any]] | None, parts: Sequence[Part]
) -> dict[str, Any]:
    """Options of a reader: what a recording among the files says, and over it the caller's."""
    said = dict((options or {}).get(kind, {}))
    for part in parts:
        if part.kind == "recording" and kind == "params":
            return {**part.value.options, **said}
    return said


def _folder(root: Path, device: str | None, issues: list[Issue]) -> list[_Candidate]:
    candidates: list[_Candidate] = []
    skipped: list[str] = []
    for path in _files(root, issues):
        name = os.fspath(path.relative_to(root))
        try:
            source = as_source(path, name)
            found = identify(source)
        except (FormatError, OSError) as problem:
            issues.append(_unreadable(name, problem))
            continue
        if found is None:
            if not is_account(source.read(0, min(HEAD_BYTES, source.size))):
                skipped.append(source.name)
        else:
            candidates.append(_Candidate(source, found, path.parent))
    if skipped:
        issues.append(_note(root, "files-not-read", "files of no format read here", skipped))
    kept = _one_dump(root, candidates, device)
    if device is None:
        left = [each.source.name for each in candidates if each not in kept]
        if left:
            what = "files beside the dump's folder, left out (name them in open(…) to add them)"
            issues.append(_note(root, "files-left-out", what, left))
    return kept


def _files(root: Path, issues: list[Issue]) -> Iterator[Path]:
    """Yield the files below a folder in a fixed order; links to folders are not followed."""
    pending = [(root, 0)]
    count = 0
    deeper: list[str] = []
    while pending:
        folder, depth = pending.pop(0)
        try:
            entries = sorted(os.scandir(folder), key=lambda each: each.name)
        except OSError as problem:
            issues.append(_unreadable(os.fspath(folder), problem))
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH:
                    pending.append((Path(entry.path), depth + 1))
                else:
                    deeper.append(os.fspath(Path(entry.path).relative_to(root)))
                continue
            if not os.path.isfile(entry.path):  # noqa: PTH113 (False for a circle of links)
                continue
            count += 1
            if count > _FILES:
                issues.append(
                    Issue(
                        "folder-too-large",
                        Severity.WARNING,
                        f"only the first {_FILES} files were looked at; open the dump's own folder",
                        file=one_line(os.fspath(root)),
                    )
                )
                return
            yield Path(entry.path)
    if deeper:
        issues.append(_note(root, "folder-too-deep", "folders too deep to be looked into", deeper))


def _one_dump(root: Path, candidates: list[_Candidate], device: str | None) -> list[_Candidate]:
    """Keep one dump's files and those that lie beside or above it."""
    kinds: dict[Path, set[str]] = defaultdict(set)
    for each in candidates:
        if each.folder is not None:
            kinds[each.folder].add(each.format.part)
    dumps = [folder for folder, found in kinds.items() if "trace" in found]
    if not dumps:
        dumps = [folder for folder, found in kinds.items() if {"graph", "params"} <= found]
    chosen = [folder for folder in dumps if device is None or device.lower() in folder.name.lower()]
    if device is not None and not chosen:
        raise FormatError(
            f"no dump of device {device!r} in this folder",
            file=one_line(os.fspath(root)),
            expected=" or ".join(sorted(folder.name for folder in dumps)) or "a dump",
            found="none whose folder name holds that text",
        )
    if len(chosen) > 1:
        names = sorted(os.fspath(folder.relative_to(root)) for folder in chosen)
        named = Path(names[0]).name.startswith("_tvmdbg_")
        short = Path(names[0]).name.split("_", 3)[-1]
        fitting = [folder for folder in dumps if short.lower() in folder.name.lower()]
        raise FormatError(
            f"{len(names)} dumps in this folder; one run is opened at a time",
            file=one_line(os.fspath(root)),
            expected="one dump",
            found=one_line(", ".join(names)),
            hint=f"Choose one: tvmdbg_widgets.open({os.fspath(root / names[0])!r})"
            + (f", or open(…, device={short!r})." if named and len(fitting) == 1 else "."),
        )
    if not chosen:
        return candidates
    others = set(dumps) - set(chosen)
    lines = {chosen[0], *chosen[0].parents}
    return [c for c in candidates if c.folder not in others and c.folder in lines]


def _unreadable(name: str, problem: FormatError | OSError) -> Issue:
    text = str(problem).removeprefix(name).lstrip(",: ")
    return Issue("file-unreadable", Severity.ERROR, one_line(text), file=one_line(name))


def _note(root: Path, rule: str, what: str, names: Sequence[str]) -> Issue:
    """A note on some files or folders, the first of them by name."""
    shown = ", ".join(one_line(name) for name in sorted(names)[:_NAMES_SHOWN])
    more = " …" if len(names) > _NAMES_SHOWN else ""
    message = f"{len(names)} {what}: {shown}{more}"
    return Issue(rule, Severity.NOTE, message, file=one_line(os.fspath(root)))


def _nothing(sources: Sequence[SourceLike], issues: Sequence[Issue]) -> FormatError:
    named = [os.fsdecode(each) for each in sources if isinstance(each, str | os.PathLike)]
    return FormatError(
        "nothing of a run was found here",
        file=one_line(", ".join(named)),
        expected="a folder or files that TVM's debugger wrote",
        found="; ".join(("no file of a known format", *(issue.message for issue in issues))),
        hint="The debugger writes to `dump_root`; a folder like _tvmdbg_device_CPU_0 lies in it.",
    )
