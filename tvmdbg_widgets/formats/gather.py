"""Sources of any kind to parts: each file that they hold, read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.executorch.debug_buffer import choose_buffer
from tvmdbg_widgets.formats.families import checked_limits, kind_for
from tvmdbg_widgets.formats.family import FileCandidate, Part
from tvmdbg_widgets.formats.find_files import FileFinder
from tvmdbg_widgets.formats.tuning.assemble import FAMILY as TUNING
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
    checked = checked_limits(limits)
    found = FileFinder(device, module, follow_links=follow_links, limits=checked)
    for each in sources:
        found.look_at(each)
    for part, each in given.items():
        if part == "params":
            source = parameters_source(each, follow_links=follow_links, limits=checked)
        else:
            source = as_source(each, follow_links=follow_links)
        found.add(source, kind_for(part, source))
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


def _leave_out_tuning(found: FileFinder) -> None:
    """Leave tuning logs to `open_tuning` where a run lies beside them."""
    tuning = [each for each in found.candidates if each.kind in TUNING.kinds]
    if tuning and len(tuning) < len(found.candidates):
        found.candidates = [each for each in found.candidates if each not in tuning]
        rest = "of a tuning beside the run (open_tuning(…) opens them)"
        names = [each.source.name for each in tuning]
        found.issues.append(note("", "tuning-left-out", "file", rest, names))


def _read(found: FileFinder, options: Mapping[str, Mapping[str, Any]] | None) -> list[Part]:
    """Read the candidates; those that cannot be read are added to the problems."""
    # Readers of other files ask for these.
    far = any(each.source.far for each in found.candidates)
    first = ("recording", "graph") if far else ("recording",)
    found.candidates.sort(key=lambda each: (each.kind.part not in first, each.kind.part == "graph"))
    parts = list(found.parts)
    for candidate in tqdm(found.candidates, desc="reading", unit="file", delay=1, leave=False):
        try:
            part = candidate.read(**_options(candidate, options, parts))
        except (FormatError, OSError) as problem:
            found.problems.append((candidate.source.name, problem))
            continue
        parts.append(part)
        if part.kind == "cache":
            shards = {shard.source.name: shard for shard in part.value.shards}.values()
            parts += [Part("shard", shard, shard.source, part.folder) for shard in shards]
    return parts


def _debug_buffer(parts: Sequence[Part], found: FileFinder, given: ByteSource | None) -> list[Part]:
    """Return the debug buffer of an ETDump: the one given, or the unknown file that may be it."""
    if given is not None:
        return [Part("debug-buffer", given, given, None)]
    dump = next((part for part in parts if part.kind == "etdump"), None)
    source = choose_buffer(dump.value, found.unknown) if dump is not None else None
    if source is None:
        return []
    found.problems[:] = [each for each in found.problems if each[0] != source.name]
    return [Part("debug-buffer", source, source, dump.folder if dump is not None else None)]


def _options(
    candidate: FileCandidate, options: Mapping[str, Mapping[str, Any]] | None, parts: Sequence[Part]
) -> dict[str, Any]:
    """Options of a reader: what a recording among the files says, and over it the caller's."""
    kind = candidate.kind.part
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
