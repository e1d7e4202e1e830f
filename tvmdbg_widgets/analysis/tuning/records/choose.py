"""Which trials of a task are its best: by lowest mean cost, the first of equal ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.tuning.trials import Trials

Rows = npt.NDArray[np.int64]


def ranked(trials: Trials) -> tuple[Rows, Rows]:
    """Return the valid trials of each task, from its best on.

    ``load_best_record`` (measure_record.py) ranks by the mean of the costs and keeps the first of
    equal ones.
    """
    valid = np.flatnonzero(~trials.failed & ~np.isnan(trials.cost))
    order = np.lexsort((valid, trials.cost[valid], trials.task[valid]))
    rows = valid[order]
    return rows, trials.task[rows].astype(np.int64)


def best_rows(trials: Trials, num_tasks: int) -> Rows:
    """Return the row of the best trial of each task (int64 [num_tasks]), -1 where none is valid."""
    rows, tasks = ranked(trials)
    found = np.full(num_tasks, -1, np.int64)
    first = np.flatnonzero(np.diff(tasks, prepend=-1))
    found[tasks[first]] = rows[first]
    return found
