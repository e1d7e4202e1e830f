"""A log read again while its files grow: of a file that grew only what is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tvmdbg_widgets.formats.parts import FileCandidate, Part
from tvmdbg_widgets.formats.registry import TUNING, format_of, identify
from tvmdbg_widgets.formats.tuning.assemble import OF_LINES, assemble, beside, log_of
from tvmdbg_widgets.formats.tuning.combine import combine
from tvmdbg_widgets.formats.tuning.reading import read_part
from tvmdbg_widgets.formats.tuning.record_file import read_file
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.file_source import Change, GrowingFile


class FollowedParts:
    """The parts of a log, as far as its files have grown.

    Rows of a file that grew are added behind all others. Where a file was cut off and written
    again, or belongs to a MetaSchedule database, all files are read again.
    """

    def __init__(self, parts: TuningParts) -> None:
        self.parts = parts
        self._texts: list[Part] | None = None

    def poll(self) -> bool:
        """Read what is new; False where nothing is."""
        parts = self.parts
        records = [_change(each) for each in parts.sources]
        texts = [_change(each) for each in parts.beside]
        if all(each is Change.NONE for each in (*records, *texts)):
            return False
        databases = any(task.tuner == "metaschedule" for task in parts.tasks)
        if Change.REWRITTEN in records or (databases and Change.GROWN in records):
            log = self._again()
        else:
            log = _with_new_lines(parts, [i for i, c in enumerate(records) if c is Change.GROWN])
        if self._texts is None or any(each is not Change.NONE for each in texts):
            self._texts = [_read(each) for each in parts.beside]
        self.parts = beside(log, self._texts, registered=parts.registered, dags=parts.dags)
        return True

    def _again(self) -> TuningParts:
        """Read all files of records again; issues of other things are kept."""
        pieces = [_read(each, "tuning-records") for each in self.parts.sources]
        kept = [each for each in self.parts.issues if each.rule not in OF_LINES]
        return assemble(pieces, kept, title=self.parts.title)


def _change(source: ByteSource) -> Change:
    return source.change() if isinstance(source, GrowingFile) else Change.NONE


def _read(source: ByteSource, kind: str = "") -> Part:
    """Read a file as it is now."""
    if isinstance(source, GrowingFile):
        source = source.again()
    form = format_of(kind) if kind else identify(source, TUNING) or format_of("tuning-output")
    return read_part(FileCandidate(source, form), progress=False)


def _with_new_lines(parts: TuningParts, grown: Sequence[int]) -> TuningParts:
    """Return a log with the lines that were added to some of its files."""
    new: list[TuningParts] = []
    sources = list(parts.sources)
    for at in grown:
        old = sources[at]
        if not isinstance(old, GrowingFile):
            continue
        sources[at] = source = old.again()
        offset, line = parts.positions[at]
        new.append(log_of(read_file(source, offset=offset, line=line)))
    before = replace(_without_last_lines(parts, grown), sources=tuple(sources))
    return combine([before, *new], parts.title)


def _without_last_lines(parts: TuningParts, grown: Sequence[int]) -> TuningParts:
    """Return a log without the lines that had no end yet, and are read again."""
    trials = parts.trials
    begin = np.array([offset for offset, _ in parts.positions], np.int64)
    again = np.isin(trials.source, grown)
    again[again] = trials.offset[again] >= begin[trials.source[again]]
    refused = tuple(
        each
        for each in parts.refused
        if each.source not in grown or each.offset < begin[each.source]
    )
    return replace(
        parts,
        trials=trials.take(np.flatnonzero(~again)) if again.any() else trials,
        refused=refused,
        num_refused=parts.num_refused - len(parts.refused) + len(refused),
        cut=parts.cut and any(_is_cut(parts, at) for at in range(len(begin)) if at not in grown),
    )


def _is_cut(parts: TuningParts, at: int) -> bool:
    """Whether a file ends with a line that was not read."""
    offset = parts.positions[at][0]
    lines = parts.trials.offset[parts.trials.source == at]
    return offset < parts.sources[at].size and offset not in lines
