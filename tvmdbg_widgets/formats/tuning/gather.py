"""Sources of any kind to what a tuning left in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.registry import format_of
from tvmdbg_widgets.formats.sources.file import Part
from tvmdbg_widgets.formats.sources.folders import unreadable
from tvmdbg_widgets.formats.sources.found import Found
from tvmdbg_widgets.formats.tuning.assemble import KINDS
from tvmdbg_widgets.formats.tuning.reading import growing, read_part
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.issues import Issue
    from tvmdbg_widgets.model.sources_given import SourceLike

_HINT = "Ansor's logs are what RecordToFile wrote; AutoTVM's what log_to_file wrote."


def gather(
    sources: Sequence[SourceLike], *, progress: bool = True
) -> tuple[list[Part], list[Issue]]:
    """Read every file of a tuning that the sources name; other files are left alone.

    A file without a byte is a log without records: the tuning may just have begun.

    Parameters
    ----------
    sources
        Folders, archives, files, URLs of these, bytes, file objects.
    progress
        Whether to show a bar where this takes more than a second.

    Raises
    ------
    FormatError
        There is no such file among them.
    """
    found = Found(tuning=True)
    for each in sources:
        found.look_at(each)
    chosen = [each for each in found.candidates if each.format.part in KINDS]
    records = format_of("tuning-records")
    empty = [each for each in found.unknown if each.size == 0]
    hidden = not progress or len(chosen) == 1
    bar = tqdm(chosen, desc="reading", unit="file", delay=1, leave=False, disable=hidden)
    parts = [read_part(each, progress=progress) for each in bar]
    parts += [Part(records.part, records.read(each), each, None) for each in map(growing, empty)]
    names = {each.name for each in empty}
    problems = [(name, problem) for name, problem in found.problems if name not in names]
    if not parts:
        raise problems[0][1] if problems and len(sources) == 1 else _nothing(sources)
    issues = [*found.issues, *(unreadable(name, problem) for name, problem in problems)]
    return parts, issues


def _nothing(sources: Sequence[SourceLike]) -> FormatError:
    named = [os.fsdecode(each) for each in sources if isinstance(each, str | os.PathLike)]
    return FormatError(
        "nothing of a tuning was found here",
        file=one_line(", ".join(named)),
        expected="a log of Ansor or AutoTVM, or a database of MetaSchedule",
        found="no file of a known format",
        hint=_HINT,
    )
