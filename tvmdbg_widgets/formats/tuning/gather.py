"""Sources of any kind to what a tuning left in them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.found import Found
from tvmdbg_widgets.formats.parts import Part
from tvmdbg_widgets.formats.registry import format_of
from tvmdbg_widgets.formats.tuning.reading import growing, read_part
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue
from tvmdbg_widgets.model.base.text import listed, one_line
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.folders import note, unreadable
from tvmdbg_widgets.sources.given import SourceLike

_SHOWN = 40
_FEW = 16


def gather(
    sources: Sequence[SourceLike], *, progress: bool = True
) -> tuple[list[Part], list[Issue]]:
    """Read every file of a tuning that the sources name; other files are left alone.

    A file without a byte, or with the first few of a line, is a log without records: the tuning
    may just have begun.
    """
    found = Found(tuning=True)
    for each in sources:
        found.look_at(each)
    chosen = found.candidates
    records = format_of("tuning-records")
    begun = [each for each in found.unknown if _has_just_begun(each)]
    hidden = not progress or len(chosen) == 1
    bar = tqdm(chosen, desc="reading", unit="file", delay=1, leave=False, disable=hidden)
    parts = [read_part(each, progress=progress) for each in bar]
    parts += [Part(records.part, records.read(each), each, None) for each in map(growing, begun)]
    unknown = {each.name for each in found.unknown}
    problems = [(name, problem) for name, problem in found.problems if name not in unknown]
    if not parts:
        raise problems[0][1] if problems else _nothing(sources, found.unknown)
    issues = [*found.issues, *(unreadable(name, problem) for name, problem in problems)]
    if left := sorted(unknown - {each.name for each in begun}):
        issues.append(note("", "files-not-read", "unrecognized file", "(ignored)", left))
    return parts, issues


def _has_just_begun(source: ByteSource) -> bool:
    return source.size < _FEW and source.read(0, source.size)[:1] in b"{["


def _nothing(sources: Sequence[SourceLike], unknown: Sequence[ByteSource]) -> FormatError:
    named = [os.fsdecode(each) for each in sources if isinstance(each, str | os.PathLike)]
    heads = [each.read(0, min(each.size, _SHOWN)) for each in unknown[:1]]
    return FormatError(
        "nothing of a tuning was found here",
        file=one_line(listed(named or [each.name for each in unknown])),
        expected="a log of Ansor or AutoTVM, a database of MetaSchedule, or output of a tuning",
        found=f"bytes that start with {heads[0]!r}" if heads else "no file of a known format",
        hint="Ansor's logs are what RecordToFile wrote, AutoTVM's what log_to_file wrote.",
    )
