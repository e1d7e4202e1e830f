"""Which records may stand in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.tuning.records.described import TUNERS
from tvmdbg_widgets.formats.tuning.record import no_such_row
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.tuning.parts import TuningParts


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
