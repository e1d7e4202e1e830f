"""Records written again, for TVM's reader."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tvmdbg_widgets.formats.tuning.record import no_such_row
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Lines that are held at once.
_MOST_LINES = 1_000


def write_lines(path: str | os.PathLike[str], parts: TuningParts, rows: Iterable[int]) -> Path:
    """Write records to a file, each the bytes that it was read from, and a line feed."""
    with replacing(path) as file:
        for source, offset, length in _stretches(parts, rows):
            file.write(source.read(offset, length) + b"\n")
    return Path(path)


def _stretches(parts: TuningParts, rows: Iterable[int]) -> Iterator[tuple[ByteSource, int, int]]:
    """Yield source, offset and length of lines; those that follow each other in a file as one."""
    trials = parts.trials
    at = np.fromiter(rows, np.int64)
    for row in at[(at < -len(trials)) | (at >= len(trials))].tolist():
        raise no_such_row(row, trials)
    source, begin = trials.source[at], trials.offset[at]
    end = begin + trials.length[at]
    # One byte between two lines is a line feed.
    apart = (source[1:] != source[:-1]) | (begin[1:] != end[:-1] + 1)
    apart |= np.diff(np.arange(len(at)) // _MOST_LINES) > 0
    bounds = np.concatenate([[0], np.flatnonzero(apart) + 1, [len(at)]]) if len(at) else at
    for first, after in itertools.pairwise(bounds.tolist()):
        offset = int(begin[first])
        yield parts.sources[source[first]], offset, int(end[after - 1]) - offset
