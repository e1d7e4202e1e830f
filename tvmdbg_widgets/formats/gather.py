"""Sources of any kind to parts: each file that they hold, read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.executorch.debug_buffer import choose_buffer
from tvmdbg_widgets.formats.limits import Limits
from tvmdbg_widgets.formats.parts import FileCandidate, Found, Part
from tvmdbg_widgets.formats.registry import TUNING, format_for, format_of, head
from tvmdbg_widgets.formats.tuning.gather import read_part
from tvmdbg_widgets.formats.tvm.params.file import parameters_source
from tvmdbg_widgets.model.base.text import FormatError, Issue, listed, one_line
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.folders import note, unreadable
from tvmdbg_widgets.sources.given import SourceLike, as_source


def gather(
    sources: Sequence[SourceLike],
    given: Mapping[str, SourceLike],
    *,
    device: str | None = None,
    module: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    follow_links: bool = False,
    limits: Mapping[str, int] | None = None,
    debug_buffer: SourceLike | None = None,
) -> tuple[list[Part], list[Issue]]:
    """Read every file that the sources name."""
    checked = Limits(limits)
    found = Found(device, module, follow_links=follow_links, limits=checked)
    for each in sources:
        found.look_at(each)
    for part, each in given.items():
        form = part
        if part == "params":
            source = parameters_source(each, follow_links=follow_links, limits=checked)
            form = "cache" if format_of("cache").sniff(head(source)) else part
        else:
            source = as_source(each, follow_links=follow_links)
        found.add(source, format_for(form, source))
    _leave_out_tuning(found)
    parts = _read(found, options)
    issues, problems = found.issues, found.problems
    buffer = None if debug_buffer is None else as_source(debug_buffer, follow_links=follow_links)
    parts += _debug_buffer(parts, found, buffer)
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, issues)
    issues += [unreadable(name, problem) for name, problem in problems]
    read = {part.source.name for part in parts}
    for tree, skipped in found.skipped:
        if left := [name for name in skipped if name not in read]:
            issues.append(note(tree.name, "files-not-read", "unrecognized file", "(ignored)", left))
    return parts, issues


def _leave_out_tuning(found: Found) -> None:
    """Leave tuning logs to `open_tuning` where a run lies beside them."""
    tuning = [each for each in found.candidates if each.format in TUNING]
    if tuning and len(tuning) < len(found.candidates):
        found.candidates = [each for each in found.candidates if each not in tuning]
        rest = "of a tuning beside the run (open_tuning(…) opens them)"
        names = [each.source.name for each in tuning]
        found.issues.append(note("", "tuning-left-out", "file", rest, names))


def _read(found: Found, options: Mapping[str, Mapping[str, Any]] | None) -> list[Part]:
    """Read the candidates; those that cannot be read are added to the problems."""
    _order(found.candidates)
    parts = list(found.parts)
    for candidate in tqdm(found.candidates, desc="reading", unit="file", delay=1, leave=False):
        try:
            if candidate.format in TUNING:
                parts.append(read_part(candidate))
                continue
            value = candidate.format.read(candidate.source, **_options(candidate, options, parts))
        except (FormatError, OSError) as problem:
            found.problems.append((candidate.source.name, problem))
        else:
            parts += _parts(candidate, value)
    return parts


def _debug_buffer(parts: Sequence[Part], found: Found, given: ByteSource | None) -> list[Part]:
    """Return the debug buffer of an ETDump: the one given, or the unknown file that may be it."""
    if given is not None:
        return [Part("debug-buffer", given, given, None)]
    dump = next((part for part in parts if part.kind == "etdump"), None)
    source = choose_buffer(dump.value, found.unknown) if dump is not None else None
    if source is None:
        return []
    found.problems[:] = [each for each in found.problems if each[0] != source.name]
    return [Part("debug-buffer", source, source, dump.folder if dump is not None else None)]


def _parts(candidate: FileCandidate, value: Any) -> list[Part]:
    """Return the part that a file gives, and the files that it names in turn."""
    parts = [Part(candidate.format.part, value, candidate.source, candidate.folder)]
    if candidate.format.part == "cache":
        shards = {shard.source.name: shard for shard in value.shards}.values()
        parts += [Part("shard", shard, shard.source, candidate.folder) for shard in shards]
    return parts


def _order(candidates: list[FileCandidate]) -> None:
    """Put first what the readers of others ask for."""
    far = any(each.source.far for each in candidates)
    first = ("recording", "graph") if far else ("recording",)
    candidates.sort(key=lambda each: (each.format.part not in first, each.format.part == "graph"))


def _options(
    candidate: FileCandidate, options: Mapping[str, Mapping[str, Any]] | None, parts: Sequence[Part]
) -> dict[str, Any]:
    """Options of a reader: what a recording among the files says, and over it the caller's."""
    kind = candidate.format.part
    if kind not in ("params", "cache"):
        return dict((options or {}).get(kind, {}))
    said = dict((options or {}).get("params", {}))
    for part in parts:
        if part.kind == "recording":
            said = {**part.value.options, **said}
    if kind == "cache":
        return {name: value for name, value in said.items() if name != "dtype_layout"}
    if candidate.source.far:
        graph = next((part.value for part in parts if part.kind == "graph"), None)
        said["graph"] = graph
    return said


def _nothing(sources: Sequence[SourceLike], issues: Sequence[Issue]) -> FormatError:
    named = [os.fsdecode(each) for each in sources if isinstance(each, str | os.PathLike)]
    return FormatError(
        "nothing of a run was found here",
        file=one_line(listed(named)),
        expected="a folder or files that TVM's debugger or ExecuTorch wrote",
        found=listed(["no file of a known format", *(issue.message for issue in issues)], "; "),
        hint="TVM's debugger writes to `dump_root`; a folder like _tvmdbg_device_CPU_0 lies in it.",
    )
