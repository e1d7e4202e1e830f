"""Records written to one file, and which may stand in one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tvmdbg_widgets.analysis.tuning.records.described import TUNERS
from tvmdbg_widgets.formats.tuning.record import no_such_row
from tvmdbg_widgets.formats.tuning.writer import write_lines
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.parts import TuningParts


def write(
    parts: TuningParts, path: str | os.PathLike[str], rows: Iterable[int] | None = None
) -> Path:
    """Write records to a file that TVM reads, each line as it stands in its own file.

    MetaSchedule's records name workloads by number: keep ``database_workload.json`` beside
    the new file.

    Parameters
    ----------
    path : path
        An existing file is replaced.
    rows : iterable of int, optional
        Only these, in this order; what ``select`` returns is taken, too.

    Raises
    ------
    ValueError, IndexError
        No reader of TVM would take the records from one file: they are of several tuners, or
        of several MetaSchedule databases; there is no such row.
    """
    chosen = range(len(parts.trials)) if rows is None else list(rows)
    refuse_unreadable(parts, chosen)
    return write_lines(path, parts, chosen)


def refuse_unreadable(parts: TuningParts, rows: Sequence[int]) -> None:
    """Refuse records that TVM could not read from one file."""
    at = np.asarray(rows, np.intp)
    for row in at[(at < -len(parts.trials)) | (at >= len(parts.trials))].tolist():
        raise no_such_row(row, parts.trials)
    tuners = {parts.tasks[task].tuner for task in np.unique(parts.trials.task[at]).tolist()}
    if len(tuners) > 1:
        named = ", ".join(sorted(TUNERS[each] for each in tuners))
        query = f"tuner:{min(tuners)}"
        raise ValueError(
            f"these records are of several tuners ({named}), and no reader of TVM takes them from "
            f'one file: write those of each, as log.write(path, log.select("{query}"))'
        )
    files = len(np.unique(parts.trials.source[at]))
    if tuners == {"metaschedule"} and files > 1:
        raise ValueError(
            f"these records are of {counted(files, 'database')} of MetaSchedule, each of which "
            "numbers its workloads on its own: write one file for each"
        )
