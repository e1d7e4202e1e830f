"""Sources of any kind read into parts."""

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
    """Read every file in the sources."""
    checked = checked_limits(limits)
    finder = FileFinder(device, module, follow_links=follow_links, limits=checked)
    for item in sources:
        finder.look_at(item)
    for part, item in given.items():
        if part == "params":
            source = parameters_source(item, follow_links=follow_links, limits=checked)
        else:
            source = as_source(item, follow_links=follow_links)
        finder.add(source, kind_for(part, source))
    tuning = [file for file in finder.candidates if file.kind in TUNING.kinds]
    if tuning and len(tuning) < len(finder.candidates):
        finder.candidates = [file for file in finder.candidates if file not in tuning]
        rest = "of a tuning beside the run (open_tuning(…) opens them)"
        names = [file.source.name for file in tuning]
        finder.issues.append(note("", "tuning-left-out", "file", rest, names))
    parts = _read(finder, options)
    issues, problems = finder.issues, finder.problems
    buffer = None if debug_buffer is None else as_source(debug_buffer, follow_links=follow_links)
    parts += _debug_buffer(parts, finder, buffer)
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, issues)
    issues += [unreadable(name, problem) for name, problem in problems]
    read = {part.source.name for part in parts}
    for tree, skipped in finder.skipped:
        if left := [name for name in skipped if name not in read]:
            issues.append(note(tree.name, "files-not-read", "unrecognized file", "(ignored)", left))
    return parts, issues


def _read(finder: FileFinder, options: Mapping[str, Mapping[str, Any]] | None) -> list[Part]:
    """Read the candidates; unreadable ones become problems."""
    # Readers of other files ask for these.
    far = any(file.source.far for file in finder.candidates)
    first = ("recording", "graph") if far else ("recording",)
    finder.candidates.sort(
        key=lambda file: (file.kind.part not in first, file.kind.part == "graph")
    )
    parts = list(finder.parts)
    for candidate in tqdm(finder.candidates, desc="reading", unit="file", delay=1, leave=False):
        try:
            part = candidate.read(**_options(candidate, options, parts))
        except (FormatError, OSError) as problem:
            finder.problems.append((candidate.source.name, problem))
            continue
        parts.append(part)
        if part.kind == "cache":
            shards = {shard.source.name: shard for shard in part.value.shards}.values()
            parts += [Part("shard", shard, shard.source, part.folder) for shard in shards]
    return parts


def _debug_buffer(
    parts: Sequence[Part], finder: FileFinder, given: ByteSource | None
) -> list[Part]:
    """Return an ETDump's debug buffer: the given one, or the unknown file that may be it."""
    if given is not None:
        return [Part("debug-buffer", given, given, None)]
    dump = next((part for part in parts if part.kind == "etdump"), None)
    source = choose_buffer(dump.value, finder.unknown) if dump is not None else None
    if source is None:
        return []
    finder.problems[:] = [one for one in finder.problems if one[0] != source.name]
    return [Part("debug-buffer", source, source, dump.folder if dump is not None else None)]


def _options(
    candidate: FileCandidate, options: Mapping[str, Mapping[str, Any]] | None, parts: Sequence[Part]
) -> dict[str, Any]:
    """Return a reader's options: those of a recording, overridden by the caller's."""
    kind = candidate.kind.part
    if kind not in ("params", "cache"):
        return dict((options or {}).get(kind, {}))
    values = dict((options or {}).get("params", {}))
    for part in parts:
        if part.kind == "recording":
            values = {**part.value.options, **values}
    if kind == "cache":
        return {name: value for name, value in values.items() if name != "dtype_layout"}
    if candidate.source.far:
        graph = next((part.value for part in parts if part.kind == "graph"), None)
        values["graph"] = graph
    return values


def _nothing(sources: Sequence[SourceLike], issues: Sequence[Issue]) -> FormatError:
    named = [os.fsdecode(source) for source in sources if isinstance(source, str | os.PathLike)]
    return FormatError(
        "nothing of a run was found here",
        file=one_line(listed(named)),
        expected="a folder or files that TVM's debugger or ExecuTorch wrote",
        found=listed(["no file of a known format", *(issue.message for issue in issues)], "; "),
        hint="TVM's debugger writes to `dump_root`; a folder like _tvmdbg_device_CPU_0 lies in it.",
    )
